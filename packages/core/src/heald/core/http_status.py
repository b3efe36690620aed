"""What an HTTP status of a provider stands for, and how long it asks to wait."""

from collections.abc import Mapping
from datetime import UTC, datetime

from heald.core.errors import (
    AuthenticationFailed,
    ContextOverflow,
    InvalidRequest,
    ModelNotFound,
    Overloaded,
    PermissionRefused,
    ProviderError,
    ProviderTimeout,
    QuotaExhausted,
    RateLimited,
    ServerFault,
)

MAX_RETRY_AFTER = 31 * 86400.0
"""Seconds. A longer wait that a server asks for is read as this."""
UNAVAILABLE_STATUSES = frozenset({408, 429, 502, 503, 504})
"""The server, or a proxy before it, did not handle the request."""
_ERROR_BY_STATUS: dict[int, type[ProviderError]] = {
    401: AuthenticationFailed,
    402: QuotaExhausted,
    403: PermissionRefused,
    404: ModelNotFound,
    408: ProviderTimeout,
    409: ServerFault,
    413: ContextOverflow,
    425: ServerFault,
    429: RateLimited,
    499: ServerFault,
    503: Overloaded,
    504: ProviderTimeout,
    529: Overloaded,
}


def error_class(status: int) -> type[ProviderError]:
    """The error that an HTTP status stands for; its `retryable` decides on another attempt."""
    return _ERROR_BY_STATUS.get(status, InvalidRequest if status < 500 else ServerFault)


def is_busy(status: int) -> bool:
    """The server refuses for now, because of too many requests."""
    return error_class(status) in (RateLimited, Overloaded)


def parse_retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from `retry-after-ms` or `retry-after` (seconds or a date), between 0 and the cap."""
    milliseconds = _parse_number(headers.get("retry-after-ms", ""))
    if milliseconds:
        return limit_wait(milliseconds / 1000)
    if (value := headers.get("retry-after")) is None:
        return milliseconds
    seconds = _parse_number(value)
    if seconds is None:
        seconds = _seconds_until(value)
    return None if seconds is None else limit_wait(seconds)


def parse_duration(text: str) -> float:
    """Seconds from a duration such as `3.5s`, between 0 and the cap; 0 if it is none."""
    return limit_wait(_parse_number(text.removesuffix("s")) or 0.0)


def limit_wait(seconds: float) -> float:
    return min(max(seconds, 0.0), MAX_RETRY_AFTER)


def _parse_number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if number == number else None


def _seconds_until(date: str) -> float | None:
    from email.utils import parsedate_to_datetime  # few servers send a date, and the package is large

    try:
        when = parsedate_to_datetime(date)
    except (ValueError, TypeError):
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return (when - datetime.now(UTC)).total_seconds()
