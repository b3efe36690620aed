"""What can go wrong between a client and its server; and the errors of an exchange, made again from their data."""

from weft.core.errors import (
    AuthenticationFailed,
    BadBaseUrl,
    ConfigurationError,
    ConnectionFailed,
    ContentBlocked,
    ContextOverflow,
    ErrorInfo,
    GarbledStream,
    IncompleteStream,
    InvalidRequest,
    MalformedResponse,
    MissingKey,
    ModelNotFound,
    Overloaded,
    PermissionRefused,
    ProviderError,
    ProviderTimeout,
    QuotaExhausted,
    RateLimited,
    ServerFault,
    Stalled,
    UnknownProvider,
    WeftError,
)


class TokenRefused(ConfigurationError):
    """The server does not know the token."""

    def __init__(self, place: str) -> None:
        super().__init__(f"The server at {place} refused the token; give connect() the one that the server printed.")


class NoSuchSession(WeftError):
    """The server has no session of that id for this token."""

    code = "invalid_request"

    def __init__(self, session: str, place: str) -> None:
        super().__init__(f"The server at {place} has no session {session[:100]!r}; it was deleted, or is another's.")


class ServerRefused(WeftError):
    """The server said no. `reason` is its code, such as `busy`, `budget` or `too_large`."""

    code = "invalid_request"

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class EventsLost(WeftError):
    """The server cannot give the events that this client missed; the conversation goes on behind them."""

    def __init__(self, session: str, seq: int) -> None:
        super().__init__(
            f"The server no longer has the log of {session} as it was at event {seq}; what was under way is in the "
            "conversation as the server tells it now."
        )


class Unreachable(Exception):
    """The connection failed, or what came over it made no sense. Another one may do better."""


_BY_CODE: dict[str, type[WeftError]] = {
    kind.code: kind
    for kind in (
        WeftError,
        ConfigurationError,
        UnknownProvider,
        MissingKey,
        BadBaseUrl,
        InvalidRequest,
        AuthenticationFailed,
        PermissionRefused,
        ModelNotFound,
        ContextOverflow,
        ContentBlocked,
        RateLimited,
        QuotaExhausted,
        Overloaded,
        ServerFault,
        ProviderTimeout,
        Stalled,
        ConnectionFailed,
        IncompleteStream,
        MalformedResponse,
    )
}


def error_of(info: ErrorInfo) -> WeftError:
    """The error that an exchange failed with, of the same class as where it happened."""
    kind = _BY_CODE.get(info.code, WeftError)
    if kind is MalformedResponse and info.retryable:
        kind = GarbledStream
    if not issubclass(kind, ProviderError):
        return kind(info.message)
    error = kind(info.message)
    error.status, error.provider_code, error.request_id = info.status, info.provider_code, info.request_id
    return error
