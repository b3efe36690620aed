"""How far a client has heard a log: each event once, in order, and never one behind a gap."""

from weft.core.envelope import Event
from weft.remote.errors import Unreachable


class Cursor:
    """Stands behind the last event that was handed on."""

    def __init__(self, session: str = "", seq: int = 0) -> None:
        self.session = session
        self.seq = seq
        self._others: dict[str, int] = {}

    def begin(self, session: str, seq: int) -> None:
        """Stand somewhere else."""
        self.session, self.seq = session, seq
        self._others.clear()

    def is_new(self, event: Event) -> bool:
        """Whether the event is the next one; False for one that was heard before. Raises Unreachable at a gap.

        Agents that work for this session have logs of their own, which cannot be resumed here: theirs may have gaps
        after a connection was lost, but nothing comes twice or backwards.
        """
        if event.session != self.session:
            if event.seq <= self._others.get(event.session, 0):
                return False
            self._others[event.session] = event.seq
            return True
        if event.seq <= self.seq:
            return False
        if event.seq != self.seq + 1:
            raise Unreachable(f"it left out what comes after event {self.seq}")
        self.seq = event.seq
        return True
