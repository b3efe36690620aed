"""The comparison of a page with its target, for models that are programs and do not read prompts."""

from typing import Literal

import msgspec

DifferenceKind = Literal["missing", "extra", "unread", "text", "position", "colour", "picture", "height"]


class PageDifference(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One difference between a page and its target. Fields that do not apply to its kind have their defaults."""

    kind: DifferenceKind
    text: str = ""
    """The text of the block in the target."""
    page_text: str = ""
    """The text that the page shows instead."""
    colour: str = ""
    """The colour in the target, as `#rrggbb`."""
    right: int = 0
    """Pixels that the page shows it too far right; negative if it is too far left."""
    down: int = 0
    """Pixels that the page shows it too low, or is too tall; negative if it is too high, or too short."""


class PageComparison(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of comparing a page with its target: 1 is the same."""

    score: float
    differences: tuple[PageDifference, ...] = ()
