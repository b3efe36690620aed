"""Tools of MCP (Model Context Protocol) servers. Needs the extra `mcp`.

Each server has a separate environment and is not trusted: its descriptions of tools never grant permissions, and a tool
whose description changes is rejected until it is offered again.
"""

from importlib.util import find_spec

from heald.core.distribution import install_advice
from heald.core.errors import ConfigurationError

if find_spec("mcp") is None or find_spec("mcp_types") is None:  # older versions of mcp have no mcp_types
    raise ConfigurationError(f"Tools over MCP need the package mcp, which is missing: {install_advice('mcp')}.")

from heald.tools.mcp.config import McpFault, McpServer
from heald.tools.mcp.servers import McpServers, ToolChange

__all__ = ["McpFault", "McpServer", "McpServers", "ToolChange"]
