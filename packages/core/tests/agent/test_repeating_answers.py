"""An answer of a small model that repeats itself without an end is stopped; nothing of it is written."""

from pathlib import Path

import pytest
from agent.test_text_editing import SMALL
from cancel_support import soon

import heald
from heald.testing.server import Pause, Reply, ScriptedServer
from heald.testing.streams import wire_reply, wire_stream
from heald.wires.repetition import is_periodic

STUB = "def legacy():\n    pass\n"
LINES = ["        'A': 1,\n", "        'E': 1,\n", "        'I': 1,\n"]


def endless(head: str, pieces: list[str]) -> Reply:
    steps: list[object] = []
    for chunk in wire_stream("chat", text=[head, *pieces * 400]):
        steps += [chunk, Pause(0.0002)]
    return Reply(steps, content_type=wire_reply("chat", text="").content_type)


async def test_a_file_that_repeats_itself_is_stopped(tmp_path: Path) -> None:
    (tmp_path / "etl.py").write_text(STUB)
    head = "etl.py\n```python\ndef legacy():\n    return {\n"
    right = "etl.py\n```python\ndef legacy():\n    return {'A': 1}\n```\n"
    async with ScriptedServer([endless(head, LINES), wire_reply("chat", text=right)]) as server:
        model = heald.Model(SMALL, base_url=f"{server.url}/v1", api_key="no-key")
        async with heald.Agent(model, tools=["files"], workspace=tmp_path) as agent:
            result = await agent.run("Implement legacy in etl.py.")
        await soon(server.requests[0].closed_early.wait())
        again = str(server.requests[1].body["messages"])
    assert (result.status, result.turns) == ("completed", 2)
    assert again.count("'A': 1") < 3  # the model does not read it again
    assert (tmp_path / "etl.py").read_text() == "def legacy():\n    return {'A': 1}\n"


async def test_a_large_model_is_not_stopped() -> None:
    text = "A table of zeros: " + "0, " * 2_000
    async with ScriptedServer([wire_reply("chat", text=list(text))]) as server:
        model = heald.Model("large-model", base_url=f"{server.url}/v1", api_key="no-key")
        async with heald.Agent(model) as agent:
            result = await agent.run("Print a table.")
    assert result.text == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ab\n" * 1_000, True),
        ("x" * 3_000, True),
        (" " * 3_000, True),
        ("".join(f"row {at}\n" for at in range(400)), False),
        ("a" * 2_999 + "b", False),
        ("".join(f"{'word ' * 70}{at}" for at in range(9)), False),
    ],
)
def test_what_repeats_itself(text: str, expected: bool) -> None:
    assert is_periodic(text) is expected
