"""The base of all groups of invariants: what they look at and how they report."""

from collections.abc import Callable
from typing import ClassVar

from weft.core.envelope import Event
from weft.core.payload import Payload

Report = Callable[[str, int, str], None]
"""Called with the invariant's id, the seq where it broke, and what happened."""


class Group:
    """Watches one session's log for some of the invariants.

    It keeps only what it needs to judge the next event; a broken log never makes it fail.
    """

    sees: ClassVar[tuple[type[Payload], ...]] = ()
    """The payloads it looks at. Every other one is kept from it; none named means all are shown."""

    def __init__(self, report: Report) -> None:
        self._report = report

    def see(self, event: Event) -> None:
        """The next event of the session."""
        raise NotImplementedError

    def end(self, seq: int) -> None:
        """The log is over; `seq` is its last."""

    def broke(self, invariant: str, event: Event, message: str) -> None:
        self._report(invariant, event.seq, message)
