"""Configures and starts the MCP servers that settings name. A problem is one sentence that begins with its place."""

import asyncio
from typing import TYPE_CHECKING

from heald.commands.terminal import print_note
from heald.config.paths import display_path, user_file
from heald.core.errors import ConfigurationError, HealdError
from heald.providers.config import is_foreign_key
from heald.tools.visible_text import describe_hidden, escape_line
from heald_cli.open_browser import open_browser

if TYPE_CHECKING:
    from heald.config.mcp_servers import ConfiguredServer
    from heald.tools.mcp import McpServer


async def open_sign_in(server: str, address: str) -> None:
    """Open the page on which the user signs in to a server."""
    print_note(f"The MCP server {escape_line(server)} asks you to sign in. If no browser opens, open this page:")
    print_note(escape_line(address))
    for note in describe_hidden(address, is_command=True):
        print_note(f"The address {note}.")
    await asyncio.to_thread(open_browser, address)


async def list_server_tools(server: "ConfiguredServer") -> list[str]:
    """Start a server and return the names of its tools. Raises ConfigurationError if it does not start."""
    from heald.tools.mcp import McpServers

    async with McpServers([configure_server(server)], on_failure=lambda _: None) as servers:
        for fault in servers.failures.values():
            raise ConfigurationError(f"{server.where}: {fault} {failure_hint(servers.log(server.name))}")
        return [tool.name for tool in servers.tools]


def configure_server(server: "ConfiguredServer") -> "McpServer":
    """Make the configuration of a server. Raises ConfigurationError that begins with its place."""
    from heald.tools.mcp import McpServer

    for variable in server.variables() if server.of_project else ():
        if is_foreign_key(variable):
            raise ConfigurationError(
                f"{server.where}: a project's file may not use {variable}, which may be a key of yours; "
                f"write this into {display_path(user_file())}, or name a variable of its own."
            )
    table = server.expanded()
    folder = server.folder / table.pop("cwd", "")
    try:
        return McpServer(
            name=server.name,
            args=tuple(table.pop("args", ())),
            cwd=str(folder) if "command" in table else None,
            **{key: value for key, value in table.items() if key != "required"},
        )
    except HealdError as error:
        raise ConfigurationError(f"{server.where}: {error}") from None


def failure_hint(log: str) -> str:
    """The last line that a server printed, or what to do."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    return f"It printed: {lines[-1][:200]}" if lines else "Check its command or url."
