"""`heald store`: checks a store of sessions, migrates it, and copies it into another one."""

import argparse
import asyncio
import sys

from heald.commands.options import add_options
from heald.commands.stores import open_named_store
from heald.commands.terminal import print_note
from heald.core.errors import ConfigurationError
from heald.core.json import encode_text
from heald.sessions.one_node import as_shared
from heald.sessions.session_check import check_session
from heald.sessions.session_info import SessionInfo
from heald.sessions.shared_store import SharedStore
from heald.sessions.sqlite import SqliteStore
from heald.sessions.store import iterate_sessions
from heald.sessions.store_copy import copy_sessions
from heald.sessions.store_url import without_password
from heald.sessions.stores import open_store
from heald_server.access.tokens import TOKENS
from heald_server.cluster.node import DAMAGED

EXAMPLES = """examples:
  heald store check                                    the file in the data folder
  heald store check --store postgresql://heald@db/heald
  heald store migrate --store postgresql://heald@db/heald
  heald store copy sqlite:////var/lib/heald/sessions.db postgresql://heald@db/heald

The password of a database comes from HEALD_STORE_PASSWORD, HEALD_STORE_PASSWORD_FILE, PGPASSWORD or PGPASSFILE."""

_RECORDS = ("secret", TOKENS, "share", "webhooks", "push_keys")
"""Kinds of records that a copy includes: secrets, tokens and webhooks of the server, links to studio projects."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    acts = parser.add_subparsers(dest="act", metavar="ACTION", required=True)
    checking = acts.add_parser("check", help="read every session, and list the servers and what is damaged")
    migrating = acts.add_parser("migrate", help="bring the tables to the version of this Heald")
    copying = acts.add_parser("copy", help="copy all sessions into another store")
    copying.add_argument("source", metavar="FROM", help="URL of a store")
    copying.add_argument("target", metavar="TO", help="URL of a store")
    for act in (checking, migrating):
        add_options(act, "store")
        act.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> int:
    acts = {"check": _check, "migrate": _migrate, "copy": _copy}
    return asyncio.run(acts[options.act](options))


async def _check(options: argparse.Namespace) -> int:
    store = open_named_store(options.data, options.store)
    try:
        sessions = events = open_work = 0
        problems: dict[str, str] = {}
        damage = list(await store.find_damage()) if isinstance(store, SqliteStore) else []
        missing = store.missing_commits if isinstance(store, SqliteStore) else 0
        async for info in iterate_sessions(store):
            sessions += 1
            events += info.last_seq
            open_work += info.work != "idle"
            # Twice, because a server may change the log while it is read.
            problem = await check_session(store, info) and await check_session(store, info)
            if problem is not None:
                problems[info.id] = problem
        await _forget_repaired(as_shared(store), problems)
        nodes = [node.name for node in await as_shared(store).list_nodes() if node.room or node.version]
    finally:
        await store.close()
    if options.json:
        result = {"sessions": sessions, "events": events, "open": open_work, "nodes": nodes, "damaged": problems}
        print(encode_text(result | {"file": damage, "missing_commits": missing}))
        return 1 if problems or damage or missing else 0
    print(f"{sessions:,} sessions with {events:,} events; {open_work:,} have work; {len(nodes)} servers are alive.")
    for session, problem in problems.items():
        print(f"{session}: {problem}.", file=sys.stderr)
    if damage:
        print(f"The file is damaged; put a backup in its place. SQLite reports: {'; '.join(damage)}", file=sys.stderr)
    return 1 if problems or damage or missing else 0


async def _forget_repaired(store: SharedStore, problems: dict[str, str]) -> None:
    """Update the records that name damaged sessions."""
    for session in await store.read_records(DAMAGED):
        if session not in problems:
            await store.delete_record(DAMAGED, session)
    for session, problem in problems.items():
        await store.put_record(DAMAGED, session, problem.encode())


async def _migrate(options: argparse.Namespace) -> int:
    store = open_named_store(options.data, options.store)
    try:
        await store.list(limit=1)  # a store migrates itself before its first query
    finally:
        await store.close()
    print(encode_text({"migrated": True}) if options.json else "The store has the tables of this Heald.")
    return 0


async def _refuse_used(name: str, store: SharedStore) -> None:
    """Refuse a store that a server uses: a copy of what changes meanwhile would be incomplete."""
    servers = [node.name for node in await store.list_nodes() if node.version]
    if servers:
        raise ConfigurationError(f"A server ({', '.join(servers)}) uses {name}; stop it, then copy.")


async def _copy(options: argparse.Namespace) -> int:
    source, target = open_store(options.source), open_store(options.target)
    count = 0

    def show(_: SessionInfo) -> None:
        nonlocal count
        count += 1
        if count % 100 == 0:
            print_note(f"{count:,} sessions …")

    try:
        for url, store in ((options.source, source), (options.target, target)):
            await _refuse_used(without_password(url), as_shared(store))
        result = await copy_sessions(source, target, records=_RECORDS, on_session=show)
    finally:
        await source.close()
        await target.close()
    print(
        f"{result.copied:,} sessions with {result.events:,} events are copied; {result.existing:,} were there already."
    )
    for session in result.damaged:
        print(f"{session} is damaged and was not copied; `heald check` shows where.", file=sys.stderr)
    return 1 if result.damaged else 0
