"""Addresses of the files of sessions, as MCP resources."""

from urllib.parse import quote

PREFIX = "heald://sessions/"


def file_address(session: str, path: str) -> str:
    """The address of a file of a session as a resource."""
    return f"{PREFIX}{session}/files/{quote(path)}"
