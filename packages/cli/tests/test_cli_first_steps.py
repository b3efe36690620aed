"""A person's first lines: requests through a pipe, and lists of nothing."""

import io
import os
import pty

import pytest

from cli_bench import Ran, finish, run, run_process, run_with, started
from heald.testing.server import ScriptedServer
from heald.testing.streams import wire_reply

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize("words", [[], ["-"]], ids=["without a prompt", "with -"])
async def test_a_text_in_a_pipe_is_the_request(words: list[str]) -> None:
    async with ScriptedServer([wire_reply("chat", text="It adds a line.")]) as server:
        ran = await run_process(*run_with(server, *words), said=b"+ a line\n")
        assert server.requests[0].body["messages"][-1]["content"] == "+ a line\n"
    assert (ran.code, ran.out) == (0, "It adds a line.\n")


async def test_a_prompt_leaves_the_pipe_alone() -> None:
    async with ScriptedServer([wire_reply("chat", text="Hello.")]) as server:
        ran = await run_process(*run_with(server, "Hi"), said=b"lines for the next command\n")
        assert server.requests[0].body["messages"][-1]["content"] == "Hi"
    assert ran.code == 0


async def test_nothing_to_ask(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    ran = await run(capsys, "run")
    assert ran == Ran(2, "", "heald: No prompt given.\n")


async def test_nothing_to_ask_in_a_terminal() -> None:
    """It does not wait for a text that nobody knows is expected."""
    keyboard, terminal = pty.openpty()
    try:
        async with started("run", stdin=terminal) as process:
            ran = await finish(process)
    finally:
        os.close(keyboard)
        os.close(terminal)
    assert (ran.code, ran.err) == (2, "heald: No prompt given.\n")


async def test_a_list_of_no_decisions_says_so(capsys: Capture) -> None:
    ran = await run(capsys, "trust", "--list")
    assert (ran.code, ran.out) == (0, "")
    assert ran.err.startswith("heald: Nothing is trusted or refused yet")
    assert await run(capsys, "trust", "--list", "--json") == Ran(0, "", "")
