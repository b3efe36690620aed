"""`heald webhooks`: adds, lists and removes webhooks and phone notifications, and replays what failed."""

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
from heald.core.json import encode_text
from heald.sessions.shared_store import SharedStore
from heald.tools.sanitize import sanitize_text
from heald_notify.delivery import Delivery, make_deliveries
from heald_notify.endpoint import NotifyEndpoint, check_address, make_endpoint, view_endpoint
from heald_notify.log_scan import scan_logs
from heald_notify.notification import NOTIFICATION_TYPES
from heald_notify.notify_records import NotifyRecords

EXAMPLES = """examples:
  heald webhooks add https://example.com/hook                    prints the secret that signs, once
  heald webhooks add https://example.com/hook --event approval.waiting --owner ann
  heald webhooks add --ntfy https://ntfy.sh/my-secret-topic      notifies the ntfy app of a phone
  heald webhooks list
  heald webhooks rotate whk_3f9a                                 another secret; the old one signs too for a day
  heald webhooks deliveries whk_3f9a --dead                      what could not be delivered
  heald webhooks replay whk_3f9a                                 send dead deliveries again
  heald webhooks replay whk_3f9a --hours 24                      send what the logs have of the last day again

They are in the store of the sessions: use the same --data or --store as the server, which sends them."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    acts = parser.add_subparsers(dest="act", metavar="ACTION", required=True)
    adding = acts.add_parser("add", help="add a webhook, and print its secret, once")
    adding.add_argument("url", help="address that gets the notifications")
    adding.add_argument("--ntfy", action="store_true", help="the address is a topic of an ntfy server")
    adding.add_argument(
        "--event", action="append", default=[], choices=NOTIFICATION_TYPES, help="what is sent (all); repeatable"
    )
    adding.add_argument("--owner", default="", help="user whose sessions it is for (the operator of the server)")
    adding.add_argument("--secret-stdin", action="store_true", help="read the secret, or the token of ntfy, from stdin")
    listing = acts.add_parser("list", help="list the webhooks, without their secrets")
    removing = acts.add_parser("remove", help="remove a webhook and its deliveries")
    rotating = acts.add_parser("rotate", help="replace the secret; the old one signs too for a day")
    enabling = acts.add_parser("enable", help="send to a disabled webhook again")
    showing = acts.add_parser("deliveries", help="list deliveries")
    showing.add_argument("--dead", action="store_true", help="those that are not tried again")
    replaying = acts.add_parser("replay", help="send dead deliveries, or what the logs have, again")
    replaying.add_argument("--hours", type=float, metavar="N", help="what the logs have of the last N hours")
    replaying.add_argument("--session", metavar="ID", help="what the log of one session has")
    for act in (removing, rotating, enabling, showing, replaying):
        act.add_argument("webhook", help="its id, or the beginning of it")
    for act in (adding, listing, showing):
        act.add_argument("--json", action="store_true", help="print JSON")
    for act in (adding, listing, removing, rotating, enabling, showing, replaying):
        add_options(act, "webhooks")


def run(options: argparse.Namespace) -> int:
    asyncio.run(_run(options))
    return 0


async def _run(options: argparse.Namespace) -> None:
    store = open_named_store(options.data, options.store)
    try:
        if not isinstance(store, SharedStore):
            raise ConfigurationError(
                "This store cannot hold webhooks; name one that does with --store, such as a file."
            )
        records = NotifyRecords(store)
        if options.act == "add":
            await _add(options, records)
        elif options.act == "list":
            await _list(options, records)
        else:
            endpoint = await _find(records, options.webhook)
            acts = {
                "remove": _remove,
                "rotate": _rotate,
                "enable": _enable,
                "deliveries": _deliveries,
                "replay": _replay,
            }
            await acts[options.act](options, records, endpoint)
    finally:
        await store.close()


async def _add(options: argparse.Namespace, records: NotifyRecords) -> None:
    endpoint = make_endpoint(
        options.url,
        moment=time(),
        owner=options.owner,
        kind="ntfy" if options.ntfy else "webhook",
        types=tuple(options.event),
        secret=sys.stdin.readline().strip() if options.secret_stdin else "",
    )
    await check_address(endpoint)
    await records.put_endpoint(endpoint)
    if options.json:
        print(encode_text(view_endpoint(endpoint, has_secret=not options.secret_stdin)))
        return
    if options.ntfy or options.secret_stdin:
        print_note(f"The webhook {endpoint.id} is added. A running server uses it at once.")
        return
    print(endpoint.secret)
    print_note(f"The secret of {endpoint.id} is shown only now. A running server uses it at once.")


async def _list(options: argparse.Namespace, records: NotifyRecords) -> None:
    endpoints, deliveries = await records.endpoints(), (await records.deliveries()).values()
    rows: list[list[str]] = []
    for endpoint in sorted(endpoints.values(), key=lambda item: (item.owner, item.created)):
        states = [delivery.state for delivery in deliveries if delivery.endpoint == endpoint.id]
        view = view_endpoint(endpoint, states)
        if options.json:
            print(encode_text({"owner": endpoint.owner, **msgspec.to_builtins(view)}))
            continue
        state = "disabled" if view.disabled else "active"
        counts = [str(view.pending), str(view.dead)]
        rows.append([view.id, sanitize_text(endpoint.owner or "-"), view.kind, state, *counts, sanitize_text(view.url)])
    if not options.json:
        _print_table([["ID", "OWNER", "KIND", "STATE", "PENDING", "DEAD", "ADDRESS"], *rows])


async def _remove(_: argparse.Namespace, records: NotifyRecords, endpoint: NotifyEndpoint) -> None:
    await records.delete_endpoint(endpoint)
    print_note(f"The webhook {endpoint.id} is removed.")


async def _rotate(_: argparse.Namespace, records: NotifyRecords, endpoint: NotifyEndpoint) -> None:
    rotated = endpoint.rotate(time())
    await records.put_endpoint(rotated)
    print(rotated.secret)
    print_note(f"The secret of {endpoint.id} is shown only now. The old one signs too for a day.")


async def _enable(_: argparse.Namespace, records: NotifyRecords, endpoint: NotifyEndpoint) -> None:
    await records.put_endpoint(msgspec.structs.replace(endpoint, disabled=""))
    print_note(f"The webhook {endpoint.id} is active.")


async def _deliveries(options: argparse.Namespace, records: NotifyRecords, endpoint: NotifyEndpoint) -> None:
    deliveries = (await records.deliveries(endpoint.id)).values()
    chosen = [delivery for delivery in deliveries if not options.dead or delivery.state == "dead"]
    if options.json:
        for delivery in chosen:
            print(encode_text(delivery))
        return
    rows = [
        [
            datetime.fromtimestamp(delivery.time).strftime("%Y-%m-%d %H:%M:%S"),
            delivery.state,
            str(delivery.attempts),
            delivery.type,
            delivery.root,
            sanitize_text(delivery.problem),
        ]
        for delivery in chosen
    ]
    _print_table([["TIME", "STATE", "ATTEMPTS", "EVENT", "SESSION", "PROBLEM"], *rows])


async def _replay(options: argparse.Namespace, records: NotifyRecords, endpoint: NotifyEndpoint) -> None:
    if options.hours is None and options.session is None:
        deliveries = (await records.deliveries(endpoint.id)).values()
        replayed = [delivery.replay() for delivery in deliveries if delivery.state == "dead"]
    else:
        since = time() - options.hours * 3600 if options.hours is not None else 0.0
        replayed = await _read_logs(records, endpoint, since, options.session)
    for delivery in replayed:
        await records.put_delivery(delivery)
    print_note(f"{len(replayed)} notifications are sent again by the server.")


async def _read_logs(
    records: NotifyRecords, endpoint: NotifyEndpoint, since: float, session: str | None
) -> list[Delivery]:
    """Return the deliveries of stored events for an endpoint."""
    deliveries: list[Delivery] = []
    async for info, event in scan_logs(records.store, since, owner=endpoint.owner, session=session):
        if info.owner != endpoint.owner:
            raise ConfigurationError(f"The session {info.id} belongs to another user than the webhook.")
        deliveries += make_deliveries(event, info.id, endpoint)
    return deliveries


async def _find(records: NotifyRecords, name: str) -> NotifyEndpoint:
    endpoints = [endpoint for endpoint in (await records.endpoints()).values() if endpoint.id.startswith(name)]
    if len(endpoints) != 1:
        which = "several webhooks begin" if endpoints else "no webhook begins"
        raise ConfigurationError(f"In this store {which} with {name[:40]!r}; see `heald webhooks list`.")
    return endpoints[0]


def _print_table(rows: list[list[str]]) -> None:
    paint = Colours(sys.stdout)
    for number, line in enumerate(align_columns(rows)):
        print(paint(line, BOLD) if number == 0 else line)
