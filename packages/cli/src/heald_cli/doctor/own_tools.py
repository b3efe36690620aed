"""Rows about the tools and MCP servers that the settings name."""

import asyncio

from msgspec.structs import replace

from heald.commands.finding import DoctorFinding, Findings, missing, ok, wrong
from heald.commands.own_tool_settings import own_tool_settings
from heald.config.command_tables import command_tables
from heald.config.mcp_servers import ConfiguredServer
from heald.config.sources import sources
from heald.core.errors import HealdError
from heald.tools.own_functions import is_own
from heald_cli.own_functions import load_functions
from heald_cli.own_servers import list_server_tools


async def check_own_tools() -> Findings:
    """Load the tools and start the MCP servers that the settings name."""
    try:
        now = sources()
        commands = [own_tool_settings(command, {}, now) for command in command_tables()]
    except HealdError:
        return []  # the check of the settings reports it
    findings: list[DoctorFinding] = []
    settings = {
        (name, setting.origin): setting for named in commands for setting in named.names for name in setting.value
    }
    for (name, origin), setting in settings.items():
        if setting.key == "tools" and not is_own(name):
            continue
        try:
            tools = load_functions([replace(setting, value=[name])])
            findings.append(ok("own tools", f"{name} ({origin}) gives {', '.join(tool.name for tool in tools)}"))
        except HealdError as error:
            findings.append(wrong("own tools", str(error), "Correct it, or remove the name."))
    servers = {server.name: server for named in commands for server in named.servers}
    findings += await asyncio.gather(*(_check_server(server) for server in servers.values()))
    if now.ignored_servers is not None:
        text, _, fix = str(now.ignored_servers).partition("; ")
        findings.append(missing("mcp", text, fix))
    return findings


async def _check_server(server: ConfiguredServer) -> DoctorFinding:
    name = f"mcp {server.name}"
    try:
        tools = await list_server_tools(server)
    except HealdError as error:
        return wrong(name, str(error), "Correct it, or remove the server.")
    return ok(name, f"{server.where.partition(': ')[0]} gives {len(tools)} tools")
