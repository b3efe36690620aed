"""`heald run` with programs: their calls stand below them."""

import shutil
from pathlib import Path

import pytest

from cli_bench import run, run_with
from heald.core.messages import ToolCall
from heald.testing.server import ScriptedServer
from heald.testing.streams import wire_reply
from heald.tools.shell.sandbox import PATH, Sandbox

pytestmark = pytest.mark.skipif(
    Sandbox().available() is not None or shutil.which("python3", path=PATH) is None,
    reason="programs cannot be run here",
)
PROGRAM = """for name in ("a.txt", "none.txt"):
    try:
        read_file(path=name)
    except ToolError:
        print(name)
"""


async def test_calls_of_a_program_are_indented_below_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_text("hello\n")
    program = ToolCall(id="call_1", name="run_program", input={"program": PROGRAM})
    other = ToolCall(id="call_2", name="read_file", input={"path": "a.txt"})
    replies = [
        wire_reply("chat", calls=[program]),
        wire_reply("chat", calls=[other]),
        wire_reply("chat", text="Done."),
    ]
    async with ScriptedServer(replies) as server:
        words = ["Do it", "--workspace", str(tmp_path), "--tools", "read,code"]
        ran = await run(capsys, *run_with(server, *words))
        (result,) = [message for message in server.requests[1].body["messages"] if message["role"] == "tool"]
    assert ran.code == 0
    assert result["content"] == "none.txt"
    lines = [line.split("(")[0] for line in ran.err.splitlines()]
    assert lines[:5] == [
        "▸ run_program for name in ",
        "  ✓ read_file Read a.txt ",
        "  ✗ read_file Read none.txt ",
        "✓ run_program for name in ",
        "✓ read_file Read a.txt ",
    ]
