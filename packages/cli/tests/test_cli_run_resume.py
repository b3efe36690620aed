"""`heald run --resume` and the folder that a run sees."""

import asyncio
import json
import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from cli_tmux import NEEDS_TMUX, Tmux

from cli_bench import finish, run_process, started
from cli_pages import here
from heald.core.messages import ToolCall
from heald.testing.server import Hang, Pause, Reply, ScriptedServer
from heald.testing.streams import wire_reply, wire_stream


def words_of(request: Any) -> list[str]:
    messages = request.body["messages"]
    return [json.dumps(message["content"]) for message in messages if message["role"] == "user"]


def count(request: Any) -> Reply:
    return wire_reply("chat", text=f"Answer {len(words_of(request))}.")


def place(server: ScriptedServer) -> list[str]:
    return ["--model", "m", "--base-url", f"{server.url}/v1"]


async def test_a_conversation_is_continued_by_run_and_chat(tmp_path: Path) -> None:
    async with ScriptedServer(count) as server:
        ran = await run_process("run", *place(server), "--resume", "The first")
        assert (ran.code, ran.out.strip()) == (0, "Answer 1."), ran
        assert "There is no earlier conversation in this folder; this begins one." in ran.err
        ran = await run_process("run", *place(server), "The second", "--resume")
        assert (ran.code, ran.out.strip(), "no earlier" in ran.err) == (0, "Answer 2.", False), ran
        ran = await run_process("chat", *place(server), ".", "The third", "--resume")
        assert "Answer 3." in ran.out, ran
        ran = await run_process("run", *place(server), "--resume", "--json", "The fourth")
        events = [json.loads(line) for line in ran.out.splitlines()]
        session = events[-1]["session"]
        assert (ran.code, events[-1]["type"]) == (0, "exchange_response")
        ran = await run_process("run", *place(server), f"--resume={session}", "The fifth")
        assert ran.out.strip() == "Answer 5.", ran
    assert ["first" in words for words in words_of(server.requests[-1])] == [True] + [False] * 4


async def test_limits_and_wrong_uses_of_resume() -> None:
    async with ScriptedServer(count) as server:
        ran = await run_process("run", *place(server), "--resume", "ses_nothing", "More")
        assert ran.code == 2
        assert "`heald sessions list` shows them." in ran.err
        ran = await run_process("run", *place(server), "--resume", "--attempts", "2", "More")
        assert (ran.code, "--resume continues one conversation" in ran.err) == (2, True)
        ran = await run_process("run", *place(server), "--resume", "--agent", "reviewer", "More")
        assert (ran.code, "--agent begins a conversation" in ran.err) == (2, True)
    assert not server.requests


async def test_a_run_in_a_folder_sees_the_folder() -> None:
    here("shop.py").write_text("def total_price(items):\n    return sum(items)\n")
    async with ScriptedServer(count) as server:
        ran = await run_process("run", *place(server), "--workspace", ".", "What is here?")
        assert ran.code == 0, ran
    assert "total_price" in json.dumps(server.requests[0].body["messages"][0])


async def test_a_plain_run_is_continued() -> None:
    here("prices.py").write_text("def total_price():\n    return 1\n")
    here("AGENTS.md").write_text("Notes about the folder.\n")
    async with ScriptedServer(count) as server:
        ran = await run_process("run", *place(server), "The first")
        assert (ran.code, ran.out.strip(), "stored" in ran.err) == (0, "Answer 1.", False), ran
        ran = await run_process("run", *place(server), "--resume", "The second")
        assert (ran.code, ran.out.strip()) == (0, "Answer 2."), ran
        for words in (["--no-record"], ["--tools", "files"]):
            ran = await run_process("run", *place(server), *words, "Nothing of this stays")
            assert ran.code == 0, ran
        ran = await run_process("chat", *place(server), ".", "The third", "--resume")
        assert "Answer 3." in ran.out, ran
        ran = await run_process("sessions", "list", "--json")
        titles = [json.loads(line)["title"] for line in ran.out.splitlines()]
        assert titles == ["The first"]
    last = server.requests[-1].body
    assert "tools" not in last
    assert [message["role"] for message in last["messages"]] == ["user", "assistant", "user", "assistant", "user"]


@NEEDS_TMUX
async def test_a_new_conversation_after_a_plain_run_has_the_tools_of_the_start(tmp_path: Path) -> None:
    async with ScriptedServer(count) as server:
        data = {"HEALD_DATA": str(tmp_path / "data")}
        ran = await run_process("run", *place(server), "The first", env=data)
        assert ran.code == 0, ran
        async with Tmux(tmp_path, "chat", *place(server), "--resume", **data) as terminal:
            await terminal.shows("› The first", "Answer 1.")
            await terminal.enter("The second")
            await terminal.shows("Answer 2.")
            await terminal.enter("/new")
            await terminal.shows("A new conversation.")
            await terminal.enter("The third")
            await terminal.shows("› The third")
            async with asyncio.timeout(120):
                while len(server.requests) < 3:  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
    assert "tools" not in server.requests[1].body
    assert any(tool["function"]["name"] == "create_file" for tool in server.requests[2].body["tools"])


async def test_a_run_in_a_folder_is_continued_with_its_tools() -> None:
    def write(request: Any) -> Reply:
        if len(request.body["messages"]) == 2:
            call = ToolCall(id="c", name="create_file", input={"path": "a.txt", "content": "alpha\n"})
            return wire_reply("chat", calls=[call])
        return count(request)

    async with ScriptedServer(write) as server:
        words = [*place(server), "--workspace", ".", "--permissions", "auto", "--edit-format", "tools"]
        ran = await run_process("run", *words, "Write it")
        assert (ran.code, here("a.txt").read_text()) == (0, "alpha\n"), ran
        ran = await run_process("run", *words, "--resume", "What did you write?")
        assert (ran.code, ran.out.strip()) == (0, "Answer 2."), ran
    last = server.requests[-1].body
    assert [message["role"] for message in last["messages"][1:]] == ["user", "assistant", "tool", "assistant", "user"]
    assert any(tool["function"]["name"] == "create_file" for tool in last["tools"])


async def test_a_run_that_is_cancelled_is_stored_and_a_broken_store_does_not_fail_it() -> None:
    async with ScriptedServer([Reply([Hang()]), wire_reply("chat", text="Yes.")]) as server:
        ran = await run_process("run", *place(server), "--max-seconds", "0.5", "The first")
        assert ran.code == 3, ran
        ran = await run_process("run", *place(server), "--resume", "Are you there?")
        assert (ran.code, "The first" in json.dumps(server.requests[-1].body)) == (0, True), ran
    async with ScriptedServer(count) as server:
        here("file").write_text("x")
        ran = await run_process("run", *place(server), "Hello", HEALD_DATA=str(here("file") / "below"))
        assert (ran.code, ran.out.strip()) == (0, "Answer 1."), ran
        assert "The conversation is not stored" in ran.err


def half(_: Any) -> Reply:
    """An answer whose first line has come, and whose other lines keep coming."""
    lines = [step for line in range(100) for step in (wire_stream("chat", text=[f"Line {line}\n"])[1], Pause(0.02))]
    return Reply([*lines, Hang()])


async def leave(*words: str) -> int:
    """Read the first line of the output, and close the pipe."""
    reading, writing = os.pipe()
    async with started(*words, stdout=writing) as process:
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            await asyncio.to_thread(pipe.readline)
        ran = await finish(process)
    assert ran.err == ""
    return ran.code


async def interrupt(*words: str) -> int:
    """Press Ctrl-C when the first line of the answer has come."""
    async with started(*words) as process:
        assert process.stdout is not None
        while b"Line 0" not in await process.stdout.readline():
            pass
        process.send_signal(signal.SIGINT)
        ran = await finish(process)
    assert "stored" not in ran.err
    return ran.code


async def wait(*words: str) -> int:
    ran = await run_process(*words)
    assert "stored" not in ran.err
    return ran.code


ENDS: dict[str, tuple[Callable[[Any], Reply], Callable[..., Awaitable[int]], list[str], int]] = {
    "closed pipe": (half, leave, ["--stream"], 1),
    "closed pipe of events": (half, leave, ["--json"], 1),
    "ctrl-c": (half, interrupt, ["--stream"], 130),
    "time": (half, wait, ["--max-seconds", "0.5"], 3),
    "tokens": (half, wait, ["--max-tokens", "3"], 3),
    "refused": (lambda _: Reply.json({"error": {"message": "no such model"}}, 400), wait, [], 1),
    "cut off": (lambda _: Reply(wire_stream("chat", text=["Half ", "rest"])[:2]), wait, ["--retry-attempts", "1"], 1),
}
"""How a run ends before its answer does: what the model sends, who reads it, more options, and the exit code."""


@pytest.mark.parametrize("end", ENDS)
async def test_a_run_that_ends_early_is_continued(end: str) -> None:
    reply, read, words, code = ENDS[end]
    async with ScriptedServer(lambda sent: count(sent) if "Go on" in str(sent.body) else reply(sent)) as server:
        assert await read("run", *place(server), "The first", *words) == code
        ran = await run_process("run", *place(server), "--resume", "Go on")
        assert (ran.code, "no earlier" in ran.err) == (0, False), ran
    assert "The first" in words_of(server.requests[-1])[0]
