"""`heald mcp`: offers agents, studio builds and files to MCP clients, and signs in to MCP servers."""

import argparse
import asyncio
import sys

from heald.commands.logs import log_to
from heald.commands.memory_protection import protect_memory
from heald.commands.model_options import check_endpoint
from heald.commands.stores import open_named_store
from heald.core.errors import ConfigurationError
from heald_cli.commands import serve
from heald_cli.mcp_sign_in import act_on_servers
from heald_cli.own_tools import open_own_tools, print_problems
from heald_cli.server_context import make_context
from heald_server.protocols.installed import require_protocol
from heald_server.settings import ServerSettings

EXAMPLES = """examples:
  heald mcp                                     over standard input and output, started by a client
  heald mcp --workspace . --permissions auto    the agent works in this folder
  heald mcp --http --port 7878                  at http://127.0.0.1:7878/mcp, with a token; so does `heald serve`
  heald mcp list                                the MCP servers that are configured, and whether they are signed in to
  heald mcp login github                        sign in to a configured server by OAuth
  heald mcp logout github

The options and their settings are those of `heald serve`."""
_ACTS = ("serve", "list", "login", "logout")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("act", nargs="?", choices=_ACTS, default="serve", metavar="ACTION", help=", ".join(_ACTS))
    parser.add_argument("name", nargs="?", metavar="SERVER", help="configured MCP server, for login and logout")
    parser.add_argument("--http", action="store_true", help="offer them over HTTP, at /mcp of a server")
    serve.add_arguments(parser)
    parser.set_defaults(settings_of="serve")


def run(options: argparse.Namespace) -> int:
    if options.act != "serve":
        return act_on_servers(options)
    require_protocol("mcp").require_packages()
    if options.http:
        options.open = False
        return serve.run(options)
    if sys.stdin.isatty():
        raise ConfigurationError("heald mcp is started by an MCP client; --http serves at an address.")
    check_endpoint(options)
    protect_memory()
    log_to(options.log)
    asyncio.run(_serve_pipes(options))
    return 0


async def _serve_pipes(options: argparse.Namespace) -> None:
    from mcp.server.stdio import stdio_server

    from heald_server.app import list_routes
    from heald_server.protocols.mcp.offer import McpOffer

    settings = ServerSettings(needs_token=False, client_tool_timeout=options.client_tool_timeout)
    store = open_named_store(options.data, options.store, node=options.node or "", news=options.news or "")
    try:
        async with open_own_tools(options, folders=options.workspace) as own_tools:
            print_problems(own_tools)
            context = make_context(options, settings, "", store, own_tools)
            list_routes(context)  # opens the protocols, such as the studio, whose tools are offered
            await context.start()
            offer = McpOffer(context, lambda _: "")
            try:
                server = await offer.server()
                async with stdio_server() as (reading, writing):
                    await server.run(reading, writing, server.create_initialization_options())
            finally:
                await offer.close()
                await context.stop()
    finally:
        await store.close()
