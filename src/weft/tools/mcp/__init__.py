"""Tools of MCP (Model Context Protocol) servers. Needs the extra `mcp`.

Each server has a separate environment and is not trusted: its descriptions of tools never grant permissions, and a tool
whose description changes is rejected until it is offered again.
"""

from importlib.util import find_spec

from weft.core.errors import ConfigurationError

if find_spec("mcp") is None:
    raise ConfigurationError('Tools over MCP need the package mcp, which is missing: pip install "weft[mcp]".')

from weft.tools.mcp.config import McpFault, McpServer
from weft.tools.mcp.servers import McpServers, ToolChange

__all__ = ["McpFault", "McpServer", "McpServers", "ToolChange"]
