"""Reads the pages of a list of an MCP server."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TypeVar

import mcp_types as types
from mcp import MCPError
from pydantic import ValidationError

MAX_LISTED = 500
_MAX_PAGES = 20
Page = TypeVar("Page", bound=types.PaginatedResult)
Listed = TypeVar("Listed")


async def read_pages(
    fetch: Callable[[str | None], Awaitable[Page]], items_of: Callable[[Page], Sequence[Listed]]
) -> list[Listed]:
    """Return the items of all pages, within limits. A list that cannot be read is empty."""
    items: list[Listed] = []
    cursor: str | None = None
    with suppress(MCPError, ValidationError):
        for _ in range(_MAX_PAGES):
            page = await fetch(cursor)
            items += items_of(page)
            cursor = page.next_cursor
            if not cursor or len(items) >= MAX_LISTED:
                break
    return items[:MAX_LISTED]
