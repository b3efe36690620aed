"""`weft serve`: runs the server, for this machine only by default."""

import argparse
import asyncio
import os
import sys
import webbrowser
from functools import partial
from pathlib import Path
from socket import socket

import msgspec

from weft.cli.local_studio import missing_studio_error
from weft.cli.options import add_options
from weft.cli.own_tools import OwnTools, builtin_names, open_own_tools, print_problems
from weft.cli.run import check_endpoint, named_model
from weft.config.paths import DATABASE, data_folder
from weft.core.errors import ConfigurationError
from weft.core.json import encode_text
from weft.server.access_tokens import AccessTokens, new_token
from weft.server.app import Extension, create_app
from weft.server.context import ServerContext
from weft.server.models import KnownModels
from weft.server.settings import ServerLimits, ServerSettings, validate_settings
from weft.server.uvicorn_server import bind, configure_logging, serve_app
from weft.sessions.sessions import Sessions
from weft.sessions.settings import SessionSettings
from weft.sessions.sqlite import SqliteStore
from weft.tools.shell.sandbox import Sandbox

EXAMPLES = """examples:
  weft serve                                     this machine only, with a new token
  weft serve --workspace . --permissions ask     sessions may work in this folder
  weft serve --tool my_tools:weather             with tools of your own
  weft serve --port 0 --no-open --json           for scripts: prints its address as JSON
  WEFT_TOKEN=… weft serve --host 0.0.0.0         for other machines, which need the token

The printed address holds the token for the page; programs send it as 'Authorization: Bearer …'."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    connection = parser.add_argument_group("connection")
    connection.add_argument("--token", help="token that clients must send (WEFT_TOKEN, otherwise a new one)")
    add_options(parser, "serve", {"connection": connection})
    parser.add_argument("--json", action="store_true", help="print one line of JSON when the server is ready")


def run(options: argparse.Namespace) -> int:
    check_endpoint(options)
    settings = validate_settings(_settings(options))
    with bind(settings) as bound:
        settings = msgspec.structs.replace(settings, port=bound.getsockname()[1])
        token = options.token or ("" if options.no_token else os.environ.get("WEFT_TOKEN") or new_token())
        configure_logging(options.log, [token])
        store = SqliteStore(data_folder(options.data) / DATABASE)
        asyncio.run(_serve(options, settings, token, store, bound))
    return 0


async def _serve(
    options: argparse.Namespace, settings: ServerSettings, token: str, store: SqliteStore, bound: socket
) -> None:
    try:
        async with open_own_tools(options) as own:
            print_problems(own)
            await _serve_with(options, settings, token, store, bound, own)
    finally:
        await store.close()


async def _serve_with(
    options: argparse.Namespace,
    settings: ServerSettings,
    token: str,
    store: SqliteStore,
    bound: socket,
    own: OwnTools,
) -> None:
    named = {options.model: named_model(options)} if options.base_url else {}
    tools = [*builtin_names(options.tools), *own.by_name()]
    defaults = SessionSettings(
        model=options.model or "", tools=tools, permissions=options.permissions, cache=options.cache
    )
    context = ServerContext(
        Sessions(store),
        KnownModels(options.model, named),
        settings=settings,
        tokens=AccessTokens({token: ""} if token else {}),
        defaults=defaults,
        tools=own.by_name,
        workspaces=_workspaces(options.workspace),
        sandbox=Sandbox(unsandboxed=options.unsandboxed),
    )
    app = create_app(context, extensions(options))
    await serve_app(app, context, bound, lambda: _print_ready(options, settings, token))


def extensions(options: argparse.Namespace) -> list[Extension]:
    """Return the studio, if its dependencies are installed."""
    try:
        from weft.server.project_routes import studio_routes
    except ImportError as error:
        if options.studio_prompts or options.studio_stacks:
            raise missing_studio_error(error) from None
        return []
    return [partial(studio_routes, prompts=options.studio_prompts, stacks=options.studio_stacks)]


def _print_ready(options: argparse.Namespace, settings: ServerSettings, token: str) -> None:
    address = f"{settings.address}/#token={token}" if token else f"{settings.address}/"
    if options.json:
        ready = {"ready": True, "url": settings.address, "token": token or None, "pid": os.getpid()}
        print(encode_text(ready), flush=True)
    else:
        print(f"Weft is at {address}", flush=True)
        if not token:
            print("No token is needed: every program of this machine has access.", file=sys.stderr, flush=True)
    if options.open and not options.json:
        webbrowser.open(address)


def _settings(options: argparse.Namespace) -> ServerSettings:
    return ServerSettings(
        host=options.host,
        port=options.port,
        origins=tuple(options.allow_origin),
        needs_token=bool(options.token) or not options.no_token,
        client_tool_timeout=options.client_tool_timeout,
        show_tools=options.show_tools,
        limits=ServerLimits(
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
            raise ConfigurationError(f"There is no folder {folder!r} to work in; create it first.")
        name = path.name or "root"
        while name in found:
            name = f"{name}-{len(found) + 1}"
        found[name] = str(path)
    return found
