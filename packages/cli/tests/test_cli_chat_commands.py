"""Every command of `heald chat`, typed in a real terminal, and the row that shows model, context and cost."""

from pathlib import Path
from typing import Any

from cli_tmux import NEEDS_TMUX, Tmux

from cli_pages import here
from heald.core.messages import ToolCall
from heald.testing.server import Reply, ScriptedServer
from heald.testing.streams import wire_reply
from heald_cli.chat.commands import CHAT_COMMANDS

pytestmark = NEEDS_TMUX

TYPED: dict[str, tuple[str, tuple[str, ...]]] = {
    "help": ("/help", ("/undo", "Ctrl-C clears the line", "!command runs a shell command")),
    "model": ("/model", ("The model is m.",)),
    "diff": ("/diff", ("+alpha",)),
    "review": ("/review a.txt", ("› Review a.txt.", "It is written.")),
    "undo": ("/undo", ("Undone: Review a.txt.",)),
    "redo": ("/redo", ("Redone: Review a.txt.",)),
    "cost": ("/cost", ("with m:", "cost unknown")),
    "compact": ("/compact", ("The conversation is too short to gain anything.",)),
    "memory": ("/memory", ("Nothing is remembered.",)),
    "plan": ("/plan off", ("Plan mode is off",)),
    "mode": ("/mode", ("The mode is auto",)),
    "agents": ("/agents", ("There are no agents here",)),
    "goal": ("/goal", ("There is no goal.",)),
    "jobs": ("/jobs", ("No command runs in the background.",)),
    "commit": ("/commit", ("This folder is not in a git repository.",)),
    "pr": ("/pr", ("This folder is not in a git repository.",)),
    "theme": ("/theme light", ("The theme is for a light background",)),
    "attempts": ("/attempts 2", ("/attempts N REQUEST",)),
    "mcp": ("/mcp", ("No MCP server is named",)),
    "new": ("/new", ("A new conversation.",)),
    "resume": ("/resume", ("1. ", "/resume 1 goes on with the first.")),
    "clear": ("/clear", ()),
    "exit": ("/exit", ("status 0",)),
}
"""What is typed, in this order, and what the screen shows then."""


def writer(request: Any) -> Reply:
    said = str(request.body["messages"][-1])
    if "Write it" in said:
        return wire_reply(
            "chat", calls=[ToolCall(id="c", name="create_file", input={"path": "a.txt", "content": "alpha\n"})]
        )
    return wire_reply("chat", text="It is written.")


def chat(server: ScriptedServer, tmp_path: Path, *words: str) -> Tmux:
    place = ["--model", "m", "--base-url", f"{server.url}/v1", "--data", str(tmp_path / "data")]
    return Tmux(tmp_path, "chat", *place, "--permissions", "auto", *words)


async def test_each_command_does_what_the_help_states(tmp_path: Path) -> None:
    assert {*TYPED, "quit"} == set(CHAT_COMMANDS), "a new command belongs into this table"
    async with ScriptedServer(writer) as server, chat(server, tmp_path) as terminal:
        await terminal.shows("heald with m")
        await terminal.enter("Write it")
        written = ["✓ create_file Write a.txt", "+alpha", "It is written.", "cost unknown"]
        screen = await terminal.shows(*written, without="Esc interrupts")  # which the next frame removes
        assert screen.count("a.txt") == 1
        for line, texts in TYPED.values():
            await terminal.enter(line)
            await terminal.shows(*texts)
    assert here("a.txt").read_text() == "alpha\n"


async def test_the_row_below_shows_model_context_and_mode(tmp_path: Path) -> None:
    facts = {"/v1/models": {"data": [{"id": "m", "max_model_len": 131_072}]}}
    here("shop.py").write_text("class OrderBook:\n    def add_order(self): ...\n")
    async with ScriptedServer(writer, facts=facts) as server, chat(server, tmp_path) as terminal:
        await terminal.shows("heald with m", "m · context about")
        await terminal.enter("Hello")
        screen = await terminal.shows("It is written.", "% of 131k")
        assert screen.rstrip().splitlines()[-1].startswith("m · context ")
        await terminal.enter("/plan")
        await terminal.shows("% of 131k · plan mode")


async def test_the_end_of_an_exchange_is_told_in_words(tmp_path: Path) -> None:
    def cut(_: Any) -> Reply:
        return wire_reply("chat", text="Half an ans", stop="max_tokens")

    async with ScriptedServer(cut) as server, chat(server, tmp_path) as terminal:
        await terminal.shows("heald with m")
        await terminal.enter("Talk")
        await terminal.shows("The answer was cut off at the output limit.")
