"""A fact of the memory, with the events that it came from."""

from collections.abc import Sequence
from typing import Literal

import msgspec

FactSubject = Literal["person", "project", "decision"]
"""What a fact is about."""
FactScope = Literal["lasting", "session"]
"""Where a fact counts: in every conversation, or in that of its events only."""


class Evidence(msgspec.Struct, frozen=True):
    """An event that a fact came from."""

    session: str
    seq: int


class Fact(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One fact in a sentence."""

    id: str
    """A letter and a number, by which people and models name it."""
    text: str
    about: FactSubject
    evidence: tuple[Evidence, ...] = ()
    """The events that it came from. Without any, a person wrote it."""
    scope: FactScope = "lasting"
    time: float = 0.0
    """When it was noted, in seconds since 1970."""

    def is_only_of(self, session: str) -> bool:
        """Return whether all events that it came from are of one session."""
        return bool(self.evidence) and all(event.session == session for event in self.evidence)


class Rewind(msgspec.Struct, frozen=True, array_like=True):
    """The event `at` of a session, by which its conversation continues from the event `to`."""

    at: int
    to: int


def is_undone(seq: int, rewinds: Sequence[Rewind]) -> bool:
    """Return whether an event is undone after these rewinds of its session, which are in order."""
    end: float = float("inf")
    for rewind in reversed(rewinds):
        if rewind.at > end:
            continue  # it is undone itself
        if seq > rewind.at:
            return seq > end
        end = rewind.to
    return seq > end
