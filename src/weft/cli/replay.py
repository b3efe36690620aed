"""`weft replay`: a log once more, as it happened: on a terminal, or in the words of any client."""

import argparse
import asyncio
import math
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Protocol

from weft.cli.data import DATA_HELP, kept_sessions
from weft.cli.paint import BOLD, Paint
from weft.cli.show import Terminal
from weft.core.envelope import Event, decode_event
from weft.core.errors import ConfigurationError
from weft.core.events import UserMessage
from weft.dialects.registry import DIALECTS, open_dialect
from weft.sessions.archive import unarchive
from weft.sessions.store import events_of
from weft.tools.printable import printable

_EXAMPLES = """examples:
  weft replay ses_01ab                        as it was shown, at its own pace
  weft replay run.jsonl --speed 10            a file of 'weft run --json', ten times as fast
  weft replay bakery.weft --dialect ai-sdk --speed 0
                                              an exported session in the words of the AI SDK, at once
  weft replay ses_01ab --dialect native --lines | jq .type

A client under development can be fed by it: weft replay … --dialect ag-ui | your-client"""
_MOST = 1 << 27
"""Characters of one line in a file."""


class _Show(Protocol):
    def __call__(self, event: Event) -> None: ...

    def close(self) -> None: ...


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:  # pyright: ignore[reportPrivateUsage]
    parser = commands.add_parser(
        "replay",
        help="a session once more, on the terminal or in the words of a client",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("log", metavar="FILE|SESSION", help="an exported session, lines of events, or an id")
    parser.add_argument("--dialect", choices=list(DIALECTS), help="as server-sent events of this kind")
    parser.add_argument("--lines", action="store_true", help="one message a line, as a WebSocket would have them")
    parser.add_argument("--speed", type=_speed, default=1.0, metavar="N", help="times as fast; 0 is at once (1)")
    parser.add_argument("--max-pause", type=_speed, default=2.0, metavar="SECONDS", help="no pause is longer (2)")
    parser.add_argument("--data", metavar="DIR", help=DATA_HELP)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    if options.lines and not options.dialect:
        raise ConfigurationError("--lines goes with --dialect, the kind of messages to write.")
    asyncio.run(_replay(options))
    return 0


async def _replay(options: argparse.Namespace) -> None:
    show: _Show = _Spoken(options.dialect, options.lines) if options.dialect else _Watched()
    before: float | None = None
    async with aclosing(_events(options)) as events:
        async for event in events:
            if before is not None and options.speed:
                await asyncio.sleep(min(max(event.time - before, 0) / options.speed, options.max_pause))
            before = event.time
            show(event)
    show.close()


class _Watched:
    """As `weft run` shows it, with what the person said."""

    def __init__(self) -> None:
        self._terminal = Terminal()
        self._paint = Paint(sys.stdout)

    def __call__(self, event: Event) -> None:
        if isinstance(event.data, UserMessage):
            print(self._paint(f"› {printable(event.data.message.words)}", BOLD), flush=True)
        self._terminal(event)

    def close(self) -> None:
        pass


class _Spoken:
    """In the words of a client."""

    def __init__(self, dialect: str, lines: bool) -> None:
        self._dialect = open_dialect(dialect)
        self._lines = lines

    def __call__(self, event: Event) -> None:
        for frame in self._dialect.feed(event):
            self._write(self._dialect.text(frame).encode() + b"\n" if self._lines else self._dialect.sse(frame))

    def close(self) -> None:
        for frame in self._dialect.close():
            self._write(self._dialect.text(frame).encode() + b"\n" if self._lines else self._dialect.sse(frame))

    def _write(self, data: bytes) -> None:
        sys.stdout.write(data.decode("utf-8", "replace"))
        sys.stdout.flush()


def _events(options: argparse.Namespace) -> AsyncGenerator[Event]:
    path = Path(options.log)
    if not path.is_file():
        return _of_session(options)
    return _of_archive(path) if _is_archive(path) else _of_lines(path)


async def _of_session(options: argparse.Namespace) -> AsyncGenerator[Event]:
    from weft.cli.sessions import find_session

    async with kept_sessions(options.data) as sessions:
        try:
            info = await find_session(sessions, options.log)
        except ConfigurationError as error:
            raise ConfigurationError(f"There is no file {options.log!r}. {error}") from None
        async for event in events_of(sessions.store, info.id):
            yield event


async def _of_archive(path: Path) -> AsyncGenerator[Event]:
    with path.open("rb") as file:
        async for item in unarchive(file):
            if isinstance(item, Event):
                yield item


async def _of_lines(path: Path) -> AsyncGenerator[Event]:
    """Events, one a line."""
    with path.open("rb") as file:
        number = 0
        while line := file.readline(_MOST):
            number += 1
            if not line.strip():
                continue
            try:
                yield decode_event(line)
            except (ValueError, TypeError, RecursionError):
                raise ConfigurationError(
                    f"{path.name} is no log: line {number} is no event. 'weft run --json' writes such files, "
                    "and 'weft sessions export'."
                ) from None


def _is_archive(path: Path) -> bool:
    with suppress(OSError), path.open("rb") as file:
        return b'"weft_session"' in file.readline(4096)
    return False


def _speed(text: str) -> float:
    number = float(text)
    if not number >= 0 or math.isinf(number):
        raise ValueError(text)
    return number
