"""A command that hides a part of itself is shown whole to the person who decides: in every kind of terminal."""

import asyncio
import os
import pty
import re
import signal
import termios
from pathlib import Path

import pytest
from cli_tmux import NEEDS_TMUX, Tmux

from cli_bench import LOADED
from heald.core.messages import ToolCall
from heald.testing.server import Reply, ScriptedServer
from heald.testing.streams import wire_reply
from hidden_texts import ATTACKS, MARKER, assert_all_visible, assert_visible
from warm_process import warm_host

COMMANDS = list(ATTACKS.values())
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_STATUS = re.compile(r"\r\x1b\[K(… [^\r\n]*)?")


def run_commands(*commands: str) -> Reply:
    calls = [
        ToolCall(id=f"c{at}", name="run_command", input={"command": command}) for at, command in enumerate(commands)
    ]
    return wire_reply("chat", calls=calls)


def one_by_one(*commands: str) -> list[Reply]:
    """A model that asks for one command after the other."""
    calls = [
        wire_reply("chat", calls=[ToolCall(id=f"c{at}", name="run_command", input={"command": command})])
        for at, command in enumerate(commands)
    ]
    return [*calls, wire_reply("chat", text="Done.")]


def run_words(server: ScriptedServer) -> list[str]:
    model = ["--model", "m", "--base-url", f"{server.url}/v1"]
    return ["run", "Go.", *model, "--tools", "shell", "--permissions", "ask", "--max-turns", "200"]


def chat_words(server: ScriptedServer, tmp_path: Path) -> list[str]:
    model = ["--model", "m", "--base-url", f"{server.url}/v1", "--data", str(tmp_path / "data")]
    return ["chat", *model, "--tools", "shell", "--permissions", "ask"]


async def on_terminal(words: list[str], answers: bytes, *, without_output: bool = False) -> str:
    """What `heald …` writes to a terminal on which somebody answers; `without_output`, its errors and questions."""
    control, terminal = pty.openpty()
    termios.tcsetwinsize(terminal, (40, 100))
    exit_code, theirs = os.pipe()
    output = os.open(os.devnull, os.O_WRONLY) if without_output else os.dup(terminal)
    streams = [terminal, output, terminal, theirs]
    environment = os.environ | {"TERM": "xterm"}
    host = warm_host(*LOADED, strict=True)
    pid = await asyncio.to_thread(host.start, {"words": words}, Path.cwd(), environment, streams)
    for descriptor in (terminal, output, theirs):
        os.close(descriptor)
    reading = asyncio.create_task(asyncio.to_thread(_read_all, control))
    writing = asyncio.create_task(asyncio.to_thread(_write_all, control, answers))
    has_ended = asyncio.create_task(asyncio.to_thread(_read_all, exit_code))
    try:
        await asyncio.wait_for(asyncio.shield(has_ended), 240)
    finally:
        if not has_ended.done():
            os.kill(pid, signal.SIGKILL)
            await has_ended
        screen = await reading
        await writing
        os.close(control)
        os.close(exit_code)
    return screen.decode("utf-8", "replace")


def _write_all(control: int, answers: bytes) -> None:
    for line in answers.splitlines(keepends=True):
        os.write(control, line)


def _read_all(control: int) -> bytes:
    pieces: list[bytes] = []
    while True:
        try:
            piece = os.read(control, 65536)
        except OSError:  # the other side is closed
            return b"".join(pieces)
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)


def parts_of(screen: str, head: str) -> list[str]:
    """What stands between one question and the next."""
    screen = _STATUS.sub("", screen).replace("\r\n", "\n")
    return [part.partition("allow? [y]es")[0] for part in screen.split(head)[1:]]


async def test_run_on_a_terminal_shows_every_command_whole() -> None:
    async with ScriptedServer(one_by_one(*COMMANDS)) as server:
        screen = await on_terminal(run_words(server), b"n\n\n" * len(COMMANDS))
    assert_all_visible(parts_of(screen, "heald: run_command\n"), COMMANDS)


async def test_chat_without_a_screen_shows_every_command_whole(tmp_path: Path) -> None:
    """Standard output is not a terminal. The questions come one after the other, though the calls are made at once."""
    replies = [run_commands(*COMMANDS), wire_reply("chat", text="All is denied.")]
    async with ScriptedServer(replies) as server:
        answers = b"Go.\n" + b"n\n\n" * len(COMMANDS) + b"/exit\n"
        screen = await on_terminal(chat_words(server, tmp_path), answers, without_output=True)
    assert_all_visible(parts_of(screen, "heald: run_command\n"), COMMANDS)


@NEEDS_TMUX
async def test_chat_on_a_screen_shows_every_command_whole(tmp_path: Path) -> None:
    """The calls are made at once, and denied one after the other."""
    replies = [run_commands(*COMMANDS), wire_reply("chat", text="All is denied.")]
    async with ScriptedServer(replies) as server, Tmux(tmp_path, *chat_words(server, tmp_path)) as terminal:
        terminal.keep_lines(20_000)
        await terminal.shows("heald with m")
        await terminal.enter("Go.")
        screen = ""
        for number in range(1, len(COMMANDS) + 1):
            screen = await wait_for_count(terminal, "\n? run_command\n", number, "Allow run_command? y yes")
            await asyncio.sleep(0.45)  # a key that is pressed at once decides nothing
            terminal.press("n")
            await terminal.shows("Why not?")
            terminal.press("Enter")
        await terminal.shows("All is denied.")
    parts = [part.partition("\n  denied\n")[0] for part in screen.split("\n? run_command\n")[1:]]
    parts[-1] = parts[-1].partition("\nAllow run_command?")[0]
    assert_all_visible(parts, COMMANDS)


async def wait_for_count(terminal: Tmux, text: str, count: int, more: str = "") -> str:
    async with asyncio.timeout(120):
        while True:
            screen = await asyncio.to_thread(terminal.screen)
            if screen.count(text) >= count and more in screen:
                return screen
            await asyncio.sleep(0.05)


HIDDEN_MIDDLE = "echo start\n" + "echo more\n" * 200 + f"{MARKER}\n" + "echo more\n" * 200 + "echo end"


async def test_a_long_command_is_cut_with_a_count_and_shown_whole_on_demand() -> None:
    async with ScriptedServer(one_by_one(HIDDEN_MIDDLE)) as server:
        screen = await on_terminal(run_words(server), b"v\nn\n\n")
    before, whole, *_ = screen.split("allow? [y]es")
    left = re.search(r"⟦… ([\d,]+) characters, \d+ line breaks left out⟧", before)
    assert left is not None
    assert f"[v]iew all ({left[1]} characters are left out)" in whole
    assert MARKER not in before
    assert_visible(whole, HIDDEN_MIDDLE)


@NEEDS_TMUX
async def test_a_key_shows_a_long_command_whole_on_the_screen(tmp_path: Path) -> None:
    async with (
        ScriptedServer(one_by_one(HIDDEN_MIDDLE)) as server,
        Tmux(tmp_path, *chat_words(server, tmp_path)) as terminal,
    ):
        terminal.keep_lines(20_000)
        await terminal.shows("heald with m")
        await terminal.enter("Go.")
        before = await terminal.shows("characters, ", "left out", "v view all (")
        assert MARKER not in before
        await asyncio.sleep(0.6)
        terminal.press("v")
        assert_visible(await terminal.shows(MARKER), HIDDEN_MIDDLE)
        await asyncio.sleep(0.6)
        terminal.press("n")
        await terminal.shows("Why not?")
        terminal.press("Enter")
        await terminal.shows("Done.")


async def test_a_diff_shows_lines_of_dashes_and_hidden_characters(tmp_path: Path) -> None:
    path = tmp_path / "query.sql"
    path.write_text("-- old comment\nkept\n")
    change = {"old_text": "-- old comment", "new_text": f"++ {MARKER}\x1b[2K"}
    edit = {"path": "query.sql", "edits": [change]}
    calls = [ToolCall(id="c1", name="edit_file", input=edit)]
    replies = [
        wire_reply("chat", calls=[ToolCall(id="c0", name="read_file", input={"path": "query.sql"})]),
        wire_reply("chat", calls=calls),
        wire_reply("chat", text="Denied."),
    ]
    async with ScriptedServer(replies) as server:
        words = ["run", "Go.", "--model", "m", "--base-url", f"{server.url}/v1", "--permissions", "ask"]
        screen = await on_terminal([*words, "--workspace", str(tmp_path)], b"n\n\n")
    [part] = parts_of(screen, "heald: edit_file\n")
    lines = _COLOUR.sub("", part).split("\n")
    assert lines[:3] == ["  path: query.sql", "  @@ -1,2 +1,2 @@", "  --- old comment"]
    assert f"  +++ {MARKER}⟦\\x1b⟧[2K" in lines
    assert "  ! the diff contains 1 hidden character, written as ⟦…⟧" in lines


async def test_a_question_is_shown_whole(tmp_path: Path) -> None:
    question = f"May I\x1b]0;{MARKER}\x07\u202e?\nheald: run_command"
    asked = ToolCall(id="c1", name="ask_user", input={"question": question, "suggestions": ["Y\u200bes", "N\ro"]})
    async with ScriptedServer([wire_reply("chat", calls=[asked]), wire_reply("chat", text="Done.")]) as server:
        words = ["run", "Go.", "--model", "m", "--base-url", f"{server.url}/v1", "--workspace", str(tmp_path)]
        screen = await on_terminal(words, b"2\n")
        assert server.requests[1].body["messages"][-1]["content"] == "N\ro"
    part = _STATUS.sub("", screen).partition("a number, or an answer")[0].replace("\r\n", "\n").partition("heald: ")[2]
    assert_visible(part, question)
    assert "  │ heald: run_command" in _COLOUR.sub("", part)
    assert "  1. Y⟦\\u200b⟧es\n  2. N⟦\\r⟧o\n" in _COLOUR.sub("", part)


@NEEDS_TMUX
async def test_a_plan_with_hidden_text_is_shown_as_text(tmp_path: Path) -> None:
    """Markdown hides comments, and the addresses of links."""
    plan = f"1. Look.\u202e\n\n<!-- {MARKER} -->\n\n2. [Read](https://example.org/{MARKER.replace(' ', '-')})."
    async with (
        ScriptedServer(lambda _: wire_reply("chat", text=plan)) as server,
        Tmux(tmp_path, *chat_words(server, tmp_path), "--plan") as terminal,
    ):
        await terminal.shows("Plan mode: the model may only read.")
        await terminal.enter("Plan it")
        screen = await terminal.shows("The plan: y carry it out", "! contains 1 hidden character", MARKER)
        assert f"  │ <!-- {MARKER} -->" in screen
        await asyncio.sleep(0.6)
        terminal.press("v")
        await wait_for_count(terminal, f"  │ <!-- {MARKER} -->", 2)


CURSOR = {
    "carriage return": "shown\rother",
    "carriage return in pieces": ["shown\r", "other"],
    "up and erase": "shown\n\x1b[1A\x1b[2Kother",
    "backspaces": "shown\x08\x08\x08\x08\x08other",
    "c1": "shown\x9b5Dother",
    "index": "shown\x1bMother\x1bD\x1bE",
    "line tabulation": "shown\x0bother\x0c",
}


@pytest.mark.parametrize("name", CURSOR)
@pytest.mark.parametrize("kind", ["text", "thinking"])
async def test_no_text_of_a_model_moves_the_cursor(name: str, kind: str) -> None:
    said = CURSOR[name]
    reply = wire_reply("chat", text=said) if kind == "text" else wire_reply("chat", thinking=said, text="Done.")
    async with ScriptedServer([reply]) as server:
        screen = await on_terminal(run_words(server), b"")
    screen = _COLOUR.sub("", _STATUS.sub("", screen)).replace("\r\n", "\n")
    assert re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", screen) is None, ascii(screen)
    assert "shown" in screen
    assert "other" in screen


async def test_events_on_a_terminal_are_harmless() -> None:
    async with ScriptedServer([wire_reply("chat", text="shown\x9b5D\u202eother")]) as server:
        screen = await on_terminal([*run_words(server), "--json"], b"")
    assert re.search("[\x7f-\x9f\u202e]", screen) is None, ascii(screen)
    assert "\\u009b5D\\u202e" in screen
