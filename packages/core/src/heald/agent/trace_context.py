"""The trace of a request: noted where an exchange is requested, because its events are delivered elsewhere."""

from collections.abc import Callable, Mapping
from contextvars import ContextVar

incoming_trace: ContextVar[Mapping[str, str] | None] = ContextVar("heald_incoming_trace", default=None)
"""The headers `traceparent` and `tracestate` of the request that is being handled."""

_listeners: list[Callable[[str], None]] = []


def on_requested(listener: Callable[[str], None]) -> Callable[[], None]:
    """Call back with the id of every exchange that is requested, in the context of its requester.

    Returns the function that ends it.
    """
    _listeners.append(listener)

    def remove() -> None:
        if listener in _listeners:
            _listeners.remove(listener)

    return remove


def announce_exchange(exchange: str) -> None:
    """Report that an exchange is requested here."""
    for listener in _listeners:
        listener(exchange)
