"""`weft replay`: plays the events of a session again, on a terminal or in the dialect of a client."""

import argparse
import asyncio
import math
import sys
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing, suppress
from pathlib import Path

from weft.cli.event_printer import ConsolePrinter
from weft.cli.options import add_options
from weft.cli.sessions import open_sessions
from weft.cli.terminal import BOLD, Colours
from weft.core.envelope import Event, decode_event
from weft.core.errors import ConfigurationError
from weft.core.events import UserMessage
from weft.dialects.dialect import Dialect, Frame
from weft.dialects.registry import DIALECTS, open_dialect
from weft.sessions.archive import read_archive
from weft.sessions.store import iterate_events
from weft.tools.sanitize import sanitize_text

EXAMPLES = """examples:
  weft replay ses_01ab                        at its original pace
  weft replay run.jsonl --speed 10            output of 'weft run --json', ten times as fast
  weft replay bakery.weft --dialect ai-sdk --speed 0
                                              an exported session in the AI SDK's format, without pauses
  weft replay ses_01ab --dialect native --lines | jq .type

It can feed a client under development: weft replay … --dialect ag-ui | your-client"""
_MAX_LINE = 1 << 27
"""Most characters of one line in a file."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("log", metavar="FILE|SESSION", help="exported session, file of JSON events, or session id")
    parser.add_argument("--dialect", choices=list(DIALECTS), help="print server-sent events of this dialect")
    parser.add_argument("--lines", action="store_true", help="print one message a line, as over a WebSocket")
    parser.add_argument(
        "--speed", type=_speed, default=1.0, metavar="N", help="times as fast; 0 means without pauses (1)"
    )
    parser.add_argument("--max-pause", type=_speed, default=2.0, metavar="SECONDS", help="longest pause (2)")
    add_options(parser, "replay")


def run(options: argparse.Namespace) -> int:
    if options.lines and not options.dialect:
        raise ConfigurationError("--lines goes with --dialect, the kind of messages to write.")
    asyncio.run(_replay(options))
    return 0


async def _replay(options: argparse.Namespace) -> None:
    dialect = open_dialect(options.dialect) if options.dialect else None
    printer, paint = ConsolePrinter(), Colours(sys.stdout)
    before: float | None = None
    async with aclosing(_events(options)) as events:
        async for event in events:
            if before is not None and options.speed:
                await asyncio.sleep(min(max(event.time - before, 0) / options.speed, options.max_pause))
            before = event.time
            if dialect is not None:
                _print_frames(dialect, dialect.feed(event), options.lines)
                continue
            if isinstance(event.data, UserMessage) and event.data.message.role == "user":
                print(paint(f"› {sanitize_text(event.data.message.words)}", BOLD), flush=True)
            printer(event)
    if dialect is not None:
        _print_frames(dialect, dialect.close(), options.lines)


def _print_frames(dialect: Dialect, frames: Iterable[Frame], as_lines: bool) -> None:
    for frame in frames:
        data = dialect.text(frame) + "\n" if as_lines else dialect.sse(frame).decode("utf-8", "replace")
        sys.stdout.write(data)
        sys.stdout.flush()


def _events(options: argparse.Namespace) -> AsyncGenerator[Event]:
    path = Path(options.log)
    if not path.is_file():
        return _read_session(options)
    return _read_archive(path) if _is_archive(path) else _read_lines(path)


async def _read_session(options: argparse.Namespace) -> AsyncGenerator[Event]:
    from weft.cli.sessions import find_session

    async with open_sessions(options.data) as sessions:
        try:
            info = await find_session(sessions, options.log)
        except ConfigurationError as error:
            raise ConfigurationError(f"There is no file {options.log!r}. {error}") from None
        async for event in iterate_events(sessions.store, info.id):
            yield event


async def _read_archive(path: Path) -> AsyncGenerator[Event]:
    with path.open("rb") as file:
        async for item in read_archive(file):
            if isinstance(item, Event):
                yield item


async def _read_lines(path: Path) -> AsyncGenerator[Event]:
    """Read events, one a line."""
    with path.open("rb") as file:
        number = 0
        while line := file.readline(_MAX_LINE):
            number += 1
            if not line.strip():
                continue
            try:
                yield decode_event(line)
            except (ValueError, TypeError, RecursionError):
                raise ConfigurationError(
                    f"{path.name} is not a log: line {number} is not an event. 'weft run --json' writes such files, "
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
