"""`weft serve`: the server, on this machine unless told otherwise."""

import argparse
import asyncio
import os
import sys
import webbrowser
from pathlib import Path
from socket import socket

import msgspec

from weft.cli.data import DATA_HELP, FILE, data_folder
from weft.cli.run import named_model
from weft.cli.switch import Switch
from weft.core.errors import ConfigurationError
from weft.core.json import encode_text
from weft.server.app import Extension, create_app
from weft.server.context import ServerContext
from weft.server.logs import write_logs
from weft.server.models import KnownModels
from weft.server.serving import bind, serve
from weft.server.settings import DEFAULT_PORT, Limits, ServerSettings, checked
from weft.server.tokens import Tokens, new_token
from weft.sessions.sessions import Sessions
from weft.sessions.settings import SessionSettings
from weft.sessions.sqlite import SqliteStore
from weft.tools.permissions import MODES
from weft.tools.shell.sandbox import Sandbox
from weft.wires.registry import WIRES

_EXAMPLES = """examples:
  weft serve                                     this machine only, with a new token
  weft serve --workspace . --permissions ask     sessions may work in this folder
  weft serve --port 0 --no-open --json           for scripts: one line says where it is
  WEFT_TOKEN=… weft serve --host 0.0.0.0         others need the token

The page gets the token in the address that is printed; programs send it as 'Authorization: Bearer …'."""


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:  # pyright: ignore[reportPrivateUsage]
    parser = commands.add_parser(
        "serve",
        help="sessions over HTTP, server-sent events and WebSocket",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    door = parser.add_argument_group("door")
    door.add_argument("--host", default="127.0.0.1", help="(%(default)s)")
    door.add_argument("--port", type=int, default=DEFAULT_PORT, help="(%(default)s; 0 takes any that is free)")
    door.add_argument("--token", help="who has it may come in (WEFT_TOKEN, else a new one)")
    door.add_argument("--no-token", action="store_true", help="let in all of this machine; not with another --host")
    door.add_argument("--allow-origin", action="append", default=[], metavar="ORIGIN", help="a page that may ask")
    work = parser.add_argument_group("work")
    work.add_argument("--data", metavar="DIR", help=DATA_HELP)
    work.add_argument("--workspace", action="append", default=[], metavar="DIR", help="a folder to offer; repeatable")
    work.add_argument("--model", help="what sessions use that name no model (the best one that keys allow)")
    work.add_argument("--tools", default="files,todo,ask", metavar="NAMES", help="the same for tools (%(default)s)")
    work.add_argument("--base-url", help="an endpoint of your own for --model, whose name is sent as it stands")
    work.add_argument("--wire", choices=list(WIRES), help="what that endpoint speaks (chat)")
    work.add_argument("--api-key-env", metavar="NAME", help="the environment variable with that endpoint's key")
    work.add_argument("--permissions", choices=MODES, default="ask", help="the same for what needs no question (ask)")
    work.add_argument("--unsandboxed", action="store_true", help="run commands without a sandbox; every result says so")
    limits = parser.add_argument_group("limits, for each client")
    limits.add_argument("--max-exchanges", type=int, default=16, metavar="N", help="at once (%(default)s)")
    limits.add_argument("--max-tokens-per-day", type=int, metavar="N")
    limits.add_argument("--max-usd-per-day", type=float, metavar="N")
    parser.add_argument("--open", action=Switch, default=True, help="whether a browser is opened (yes)")
    parser.add_argument("--json", action="store_true", help="say that it is ready with one line of JSON")
    parser.add_argument("--log", choices=["debug", "info", "warning", "error"], default="warning", help="(%(default)s)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    if options.base_url and not options.model:
        raise ConfigurationError("--base-url goes with --model, the name that the endpoint knows.")
    settings = checked(_settings(options))
    bound = bind(settings)
    settings = msgspec.structs.replace(settings, port=bound.getsockname()[1])
    token = options.token or ("" if options.no_token else os.environ.get("WEFT_TOKEN") or new_token())
    write_logs(options.log, [token])
    store = SqliteStore(data_folder(options.data) / FILE)
    asyncio.run(_serve(options, settings, token, store, bound))
    return 0


async def _serve(
    options: argparse.Namespace, settings: ServerSettings, token: str, store: SqliteStore, bound: socket
) -> None:
    named = {options.model: named_model(options)} if options.base_url else {}
    context = ServerContext(
        Sessions(store),
        KnownModels(options.model, named),
        settings=settings,
        tokens=Tokens({token: ""} if token else {}),
        defaults=SessionSettings(
            model=options.model or "",
            tools=[name.strip() for name in options.tools.split(",") if name.strip()],
            permissions=options.permissions,
        ),
        workspaces=_workspaces(options.workspace),
        sandbox=Sandbox(unsandboxed=options.unsandboxed),
    )
    app = create_app(context, extensions())
    await serve(app, context, bound, lambda: _say_ready(options, settings, token))


def extensions() -> list[Extension]:
    """The studio, where what it needs is installed."""
    try:
        from weft.server.studio.projects import studio_routes
    except ImportError:
        return []
    return [studio_routes]


def _say_ready(options: argparse.Namespace, settings: ServerSettings, token: str) -> None:
    address = f"{settings.address}/#token={token}" if token else f"{settings.address}/"
    if options.json:
        print(
            encode_text({"ready": True, "url": settings.address, "token": token or None, "pid": os.getpid()}),
            flush=True,
        )
    else:
        print(f"Weft is at {address}", flush=True)
        if not token:
            print("No token is asked for: every program of this machine may come in.", file=sys.stderr, flush=True)
    if options.open and not options.json:
        webbrowser.open(address)


def _settings(options: argparse.Namespace) -> ServerSettings:
    return ServerSettings(
        host=options.host,
        port=options.port,
        origins=tuple(options.allow_origin),
        needs_token=bool(options.token) or not options.no_token,
        limits=Limits(
            exchanges=options.max_exchanges,
            tokens_per_day=options.max_tokens_per_day,
            usd_per_day=options.max_usd_per_day,
        ),
    )


def _workspaces(folders: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for folder in folders:
        path = Path(folder).expanduser().resolve()
        if not path.is_dir():
            raise ConfigurationError(f"There is no folder {folder!r} to work in; make it first.")
        name = path.name or "root"
        while name in found:
            name = f"{name}-{len(found) + 1}"
        found[name] = str(path)
    return found
