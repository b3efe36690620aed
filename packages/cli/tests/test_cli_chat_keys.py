"""Keys and pastes in `heald chat`: what is typed, sent, decided and interrupted, whatever bytes come."""

import asyncio
import sys
from argparse import Namespace
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from heald.commands.terminal import Colours
from heald.commands.text_columns import align_columns, text_width, truncate
from heald_cli.chat.console import ChatConsole
from heald_cli.chat.display import EventDisplay
from heald_cli.chat.markdown import Renderer
from heald_cli.chat.screen import ChatScreen

ENTER, ESC, UP, DOWN = "\r", "\x1b", "\x1b[A", "\x1b[B"


class Typed:
    """A chat console whose keys come from a pipe. Requests are kept instead of being sent."""

    def __init__(self, pipe: PipeInput) -> None:
        self.pipe = pipe
        self.calls: list[tuple[Any, ...]] = []
        session = SimpleNamespace(cancel=self._cancel, deny=self._deny, approve=self._approve)
        self.chat = SimpleNamespace(session=session, is_busy=False)
        self.screen = ChatScreen(sys.stdout, source=pipe, output=DummyOutput())
        self.display = EventDisplay(self.screen, Colours(on=False))
        self.console = ChatConsole(cast("Any", self.chat), self.screen, self.display, Colours(on=False), Namespace())
        self.printed: list[str] = []
        self.screen.print_rows = lambda rows: self.printed.extend(rows)  # pyright: ignore[reportAttributeAccessIssue]

    def _cancel(self, reason: str) -> bool:
        self.calls.append(("cancel", reason))
        return True

    def _deny(self, approval: str, reason: str, *, by: str) -> None:
        assert by == "terminal"
        self.calls.append(("deny", approval, reason))

    def _approve(self, approval: str, *, always: bool, digest: str, by: str) -> None:
        assert (digest, by) == ("d", "terminal")
        self.calls.append(("approve", approval, always))

    async def press(self, *pieces: str) -> None:
        for piece in pieces:
            self.pipe.send_text(piece)
            await asyncio.sleep(0.02)

    @property
    def text(self) -> str:
        return self.screen.buffer.text

    def sent(self) -> list[str]:
        queue = self.console._requests  # pyright: ignore[reportPrivateUsage]
        return [self.console._expand(queue.get_nowait()) for _ in range(queue.qsize())]  # pyright: ignore[reportPrivateUsage]

    def ask(self) -> None:
        """A call waits for a decision, and has for a while."""
        request = SimpleNamespace(approval="ap_1", digest="d", name="run_command")
        self.display.approval = cast("Any", request)
        self.display.approval_since = -10.0


@asynccontextmanager
async def typed() -> AsyncGenerator[Typed]:
    with create_pipe_input() as pipe:
        session = Typed(pipe)
        running = asyncio.create_task(session.screen.run())
        await asyncio.sleep(0.02)
        try:
            yield session
        finally:
            session.screen.close()
            await running


@pytest.mark.parametrize(
    ("keys", "text", "cursor"),
    [
        (["abc"], "abc", 3),
        (["ä€🙂"], "ä€🙂", 3),
        (["one two", "\x1bb", "big ", "\x01", "\x1b[3~", "O"], "One big two", 1),
        (["one two", "\x1b[1;5D", "\x0b"], "one ", 4),
        (["one two", "\x17"], "one ", 4),
        (["one", "\x15"], "", 0),
        (["a", "\x1b\r", "b", "\n", "c", "\x1b[13;2u", "d"], "a\nb\nc\nd", 7),
        (["x\x7f\x7f"], "", 0),
        (["a", "\x1b[999;999z", "b\x1bOzc"], "abc", 3),
    ],
)
async def test_editing(keys: list[str], text: str, cursor: int) -> None:
    async with typed() as chat:
        await chat.press(*keys)
        assert (chat.text, chat.screen.buffer.cursor_position) == (text, cursor)


async def test_enter_sends_and_the_history_remembers() -> None:
    async with typed() as chat:
        await chat.press("first", ENTER, "second", ENTER, "  ", ENTER)
        assert chat.sent() == ["first", "second"]
        await chat.press("draft")
        for key, expected in ((UP, "second"), (UP, "first"), (DOWN, "second"), (DOWN, "draft")):
            await chat.press(key)
            assert chat.text == expected


async def test_what_is_pasted_keeps_its_lines_and_loses_its_escapes() -> None:
    async with typed() as chat:
        await chat.press("\x1b[200~a\r\nb\rc\x1b[31m\td\x1b[201~")
        assert chat.text == "a\nb\nc    d"
        await chat.press(ENTER)
        assert chat.sent() == ["a\nb\nc    d"]


async def test_a_long_paste_is_a_marker_until_it_is_sent() -> None:
    long = "\n".join(f"line {number}" for number in range(50))
    async with typed() as chat:
        await chat.press("See ", f"\x1b[200~{long}\x1b[201~", "please")
        assert chat.text == "See [paste 1: 50 lines] please"
        await chat.press(f"\x1b[200~{'x' * 9000}\x1b[201~", ENTER)
        assert chat.sent() == [f"See {long} please{'x' * 9000} "]


async def test_a_picture_is_looked_for_when_nothing_is_pasted(monkeypatch: pytest.MonkeyPatch) -> None:
    async with typed() as chat:
        asked: list[bool] = []

        def attach(*, is_asked: bool) -> None:
            asked.append(is_asked)

        monkeypatch.setattr(chat.console, "_attach_picture", attach)
        await chat.press("\x16", "\x1b[200~\x1b[201~")
        assert asked == [True, False]


async def test_esc_interrupts() -> None:
    async with typed() as chat:
        chat.chat.is_busy = True
        await chat.press("typed", ESC)
        await asyncio.sleep(0.3)
        assert chat.calls == [("cancel", "The person interrupted.")]
        assert chat.text == "typed"


async def test_ctrl_c_clears_then_interrupts_then_keeps() -> None:
    async with typed() as chat:
        chat.chat.is_busy = True
        await chat.press("typed", "\x03")
        assert (chat.text, chat.calls) == ("", [])
        await chat.press("\x03")
        assert len(chat.calls) == 1
        chat.chat.is_busy = False
        await chat.press("\x03")
        assert chat.printed == ["Press Ctrl-C again, or Ctrl-D, to leave."]
        await chat.press("\x03")
        assert not chat.screen._app.is_running  # pyright: ignore[reportPrivateUsage]


async def test_ctrl_d_deletes_or_keeps() -> None:
    async with typed() as chat:
        await chat.press("ab", "\x01", "\x04")
        assert chat.text == "b"
        await chat.press("\x04", "\x04")
        assert not chat.screen._app.is_running  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize(
    ("keys", "calls"),
    [
        ("y", [("approve", "ap_1", False)]),
        ("A", [("approve", "ap_1", True)]),
        ("n", []),
        ("yes please", []),
        ("\x1b[200~y\x1b[201~", []),
        ("x", []),
    ],
)
async def test_one_key_decides_and_a_text_does_not(keys: str, calls: list[Any]) -> None:
    async with typed() as chat:
        chat.ask()
        await chat.press(keys)
        assert chat.calls == calls


@pytest.mark.parametrize(("typed_reason", "reason"), [("", "The person denied it."), ("any yes", "any yes")])
async def test_a_refusal_takes_a_reason(typed_reason: str, reason: str) -> None:
    async with typed() as chat:
        chat.ask()
        await chat.press("n", typed_reason, ENTER)
        assert chat.calls == [("deny", "ap_1", reason)]
        assert (chat.text, chat.sent()) == ("", [])


async def test_a_key_right_after_the_question_decides_nothing() -> None:
    async with typed() as chat:
        chat.ask()
        chat.display.approval_since = 1e12
        await chat.press("y")
        assert (chat.calls, chat.text) == ([], "")


@given(st.lists(st.binary(max_size=12), max_size=8))
def test_any_bytes_are_accepted(pieces: list[bytes]) -> None:
    async def type_all() -> None:
        async with typed() as chat:
            for piece in pieces:
                chat.pipe.send_bytes(piece)
            await asyncio.sleep(0.01)
            chat.pipe.flush()
            assert "\x1b" not in "".join(chat.sent())

    asyncio.run(type_all())


# --- rows and columns -----------------------------------------------------------------------------------------------


@given(st.text(st.sampled_from("ab 漢\u0301é"), max_size=80), st.integers(12, 30))
def test_rows_are_no_wider_than_the_terminal_and_lose_no_letter(text: str, columns: int) -> None:
    rows = Renderer(lambda: columns, colours=True).wrap(f"\x1b[1m{text}\x1b[0m")
    bare = [row.replace("\x1b[1m", "").replace("\x1b[0m", "") for row in rows]
    assert all(text_width(row) <= columns for row in bare)
    assert "".join(bare).replace(" ", "") == text.replace(" ", "")


def test_rows_break_at_spaces() -> None:
    renderer = Renderer(lambda: 13, colours=False)
    assert renderer.wrap("one two three four") == ["one two three", "four"]
    assert renderer.wrap("") == [""]


@given(st.text(max_size=40), st.integers(1, 20))
def test_cut_text_fits(text: str, columns: int) -> None:
    assert text_width(truncate(text, columns)) <= max(columns, 0)


def test_tables_stand_in_columns() -> None:
    assert align_columns([["a", "b"], ["漢字", "c"]]) == ["a     b", "漢字  c"]
