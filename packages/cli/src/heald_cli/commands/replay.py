"""`heald replay`: replays the events of a session, on a terminal or in the dialect of a client."""

import argparse
import asyncio
import math
import sys
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from pathlib import Path

from heald.commands.event_files import read_events
from heald.commands.options import add_options
from heald.commands.stores import find_session, open_sessions
from heald.commands.terminal import BOLD, Colours
from heald.core.envelope import Event
from heald.core.errors import ConfigurationError
from heald.core.events import UserMessage
from heald.sessions.store import iterate_events
from heald.tools.sanitize import sanitize_text
from heald_cli.console_printer import ConsolePrinter
from heald_server.dialects.dialect import Dialect
from heald_server.dialects.frame import Frame
from heald_server.dialects.registry import load_dialects, open_dialect

EXAMPLES = """examples:
  heald replay ses_01ab                        at its original pace
  heald replay run.jsonl --speed 10            output of 'heald run --json', ten times as fast
  heald replay bakery.heald --dialect ai-sdk --speed 0
                                              an exported session in the AI SDK's format, without pauses
  heald replay ses_01ab --dialect native --lines | jq .type

It can feed a client under development: heald replay … --dialect ag-ui | your-client"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("log", metavar="FILE|SESSION", help="exported session, file of JSON events, or session id")
    parser.add_argument("--dialect", choices=list(load_dialects()), help="print server-sent events of this dialect")
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
    return read_events(path)


async def _read_session(options: argparse.Namespace) -> AsyncGenerator[Event]:
    async with open_sessions(options.data) as sessions:
        try:
            info = await find_session(sessions, options.log)
        except ConfigurationError as error:
            raise ConfigurationError(f"There is no file {options.log!r}. {error}") from None
        async for event in iterate_events(sessions.store, info.id):
            yield event


def _speed(text: str) -> float:
    number = float(text)
    if not number >= 0 or math.isinf(number):
        raise ValueError(text)
    return number
