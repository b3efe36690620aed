"""The last events of MCP streams, from which a client whose connection was cut gets the rest."""

from collections import deque

import mcp_types as types
from mcp.server.streamable_http import EventCallback, EventMessage, EventStore

_MAX_EVENTS = 2000


class RecentEvents(EventStore):
    """Keeps the last events of streams, so that a client whose connection was cut gets the rest."""

    def __init__(self) -> None:
        self._events: deque[tuple[int, str, types.JSONRPCMessage | None]] = deque(maxlen=_MAX_EVENTS)
        self._last = 0

    async def store_event(self, stream_id: str, message: types.JSONRPCMessage | None) -> str:
        self._last += 1
        self._events.append((self._last, stream_id, message))
        return str(self._last)

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        number = int(last_event_id) if last_event_id.isdecimal() else -1
        stream = next((name for at, name, _ in self._events if at == number), None)
        if stream is None:
            return None
        for at, name, message in list(self._events):
            if at > number and name == stream and message is not None:
                await send_callback(EventMessage(message, str(at)))
        return stream
