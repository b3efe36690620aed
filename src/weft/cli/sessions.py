"""`weft sessions`: what is kept on this machine, looked at, carried elsewhere and thrown away."""

import argparse
import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from weft.cli.data import DATA_HELP, kept_sessions
from weft.cli.paint import BOLD, DIM, Paint, cut, rows_of
from weft.cli.transcript import Transcript
from weft.core.errors import ConfigurationError, WeftError
from weft.core.json import encode_text
from weft.sessions.errors import NoSuchSession
from weft.sessions.sessions import Sessions
from weft.sessions.store import SessionInfo, events_of
from weft.tools.printable import printable

_EXAMPLES = """examples:
  weft sessions list --search bakery
  weft sessions show ses_01ab                 the beginning of an id is enough
  weft sessions export ses_01ab -o bakery.weft
  weft sessions import bakery.weft
  weft sessions rename ses_01ab "The bakery"
  weft sessions delete ses_01ab ses_02cd --yes"""
_STUDIO = ("project", "variant")


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:  # pyright: ignore[reportPrivateUsage]
    parser = commands.add_parser(
        "sessions",
        help="list, show, export, import, rename and delete sessions",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    acts = parser.add_subparsers(dest="act", metavar="ACTION", required=True)
    listing = acts.add_parser("list", help="the last changed first")
    listing.add_argument("--search", default="", metavar="TEXT", help="those whose title holds the text")
    listing.add_argument("--limit", type=int, default=20, metavar="N", help="(%(default)s)")
    listing.add_argument("--all", action="store_true", help="those of the studio as well")
    showing = acts.add_parser("show", help="what was said and done in one")
    exporting = acts.add_parser("export", help="one as a file that another machine can import")
    exporting.add_argument("-o", "--output", metavar="FILE", help="(standard output)")
    importing = acts.add_parser("import", help="a new session from an exported one")
    importing.add_argument("file", help="- is standard input")
    renaming = acts.add_parser("rename", help="give one another title")
    deleting = acts.add_parser("delete", help="throw some away, with their files")
    for act in (showing, exporting, renaming):
        act.add_argument("session", help="an id, or how it begins")
    renaming.add_argument("title")
    deleting.add_argument("sessions", nargs="+", metavar="session", help="an id, or how it begins")
    deleting.add_argument("--yes", action="store_true", help="without asking")
    for act in (listing, showing, exporting, importing, renaming, deleting):
        act.add_argument("--data", metavar="DIR", help=DATA_HELP)
    for act in (listing, showing, importing):
        act.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    acts = {"list": _list, "show": _show, "export": _export, "import": _import, "rename": _rename, "delete": _delete}

    async def act() -> int:
        async with kept_sessions(options.data) as sessions:
            return await acts[options.act](sessions, options)

    return asyncio.run(act())


async def find_session(sessions: Sessions, name: str) -> SessionInfo:
    """The session of an id, or the one whose id begins so."""
    try:
        return await sessions.store.info(name)
    except NoSuchSession as unknown:
        found = [info async for info in all_of(sessions) if info.id.startswith(name)] if name else []
        if len(found) == 1:
            return found[0]
        if not found:
            raise ConfigurationError(f"{str(unknown).partition(';')[0]}; `weft sessions list` shows them.") from None
        raise ConfigurationError(f"{len(found)} sessions begin with {name[:60]!r}; write more of the id.") from None


async def all_of(sessions: Sessions, search: str = "", kind: str | None = None) -> AsyncIterator[SessionInfo]:
    after: str | None = None
    while True:
        page = await sessions.list(search=search, limit=200, after=after, kind=kind)
        for info in page.sessions:
            yield info
        after = page.next
        if after is None:
            return


def when(time: float) -> str:
    return datetime.fromtimestamp(time).strftime("%Y-%m-%d %H:%M")


def as_json(info: SessionInfo) -> dict[str, object]:
    """What is told of a session. Its settings may hold instructions of any length; the model is what scripts want."""
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
    async for info in all_of(sessions, options.search):
        if len(found) >= options.limit:
            break
        if options.all or info.kind not in _STUDIO:
            found.append(info)
    if options.json:
        for info in found:
            print(encode_text(as_json(info)))
        return 0
    if not found:
        print("weft: No session is kept there yet; `weft chat` begins one.", file=sys.stderr)
        return 0
    table = [["id", "changed", "events", "title"]]
    table += [[info.id, when(info.updated), str(info.last_seq), cut(printable(info.title), 60)] for info in found]
    head, *lines = rows_of(table)
    print(Paint(sys.stdout)(head, BOLD), *lines, sep="\n")
    return 0


async def _show(sessions: Sessions, options: argparse.Namespace) -> int:
    info = await find_session(sessions, options.session)
    paint = Paint(sys.stdout)
    transcript = Transcript(paint)
    if not options.json:
        about = f"{info.id}  {info.settings.get('model', '')}  {when(info.created)}"
        print(paint(printable(info.title or "(without a title)"), BOLD), paint(about, DIM), sep="\n")
    async for event in events_of(sessions.store, info.id):
        for line in [encode_text(event)] if options.json else transcript.lines(event):
            print(line)
    return 0


async def _export(sessions: Sessions, options: argparse.Namespace) -> int:
    info = await find_session(sessions, options.session)
    if options.output is None and sys.stdout.isatty():
        raise ConfigurationError("An exported session is no text for a terminal; name a file with --output.")
    if options.output is None:
        async for line in sessions.export(info.id):
            sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
        return 0
    part = f"{options.output}.part"
    size = 0
    try:
        with os.fdopen(_private(part), "wb") as file:
            async for line in sessions.export(info.id):
                size += file.write(line)
        os.replace(part, options.output)
    except OSError as error:
        raise ConfigurationError(f"{options.output} cannot be written: {error.strerror}.") from None
    print(f"weft: {info.id} is in {options.output}, {size:,} bytes.", file=sys.stderr)
    return 0


def _private(path: str) -> int:
    """A file for its owner alone: it will hold all that was said."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


async def _import(sessions: Sessions, options: argparse.Namespace) -> int:
    with _opened(options.file) as file:
        info = await sessions.import_from(file)
    print(encode_text(as_json(info)) if options.json else info.id)
    return 0


def _opened(name: str) -> AbstractContextManager[BinaryIO]:
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
        if info.kind in _STUDIO:
            raise WeftError(f"{info.id} belongs to the studio; delete its project on the page of `weft serve`.")
    if not options.yes and not _agreed(found):
        return 1
    for info in found:
        await sessions.delete(info.id)
    print(f"weft: {len(found)} deleted.", file=sys.stderr)
    return 0


def _agreed(found: list[SessionInfo]) -> bool:
    if not sys.stdin.isatty():
        raise ConfigurationError("Nobody is there to be asked; delete with --yes.")
    for info in found:
        print(f"{info.id}  {when(info.updated)}  {printable(info.title)}", file=sys.stderr)
    print("delete? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
