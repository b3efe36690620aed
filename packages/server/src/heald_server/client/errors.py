"""Errors of the client."""

from heald.core import errors
from heald.core.errors import (
    ConfigurationError,
    ErrorInfo,
    GarbledStream,
    HealdError,
    MalformedResponse,
    NotFound,
    ProviderError,
)


class TokenRefused(ConfigurationError):
    """The server does not know the token."""

    def __init__(self, place: str) -> None:
        super().__init__(f"The server at {place} refused the token; give connect() the one that the server printed.")


class NoRemoteSession(HealdError):
    """The server has no session of that id for this token."""

    code = "invalid_request"

    def __init__(self, session: str, place: str) -> None:
        super().__init__(f"The server at {place} has no session {session[:100]!r}; it was deleted, or is another's.")


class ServerRefused(HealdError):
    """The server refused a request. `reason` is its code, such as `busy`, `budget` or `too_large`."""

    code = "invalid_request"

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class EventsLost(HealdError):
    """The server does not have the events that this client missed. The conversation continues after them."""

    def __init__(self, session: str, seq: int) -> None:
        super().__init__(
            f"The server no longer has the log of {session} as it was at event {seq}; what was under way is in the "
            "conversation as the server has it now."
        )


class ConnectionLost(Exception):
    """The connection failed, or carried something invalid. Another attempt may succeed."""


_BY_CODE: dict[str, type[HealdError]] = {}
for _kind in vars(errors).values():
    if isinstance(_kind, type) and issubclass(_kind, HealdError) and _kind not in (NotFound, ProviderError):
        _BY_CODE.setdefault(_kind.code, _kind)


def restore_error(info: ErrorInfo) -> HealdError:
    """Build the error of a failed exchange, with the class that it had on the server."""
    kind = _BY_CODE.get(info.code, HealdError)
    if kind is MalformedResponse and info.retryable:
        kind = GarbledStream
    if not issubclass(kind, ProviderError):
        return kind(info.message)
    error = kind(info.message)
    error.status, error.provider_code, error.request_id = info.status, info.provider_code, info.request_id
    return error
