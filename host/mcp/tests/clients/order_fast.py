"""The whole order of examples/order with FastMCP 4.1 and fastmcp-tasks 4.1. `cargo xtask clients` runs it.

    python order_fast.py SHOP URL
    python order_fast.py SHOP windlass mcp
"""

import asyncio
import json
import sys

from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from fastmcp_tasks import call_tool_task


async def answer(message, response_type, params, context):
    print("asked:", message, flush=True)
    return {"approve": True}


async def main(shop, server):
    at = server[0] if len(server) == 1 else StdioTransport(command=server[0], args=server[1:])
    async with Client(at, elicitation_handler=answer) as client:
        task = await call_tool_task(client, "order", {"item": "mug", "shop": shop})
        print("task", task.task_id, flush=True)
        result = await task.result()
        log, after = f"task-log://{task.task_id}", 0
        for line in (await client.read_resource(f"{log}?after=0&limit=1000"))[0].text.splitlines():
            record = json.loads(line)
            assert record["seq"] == after + 1, record
            after = record["seq"]
            print(f"  {after:2} {record['text']}")
        print("result:", result.content[0].text, result.structured_content)


asyncio.run(main(sys.argv[1], sys.argv[2:]))
