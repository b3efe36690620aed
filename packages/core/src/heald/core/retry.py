"""Retry rules: how often a turn is attempted, and how long to wait before the next attempt."""

import msgspec

from heald.core.arguments import CheckedFields, check_fields, check_positive
from heald.core.errors import (
    ProviderError,
    ProviderTimeout,
    Stalled,
)

_ATTEMPTS = 10
_UNREACHABLE_ATTEMPTS = 3


def backoff(attempt: int, base: float, cap: float) -> float:
    """Seconds to wait after the given attempt failed: exponential, with jitter."""
    from random import SystemRandom  # not the shared one, which a program may seed

    return min(cap, base * 2 ** min(attempt - 1, 16)) * SystemRandom().uniform(0.5, 1.0)


class Retry(msgspec.Struct, frozen=True, kw_only=True, metaclass=CheckedFields):
    """How often a turn is attempted, and how long to wait in between. A longer `Retry-After` is honoured."""

    attempts: int | None = None
    """How often a turn is tried at most; None for the wire's default, 10 (Gemini 5)."""
    silent_attempts: int = 2
    """How often a turn is tried at most if the server stays silent until a timeout: each attempt takes minutes."""
    base: float = 0.5
    """Seconds before the second attempt; each further pause is twice as long."""
    cap: float = 30.0
    """Seconds of the longest pause."""
    max_wait: float = 60.0
    """Seconds of the longest `Retry-After` that is honoured. A longer one fails the turn at once."""

    def __post_init__(self) -> None:
        check_fields(self)
        check_positive(self, ("attempts", "silent_attempts"))

    def limit(self, error: ProviderError, default: int = _ATTEMPTS) -> int:
        """The number of attempts: few if the server is silent, or cannot be reached, since its address may be wrong.

        `default` is the wire's, for an `attempts` of None.
        """
        limit = default if self.attempts is None else self.attempts
        if not getattr(error, "reached", True):
            return min(limit, _UNREACHABLE_ATTEMPTS)
        return min(limit, self.silent_attempts) if isinstance(error, ProviderTimeout | Stalled) else limit

    def delay(self, attempt: int, error: ProviderError) -> float:
        """Seconds to wait after the given attempt failed."""
        return max(backoff(attempt, self.base, self.cap), min(error.retry_after or 0.0, self.max_wait))

    def is_too_long(self, error: ProviderError) -> bool:
        """Whether the server asks for a longer wait than the limit."""
        return (error.retry_after or 0.0) > self.max_wait
