"""`weft mcp`: offers agents, studio builds and files to MCP clients, and signs in to MCP servers."""

import argparse
import asyncio
import logging
import sys

from weft.cli import serve
from weft.cli.named_store import open_named_store
from weft.cli.options import find_own_tools
from weft.cli.own_tools import configure_server, open_own_tools, open_sign_in, print_problems
from weft.cli.run import check_endpoint
from weft.cli.terminal import align_columns, print_note
from weft.config.mcp_servers import ConfiguredServer
from weft.core.errors import ConfigurationError
from weft.server.settings import ServerSettings

EXAMPLES = """examples:
  weft mcp                                     over standard input and output, started by a client
  weft mcp --workspace . --permissions auto    the agent works in this folder
  weft mcp --http --port 7878                  at http://127.0.0.1:7878/mcp, with a token; so does `weft serve`
  weft mcp list                                the MCP servers that are configured, and whether they are signed in to
  weft mcp login github                        sign in to a configured server by OAuth
  weft mcp logout github

The options and their settings are those of `weft serve`."""
_ACTS = ("serve", "list", "login", "logout")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("act", nargs="?", choices=_ACTS, default="serve", metavar="ACTION", help=", ".join(_ACTS))
    parser.add_argument("name", nargs="?", metavar="SERVER", help="configured MCP server, for login and logout")
    parser.add_argument("--http", action="store_true", help="offer them over HTTP, at /mcp of a server")
    serve.add_arguments(parser)
    parser.set_defaults(settings_of="serve")


def run(options: argparse.Namespace) -> int:
    if options.act != "serve":
        return _act_on_servers(options)
    if options.http:
        options.open = False
        return serve.run(options)
    if sys.stdin.isatty():
        raise ConfigurationError("weft mcp is started by an MCP client; --http serves at an address.")
    check_endpoint(options)
    logging.basicConfig(level=options.log.upper(), format="%(asctime)s %(name)s %(message)s", stream=sys.stderr)
    asyncio.run(_serve_pipes(options))
    return 0


async def _serve_pipes(options: argparse.Namespace) -> None:
    from mcp.server.stdio import stdio_server

    from weft.server.mcp.offer import McpOffer

    settings = ServerSettings(needs_token=False, client_tool_timeout=options.client_tool_timeout)
    store = open_named_store(options.data, options.store, node=options.node or "", news=options.news or "")
    try:
        async with open_own_tools(options, folders=options.workspace) as own:
            print_problems(own)
            context = serve.make_context(options, settings, "", store, own)
            serve.list_extensions(context, options)
            await context.start()
            server = McpOffer(context, lambda _: "").server()
            try:
                async with stdio_server() as (reading, writing):
                    await server.run(reading, writing, server.create_initialization_options())
            finally:
                await context.stop()
    finally:
        await store.close()


# --- signing in to servers -------------------------------------------------------------------------------------------


def _act_on_servers(options: argparse.Namespace) -> int:
    servers = {each.name: each for each in find_own_tools(options).servers}
    if options.act == "list":
        return _list(servers)
    server = servers.get(options.name or "")
    if server is None:
        known = ", ".join(servers) or "none"
        raise ConfigurationError(f"There is no configured MCP server {options.name or ''!r}; there are {known}.")
    url = server.expanded().get("url")
    if url is None:
        raise ConfigurationError(f"{server.where}: the MCP server {server.name!r} is a command; it has no sign-in.")
    if options.act == "login":
        asyncio.run(_sign_in(server))
        print_note(f"You are signed in to {server.name}.")
        return 0
    from weft.tools.mcp.sign_in import TokenStore

    if not TokenStore(str(url)).delete():
        raise ConfigurationError(f"You are not signed in to {server.name}.")
    print_note(f"The tokens of {server.name} are deleted.")
    return 0


async def _sign_in(server: ConfiguredServer) -> None:
    from weft.tools.mcp import McpServers
    from weft.tools.mcp.sign_in import SignIn

    config = configure_server(server)
    async with McpServers([config], on_failure=lambda _: None, sign_in=SignIn(open_sign_in)) as servers:
        for fault in servers.failures.values():
            raise ConfigurationError(f"{server.where}: {fault}")


def _list(servers: dict[str, ConfiguredServer]) -> int:
    from weft.tools.mcp.sign_in import TokenStore

    rows: list[list[str]] = []
    for server in servers.values():
        url = server.table.get("url")
        signed_in = url is not None and TokenStore(str(server.expanded()["url"])).read().tokens is not None
        rows.append([server.name, str(url or server.table.get("command")), "signed in" if signed_in else ""])
    for line in align_columns(rows):
        print(line)
    if not rows:
        print_note("No MCP server is configured; an [mcp.NAME] table in weft.toml names one.")
    return 0
