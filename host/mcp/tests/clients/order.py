"""The whole order of examples/order with the official Python client (mcp 2.3): a task, its log as it grows, the answer
to its question, the result. `cargo xtask clients` runs it.

    python order.py SHOP URL
    python order.py SHOP windlass mcp
"""

import asyncio
import json
import sys
from typing import Any, Literal

import mcp_types as types
from mcp import StdioServerParameters
from mcp.client import Client, ClientExtension, ResultClaim
from pydantic import ConfigDict


class Created(types.Result):
    model_config = ConfigDict(extra="allow")
    result_type: Literal["task"]
    taskId: str


class Raw(types.Result):
    model_config = ConfigDict(extra="allow")


class Request(types.Request[dict[str, Any], str]):
    pass


async def send(session, method, params):
    result = await session.send_request(Request(method=method, params=params), Raw)
    return result.model_dump(by_alias=True, exclude_none=True)


class Tasks(ClientExtension):
    identifier = "io.modelcontextprotocol/tasks"
    client = None

    def claims(self):
        return [ResultClaim(result_type="task", model=Created, resolve=self.resolve)]

    async def resolve(self, created, context):
        print("task", created.taskId, flush=True)
        watching = asyncio.create_task(watch(self.client, created.taskId))
        while True:
            task = await send(context.session, "tasks/get", {"taskId": created.taskId})
            if task["status"] == "completed":
                await watching
                return types.CallToolResult.model_validate(task["result"])
            assert task["status"] in ("working", "input_required"), task
            for key, request in task.get("inputRequests", {}).items():
                print("asked:", request["params"]["message"], flush=True)
                answer = {key: {"action": "accept", "content": {"approve": True}}}
                await send(context.session, "tasks/update", {"taskId": created.taskId, "inputResponses": answer})
            await asyncio.sleep(task["pollIntervalMs"] / 1000)


async def watch(client, task):
    """Prints the log until the turn has ended; no record twice, none left out."""
    log, after = f"task-log://{task}", 0
    async with client.listen(resource_subscriptions=[log]) as events:
        events = aiter(events)
        while True:
            page = await client.read_resource(f"{log}?after={after}", cache_mode="bypass")
            for line in page.contents[0].text.splitlines():
                record = json.loads(line)
                assert record["seq"] == after + 1, record
                after = record["seq"]
                print(f"  {after:2} {record['text']}", flush=True)
            about = page.meta["windlass/log"]
            if about["terminal"] and not about["hasMore"]:
                return
            if not about["hasMore"]:
                await anext(events)


async def shows_forms(*_):
    return types.ElicitResult(action="decline")


async def main(shop, server):
    at = server[0] if len(server) == 1 else StdioServerParameters(command=server[0], args=server[1:])
    tasks = Tasks()
    async with Client(at, extensions=[tasks], elicitation_callback=shows_forms) as client:
        tasks.client = client
        print("protocol", client.protocol_version)
        result = await client.call_tool("order", {"item": "mug", "shop": shop})
        assert not result.is_error, result
        print("result:", result.content[0].text, result.structured_content)


asyncio.run(main(sys.argv[1], sys.argv[2:]))
