"""An answer of a small model that repeats itself without an end is stopped; nothing of it is written."""

from pathlib import Path
from typing import Any

import pytest
from agent.test_text_editing import SMALL
from cancel_support import soon

import heald
from heald.testing.server import Pause, Reply, ScriptedServer
from heald.testing.streams import wire_reply, wire_stream
from heald.wires.repetition import Repetition

STUB = "def legacy():\n    pass\n"
LINES = ["        'A': 1,\n", "        'E': 1,\n", "        'I': 1,\n"]


def endless(head: str, pieces: list[str]) -> Reply:
    steps: list[Any] = []
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
    assert 750 < (result.usage.output or 0) < 1_500  # by estimate: the server has not reported it
    assert (tmp_path / "etl.py").read_text() == "def legacy():\n    return {'A': 1}\n"


async def test_a_large_model_is_not_stopped() -> None:
    text = "A table of zeros: " + "0, " * 2_000
    async with ScriptedServer([wire_reply("chat", text=list(text))]) as server:
        model = heald.Model("large-model", base_url=f"{server.url}/v1", api_key="no-key")
        async with heald.Agent(model) as agent:
            result = await agent.run("Print a table.")
    assert result.text == text


ROWS = "".join(f'    {{"id": {at}, "name": "Item {at}", "price": 1.0}},\n' for at in range(400))
MODULE = "".join(f"def function_{at}(value):\n    return value + {at}\n\n\n" for at in range(120))
STEPS = "".join(f"{at}. The function must handle the case of zero words and return nothing.\n" for at in range(200))
CYCLE = "".join(f"The class should have a method {name} that does what its name says.\n" for name in "abcdefgh")


@pytest.mark.parametrize(
    ("text", "is_stopped"),
    [
        ("It goes on.\nThe function must return a list of all values that it was given.\n" * 100, True),
        (STEPS, True),
        (CYCLE * 20, True),
        ("a.py\n```\n" + "y = compute(first, second)\n" * 200, True),
        (f"rows.py\n```\nROWS = [\n{ROWS}]\n```\n", False),
        (f"First:\n```\n{MODULE}```\nmodule.py\n```\n{MODULE}```\nAgain:\n```\n{MODULE}```\n", False),
        (CYCLE * 6, False),
        ("\n" * 5_000, False),
    ],
)
def test_what_repeats_itself(text: str, is_stopped: bool) -> None:
    repetition = Repetition()
    pieces = [text[at : at + 7] for at in range(0, len(text), 7)]
    assert any(repetition.follow(piece) for piece in pieces) is is_stopped


async def test_a_model_that_repeats_itself_in_every_answer_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "etl.py").write_text(STUB)
    head = "etl.py\n```python\ndef legacy():\n    return {\n"
    async with ScriptedServer([endless(head, LINES), endless(head, LINES)]) as server:
        model = heald.Model(SMALL, base_url=f"{server.url}/v1", api_key="no-key")
        async with heald.Agent(model, tools=["files"], workspace=tmp_path) as agent:
            result = await agent.send("Implement legacy in etl.py.").result()
    assert (result.status, result.turns) == ("failed", 2)
    assert "repeated itself" in str(result.error)
    assert "provider ended" not in str(result.error)
    assert (tmp_path / "etl.py").read_text() == STUB


async def test_an_answer_in_words_that_repeats_itself_is_asked_for_again_without_it(tmp_path: Path) -> None:
    (tmp_path / "etl.py").write_text(STUB)
    right = "etl.py\n```python\ndef legacy():\n    return {'A': 1}\n```\n"
    words = ["The letters should be lower-case rather than upper-case.\n", "- A is worth 1 point.\n"]
    async with ScriptedServer([endless("It must change.\n", words), wire_reply("chat", text=right)]) as server:
        model = heald.Model(SMALL, base_url=f"{server.url}/v1", api_key="no-key")
        async with heald.Agent(model, tools=["files"], workspace=tmp_path) as agent:
            result = await agent.run("Implement legacy in etl.py.")
        last = server.requests[1].body["messages"]
    assert (result.status, result.turns) == ("completed", 2)
    assert "rather than upper-case" not in str(last)
    assert str(last[-1]["content"]).endswith("Begin with the line etl.py.")
