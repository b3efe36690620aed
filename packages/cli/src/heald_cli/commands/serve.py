"""`heald serve`: runs the server, for this machine only by default."""

import argparse
import asyncio
import os
import sys
from contextlib import ExitStack
from functools import partial
from socket import socket
from threading import Thread
from urllib.parse import quote

import msgspec

from heald.commands.memory_protection import protect_memory
from heald.commands.model_options import check_endpoint
from heald.commands.options import add_options
from heald.commands.stores import open_named_store
from heald.commands.terminal import print_note
from heald.core.errors import ConfigurationError
from heald.core.json import encode_text
from heald.sessions.shared_store import SharedStore
from heald.sessions.store import Store
from heald.sessions.store_url import store_secrets
from heald_cli.folder_extras import list_untrusted
from heald_cli.open_browser import open_browser
from heald_cli.own_tools import open_own_tools, print_problems
from heald_cli.server_context import find_workspaces, make_context, make_settings
from heald_cli.server_start import environment_token, new_node_name
from heald_cli.telemetry import start_telemetry
from heald_cli.workers import Worker, WorkerSupervisor, check_workers
from heald_server.access.tokens import new_token
from heald_server.app import create_app
from heald_server.http.descriptors import raise_descriptor_limit
from heald_server.http.json_logs import configure_logging
from heald_server.http.uvicorn_server import bind, bind_more, serve_app
from heald_server.settings import ServerSettings, validate_settings

EXAMPLES = """examples:
  heald serve                                     this machine only, with a new token
  heald serve .                                   opens this repository, with its dev server in a preview
  heald serve --workspace . --permissions ask     sessions may work in this folder
  heald serve --tool my_tools:weather             with tools of your own
  heald serve --port 0 --no-open --json           for scripts: prints its address as JSON
  HEALD_TOKEN=… heald serve --host 0.0.0.0         for other machines, which need the token
  heald serve --store postgresql://heald@db/heald   one of several servers on one database
  heald serve --workers 4                         four processes, for a machine with more cores

The printed address holds a generated token for the page; programs send it as 'Authorization: Bearer …'. A token that
you set is not printed: the page asks for it."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder", nargs="?", default="", help="a repository to open in the page; sessions may work in it"
    )
    connection = parser.add_argument_group("connection")
    connection.add_argument(
        "--token", help="token that clients must send; HEALD_TOKEN is safer: every user sees command lines"
    )
    add_options(parser, "serve", {"connection": connection})
    parser.add_argument("--json", action="store_true", help="print one line of JSON when the server is ready")


def run(options: argparse.Namespace) -> int:
    protect_memory()
    if options.folder:
        if options.workers > 1:
            raise ConfigurationError("A repository is opened by a single process; start the server without --workers.")
        options.workspace = [options.folder, *options.workspace]
    check_endpoint(options)
    raise_descriptor_limit()
    settings = validate_settings(make_settings(options))
    check_workers(options.workers)
    with ExitStack() as sockets:
        bound = sockets.enter_context(bind(settings))
        settings = msgspec.structs.replace(settings, port=bound.getsockname()[1])
        token = _operator_token(options) or ("" if options.no_token else new_token())
        worker: Worker | None = None
        if options.workers > 1:
            more = [sockets.enter_context(other) for other in bind_more(bound, settings, options.workers - 1)]
            started = WorkerSupervisor([bound, *more], partial(_print_ready, options, settings)).run()
            if isinstance(started, int):
                return started
            worker, bound = started, started.listener
        configure_logging(options.log, [token, *store_secrets(options.store, options.news)])
        store = open_named_store(options.data, options.store, node=new_node_name(options.node), news=options.news or "")
        asyncio.run(_serve(options, settings, token, store, bound, worker))
    return 0


async def _serve(
    options: argparse.Namespace,
    settings: ServerSettings,
    token: str,
    store: Store,
    bound: socket,
    worker: Worker | None,
) -> None:
    if worker is not None:
        worker.end_with_parent()
    try:
        if isinstance(store, SharedStore) and options.store:
            await store.list_nodes()  # a store that cannot be used is reported before anything is started
        if isinstance(store, SharedStore) and options.store and token and not (options.token or environment_token()):
            token = (await store.put_record("secret", "token", token.encode(), only_new=True)).decode()
            configure_logging(options.log, [token, *store_secrets(options.store, options.news)])
        folders = list(find_workspaces(options.workspace).values())
        async with open_own_tools(options, folders=folders) as own_tools:
            print_problems(own_tools)
            for sentence in list_untrusted(folders):
                print_note(sentence)
            context = make_context(options, settings, token, store, own_tools)
            app = create_app(context)
            telemetry = start_telemetry(options)
            if telemetry is not None:
                context.subscribe(telemetry.reactor)
                context.on_stop(telemetry.close)
            report = partial(_print_ready, options, settings) if worker is None else worker.report_ready

            await serve_app(app, context, bound, partial(report, token))
    finally:
        await store.close()


def _operator_token(options: argparse.Namespace) -> str:
    """Return the token that the operator set. It is never printed."""
    return options.token or ("" if options.no_token else environment_token())


def _print_ready(options: argparse.Namespace, settings: ServerSettings, token: str) -> None:
    base = settings.public.url if settings.public is not None else settings.address
    is_generated = bool(token) and not _operator_token(options)
    view = f"/repository/{quote(next(iter(find_workspaces([options.folder]))), safe='')}" if options.folder else ""
    address = f"{base}/#token={token}" if is_generated else f"{base}/"
    if view:
        address += f"&open={view}" if is_generated else f"#{view}"
    if options.json:
        shown_token = token if is_generated else None
        ready = {
            "ready": True,
            "url": settings.address,
            "token": shown_token,
            "needs_token": bool(token),
            "pid": os.getpid(),
        }
        print(encode_text(ready), flush=True)
    else:
        print(f"Heald is at {address}", flush=True)
        if not token:
            print("No token is needed: every program of this machine has access.", file=sys.stderr, flush=True)
    if options.open and not options.json:
        Thread(target=open_browser, args=(address,), daemon=True).start()
