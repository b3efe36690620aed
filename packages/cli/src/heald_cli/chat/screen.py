"""The chat screen: printed rows scroll away above; the unfinished answer, a status line and the input stay below."""

import asyncio
import os
import re
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, TextIO

from prompt_toolkit.application import Application, in_terminal, run_in_terminal
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.data_structures import Size
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import ANSI, AnyFormattedText
from prompt_toolkit.history import History, InMemoryHistory
from prompt_toolkit.input import Input
from prompt_toolkit.input.ansi_escape_sequences import ANSI_SEQUENCES
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import ConditionalContainer, Dimension, HSplit, Layout, Window
from prompt_toolkit.layout.controls import BufferControl, FormattedTextControl
from prompt_toolkit.output import ColorDepth, Output
from prompt_toolkit.output.vt100 import Vt100_Output

from heald.commands.terminal import ThemeName, has_colours
from heald.tools.process_environment import environment_without_keys

if TYPE_CHECKING:
    from heald_cli.chat.markdown import Renderer

_RESERVED_ROWS = 8
"""Rows of the terminal that are reserved for printed rows."""
_ESCAPE_SECONDS = 0.05
"""Seconds that a key sequence with Esc may take."""
PROMPT = "› "
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_MARKDOWN = "heald_cli.chat.markdown"
_LOAD_AFTER = 0.5
"""Seconds after the prompt at which rich is loaded, unless it was needed before."""

ANSI_SEQUENCES["\x1b[13;2u"] = Keys.ControlJ  # Shift-Enter, where a terminal sends it


class ChatScreen:
    """Writes all output, so that it never mixes with the line that is typed."""

    def __init__(
        self,
        stream: TextIO,
        *,
        theme: ThemeName = "dark",
        source: Input | None = None,
        output: Output | None = None,
        history: History | None = None,
    ) -> None:
        self.tail: list[str] = []
        """Rows of an answer that is not finished."""
        self.status = ""
        self.footer = ""
        """The row below the input: model, context and cost."""
        self.bindings = KeyBindings()
        self.buffer = Buffer(history=history or InMemoryHistory(), multiline=True)
        self._theme: ThemeName = theme
        self._colours = colours = has_colours(stream)
        self._output = output or _open_output(stream)
        self._shown: tuple[object, ...] = ()
        self._since_mark = 0  # rows that were printed since the last `mark`
        self._app: Application[None] = Application(
            Layout(self._layout()),
            key_bindings=self.bindings,
            color_depth=None if colours else ColorDepth.DEPTH_1_BIT,
            include_default_pygments_style=False,
            erase_when_done=True,
            input=source,
            output=self._output,
        )
        self._app.timeoutlen = self._app.ttimeoutlen = _ESCAPE_SECONDS

    @cached_property
    def renderer(self) -> "Renderer":
        """Lays out Markdown and long lines. It loads rich, which takes longer than the prompt may."""
        from heald_cli.chat.markdown import Renderer

        return Renderer(self._count_columns, colours=self._colours, theme=self._theme)

    def _count_columns(self) -> int:
        return self._output.get_size().columns - 1

    async def run(self) -> None:
        """Read keys until `close`, or until the terminal is closed."""
        loop = asyncio.get_running_loop()
        loading = loop.call_later(_LOAD_AFTER, loop.run_in_executor, None, import_module, _MARKDOWN)
        try:
            with suppress(EOFError):
                await self._app.run_async(handle_sigint=False, set_exception_handler=False)
        finally:
            loading.cancel()

    def close(self) -> None:
        if self._app.is_running and not self._app.is_done:
            self._app.exit()

    async def run_program(self, argv: list[str]) -> int:
        """Give the terminal to another program until it ends. Returns its exit code."""
        return await run_in_terminal(lambda: subprocess.call(argv, env=environment_without_keys()), in_executor=True)

    @asynccontextmanager
    async def lend(self) -> AsyncGenerator[None]:
        """Let other code of this process print and read on the terminal for the duration of the block."""
        async with in_terminal():
            yield

    def print(self, *lines: str) -> None:
        """Print lines, which may hold colours, broken at spaces."""
        self.print_rows([row for line in lines for row in self._wrap(line)])

    def _wrap(self, line: str) -> list[str]:
        """Break a line at spaces. A plain line that fits needs no renderer."""
        bare = _COLOUR.sub("", line) if self._colours else line
        if bare.isascii() and bare.isprintable() and len(bare) <= self._count_columns():
            return [line]
        return self.renderer.wrap(line)

    def print_rows(self, rows: list[str]) -> None:
        """Print rows that are no wider than the terminal."""
        if not rows:
            return
        is_running = self._app.is_running and not self._app.is_done
        if is_running:
            self._app.renderer.erase(leave_alternate_screen=False)
        self._output.write_raw("".join(f"{row}\r\n" for row in rows))
        self._output.flush()
        self._since_mark += len(rows)
        if is_running:
            self._redraw()

    def mark(self) -> None:
        """Remember this place for `erase_to_mark`."""
        self._since_mark = 0

    def erase_to_mark(self) -> bool:
        """Erase the rows that were printed since the mark. False if some of them scrolled off the screen."""
        rows, self._since_mark = self._since_mark, 0
        if not rows:
            return True
        drawn = self._app.renderer.last_rendered_screen
        if rows >= self._output.get_size().rows - (drawn.height if drawn is not None else 1):
            return False
        is_running = self._app.is_running and not self._app.is_done
        if is_running:
            self._app.renderer.erase(leave_alternate_screen=False)
        self._output.write_raw(f"\x1b[{rows}A\r\x1b[J")
        self._output.flush()
        if is_running:
            self._redraw()
        return True

    def refresh(self) -> None:
        """Draw the part below, if it has changed."""
        now = (*self.tail, self.status, self.footer)
        if now != self._shown:
            self._redraw()

    def _redraw(self) -> None:
        """Draw the part below as it is now: also what is drawn beside other output counts as shown."""
        self._shown = (*self.tail, self.status, self.footer)
        self._app.invalidate()

    def clear(self) -> None:
        self._app.renderer.clear()

    def set_text(self, text: str, cursor: int | None = None) -> None:
        """Replace the line that is typed."""
        self.buffer.set_document(Document(text, cursor_position=len(text) if cursor is None else cursor))

    def submit(self) -> str:
        """Return the typed text, add it to the history and clear the line."""
        text = self.buffer.text
        self.buffer.reset(append_to_history=bool(text.strip()))
        return text

    def _layout(self) -> HSplit:
        def height() -> Dimension:
            return Dimension(min=1, max=self._max_rows)

        tail = Window(FormattedTextControl(self._tail_text), dont_extend_height=True)
        status = Window(FormattedTextControl(lambda: ANSI(self.status)), wrap_lines=True, dont_extend_height=True)
        footer = Window(FormattedTextControl(lambda: ANSI(self.footer)), height=1, dont_extend_height=True)
        typed = Window(
            BufferControl(self.buffer),
            height=height,
            wrap_lines=True,
            dont_extend_height=True,
            get_line_prefix=_line_prefix,
        )
        return HSplit(
            [
                ConditionalContainer(tail, Condition(lambda: bool(self.tail))),
                ConditionalContainer(status, Condition(lambda: bool(self.status))),
                typed,
                ConditionalContainer(footer, Condition(lambda: bool(self.footer))),
            ]
        )

    @property
    def columns(self) -> int:
        """The columns that a row may have."""
        return self._output.get_size().columns - 1

    @property
    def _max_rows(self) -> int:
        return max(self._output.get_size().rows - _RESERVED_ROWS, 3)

    def _tail_text(self) -> AnyFormattedText:
        return ANSI("\n".join(self.tail[-self._max_rows :]))


def _open_output(stream: TextIO) -> Output:
    def size() -> Size:
        try:
            columns, rows = os.get_terminal_size(stream.fileno())
        except OSError:
            columns, rows = 80, 24
        return Size(rows=rows or 24, columns=columns or 80)

    return Vt100_Output(stream, size, term=os.environ.get("TERM"), enable_cpr=False)


def _line_prefix(line: int, wraps: int) -> AnyFormattedText:
    return PROMPT if line == wraps == 0 else " " * len(PROMPT)
