"""`heald sessions fork` and `heald sessions compare`: another future of a session, and two of them side by side."""

import argparse
import sys
from contextlib import suppress
from typing import Any

import msgspec

from heald.commands.stores import find_session
from heald.commands.terminal import Colours, print_note, terminal_size
from heald.core.errors import ConfigurationError
from heald.core.json import encode_text
from heald.sessions.fork_change import ForkChange
from heald.sessions.session_comparison import compare_sessions
from heald.sessions.sessions import Sessions
from heald.sessions.store import iterate_events
from heald.tools.approvals import Approval
from heald_cli.comparison_view import ComparisonView
from heald_cli.questions import TERMINAL

_WIDTH = 120
"""The columns of a comparison that is not printed on a terminal."""


def add_fork_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", help="id, or its beginning")
    parser.add_argument("--at", type=int, metavar="N", help="number of the event to fork at (the last one)")
    parser.add_argument("--title", help="title of the fork (that of the session)")
    parser.add_argument("--model", metavar="NAME", help="ask this model from the turn of the event on")
    parser.add_argument("--call", metavar="ID", help="call of the result or decision (that of the event)")
    parser.add_argument("--error", action="store_true", help="--result is that of a call that failed")
    parser.add_argument("--again", action="store_true", help="request the turn of the event again, with no change")
    parts = parser.add_mutually_exclusive_group()
    parts.add_argument("--prompt", metavar="TEXT", help="run the exchange of the event anew with this request")
    parts.add_argument("--result", metavar="TEXT", help="give the call this result; JSON stays JSON")
    parts.add_argument("--allow", action="store_true", help="allow the call")
    parts.add_argument("--deny", nargs="?", const="", metavar="REASON", help="deny the call")


def add_compare_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("left", metavar="A", help="id of a session, or its beginning")
    parser.add_argument("right", metavar="B", help="id of another one")


async def fork(sessions: Sessions, options: argparse.Namespace) -> int:
    info = await find_session(sessions, options.session)
    change = _read_change(options)
    made = await sessions.fork(info.id, options.at, title=options.title, change=change, by=TERMINAL if change else "")
    if options.json:
        print(encode_text({"id": made.id, "parent": made.parent, "shared": made.parent_seq, "work": made.work}))
        return 0
    print(made.id)
    print_note(f"It shares {made.parent_seq or 0:,} events with {info.id}.")
    if made.work != "idle":
        print_note(f"`heald chat --resume {made.id}` or a running `heald serve` continues it.")
    return 0


async def compare(sessions: Sessions, options: argparse.Namespace) -> int:
    left, right = [(await find_session(sessions, name)).id for name in (options.left, options.right)]
    comparison = await compare_sessions(sessions.store, left, right)
    if options.json:
        print(encode_text(comparison))
        return 0
    columns = terminal_size().columns if sys.stdout.isatty() else _WIDTH
    events = [
        [event async for event in iterate_events(sessions.store, name, after=comparison.shared)]
        for name in (left, right)
    ]
    print(*ComparisonView(comparison, Colours(sys.stdout), columns).lines(*events), sep="\n")
    return 0


def _read_change(options: argparse.Namespace) -> ForkChange | None:
    """Return the change that the options name, None for a fork without one."""
    if options.error and options.result is None:
        raise ConfigurationError("--error says how a result is meant; give --result too.")
    approval: bool | Approval | None = True if options.allow else None
    if options.deny is not None:
        approval = Approval(False, options.deny)
    if (options.model, options.prompt, options.result, approval) == (None,) * 4 and not options.again:
        if options.call is not None:
            raise ConfigurationError(
                "--call names the call of a result or a decision; give --result, --allow or --deny."
            )
        return None
    return ForkChange(
        model=options.model,
        prompt=options.prompt,
        result=_read_json(options.result),
        is_error=options.error,
        approval=approval,
        call=options.call,
    )


def _read_json(text: str | None) -> Any:
    """Return JSON objects and arrays as they are; anything else is a text."""
    if text is not None and text.lstrip()[:1] in ("{", "["):
        with suppress(msgspec.DecodeError):
            return msgspec.json.decode(text)
    return text
