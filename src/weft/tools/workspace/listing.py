"""The bounds of a listing, the same for every workspace."""

import re

MAX_ENTRIES = 50_000

_TEMPORARY = re.compile(r"\.weft-[0-9a-f]{16}\.tmp")


def ends_walk(name: str) -> bool:
    """Whether a walk lists this folder without going into it, unless it was asked for by path."""
    return name == ".git"


def is_temporary(name: str) -> bool:
    """Whether it is a file that is still being written, or was left by a writer that was killed."""
    return _TEMPORARY.fullmatch(name) is not None
