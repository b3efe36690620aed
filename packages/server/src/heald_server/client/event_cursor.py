"""The position of a client in the events of a session."""

from heald.core.envelope import Event
from heald_server.client.errors import ConnectionLost


class EventCursor:
    """The position after the last event that was passed on."""

    def __init__(self, session: str = "", seq: int = 0) -> None:
        self.session = session
        self.seq = seq
        self._others: dict[str, int] = {}

    def begin(self, session: str, seq: int) -> None:
        """Move to another position."""
        self.session, self.seq = session, seq
        self._others.clear()

    def advance(self, event: Event) -> bool:
        """Move to the next event. Returns False for one that was passed on before. Raises ConnectionLost at a gap.

        Events of agents that work for the session cannot be resumed: they may have gaps after a lost connection, but
        none comes twice.
        """
        if event.session != self.session:
            if event.seq <= self._others.get(event.session, 0):
                return False
            self._others[event.session] = event.seq
            return True
        if event.seq <= self.seq:
            return False
        if event.seq != self.seq + 1:
            raise ConnectionLost(f"it left out what comes after event {self.seq}")
        self.seq = event.seq
        return True
