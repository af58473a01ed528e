"""Runs two tools of mcp_conformance as tasks with FastMCP 4.1 and fastmcp-tasks 4.1.

    python fast.py http://127.0.0.1:PORT/mcp
"""

import asyncio
import sys

from fastmcp import Client
from fastmcp_tasks import call_tool_task


async def answer(message, response_type, params, context):
    print("asked:", message)
    return {"confirm": True}


async def main(url):
    async with Client(url, elicitation_handler=answer) as client:
        task = await call_tool_task(client, "slow_compute", {"seconds": 1})
        print("a task:", task.task_id)
        print("its result:", (await task.result()).content[0].text)
        result = await client.call_tool("confirm_delete", {"filename": "a.txt"})
        print("a call:", result.content[0].text)


asyncio.run(main(sys.argv[1]))
