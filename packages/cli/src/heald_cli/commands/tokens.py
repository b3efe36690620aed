"""`heald tokens`: gives users of a server their tokens, lists and revokes them."""

import argparse
import asyncio
import sys
from datetime import datetime
from time import time

import msgspec

from heald.commands.options import add_options
from heald.commands.stores import open_named_store
from heald.commands.terminal import BOLD, Colours, print_note
from heald.commands.text_columns import align_columns
from heald.core.errors import ConfigurationError
from heald.core.json import encode, encode_text
from heald.sessions.shared_store import SharedStore
from heald.tools.sanitize import sanitize_text
from heald_server.access.tokens import TOKENS, StoredToken, new_token, token_digest

EXAMPLES = """examples:
  heald tokens add ann                      prints a new token for the sessions of ann
  heald tokens add ann --label laptop --days 90
  heald tokens list
  heald tokens revoke 3f9a12                the beginning of its id; running servers notice at once

The tokens are in the store of the sessions, as digests: use the same --data or --store as the server."""
_DAY = 24 * 3600.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    acts = parser.add_subparsers(dest="act", metavar="ACTION", required=True)
    adding = acts.add_parser("add", help="make a token and print it, once")
    adding.add_argument("owner", help="user whose sessions the token gives access to")
    adding.add_argument("--label", default="", metavar="TEXT", help="note about where it is used")
    adding.add_argument("--days", type=float, metavar="N", help="it expires after so many days (never)")
    listing = acts.add_parser("list", help="list the tokens, without the tokens themselves")
    revoking = acts.add_parser("revoke", help="revoke a token; its streams end")
    revoking.add_argument("token", help="the token, its id, or the beginning of the id")
    for act in (adding, listing):
        act.add_argument("--json", action="store_true", help="print JSON")
    for act in (adding, listing, revoking):
        add_options(act, "tokens")


def run(options: argparse.Namespace) -> int:
    asyncio.run(_run(options))
    return 0


async def _run(options: argparse.Namespace) -> None:
    store = open_named_store(options.data, options.store)
    try:
        if not isinstance(store, SharedStore):
            raise ConfigurationError("This store cannot hold tokens; name one that does with --store, such as a file.")
        await {"add": _add, "list": _list, "revoke": _revoke}[options.act](options, store)
    finally:
        await store.close()


async def _add(options: argparse.Namespace, store: SharedStore) -> None:
    if not options.owner.strip() or len(options.owner) > 200:
        raise ConfigurationError("The owner of a token is a name of at most 200 characters.")
    if options.days is not None and options.days <= 0:
        raise ConfigurationError("A token is valid for more than 0 days; omit --days for one that does not expire.")
    token, now = new_token(), time()
    stored = StoredToken(
        owner=options.owner,
        label=options.label[:200],
        created=now,
        expires=now + options.days * _DAY if options.days is not None else None,
    )
    name = token_digest(token).hex()
    await store.put_record(TOKENS, name, encode(stored))
    if options.json:
        print(encode_text({"owner": options.owner, "id": name, "token": token}))
        return
    print(token)
    print_note(f"The token {name[:12]} of {options.owner} is shown only now. A running server accepts it at once.")


async def _list(options: argparse.Namespace, store: SharedStore) -> None:
    tokens = await _read(store)
    if options.json:
        for name, token in tokens.items():
            print(encode_text({"id": name, **msgspec.structs.asdict(token)}))
        return
    rows = [
        [name[:12], sanitize_text(token.owner or "-"), _state(token), sanitize_text(token.label)]
        for name, token in tokens.items()
    ]
    paint = Colours(sys.stdout)
    for line in align_columns([["ID", "OWNER", "STATE", "LABEL"], *rows]):
        print(paint(line, BOLD) if line.startswith("ID ") else line)


async def _revoke(options: argparse.Namespace, store: SharedStore) -> None:
    tokens = await _read(store)
    exact = token_digest(options.token).hex()
    matches = [name for name in tokens if name == exact or (len(options.token) >= 4 and name.startswith(options.token))]
    if len(matches) != 1:
        which = "several tokens begin" if matches else "no token begins"
        raise ConfigurationError(f"In this store {which} with {options.token[:12]!r}; see `heald tokens list`.")
    await store.put_record(TOKENS, matches[0], encode(msgspec.structs.replace(tokens[matches[0]], revoked=True)))
    print_note(f"The token {matches[0][:12]} of {tokens[matches[0]].owner or 'the server'} is revoked.")


async def _read(store: SharedStore) -> dict[str, StoredToken]:
    records = await store.read_records(TOKENS)
    tokens = {name: msgspec.json.decode(data, type=StoredToken) for name, data in records.items()}
    return dict(sorted(tokens.items(), key=lambda item: (item[1].owner, item[1].created)))


def _state(token: StoredToken) -> str:
    if token.revoked:
        return "revoked"
    if token.expires is None:
        return "valid"
    day = datetime.fromtimestamp(token.expires).strftime("%Y-%m-%d")
    return f"until {day}" if token.is_valid(time()) else f"expired {day}"
