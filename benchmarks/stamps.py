"""Pieces of text that say when they were sent, and the list that finds out how late they arrive.

The clock is the system's monotonic one, which all processes of a machine share.
"""

import time

WIDTH = 16
PLACEHOLDER = "@" * WIDTH


def stamp() -> bytes:
    """The time now, in microseconds, always of the same width."""
    return b"%15d " % (time.monotonic_ns() // 1000)


class Arrivals(list[str]):
    """Pieces as they arrive. `lags` holds the seconds that each was under way, counted from a given moment on."""

    def __init__(self, lags: list[float]) -> None:
        super().__init__()
        self._lags = lags

    def append(self, piece: str, /) -> None:
        now = time.monotonic_ns() // 1000
        super().append(piece)
        if len(piece) == WIDTH:
            self._lags.append(now - int(piece))
            return
        for start in range(0, len(piece), WIDTH):  # a client may join what came together
            self._lags.append(now - int(piece[start : start + WIDTH]))
