"""The time that a program uses itself."""

from collections.abc import Generator
from contextlib import contextmanager
from time import monotonic


class ProgramClock:
    """Counts seconds from its creation on, except those in which a call of the program runs."""

    def __init__(self) -> None:
        self._counted = 0.0
        self._since = monotonic()
        self._calls = 0

    @property
    def elapsed(self) -> float:
        """The seconds that were counted."""
        return self._counted if self._calls else self._counted + monotonic() - self._since

    @contextmanager
    def paused(self) -> Generator[None]:
        """Stop the clock while a call runs. Calls may overlap."""
        self._counted = self.elapsed
        self._calls += 1
        try:
            yield
        finally:
            self._calls -= 1
            self._since = monotonic()
