"""The resources of the MCP server that have one prefix. Protocols may add sources: `ServerContext.mcp_resources`."""

from collections.abc import Sequence
from typing import Protocol

import mcp_types as types

from heald_server.protocols.mcp.prompt import ArgumentStart

ResourceContents = types.TextResourceContents | types.BlobResourceContents


class ResourceSource(Protocol):
    """Lists and reads resources whose addresses begin with `prefix`."""

    @property
    def prefix(self) -> str: ...

    @property
    def templates(self) -> Sequence[types.ResourceTemplate]:
        """The templates of the addresses that are not listed."""
        ...

    async def list(self, owner: str) -> Sequence[types.Resource]:
        """Return the resources of an owner that clients show."""
        ...

    async def read(self, owner: str, uri: str) -> ResourceContents:
        """Return the content of a resource. Raises HealdError or ApiError if the owner has none of this address."""
        ...

    async def complete(self, start: ArgumentStart) -> Sequence[str]:
        """Return values that a variable of a template may have."""
        ...
