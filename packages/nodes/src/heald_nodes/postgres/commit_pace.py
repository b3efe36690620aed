"""Paces the commits of a node.

A commit costs the database a transaction, a notice to every node and a sync of its disk, whatever it holds. Deltas wait
a moment for those of other sessions. Other events are committed at once, unless many sessions stream: then they come
all the time, and may be a few ahead of the pace.
"""

PAUSE = 0.025
"""Seconds from the begin of one commit of deltas to that of the next."""
BURST = 8
"""Commits of other events that may be ahead of the pace."""
FEW_SESSIONS = 4
"""If more stream, other events keep the pace too. Whoever copies sessions streams none."""
_GENERATION = 1.0
"""Seconds after which the sessions that stream are counted anew."""


class CommitPace:
    """Says when the next commit may begin."""

    def __init__(self) -> None:
        self._last = float("-inf")
        self._paid = float("-inf")  # until when the commits so far are paid for
        self._streaming: set[str] = set()
        self._streamed: set[str] = set()  # in the generation before
        self._counted = float("-inf")

    def count(self, session: str, now: float) -> None:
        """Count a session that streams."""
        if now - self._counted > _GENERATION:
            self._streamed = self._streaming if now - self._counted < 2 * _GENERATION else set()
            self._streaming = set()
            self._counted = now
        self._streaming.add(session)

    def begin(self, now: float) -> None:
        """A commit begins."""
        self._last = now
        self._paid = max(self._paid, now) + PAUSE

    def seconds_left(self, now: float, *, deltas_only: bool) -> float:
        """Return the seconds until the next commit may begin, 0 or less if it may now."""
        if deltas_only:
            return self._last + PAUSE - now
        if max(len(self._streaming), len(self._streamed)) <= FEW_SESSIONS or now - self._counted > 2 * _GENERATION:
            return 0.0
        return min(self._paid - BURST * PAUSE, self._last + PAUSE) - now
