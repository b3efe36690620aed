"""Weft as an MCP server: agents, studio builds and files of sessions as tools and resources. Needs the extra `mcp`."""

from importlib.util import find_spec

from weft.core.errors import ConfigurationError

if find_spec("mcp") is None:
    raise ConfigurationError('An MCP server needs the package mcp, which is missing: pip install "weft[mcp]".')
