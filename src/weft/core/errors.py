"""Typed errors. Each says in one sentence what is wrong, where, and what to do.

`ErrorInfo` is an error as data: what events and logs carry. It holds no traceback and no secret.
"""

from typing import Any, ClassVar, Literal

import msgspec

ErrorCode = Literal[
    "configuration",
    "unknown_provider",
    "missing_key",
    "bad_base_url",
    "invalid_request",
    "authentication",
    "permission",
    "model_not_found",
    "context_overflow",
    "content_blocked",
    "rate_limited",
    "quota_exhausted",
    "overloaded",
    "server_error",
    "timeout",
    "stalled",
    "connection",
    "incomplete",
    "malformed_response",
    "cancelled",
    "internal",
]


class ErrorInfo(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    code: ErrorCode
    message: str
    retryable: bool = False
    status: int | None = None
    provider_code: str | None = None
    request_id: str | None = None


class WeftError(Exception):
    """Base of everything Weft raises on purpose."""

    code: ClassVar[ErrorCode] = "internal"

    def info(self) -> ErrorInfo:
        return ErrorInfo(code=self.code, message=str(self))


class ConfigurationError(WeftError):
    code = "configuration"


class NotFound(WeftError):
    """What was named is not there, or not for whoever asks."""

    code = "invalid_request"


class UnknownProvider(ConfigurationError):
    code = "unknown_provider"


class MissingKey(ConfigurationError):
    code = "missing_key"


class BadBaseUrl(ConfigurationError):
    code = "bad_base_url"


class ProviderError(WeftError):
    """A provider refused, failed, or answered with something that is not an answer."""

    code = "server_error"
    retryable: ClassVar[bool] = False

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        provider_code: str | None = None,
        retry_after: float | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.provider_code = provider_code
        self.retry_after = retry_after
        self.request_id = request_id

    def info(self) -> ErrorInfo:
        return ErrorInfo(
            code=self.code,
            message=str(self),
            retryable=self.retryable,
            status=self.status,
            provider_code=self.provider_code,
            request_id=self.request_id,
        )


class InvalidRequest(ProviderError):
    code = "invalid_request"


class AuthenticationFailed(ProviderError):
    code = "authentication"


class PermissionRefused(ProviderError):
    code = "permission"


class ModelNotFound(ProviderError):
    code = "model_not_found"


class ContextOverflow(ProviderError):
    code = "context_overflow"


class ContentBlocked(ProviderError):
    code = "content_blocked"


class QuotaExhausted(ProviderError):
    """Out of money. Never retried: no waiting mends it."""

    code = "quota_exhausted"


class RateLimited(ProviderError):
    code = "rate_limited"
    retryable = True


class Overloaded(ProviderError):
    code = "overloaded"
    retryable = True


class ServerFault(ProviderError):
    code = "server_error"
    retryable = True


class ProviderTimeout(ProviderError):
    """Nothing came in time. `reached` is False if there never was a connection."""

    code = "timeout"
    retryable = True

    def __init__(self, message: str, *, reached: bool = True, **details: Any) -> None:
        super().__init__(message, **details)
        self.reached = reached


class Stalled(ProviderError):
    """The connection lived but no content came."""

    code = "stalled"
    retryable = True


class ConnectionFailed(ProviderError):
    """The network failed. `reached` is False if there never was a connection."""

    code = "connection"
    retryable = True

    def __init__(self, message: str, *, reached: bool = True) -> None:
        super().__init__(message)
        self.reached = reached


class IncompleteStream(ProviderError):
    """The stream ended before the provider said that the message was finished."""

    code = "incomplete"
    retryable = True


class MalformedResponse(ProviderError):
    """HTTP said success, the body was not an answer. Trying again would bring the same."""

    code = "malformed_response"


class GarbledStream(ProviderError):
    """Something in the stream could not be read: an event, or a call that the API itself refused to pass on.

    What was lost cannot be known, so nothing of the message counts. Another attempt mostly succeeds.
    """

    code = "malformed_response"
    retryable = True
