"""`heald run` on a real terminal: approvals with a letter, questions with a number, an interrupt at the prompt."""

import asyncio
import os
import pty
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from test_cli_tools import calls

from cli_bench import START, run_with
from heald.commands.terminal import BOLD, YELLOW, Colours, choose_theme
from heald.commands.text_columns import count_rows
from heald.testing.server import Cut, Pause, Reply, ScriptedServer
from heald.testing.streams import wire_reply, wire_stream


class Terminal:
    """A program at the other end of a pseudo terminal."""

    def __init__(self, process: asyncio.subprocess.Process, master: int) -> None:
        self.process = process
        self.seen = ""
        self._master = master

    async def until(self, words: str) -> None:
        async with asyncio.timeout(60):
            while words not in self.seen:
                await self._more()

    async def end(self) -> int:
        async with asyncio.timeout(60):
            while self.process.returncode is None:
                await self._more()
        return await self.process.wait()

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    async def _more(self) -> None:
        try:
            self.seen += os.read(self._master, 4096).decode(errors="replace")
        except BlockingIOError:
            await asyncio.sleep(0.01)
        except OSError:  # the program has closed its side
            await asyncio.sleep(0.01)


@asynccontextmanager
async def terminal(*words: str) -> AsyncGenerator[Terminal]:
    master, slave = pty.openpty()
    os.set_blocking(master, False)
    process = await asyncio.create_subprocess_exec(
        *[sys.executable, "-c", START, *words], stdin=slave, stdout=slave, stderr=slave, start_new_session=True
    )
    os.close(slave)
    try:
        yield Terminal(process, master)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        os.close(master)


@pytest.mark.parametrize(("answer", "written"), [("y\n", True), ("n\nUse another.\n", False)])
async def test_an_approval(answer: str, written: bool, tmp_path: Path) -> None:
    replies = [calls(("write_file", {"path": "a.txt", "content": "x"})), wire_reply("chat", text="Done.")]
    async with ScriptedServer(replies) as server:
        async with terminal(*run_with(server, "Go", "--workspace", str(tmp_path))) as at:
            await at.until("allow? [y]es, [n]o, [a]lways this: ")
            assert not (tmp_path / "a.txt").exists()
            first, *rest = answer.splitlines(keepends=True)
            at.type(first)
            for line in rest:
                await at.until("why?")
                at.type(line)
            assert await at.end() == 0
        told = str(server.requests[1].body["messages"][-1]["content"])
    assert (tmp_path / "a.txt").exists() is written
    assert ("Use another." in told) is not written


async def test_a_question(tmp_path: Path) -> None:
    asked = ("ask_user", {"question": "Which colour?", "suggestions": ["red", "blue"]})
    async with ScriptedServer([calls(asked), wire_reply("chat", text="Blue it is.")]) as server:
        async with terminal(*run_with(server, "Go", "--workspace", str(tmp_path))) as at:
            await at.until("2. blue")
            at.type("2\n")
            assert await at.end() == 0
        assert "blue" in str(server.requests[1].body["messages"][-1]["content"])


async def test_an_interrupt_at_the_prompt(tmp_path: Path) -> None:
    async with (
        ScriptedServer([calls(("write_file", {"path": "a.txt", "content": "x"}))]) as server,
        terminal(*run_with(server, "Go", "--workspace", str(tmp_path))) as at,
    ):
        await at.until("allow?")
        at.process.send_signal(signal.SIGINT)
        assert await at.end() == 130
    assert "Traceback" not in at.seen
    assert not (tmp_path / "a.txt").exists()


async def test_what_is_waited_for_is_reported() -> None:
    """Once it takes longer than a second; and it is gone when the answer is there."""
    reply = Reply([Pause(4), *wire_stream("chat", text="Here it is.")])
    async with ScriptedServer([reply]) as server, terminal(*run_with(server, "Go")) as program:
        await program.until("… waiting for the model, ")
        await program.until("Here it is.")
        assert await program.end() == 0
    assert "\r\x1b[KHere it is." in program.seen


async def test_discarded_text_is_erased() -> None:
    cut = Reply([*wire_stream("chat", thinking="Hm.", text=["Half\n", "an answer"])[:4], Pause(0.05), Cut()])
    async with (
        ScriptedServer([cut, wire_reply("chat", text="Whole")]) as server,
        terminal(*run_with(server, "Hi")) as at,
    ):
        assert await at.end() == 0
    before, erase, after = at.seen.rpartition("\x1b[2A\r\x1b[J")
    assert erase
    assert "Half" in before
    assert "an answer" in before
    assert "Half" not in after
    assert "Whole" in after


@pytest.fixture
def dumb_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The terminal of an editor such as Emacs: its cursor cannot be moved."""
    monkeypatch.setenv("TERM", "dumb")


@pytest.mark.usefixtures("dumb_terminal")
async def test_a_run_in_a_dumb_terminal() -> None:
    cut = Reply([*wire_stream("chat", text=["Half\n", "an answer"])[:3], Pause(1.5), Cut()])
    async with (
        ScriptedServer([cut, wire_reply("chat", text="Whole")]) as server,
        terminal(*run_with(server, "Hi")) as at,
    ):
        assert await at.end() == 0
    assert "The text above broke off and does not count." in at.seen
    assert "Whole" in at.seen
    assert "\x1b" not in at.seen


@pytest.mark.usefixtures("dumb_terminal")
async def test_a_chat_in_a_dumb_terminal(tmp_path: Path) -> None:
    async with ScriptedServer([wire_reply("chat", text="Good day.")]) as server:
        words = ["--model", "m", "--base-url", f"{server.url}/v1", "--data", str(tmp_path)]
        async with terminal("chat", *words) as at:
            await at.until("Each line is a request; /exit ends.")
            at.type("Hello\n")
            await at.until("Good day.")
            at.type("/exit\n")
            assert await at.end() == 0
    assert "\x1b" not in at.seen


def test_rows_of_a_text() -> None:
    assert [
        count_rows(text, 10) for text in ("", "a", "a\n", "x" * 10, "x" * 11, "字" * 5, "字" * 6, "x" * 9 + "字")
    ] == [*(1, 1, 2, 1, 2, 1, 2, 2)]


def test_colours_of_a_light_background(monkeypatch: pytest.MonkeyPatch) -> None:
    for reported, theme in (("0;15", "light"), ("15;0", "dark"), ("0;default;7", "light"), ("", "dark")):
        monkeypatch.setenv("COLORFGBG", reported)
        assert choose_theme("auto") == theme
    assert (choose_theme("dark"), choose_theme("light")) == ("dark", "light")
    assert Colours(on=True, theme="dark")("x", YELLOW) == "\x1b[33mx\x1b[0m"
    assert Colours(on=True, theme="light")("x", BOLD, YELLOW) == "\x1b[1;35mx\x1b[0m"
    assert Colours(on=False, theme="light")("x", YELLOW) == "x"
