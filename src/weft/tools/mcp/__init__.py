"""Tools of other programs, over the Model Context Protocol. Needs the extra `mcp`.

Each server is started with an environment of its own and is not trusted: what it says of its tools decides nothing
about permissions, and a tool that changes what it says of itself is refused until it is offered anew.
"""

from importlib.util import find_spec

from weft.core.errors import ConfigurationError

if find_spec("mcp") is None:
    raise ConfigurationError('Tools over MCP need the package mcp, which is missing: pip install "weft[mcp]".')

from weft.tools.mcp.config import McpServer
from weft.tools.mcp.faults import McpFault
from weft.tools.mcp.servers import McpServers, ToolChange

__all__ = ["McpFault", "McpServer", "McpServers", "ToolChange"]
