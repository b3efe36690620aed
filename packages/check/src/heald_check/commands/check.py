"""`heald check`: checks event logs for damage and against the invariants, which docs/testing.md lists."""

import argparse
import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from heald.commands.event_files import read_events
from heald.commands.options import add_options
from heald.commands.stores import find_session, open_sessions
from heald.commands.terminal import print_note
from heald.core.envelope import Event
from heald.core.errors import ConfigurationError
from heald.core.json import encode_text
from heald.sessions.session_check import READINGS, check_session
from heald.sessions.session_info import SessionInfo
from heald.sessions.sessions import Sessions
from heald.sessions.store import iterate_sessions
from heald.sessions.store_errors import NoSuchSession, StoreError
from heald_check.checker import check_log

EXAMPLES = """examples:
  heald check                          every session of this machine
  heald check ses_01ab                 the beginning of the id is enough
  heald check bakery.heald run.jsonl    an exported session, and the output of 'heald run --json'
  heald check --store postgresql://heald@db/heald --json

exit status: 0 no problem, 1 a log has problems"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("logs", nargs="*", metavar="FILE|SESSION", help="file of events, or session id (all sessions)")
    add_options(parser, "check")
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")


def run(options: argparse.Namespace) -> int:
    files = [Path(name) for name in options.logs if Path(name).is_file()]
    names = [name for name in options.logs if not Path(name).is_file()]
    return asyncio.run(_check(files, names, options))


async def _check(files: Sequence[Path], names: Sequence[str], options: argparse.Namespace) -> int:
    counts: list[int] = []
    for path in files:
        logs = await _read_logs(path)
        for session, events in logs.items():
            problems = [str(violation) for violation in check_log(events)]
            name = str(path) if len(logs) == 1 else f"{path}: {session}"
            counts.append(_print_problems(name, problems, as_json=options.json))
    if names or not files:
        async with open_sessions(options.data, options.store) as sessions:
            async for info in _list_infos(sessions, names):
                problems = await _find_problems(sessions, info)
                counts.append(_print_problems(info.id, problems, as_json=options.json))
    damaged = sum(count > 0 for count in counts)
    print_note(f"{len(counts):,} logs were checked; {damaged:,} have problems.")
    return 1 if damaged else 0


async def _read_logs(path: Path) -> dict[str, list[Event]]:
    """Read the events of a file by their sessions: that of several attempts has one for each."""
    logs: dict[str, list[Event]] = {}
    async for event in read_events(path):
        logs.setdefault(event.session, []).append(event)
    return logs or {"": []}


async def _list_infos(sessions: Sessions, names: Sequence[str]) -> AsyncIterator[SessionInfo]:
    """Yield the named sessions, or all."""
    if not names:
        async for info in iterate_sessions(sessions.store):
            yield info
    for name in names:
        try:
            yield await find_session(sessions, name)
        except ConfigurationError as error:
            raise ConfigurationError(f"There is no file {name!r}. {error}") from None


async def _find_problems(sessions: Sessions, info: SessionInfo) -> list[str]:
    """Check a stored log. An exchange that still runs breaks no invariant."""
    problems: list[str] = []
    for _ in range(READINGS):
        log: list[Event] = []
        damage = await check_session(sessions.store, info, log.append)
        violations = [] if damage is not None else check_log(log, complete=info.work == "idle")
        problems = [damage] if damage is not None else [str(violation) for violation in violations]
        if not problems or info.cause is not None:
            break
        try:
            info = await sessions.store.info(info.id)
        except NoSuchSession:
            return []  # deleted meanwhile
        except StoreError:
            break
    return problems


def _print_problems(log: str, problems: Sequence[str], *, as_json: bool) -> int:
    for problem in problems:
        print(encode_text({"log": log, "problem": problem}) if as_json else f"{log}: {problem}")
    return len(problems)
