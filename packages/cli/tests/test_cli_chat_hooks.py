"""Hooks around calls, as a person in a terminal sees them, and the timer of a resumed conversation."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

from cli_repository import git, make_repository
from cli_tmux import NEEDS_TMUX, Tmux

from cli_bench import run_process
from cli_pages import here
from heald.core.messages import ToolCall
from heald.testing.server import Hang, Reply, ScriptedServer
from heald.testing.streams import wire_reply, wire_stream

pytestmark = NEEDS_TMUX


def chat(server: ScriptedServer, tmp_path: Path, *words: str) -> Tmux:
    place = ["--model", "m", "--base-url", f"{server.url}/v1", "--data", str(tmp_path / "data")]
    return Tmux(tmp_path, "chat", *place, "--unsandboxed", *words)


def writer(request: Any) -> Reply:
    if request.body["messages"][-1]["role"] == "tool":
        return wire_reply("chat", text="It is done.")
    path = "b.lock" if "lock" in json.dumps(request.body["messages"][-1]) else "b.txt"
    return wire_reply("chat", calls=[ToolCall(id="c1", name="create_file", input={"path": path, "content": "x\n"})])


async def trust_hooks(**hooks: list[str]) -> None:
    rows = [f"{when} = {json.dumps(lines)}" for when, lines in hooks.items()]
    here("heald.toml").write_text("[hooks]\n" + "\n".join(rows) + "\n")
    assert (await run_process("trust", "--yes")).code == 0


async def test_a_hook_refuses_a_call_before_the_question_with_its_whole_reason(tmp_path: Path) -> None:
    reason = "printf 'Lock files are made by tools.\\nRun make lock instead.\\nSee the README.\\n'; exit 1"
    await trust_hooks(before=[f"create_file(*.lock): {reason}", "create_file: echo ran >> log"])
    async with ScriptedServer(writer) as server, chat(server, tmp_path) as terminal:
        await terminal.shows("heald with m")
        await terminal.enter("Write the lock file")
        screen = await terminal.shows("A hook refused this call.", "Run make lock instead.", "See the README.", "done.")
        assert "Allow create_file?" not in screen
        await terminal.enter("Write the other file")
        await terminal.shows("Allow create_file? y yes", "path: b.txt")
        assert here("log").read_text() == "ran\n"  # before the question
        await asyncio.sleep(0.6)
        terminal.press("y")
        await terminal.shows("✓ create_file")
        assert here("log").read_text() == "ran\n"  # and once


async def test_a_hook_that_fails_after_a_call_is_shown_as_a_failure_with_its_output(tmp_path: Path) -> None:
    await trust_hooks(after=["create_file: echo 'b.txt:1: a bad line'; exit 3"])
    async with ScriptedServer(writer) as server, chat(server, tmp_path, "--permissions", "auto") as terminal:
        await terminal.shows("heald with m")
        await terminal.enter("Write it")
        screen = await terminal.shows("a hook failed", "b.txt:1: a bad line", "failed with exit code 3", "It is done.")
        assert "✗ create_file" in screen
        assert "✓" not in screen
        assert "a bad line" in json.dumps(server.requests[-1].body)
        work = ["--model", "m", "--base-url", f"{server.url}/v1", "--workspace", ".", "--permissions", "auto"]
        here("b.txt").unlink()
        ran = await run_process("run", *work, "Write it")
        assert "✗ create_file" in ran.err
        assert "  b.txt:1: a bad line" in ran.err


async def test_the_timer_of_a_resumed_exchange_counts_from_the_start_of_the_chat(tmp_path: Path) -> None:
    def reply(request: Any) -> Reply:
        return Reply([*wire_stream("chat", text=["Half", "rest"])[:2], Hang()])

    async with ScriptedServer(reply) as server:
        async with chat(server, tmp_path) as terminal:
            await terminal.shows("heald with m")
            await terminal.enter("Write it")
            await terminal.shows("Half")
            terminal.kill_program()
        async with chat(server, tmp_path, "--resume") as terminal:
            screen = await terminal.shows("Esc interrupts")
            seconds = re.search(r"(\S+ \S*s)[^\n]* · Esc interrupts", screen)
            assert seconds is not None
            assert "h" not in seconds[1], screen


async def test_a_run_is_undone(tmp_path: Path) -> None:
    make_repository()
    async with ScriptedServer(writer) as server:
        work = ["--model", "m", "--base-url", f"{server.url}/v1", "--workspace", "."]
        await run_process("run", *work, "--permissions", "read-only", "Write it")
        nothing = await run_process("undo")
        assert (nothing.code, here("b.txt").exists()) == (1, False)
        ran = await run_process("run", *work, "--permissions", "auto", "Write it")
        assert (ran.code, here("b.txt").read_text()) == (0, "x\n")
        state = git("status", "--short")
        undone = await run_process("undo")
        assert (undone.code, undone.err.splitlines()[0]) == (0, "heald: Undone: Write it")
        assert not here("b.txt").exists()
        assert state == "?? b.txt\n"
        assert (await run_process("undo")).code == 1
