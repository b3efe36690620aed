"""Signs in to configured MCP servers and out of them: `heald mcp list`, `login` and `logout`."""

import argparse
import asyncio
import shlex

from heald.commands.own_tool_settings import find_own_tools
from heald.commands.terminal import print_note
from heald.commands.text_columns import align_columns
from heald.config.mcp_servers import ConfiguredServer
from heald.core.errors import ConfigurationError
from heald.tools.visible_text import escape_line
from heald_cli.own_servers import configure_server, open_sign_in


def act_on_servers(options: argparse.Namespace) -> int:
    """List the configured MCP servers, or sign in to one or out of it."""
    servers = {server.name: server for server in find_own_tools(options).servers}
    if options.act == "list":
        return _list(servers)
    server = servers.get(options.name or "")
    if server is None:
        names = ", ".join(servers) or "none"
        raise ConfigurationError(f"There is no configured MCP server {options.name or ''!r}; there are {names}.")
    url = server.expanded().get("url")
    if url is None:
        raise ConfigurationError(f"{server.where}: the MCP server {server.name!r} is a command; it has no sign-in.")
    if options.act == "login":
        asyncio.run(_sign_in(server))
        print_note(f"You are signed in to {server.name}.")
        return 0
    from heald.tools.mcp.token_store import TokenStore

    if not TokenStore(str(url)).delete():
        raise ConfigurationError(f"You are not signed in to {server.name}.")
    print_note(f"The tokens of {server.name} are deleted.")
    return 0


async def _sign_in(server: ConfiguredServer) -> None:
    from heald.tools.mcp import McpServers
    from heald.tools.mcp.sign_in import SignIn

    config = configure_server(server)
    async with McpServers([config], on_failure=lambda _: None, sign_in=SignIn(open_sign_in)) as servers:
        for fault in servers.failures.values():
            raise ConfigurationError(f"{server.where}: {fault}")


def _list(servers: dict[str, ConfiguredServer]) -> int:
    from heald.tools.mcp.token_store import TokenStore

    rows: list[list[str]] = []
    for server in servers.values():
        url = server.table.get("url")
        signed_in = url is not None and TokenStore(str(server.expanded()["url"])).read().tokens is not None
        start = url or shlex.join(map(str, [server.table.get("command"), *server.table.get("args", [])]))
        rows.append([escape_line(server.name), escape_line(str(start)), "signed in" if signed_in else ""])
    for line in align_columns(rows):
        print(line)
    if not rows:
        print_note("No MCP server is configured; an [mcp.NAME] table in heald.toml names one.")
    return 0
