"""Heald as an MCP server: agents and files of sessions as tools and resources."""
