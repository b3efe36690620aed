"""How often the garbage collector of a serving process looks for cycles."""

import gc
from collections.abc import Generator
from contextlib import contextmanager

NEW_OBJECTS = 10_000
"""New objects from which on the collector looks at them. Python's 700 are fewer than those of one exchange, so the
objects of all running exchanges would be examined again and again."""


@contextmanager
def collecting_rarely() -> Generator[None]:
    """Look for cycles rarely during the block, and never among the objects that exist now: they are loaded modules,
    and examining them in a full collection would stop all streams."""
    thresholds, frozen = gc.get_threshold(), gc.get_freeze_count()
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS, *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        if not frozen:
            gc.unfreeze()
