"""What a variant works on, for its tools: the pictures it shall match, its stack, and the other variants."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from weft.studio.stacks.stack import Stack

Files = Mapping[str, bytes]
Option = Callable[[int], Awaitable[Files | None]]
"""The files of a variant, counted from 1 as people count; None if there is none."""


@dataclass(frozen=True, slots=True)
class Assignment:
    project: str
    version: str
    variant: int
    stack: Stack
    targets: tuple[bytes, ...]
    """Pictures, PNG or JPEG."""
    option: Option


FindAssignment = Callable[[], Awaitable[Assignment]]
"""Tools are made before they are needed: what they work on is looked up when they are called."""
