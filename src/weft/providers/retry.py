"""When a failed attempt is tried again, and how long to wait."""

import random

import msgspec

from weft.core.errors import ProviderError

_BY_WIRE = {"gemini": 5}
_DEFAULT = 10
_UNREACHABLE = 3


class Retry(msgspec.Struct, frozen=True, kw_only=True):
    """The one retry layer. Waits grow exponentially with jitter; a provider's own word on waiting is honoured."""

    attempts: int | None = None
    """How often a turn is tried at most; None for the wire's default, 10 (Gemini 5)."""
    base: float = 0.5
    cap: float = 30.0

    def limit(self, wire: str, error: ProviderError) -> int:
        limit = self.attempts if self.attempts is not None else _BY_WIRE.get(wire, _DEFAULT)
        # Nobody is there: a wrong address should not take minutes to be told.
        return limit if getattr(error, "reached", True) else min(limit, _UNREACHABLE)

    def delay(self, attempt: int, error: ProviderError) -> float:
        """Seconds to wait after the given attempt failed."""
        backoff = min(self.cap, self.base * 2 ** min(attempt - 1, 16)) * random.uniform(0.5, 1.0)
        return max(backoff, error.retry_after or 0.0)


class Timeouts(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds. The two watchdogs are separate: keep-alives feed the socket's, only content feeds the other."""

    connect: float = 15.0
    socket: float = 120.0
    """No byte at all."""
    content: float = 300.0
    """Bytes, but none that say anything."""
    tail: float = 5.0
    """After the stop reason, for usage that may still come."""
