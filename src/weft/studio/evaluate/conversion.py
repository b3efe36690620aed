"""What is being evaluated: whatever turns a picture into the files of a page."""

from collections.abc import Mapping
from typing import Protocol

import msgspec

from weft.studio.stacks.stack import Stack

Files = Mapping[str, str | bytes]
"""A project's files by their paths."""


class Conversion(msgspec.Struct, frozen=True, kw_only=True):
    """A finished page, and what its maker knows of the way to it."""

    files: Files
    cost_usd: float | None = None
    first_preview_seconds: float | None = None
    """Until something could be seen, if that came earlier than the end."""
    notes: tuple[str, ...] = ()


class Converter(Protocol):
    """Makes a page for the picture. It may raise: the row then says why there is no page."""

    async def __call__(self, target: bytes, stack: Stack, /) -> Conversion | Files: ...
