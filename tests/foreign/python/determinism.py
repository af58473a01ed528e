"""Everything that differs from run to run, logged before and after a question."""

import datetime
import json
import os
import random
import sys
import time
import uuid

import wit_world
from wit_world import exports
from wit_world.imports import input, log, state, task
from wit_world.imports.types import Outcome


def folder() -> list[tuple[str, int, int]]:
    for name in ("pear", "fig", "apple"):
        with open(f"/workdir/{name}", "w", encoding="utf-8") as file:
            file.write(name)
    return [(entry.name, entry.stat().st_size, entry.stat().st_mtime_ns) for entry in os.scandir("/workdir")]


def look(start: float, number: int) -> list[str]:
    names = {f"k{n}" for n in range(12)}
    seen = [
        f"wall {time.time_ns()} ns, {datetime.datetime.now().isoformat()}",
        f"monotonic {time.monotonic() - start} s, {time.perf_counter_ns()} ns",
        f"random {random.random()} {random.Random().random()} {os.urandom(8).hex()}",
        f"ids {uuid.uuid4()} {uuid.uuid1()}",
        f"order {list(names)}, {list({'pear': 1, 'fig': 2, 'apple': 3})}",
        f"hash {hash('abc')}, of a number {hash(42)}",
        f"environment {dict(os.environ)}, arguments {sys.argv}",
        f"zone {time.tzname}, process {os.getpid()}, folder {os.getcwd()}",
        f"files {folder()}",
        f"turn {number}, cancelled {task.is_cancelled()}",
    ]
    for line in seen:
        log.write(log.Level.INFO, line, [("length", str(len(line)))])
        print(line)
    return seen


class Tool(exports.Tool):
    def run(self, turn: exports.tool.Turn) -> Outcome:
        start = time.monotonic()
        before = look(start, turn.number)
        state.set("count", json.dumps(json.loads(state.get("count") or "0") + 1))
        task.sleep(300)
        time.sleep(0.2)
        task.set_status_message(f"slept, {time.time_ns()}")
        schema = {"type": "object", "properties": {"go": {"type": "boolean"}}, "required": ["go"]}
        answers = input.ask([input.Question("go-on", "Go on?", json.dumps(schema), False, None)])
        # Long enough that the clock has to jump by a sample, in the middle of a loop that reads it.
        end = time.monotonic() + 0.25
        while time.monotonic() < end:
            pass
        after = look(start, turn.number)
        seen = {"before": before, "after": after, "answer": answers[0].value, "keys": state.keys("")}
        return Outcome([], json.dumps(seen | {"count": state.get("count")}), None)
