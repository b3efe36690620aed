"""`python -m benchmarks.tasks` against a scripted endpoint: the checks tell right from wrong, and the table counts."""

import asyncio
import json
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from benchmarks.tasks.proxy import CountingProxy

from heald.core.messages import ToolCall
from heald.testing.server import Pause, ReceivedRequest, Reply, ScriptedServer
from heald.testing.streams import wire_reply
from repository import ROOT

CALC = "calc.py\n```python\ndef add(a, b):\n    return a + b\n\n\ndef double(a):\n    return 2 * a\n```\n"


def reply(request: ReceivedRequest) -> Reply:
    """Solve the first task of each kind, and get the second one wrong."""
    last = request.body["messages"][-1]
    text = str(last["content"])
    if "Fix it" in text:
        return wire_reply("chat", text=CALC, usage=(100, 10))
    if last["role"] == "tool":
        return wire_reply("chat", text=f"It is {text}.", usage=(100, 10))
    if "Oslo" in text:
        call = ToolCall(id="c1", name="weather", input={"city": "Oslo"})
        return wire_reply("chat", calls=[call], usage=(100, 10))
    return wire_reply("chat", text="I do not know.", usage=(100, 10))


async def test_the_tables(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    async with ScriptedServer(reply) as server:
        words = ["--model", "tiny-1b", "--base-url", f"{server.url}/v1", "--only", "heald", "--first", "2"]
        words += ["--results", str(path)]
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "benchmarks.tasks", *words),
            cwd=ROOT,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        async with asyncio.timeout(120):
            output = (await process.communicate())[0].decode()
    assert process.returncode == 0, output
    rows = [line for line in output.splitlines() if line.startswith("| heald |")]
    assert rows[0].startswith("| heald | 1 | 3 | 300 | 30 |"), output  # the second task has one reminder
    assert rows[1].startswith("| heald | 1 | 3 | 300 | 30 |"), output
    stored = json.loads(path.read_text("utf-8"))["tasks"]
    assert list(stored) == ["coding", "tools", "more", "last"]
    assert (stored["tools"][0]["solved"], stored["tools"][0]["tokens_in"]) == (1, 300)


_UNTOUCHED = """
import tempfile
from pathlib import Path
from typing import Any
from benchmarks.tasks.calling import MORE_TOOL_TASKS, TOOL_TASKS
from benchmarks.tasks.coding import CODING_TASKS
from benchmarks.tasks.development_calling import DEVELOPMENT_TOOL_TASKS
from benchmarks.tasks.last_coding import LAST_CODING_TASKS
from benchmarks.tasks.more_coding import MORE_CODING_TASKS
for task in (*CODING_TASKS, *MORE_CODING_TASKS, *LAST_CODING_TASKS):
    with tempfile.TemporaryDirectory() as name:
        task.prepare(Path(name))
        assert not task.is_solved(Path(name)), task.name
assert len(CODING_TASKS) == len(MORE_CODING_TASKS) == len(LAST_CODING_TASKS) == len(TOOL_TASKS) == 10
assert len({task.request for task in (*TOOL_TASKS, *MORE_TOOL_TASKS)}) == 30
assert len({task.request for task in (*TOOL_TASKS, *MORE_TOOL_TASKS, *DEVELOPMENT_TOOL_TASKS)}) == 50
assert not any(
    task.is_solved("I do not know.") for task in (*TOOL_TASKS, *MORE_TOOL_TASKS, *DEVELOPMENT_TOOL_TASKS)
)
"""


def test_untouched_files_solve_nothing() -> None:
    ran = subprocess.run([sys.executable, "-c", _UNTOUCHED], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("usage", [True, False])
async def test_an_answer_that_its_agent_stops_counts_until_then(*, usage: bool) -> None:
    chunk: dict[str, object] = {"choices": [{"index": 0, "delta": {"content": "word "}}]}
    steps: list[Any] = []
    for number in range(1, 2_000):
        counts = {"usage": {"prompt_tokens": 7, "completion_tokens": number}} if usage else {}
        steps += [b"data: " + json.dumps(chunk | counts).encode() + b"\n\n", Pause(0.002)]
    async with ScriptedServer([Reply(steps, content_type="text/event-stream")]) as server:
        with CountingProxy(f"{server.url}/v1") as proxy:
            await asyncio.to_thread(_read_some, proxy.url, 1_000)
            counted = await asyncio.to_thread(proxy.reset)
    assert counted.requests == 1
    assert counted.tokens_in == 7 if usage else counted.tokens_in > 0
    assert 5 < counted.tokens_out < 1_000


def _read_some(url: str, size: int) -> None:
    body = json.dumps({"messages": [{"role": "user", "content": "Go on and on."}], "stream": True}).encode()
    with urllib.request.urlopen(urllib.request.Request(f"{url}/chat/completions", body), timeout=20) as response:
        response.read(size)
