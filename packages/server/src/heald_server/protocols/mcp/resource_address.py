"""Addresses of the files of sessions, as MCP resources."""

from urllib.parse import quote


def file_address(session: str, path: str) -> str:
    """The address of a file of a session as a resource."""
    return f"heald://sessions/{session}/files/{quote(path)}"
