"""Runs basic_ask to its end with the official Python client (mcp 2.3): as a task, with its log, and without tasks.

    python python.py http://127.0.0.1:PORT/mcp
"""

import asyncio
import json
import sys
from typing import Any, Literal

import mcp_types as types
from mcp.client import Client, ClientExtension, ResultClaim
from pydantic import ConfigDict

TASKS = "io.modelcontextprotocol/tasks"
ANSWERS = {
    "t1.everything": {"action": "accept", "content": {"text": "all", "age": 20, "agree": True, "drink": "coffee"}},
    "t1.people": {"action": "decline"},
}


class Created(types.Result):
    model_config = ConfigDict(extra="allow")
    result_type: Literal["task"]
    taskId: str
    status: str


class Raw(types.Result):
    model_config = ConfigDict(extra="allow")


class Request(types.Request[dict[str, Any], str]):
    pass


async def send(session, method, params):
    result = await session.send_request(Request(method=method, params=params), Raw)
    return result.model_dump(by_alias=True, exclude_none=True)


class Tasks(ClientExtension):
    identifier = TASKS

    def claims(self):
        return [ResultClaim(result_type="task", model=Created, resolve=self.resolve)]

    async def resolve(self, created, context):
        print("created", created.status)
        answered = set()
        while True:
            task = await send(context.session, "tasks/get", {"taskId": created.taskId})
            if task["status"] == "completed":
                print("completed:", task["statusMessage"])
                return types.CallToolResult.model_validate(task["result"])
            asked = {key: value for key, value in task.get("inputRequests", {}).items() if key not in answered}
            if asked:
                print("asked:", ", ".join(asked))
                answers = {}
                for key, request in asked.items():
                    form = request["params"]["requestedSchema"]["properties"]
                    answers[key] = ANSWERS.get(key) or {"action": "accept", "content": {name: True for name in form}}
                await send(context.session, "tasks/update", {"taskId": created.taskId, "inputResponses": answers})
                answered |= set(asked)
            await asyncio.sleep(min(task.get("pollIntervalMs", 500), 500) / 1000)


async def log(client, task):
    uri, after, lines = f"task-log://{task}", 0, []
    async with client.listen(resource_subscriptions=[uri]) as events:
        events = aiter(events)
        while True:
            page = await client.read_resource(f"{uri}?after={after}", cache_mode="bypass")
            about = page.meta["windlass/log"]
            lines += [json.loads(line) for line in page.contents[0].text.splitlines()]
            after = lines[-1]["seq"] if lines else 0
            if about["hasMore"]:
                continue
            if about["terminal"]:
                return lines
            await anext(events)


async def answer(*_):
    return types.ElicitResult(action="decline")


async def main(url):
    async with Client(url, extensions=[Tasks()], elicitation_callback=answer) as client:
        print("protocol", client.protocol_version)
        tools = await client.list_tools()
        print("tools:", ", ".join(tool.name for tool in tools.tools if not tool.name.startswith("task_")))
        result = await client.call_tool("basic_ask", {"timeout_ms": 20})
        assert result.structured_content["confirmed"] is True, result
        link = next(part for part in result.content if part.type == "resource_link")
        lines = await log(client, str(link.uri).removeprefix("task-log://"))
        assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
        print("log:")
        for line in lines:
            print(f"  {line['seq']:2} {line['kind']:16} {line['text']}")
    async with Client(url) as client:
        result = await client.call_tool("basic_hello", {"name": "Ada"})
        print("without tasks:", result.structured_content)
        handle = (await client.call_tool("basic_ask", {"timeout_ms": 20})).structured_content["windlassTask"]
        print("goes on:", handle["status"], "-", handle["statusMessage"])
        task = (await client.call_tool("task_cancel", {"taskId": handle["taskId"]})).structured_content
        print("cancelled:", task["status"])
    async with Client(url, mode="legacy") as client:
        print("protocol", client.protocol_version)
        result = await client.call_tool("basic_hello", {"name": "Ada"})
        print("in a session:", result.structured_content)


asyncio.run(main(sys.argv[1]))
