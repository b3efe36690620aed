"""`weft serve`: runs the server, for this machine only by default."""

import argparse
import asyncio
import gc
import os
import sys
import webbrowser
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from socket import socket

import msgspec

from weft.agent.agent import FolderExtras
from weft.cli.edit_formats import use_kept_format
from weft.cli.folder_extras import ExtrasCollector, list_untrusted
from weft.cli.local_studio import missing_studio_error
from weft.cli.named_store import given_token, new_node_name, open_named_store, store_secrets
from weft.cli.options import add_options
from weft.cli.own_tools import OwnTools, builtin_names, open_own_tools, print_problems
from weft.cli.request_settings import reasoning_of
from weft.cli.run import check_endpoint, named_model
from weft.cli.telemetry import start_telemetry
from weft.cli.terminal import print_note
from weft.core.errors import ConfigurationError
from weft.core.json import encode_text
from weft.server.access_tokens import AccessTokens, Users, new_token, read_users
from weft.server.app import Extension, a2a_routes, create_app, mcp_routes
from weft.server.connections import raise_descriptor_limit
from weft.server.context import ServerContext
from weft.server.models import KnownModels
from weft.server.settings import ServerLimits, ServerSettings, validate_settings
from weft.server.uvicorn_server import bind, configure_logging, serve_app
from weft.sessions.sessions import Sessions
from weft.sessions.settings import SessionSettings
from weft.sessions.store import Store
from weft.tools.shell.sandbox import Sandbox

EXAMPLES = """examples:
  weft serve                                     this machine only, with a new token
  weft serve --workspace . --permissions ask     sessions may work in this folder
  weft serve --tool my_tools:weather             with tools of your own
  weft serve --port 0 --no-open --json           for scripts: prints its address as JSON
  WEFT_TOKEN=… weft serve --host 0.0.0.0         for other machines, which need the token
  weft serve --store postgresql://weft@db/weft   one of several servers on one database

The printed address holds the token for the page; programs send it as 'Authorization: Bearer …'."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    connection = parser.add_argument_group("connection")
    connection.add_argument("--token", help="token that clients must send (WEFT_TOKEN, otherwise a new one)")
    add_options(parser, "serve", {"connection": connection})
    parser.add_argument("--json", action="store_true", help="print one line of JSON when the server is ready")


def run(options: argparse.Namespace) -> int:
    check_endpoint(options)
    raise_descriptor_limit()
    settings = validate_settings(_settings(options))
    with bind(settings) as bound:
        settings = msgspec.structs.replace(settings, port=bound.getsockname()[1])
        token = options.token or ("" if options.no_token else given_token() or new_token())
        configure_logging(options.log, [token, *store_secrets(options)])
        store = open_named_store(options.data, options.store, node=new_node_name(options.node), news=options.news or "")
        asyncio.run(_serve(options, settings, token, store, bound))
    return 0


async def _serve(
    options: argparse.Namespace, settings: ServerSettings, token: str, store: Store, bound: socket
) -> None:
    try:
        if options.store and token and not (options.token or given_token()):
            token = (await store.put_record("secret", "token", token.encode(), only_new=True)).decode()
            configure_logging(options.log, [token, *store_secrets(options)])
        folders = list(_workspaces(options.workspace).values())
        async with open_own_tools(options, folders=folders) as own:
            print_problems(own)
            for sentence in list_untrusted(folders):
                print_note(sentence)
            context = make_context(options, settings, token, store, own)
            app = create_app(context, extensions(options))
            telemetry = start_telemetry(options)
            if telemetry is not None:
                context.subscribe(telemetry.reactor)
                context.on_stop(telemetry.close)
            await serve_app(app, context, bound, lambda: _print_ready(options, settings, token))
    finally:
        await store.close()


def make_context(
    options: argparse.Namespace, settings: ServerSettings, token: str, store: Store, own: OwnTools
) -> ServerContext:
    """Make the state of a server from the options."""
    named = {options.model: named_model(options)} if options.base_url else {}
    users = read_users(options.users) if options.users else Users()
    tools = [*builtin_names(options.tools), *own.by_name()]
    defaults = SessionSettings(
        model=options.model or "",
        tools=tools,
        permissions=options.permissions,
        cache=options.cache,
        temperature=options.temperature,
        reasoning=reasoning_of(options),
        extra=options.extra,
    )
    workspaces = _workspaces(options.workspace)
    extras = ExtrasCollector(options)
    for folder in workspaces.values():
        extras.read_hooks(folder)  # now, before a model can change a script

    def find_extras(folder: str | None, settings: SessionSettings) -> FolderExtras:
        if folder is None:  # files are kept by the session: there is nothing of the user's that hooks could be for
            return FolderExtras(equip=lambda agent, model: use_kept_format(agent.engine, model))
        return extras.collect(folder, settings.instructions, has_tools=bool(settings.tools))

    context = ServerContext(
        Sessions(store),
        KnownModels(options.model, named),
        settings=settings,
        tokens=_tokens(options, token, users),
        users=users,
        defaults=defaults,
        tools=own.by_name,
        workspaces=workspaces,
        sandbox=Sandbox(unsandboxed=options.unsandboxed),
        find_extras=find_extras,
    )
    if own.servers is not None:

        def offer_tools() -> None:
            names = [*builtin_names(options.tools), *own.by_name()]
            context.defaults = msgspec.structs.replace(context.defaults, tools=names)

        own.servers.on_change(offer_tools)
    return context


def _tokens(options: argparse.Namespace, token: str, users: Users) -> AccessTokens:
    """Return the tokens that the options, the file of users and the identity provider give access by."""
    verify = None
    if options.jwt_issuer:
        from weft.server.jwt_auth import JwtVerifier

        verifier = JwtVerifier(
            options.jwt_issuer,
            options.jwt_audience or "",
            keys_url=options.jwt_jwks or "",
            algorithms=options.jwt_algorithms,
            owner_claim=options.jwt_owner,
        )
        verify = verifier.verify
    return AccessTokens({token: ""} if token else {}, digests=users.digests, verify=verify)


def extensions(options: argparse.Namespace) -> list[Extension]:
    """Return the studio and the server of other protocols, if their dependencies are installed."""
    return [*_studio(options), *_protocols()]


def list_extensions(context: ServerContext, options: argparse.Namespace) -> None:
    """Open what the extensions of a server open, such as the studio, for a server without HTTP."""
    for extension in _studio(options):
        extension(context)


def _studio(options: argparse.Namespace) -> list[Extension]:
    try:
        from weft.server.project_routes import studio_routes
    except ImportError as error:
        if options.studio_prompts or options.studio_stacks:
            raise missing_studio_error(error) from None
        return []
    folders = {"prompts": options.studio_prompts, "stacks": options.studio_stacks}
    return [partial(studio_routes, eval_pictures=options.eval_pictures, **folders)]


def _protocols() -> list[Extension]:
    """The endpoints of MCP and A2A. Their packages are large, so that the first request loads them."""
    routes = {"mcp": mcp_routes, "a2a": a2a_routes}
    return [extension for package, extension in routes.items() if find_spec(package) is not None]


def _print_ready(options: argparse.Namespace, settings: ServerSettings, token: str) -> None:
    gc.freeze()  # what is loaded by now stays: a full collection would stop all streams to look at it
    shown = settings.public.url if settings.public is not None else settings.address
    address = f"{shown}/#token={token}" if token else f"{shown}/"
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
        public_url=options.public_url or "",
        open_metrics=options.open_metrics,
        needs_token=bool(options.token) or not options.no_token,
        client_tool_timeout=options.client_tool_timeout,
        after_crash=options.after_crash,
        room=options.room,
        placement=options.placement,
        keep_deltas=options.keep_deltas * 3600 if options.keep_deltas is not None else None,
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
