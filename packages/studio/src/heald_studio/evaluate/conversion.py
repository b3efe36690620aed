"""A converter, and the files that it made from a picture."""

from typing import Protocol

import msgspec

from heald_studio.evaluate.quality import (
    Files,
)
from heald_studio.stacks.stack import Stack


class Conversion(msgspec.Struct, frozen=True, kw_only=True):
    """A finished page, with its cost and notes."""

    files: Files
    cost_usd: float | None = None
    first_preview_seconds: float | None = None
    """The time to the first preview, if there was one before the end."""
    notes: tuple[str, ...] = ()


class Converter(Protocol):
    """Turns a picture into the files of a page. If it raises, the row has the reason."""

    async def __call__(self, target: bytes, stack: Stack, /) -> Conversion | Files: ...
