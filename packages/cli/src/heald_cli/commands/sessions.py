"""`heald sessions`: lists, shows, exports, imports, forks, compares, renames, deletes and prunes sessions of this
machine, and redacts signed exports."""

import argparse
import asyncio
import math
import os
import sys
import time
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from heald.commands.options import add_options
from heald.commands.stores import find_session, list_sessions, open_sessions
from heald.commands.terminal import BOLD, DIM, Colours, print_note
from heald.commands.text_columns import align_columns, truncate
from heald.config.paths import data_folder
from heald.core.errors import ConfigurationError, HealdError
from heald.core.json import encode_text
from heald.sessions.session_info import SessionInfo
from heald.sessions.sessions import Sessions
from heald.sessions.signed_archive import Redaction, redact_archive, signed_lines, verify_archive
from heald.sessions.signing_key import KEY_FILE, SigningKey, read_key, read_or_create_key
from heald.sessions.store import iterate_events, iterate_sessions
from heald.sessions.store_errors import NoSuchSession, SessionBusy
from heald.tools.sanitize import sanitize_text
from heald_cli.commands.session_forks import add_compare_arguments, add_fork_arguments, compare, fork
from heald_cli.transcript import Transcript

EXAMPLES = """examples:
  heald sessions list --search bakery
  heald sessions show ses_01ab                 the beginning of the id is enough
  heald sessions export ses_01ab -o bakery.heald
  heald sessions export ses_01ab -o bakery.heald --sign
  heald sessions redact bakery.heald -o public.heald --text "Anna Smith" --events 7 12-15
  heald sessions import bakery.heald
  heald sessions fork ses_01ab --at 42 --result "out of flour"     what if the call had returned this?
  heald sessions fork ses_01ab --at 12 --model openai/gpt-5        what if another model had answered?
  heald sessions compare ses_01ab ses_03ef
  heald sessions rename ses_01ab "The bakery"
  heald sessions delete ses_01ab ses_02cd --yes
  heald sessions prune --older-than 90 --dry-run           what was not changed for 90 days
  heald sessions prune --older-than 30 --owner ann --yes"""
_STUDIO_KINDS = ("project", "variant")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    acts = parser.add_subparsers(dest="act", metavar="ACTION", required=True)
    listing = acts.add_parser("list", help="list sessions, the last changed first")
    listing.add_argument("--search", default="", metavar="TEXT", help="only titles that contain the text")
    listing.add_argument("--limit", type=int, default=20, metavar="N", help="at most so many (%(default)s)")
    listing.add_argument("--all", action="store_true", help="also sessions of the studio")
    showing = acts.add_parser("show", help="print the conversation of a session")
    exporting = acts.add_parser("export", help="write a session to a file that another machine can import")
    exporting.add_argument("-o", "--output", metavar="FILE", help="file to write (standard output)")
    exporting.add_argument("--sign", action="store_true", help="sign it, so that 'heald verify' detects every change")
    exporting.add_argument(
        "--key",
        metavar="FILE",
        help="private Ed25519 key to sign with (signing.key in the data folder, made if missing)",
    )
    redacting = acts.add_parser("redact", help="remove data from a signed export; its signature stays valid")
    redacting.add_argument("file", help="signed export")
    redacting.add_argument("-o", "--output", metavar="FILE", required=True, help="file to write")
    redacting.add_argument("--text", nargs="+", default=[], metavar="TEXT", help="everything that contains a text")
    redacting.add_argument("--events", nargs="+", default=[], type=_seqs, metavar="N|N-M", help="events by number")
    redacting.add_argument(
        "--types", nargs="+", default=[], metavar="TYPE", help="events by type, such as user_message"
    )
    importing = acts.add_parser("import", help="create a session from an exported file")
    importing.add_argument("file", help="exported file; - reads standard input")
    forking = acts.add_parser("fork", help="create a session that continues from an event, with a change or without")
    add_fork_arguments(forking)
    comparing = acts.add_parser("compare", help="print two sessions side by side, from where they differ")
    add_compare_arguments(comparing)
    renaming = acts.add_parser("rename", help="change the title of a session")
    deleting = acts.add_parser("delete", help="delete sessions with their files")
    pruning = acts.add_parser("prune", help="delete the sessions that were not changed for some days")
    pruning.add_argument("--older-than", type=_days, required=True, metavar="DAYS", help="days since the last change")
    pruning.add_argument("--owner", metavar="NAME", help="only sessions of this user (of all)")
    pruning.add_argument("--all", action="store_true", help="also projects of the studio, with their variants")
    pruning.add_argument("--dry-run", action="store_true", help="only list them")
    pruning.add_argument("--yes", action="store_true", help="do not ask")
    for act in (showing, exporting, renaming):
        act.add_argument("session", help="id, or its beginning")
    renaming.add_argument("title")
    deleting.add_argument("sessions", nargs="+", metavar="session", help="id, or its beginning")
    deleting.add_argument("--yes", action="store_true", help="do not ask")
    for act in (listing, showing, exporting, importing, forking, comparing, renaming, deleting, pruning):
        add_options(act, "sessions")
    for act in (listing, showing, importing, forking, comparing):
        act.add_argument("--json", action="store_true", help="print one JSON object a line")


def run(options: argparse.Namespace) -> int:
    acts = {
        "list": _list,
        "show": _show,
        "export": _export,
        "import": _import,
        "fork": fork,
        "compare": compare,
        "rename": _rename,
        "delete": _delete,
        "prune": _prune,
    }

    if options.act == "redact":
        return _redact(options)

    async def act() -> int:
        async with open_sessions(options.data, options.store) as sessions:
            return await acts[options.act](sessions, options)

    return asyncio.run(act())


def format_time(moment: float) -> str:
    return datetime.fromtimestamp(moment).strftime("%Y-%m-%d %H:%M")


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
    listed: list[SessionInfo] = []
    async for info in list_sessions(sessions, options.search):
        if len(listed) >= options.limit:
            break
        if options.all or info.kind not in _STUDIO_KINDS:
            listed.append(info)
    if options.json:
        for info in listed:
            print(encode_text(session_json(info)))
        return 0
    if not listed:
        print_note("There is no session yet; `heald chat` begins one.")
        return 0
    table = [["id", "changed", "events", "title"]]
    table += [
        [info.id, format_time(info.updated), str(info.last_seq), truncate(sanitize_text(info.title), 60)]
        for info in listed
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


async def _export(sessions: Sessions, options: argparse.Namespace) -> int:
    info = await find_session(sessions, options.session)
    if options.key and not options.sign:
        raise ConfigurationError("--key names the key of a signature; add --sign.")
    if options.output is None and sys.stdout.isatty():
        raise ConfigurationError("An exported session is not for a terminal; name a file with --output.")
    key = _signing_key(options) if options.sign else None
    lines = sessions.export(info.id) if key is None else signed_lines(sessions.store, info.id, key)
    if options.output is None:
        async for line in lines:
            sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
        return 0
    size = 0
    with _replace_private(options.output) as file:
        async for line in lines:
            size += file.write(line)
    signer = f", signed with the key {key.public}" if key is not None else ""
    print_note(f"{info.id} is in {options.output}, {size:,} bytes{signer}.")
    return 0


def _signing_key(options: argparse.Namespace) -> SigningKey:
    """Return the named key, which must exist, or that of the data folder, which is created."""
    if options.key:
        return read_key(Path(options.key))
    return read_or_create_key(data_folder(options.data) / KEY_FILE)


def _redact(options: argparse.Namespace) -> int:
    if not (options.events or options.types or any(options.text)):
        raise ConfigurationError("Nothing is named that is to be redacted; use --text, --events or --types.")
    redaction = Redaction(
        seqs=frozenset(chain.from_iterable(options.events)),
        types=frozenset(options.types),
        texts=frozenset(filter(None, options.text)),
    )
    with _open_file(options.file) as file:
        verify_archive(file)
        file.seek(0)
        count = 0
        with _replace_private(options.output) as output:
            for line, is_redacted in redact_archive(file, redaction):
                count += is_redacted
                output.write(line)
            if count == 0:
                raise ConfigurationError(f"Nothing in {options.file} is what was named, so nothing was written.")
    print_note(f"{count:,} lines were redacted in {options.output}.")
    return 0


def _seqs(text: str) -> range:
    first, _, last = text.partition("-")
    try:
        return range(int(first), int(last or first) + 1)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not the number of an event, nor a range such as 3-9") from None


@contextmanager
def _replace_private(path: str) -> Generator[BinaryIO]:
    """Write a file that only its owner can read. It appears when it is complete."""
    part = f"{path}.part"
    try:
        with os.fdopen(_create_private(part), "wb") as file:
            yield file
        os.replace(part, path)
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be written: {error.strerror}.") from None
    finally:
        with suppress(OSError):
            os.unlink(part)


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
    doomed = [await find_session(sessions, name) for name in options.sessions]
    for info in doomed:
        if info.kind in _STUDIO_KINDS:
            raise HealdError(f"{info.id} belongs to the studio; delete its project on the page of `heald serve`.")
    if not options.yes and not _confirm(doomed):
        return 1
    for info in doomed:
        await sessions.delete(info.id)
    print_note(f"{len(doomed)} deleted.")
    return 0


async def _prune(sessions: Sessions, options: argparse.Namespace) -> int:
    until = time.time() - options.older_than * 86_400
    doomed = [
        info
        async for info in iterate_sessions(sessions.store)
        if info.updated < until
        and info.work == "idle"
        and info.cause is None  # it is deleted with the session that it worked for
        and options.owner in (None, info.owner)
        and (options.all or info.kind not in _STUDIO_KINDS)
    ]
    if options.all:
        doomed = await _with_whole_projects(sessions, doomed)
    if options.dry_run:
        for info in doomed:
            print(_describe(info))
        print_note(f"{len(doomed)} would be deleted.")
        return 0
    if not doomed:
        print_note("No session is that old.")
        return 0
    if not options.yes and not _confirm(doomed):
        return 1
    count = 0
    for info in doomed:
        try:
            current = await sessions.store.info(info.id)
            if current.updated > info.updated or current.work != "idle":
                continue  # somebody uses it again
            await sessions.delete(info.id)
            count += 1
        except (NoSuchSession, SessionBusy) as error:
            print_note(f"{info.id} is not deleted: {error}")
    print_note(f"{count} deleted.")
    return 0


async def _with_whole_projects(sessions: Sessions, doomed: list[SessionInfo]) -> list[SessionInfo]:
    """Leave out the projects and variants of which some part was changed since."""
    names = {info.id for info in doomed}
    used: set[str] = set()
    async for info in iterate_sessions(sessions.store):
        if info.kind == "variant" and info.id not in names and info.parent is not None:
            used.add(info.parent)
    return [
        info
        for info in doomed
        if info.kind not in _STUDIO_KINDS
        or (info.id not in used if info.kind == "project" else info.parent in names - used)
    ]


def _days(text: str) -> float:
    try:
        days = float(text)
    except ValueError:
        days = 0.0
    if not 0 < days < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of days")
    return days


def _describe(info: SessionInfo) -> str:
    owner = f"  {sanitize_text(info.owner)}" if info.owner else ""
    return f"{info.id}  {format_time(info.updated)}{owner}  {sanitize_text(info.title)}"


def _confirm(doomed: list[SessionInfo]) -> bool:
    if not sys.stdin.isatty():
        raise ConfigurationError("There is no terminal to ask on; delete with --yes.")
    for info in doomed:
        print(_describe(info), file=sys.stderr)
    print("delete? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
