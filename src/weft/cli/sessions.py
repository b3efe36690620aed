"""`weft sessions`: lists, shows, exports, imports, renames and deletes sessions of this machine."""

import argparse
import asyncio
import os
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from weft.cli.event_printer import Transcript
from weft.cli.named_store import open_named_store
from weft.cli.options import add_options
from weft.cli.terminal import BOLD, DIM, Colours, align_columns, print_note, truncate
from weft.core.envelope import Event
from weft.core.errors import ConfigurationError, WeftError
from weft.core.json import encode_text
from weft.sessions.archive import check_session, iterate_sessions
from weft.sessions.sessions import Sessions
from weft.sessions.store import NoSuchSession, SessionInfo, iterate_events
from weft.tools.sanitize import sanitize_text


@asynccontextmanager
async def open_sessions(data: str | None = None, url: str | None = None) -> AsyncGenerator[Sessions]:
    """Open the sessions of a data folder, or of the store at a URL, for the duration of the block."""
    store = open_named_store(data, url)
    try:
        yield Sessions(store)
    finally:
        await store.close()


EXAMPLES = """examples:
  weft sessions list --search bakery
  weft sessions show ses_01ab                 the beginning of the id is enough
  weft sessions check                         read every log, and report what is damaged
  weft sessions export ses_01ab -o bakery.weft
  weft sessions import bakery.weft
  weft sessions rename ses_01ab "The bakery"
  weft sessions delete ses_01ab ses_02cd --yes"""
_STUDIO_KINDS = ("project", "variant")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    acts = parser.add_subparsers(dest="act", metavar="ACTION", required=True)
    listing = acts.add_parser("list", help="list sessions, the last changed first")
    listing.add_argument("--search", default="", metavar="TEXT", help="only titles that contain the text")
    listing.add_argument("--limit", type=int, default=20, metavar="N", help="at most so many (%(default)s)")
    listing.add_argument("--all", action="store_true", help="also sessions of the studio")
    showing = acts.add_parser("show", help="print the conversation of a session")
    checking = acts.add_parser("check", help="read logs, and report what is damaged or breaks a promise of logs")
    exporting = acts.add_parser("export", help="write a session to a file that another machine can import")
    exporting.add_argument("-o", "--output", metavar="FILE", help="file to write (standard output)")
    importing = acts.add_parser("import", help="create a session from an exported file")
    importing.add_argument("file", help="exported file; - reads standard input")
    renaming = acts.add_parser("rename", help="change the title of a session")
    deleting = acts.add_parser("delete", help="delete sessions with their files")
    for act in (showing, exporting, renaming):
        act.add_argument("session", help="id, or its beginning")
    renaming.add_argument("title")
    deleting.add_argument("sessions", nargs="+", metavar="session", help="id, or its beginning")
    deleting.add_argument("--yes", action="store_true", help="do not ask")
    checking.add_argument("sessions", nargs="*", metavar="session", help="id, or its beginning (all sessions)")
    for act in (listing, showing, checking, exporting, importing, renaming, deleting):
        add_options(act, "sessions")
    for act in (listing, showing, checking, importing):
        act.add_argument("--json", action="store_true", help="print one JSON object a line")


def run(options: argparse.Namespace) -> int:
    acts = {
        "list": _list,
        "show": _show,
        "check": _check,
        "export": _export,
        "import": _import,
        "rename": _rename,
        "delete": _delete,
    }

    async def act() -> int:
        async with open_sessions(options.data, options.store) as sessions:
            return await acts[options.act](sessions, options)

    return asyncio.run(act())


async def find_session(sessions: Sessions, name: str) -> SessionInfo:
    """Find a session by its id or by the beginning of it."""
    try:
        return await sessions.store.info(name)
    except NoSuchSession as unknown:
        found = [info async for info in list_sessions(sessions) if info.id.startswith(name)] if name else []
        if len(found) == 1:
            return found[0]
        if not found:
            raise ConfigurationError(f"{str(unknown).partition(';')[0]}; `weft sessions list` shows them.") from None
        raise ConfigurationError(f"{len(found)} sessions begin with {name[:60]!r}; write more of the id.") from None


async def list_sessions(sessions: Sessions, search: str = "", kind: str | None = None) -> AsyncIterator[SessionInfo]:
    after: str | None = None
    while True:
        page = await sessions.list(search=search, limit=200, after=after, kind=kind)
        for info in page.sessions:
            yield info
        after = page.next
        if after is None:
            return


def format_time(time: float) -> str:
    return datetime.fromtimestamp(time).strftime("%Y-%m-%d %H:%M")


def session_json(info: SessionInfo) -> dict[str, object]:
    """Return the fields of a session for scripts; of its settings only the model and the workspace."""
    return {
        "id": info.id,
        "kind": info.kind,
        "title": info.title,
        "model": info.settings.get("model", ""),
        "workspace": info.settings.get("workspace"),
        "created": info.created,
        "updated": info.updated,
        "events": info.last_seq,
        "parent": info.parent,
    }


async def _list(sessions: Sessions, options: argparse.Namespace) -> int:
    found: list[SessionInfo] = []
    async for info in list_sessions(sessions, options.search):
        if len(found) >= options.limit:
            break
        if options.all or info.kind not in _STUDIO_KINDS:
            found.append(info)
    if options.json:
        for info in found:
            print(encode_text(session_json(info)))
        return 0
    if not found:
        print_note("There is no session yet; `weft chat` begins one.")
        return 0
    table = [["id", "changed", "events", "title"]]
    table += [
        [info.id, format_time(info.updated), str(info.last_seq), truncate(sanitize_text(info.title), 60)]
        for info in found
    ]
    head, *lines = align_columns(table)
    print(Colours(sys.stdout)(head, BOLD), *lines, sep="\n")
    return 0


async def _show(sessions: Sessions, options: argparse.Namespace) -> int:
    info = await find_session(sessions, options.session)
    paint = Colours(sys.stdout)
    transcript = Transcript(paint)
    if not options.json:
        about = f"{info.id}  {info.settings.get('model', '')}  {format_time(info.created)}"
        print(paint(sanitize_text(info.title or "(without a title)"), BOLD), paint(about, DIM), sep="\n")
    async for event in iterate_events(sessions.store, info.id):
        for line in [encode_text(event)] if options.json else transcript.lines(event):
            print(line)
    return 0


async def _check(sessions: Sessions, options: argparse.Namespace) -> int:
    """Check logs against the invariants, which docs/testing.md lists. An exchange that still runs breaks none."""
    from weft.testing.checker import check_log  # `weft chat` uses this module too and checks nothing

    named = [await find_session(sessions, name) for name in options.sessions]
    count = bad = 0
    async for info in _iterate_given(named) if named else iterate_sessions(sessions.store):
        count += 1
        log: list[Event] = []
        problem = await check_session(sessions.store, info, log.append)
        found = (
            [problem] if problem is not None else [str(each) for each in check_log(log, complete=info.work == "idle")]
        )
        bad += bool(found)
        for text in found:
            print(encode_text({"session": info.id, "problem": text}) if options.json else f"{info.id}: {text}")
    print_note(f"{count:,} sessions were checked; {bad:,} have problems.")
    return 1 if bad else 0


async def _iterate_given(found: list[SessionInfo]) -> AsyncIterator[SessionInfo]:
    for info in found:
        yield info


async def _export(sessions: Sessions, options: argparse.Namespace) -> int:
    info = await find_session(sessions, options.session)
    if options.output is None and sys.stdout.isatty():
        raise ConfigurationError("An exported session is not for a terminal; name a file with --output.")
    if options.output is None:
        async for line in sessions.export(info.id):
            sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
        return 0
    part = f"{options.output}.part"
    size = 0
    try:
        with os.fdopen(_create_private(part), "wb") as file:
            async for line in sessions.export(info.id):
                size += file.write(line)
        os.replace(part, options.output)
    except OSError as error:
        raise ConfigurationError(f"{options.output} cannot be written: {error.strerror}.") from None
    print_note(f"{info.id} is in {options.output}, {size:,} bytes.")
    return 0


def _create_private(path: str) -> int:
    """Create a file that only its owner can read."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


async def _import(sessions: Sessions, options: argparse.Namespace) -> int:
    with _open_file(options.file) as file:
        info = await sessions.import_from(file)
    print(encode_text(session_json(info)) if options.json else info.id)
    return 0


def _open_file(name: str) -> AbstractContextManager[BinaryIO]:
    if name == "-":
        return nullcontext(sys.stdin.buffer)
    try:
        return Path(name).open("rb")
    except OSError as error:
        raise ConfigurationError(f"{name} cannot be read: {error.strerror}.") from None


async def _rename(sessions: Sessions, options: argparse.Namespace) -> int:
    info = await find_session(sessions, options.session)
    await sessions.rename(info.id, options.title.strip()[:200])
    return 0


async def _delete(sessions: Sessions, options: argparse.Namespace) -> int:
    found = [await find_session(sessions, name) for name in options.sessions]
    for info in found:
        if info.kind in _STUDIO_KINDS:
            raise WeftError(f"{info.id} belongs to the studio; delete its project on the page of `weft serve`.")
    if not options.yes and not _confirm(found):
        return 1
    for info in found:
        await sessions.delete(info.id)
    print_note(f"{len(found)} deleted.")
    return 0


def _confirm(found: list[SessionInfo]) -> bool:
    if not sys.stdin.isatty():
        raise ConfigurationError("There is no terminal to ask on; delete with --yes.")
    for info in found:
        print(f"{info.id}  {format_time(info.updated)}  {sanitize_text(info.title)}", file=sys.stderr)
    print("delete? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
