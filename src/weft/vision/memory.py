"""Memory that a look at a picture needed and needs no more.

The C library of most Linux systems keeps what was freed, in many small pieces: a process that has looked at thirty
pictures would hold more than a gigabyte of nothing.
"""

import ctypes
from collections.abc import Callable
from functools import cache
from typing import cast


def give_back() -> None:
    """Hand what is free to the system, where the C library can."""
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], int] | None:
    try:
        return cast("Callable[[int], int]", ctypes.CDLL(None).malloc_trim)
    except (AttributeError, OSError, TypeError):  # another C library, another system
        return None
