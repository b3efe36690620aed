"""Limits for each owner of a token, and for the whole server."""

import msgspec


class ServerLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits for each owner of a token, and for the whole server."""

    connections: int | None = None
    """Connections of all clients with a token; half of the process's descriptors unless set."""

    exchanges: int = 16
    """Exchanges that run at the same time."""
    queue: int = 20
    """Requests that wait in one session."""
    sessions_per_minute: int = 240
    streams: int = 4096
    body_bytes: int = 32 * 1024 * 1024
    message_bytes: int = 1024 * 1024
    """Size of one WebSocket message."""
    messages_per_second: int = 100
    """On one WebSocket, after an initial burst of the same number."""
    sessions_per_socket: int = 64
    stall_seconds: float = 30.0
    """A reader that accepts no data for this long is disconnected."""
    tokens_per_day: int | None = None
    usd_per_day: float | None = None
