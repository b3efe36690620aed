"""Returns free memory to the system."""

import ctypes
from collections.abc import Callable
from functools import cache
from typing import cast

_M_MMAP_THRESHOLD = -3  # of mallopt
_LARGE_BUFFER = 4 << 20


def release_memory() -> None:
    """Return free memory to the system, where the C library can."""
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def map_large_buffers() -> bool:
    """Allocate large buffers so that their memory returns to the system when they are freed.

    glibc keeps it otherwise, and converting pages needs nearly twice the memory. Returns whether the C library can.
    """
    try:
        return bool(ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _LARGE_BUFFER))
    except (AttributeError, OSError, TypeError):  # another C library, another system
        return False


@cache
def _trim() -> Callable[[int], int] | None:
    try:
        return cast("Callable[[int], int]", ctypes.CDLL(None).malloc_trim)
    except (AttributeError, OSError, TypeError):  # another C library, another system
        return None
