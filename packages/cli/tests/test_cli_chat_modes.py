"""Modes, steering, folded output, the first request and the history of `heald chat`, in a real terminal."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from cli_tmux import NEEDS_TMUX, Tmux

from cli_bench import run_process
from cli_pages import here
from heald.core.messages import ToolCall
from heald.testing.server import Reply, ScriptedServer
from heald.testing.streams import wire_reply

pytestmark = NEEDS_TMUX


def chat(server: ScriptedServer, tmp_path: Path, *words: str) -> Tmux:
    place = ["--model", "m", "--base-url", f"{server.url}/v1", "--data", str(tmp_path / "data"), "--unsandboxed"]
    return Tmux(tmp_path, "chat", *words, *place)


def call(name: str, **arguments: Any) -> Reply:
    return wire_reply("chat", calls=[ToolCall(id="c1", name=name, input=arguments)])


def words_of(request: Any) -> str:
    return json.dumps([message for message in request.body["messages"] if message["role"] == "user"])


def writer(request: Any) -> Reply:
    if request.body["messages"][-1]["role"] == "tool":
        return wire_reply("chat", text=f"Done with {len(request.body['messages'])}.")
    return call("create_file", path=f"{len(request.body['messages'])}.txt", content="x\n")


async def test_shift_tab_switches_the_mode_and_the_conversation_keeps_it(tmp_path: Path) -> None:
    async with ScriptedServer(writer) as server:
        async with chat(server, tmp_path) as terminal:
            await terminal.shows("heald with m", "mode ask")
            await terminal.enter("Write one")
            await terminal.shows("Allow create_file?")
            terminal.press("BTab")  # while it runs
            await terminal.shows("Mode edits: changes files without a question, asks for the rest.", "· mode edits")
            await asyncio.sleep(0.6)
            terminal.press("y")
            await terminal.shows("Done with 4.")
            await terminal.enter("Write two")
            assert (await terminal.shows("› Write two", "Done with 8.")).count("? create_file") == 1
            terminal.press("BTab")
            await terminal.shows("Mode inside:")
            terminal.press("BTab")
            await terminal.shows("Mode plan:", "plan mode")
            await terminal.enter("Write three")
            await terminal.shows("✗ create_file")
            await terminal.enter("/mode edits")
            await terminal.shows("· mode edits")
        async with chat(server, tmp_path, "--resume") as terminal:
            await terminal.shows("· mode edits")
            await terminal.enter("/mode nothing")
            await terminal.shows("There is no mode 'nothing'")
    assert len(list(Path.cwd().glob("*.txt"))) == 2


@pytest.mark.parametrize(("key", "note"), [("C-s", "(joins at the model's next turn)"), ("C-x", "(interrupts)")])
async def test_typed_text_steers_or_interrupts_the_exchange(tmp_path: Path, key: str, note: str) -> None:
    def reply(request: Any) -> Reply:
        if "In blue" in words_of(request):
            return wire_reply("chat", text="Blue it is.")
        return call("run_command", command="touch begun; while [ ! -f over ]; do sleep 0.05; done")

    async with ScriptedServer(reply) as server, chat(server, tmp_path, "--permissions", "auto") as terminal:
        await terminal.shows("heald with m")
        await terminal.enter("Paint it")
        await terminal.shows("run_command touch begun")
        terminal.type("In blue")
        await terminal.shows("Enter queues · ^S steers · ^X interrupts")
        terminal.press(key)
        await terminal.shows(f"{note} In blue")
        here("over").write_text("")
        screen = await terminal.shows("› In blue", "Blue it is.")
        assert ("stopped; what" in screen) is (key == "C-x")
        assert len(server.requests) == 2


async def test_the_output_of_a_command_is_folded_and_opened_by_a_key(tmp_path: Path) -> None:
    def reply(request: Any) -> Reply:
        if request.body["messages"][-1]["role"] == "tool":
            return wire_reply("chat", text="It is done.")
        return call("run_command", command="seq 101 140")

    async with ScriptedServer(reply) as server, chat(server, tmp_path, "--permissions", "auto") as terminal:
        await terminal.shows("heald with m")
        terminal.press("C-o")
        await terminal.shows("No command has run yet.")
        await terminal.enter("Count")
        screen = await terminal.shows("… 40 lines of output; Ctrl-O shows them", "It is done.")
        assert "\n  120\n" not in screen
        terminal.press("C-o")
        await terminal.shows("$ seq 101 140", "\n  101\n", "\n  140\n")
        terminal.press("C-o")
        await terminal.shows("There is no output of an earlier command.")


async def test_a_chat_begins_with_a_request_and_remembers_what_was_typed(tmp_path: Path) -> None:
    async with ScriptedServer(lambda _: wire_reply("chat", text="Here it is.")) as server:
        async with chat(server, tmp_path, "Say hello to me") as terminal:
            await terminal.shows("› Say hello to me", "Here it is.")
            await terminal.enter("A typed line")
            await terminal.shows("› A typed line")
            terminal.press("C-d")
            await terminal.shows("status 0")
        history = tmp_path / "data" / "chat-history"
        assert (history.read_text(), history.stat().st_mode & 0o777) == ('"A typed line"\n', 0o600)
        async with chat(server, tmp_path) as terminal:
            await terminal.shows("heald with m")
            terminal.press("Up")
            await terminal.shows("› A typed line")
        place = ["--model", "m", "--base-url", f"{server.url}/v1", "--data", str(tmp_path / "data")]
        plain = await run_process("chat", *place, ".", "Say it plainly", said=b"")
        assert plain.out == "Here it is.\n"
        missing = await run_process("chat", *place, "nowhere")
        assert "There is no folder 'nowhere' to work in" in missing.err
