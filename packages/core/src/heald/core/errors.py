"""Typed errors. Each message is one sentence: what is wrong, where, and what to do.

`ErrorInfo` is an error as data, for events and logs. It holds no traceback and no secret.
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
    "answer_too_slow",
    "connection",
    "incomplete",
    "malformed_response",
    "cancelled",
    "node_lost",
    "internal",
]


class ErrorInfo(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    code: ErrorCode
    message: str
    retryable: bool = False
    status: int | None = None
    provider_code: str | None = None
    request_id: str | None = None


class HealdError(Exception):
    """Base of everything Heald raises on purpose."""

    code: ClassVar[ErrorCode] = "internal"
    withdraws_request: bool = False
    """Whether a request that ends with it, before the model answered, is removed from the conversation."""
    stop_reason: Literal["error", "content_filter"] = "error"
    """The stop reason of an exchange that fails with it."""

    def info(self) -> ErrorInfo:
        return ErrorInfo(code=self.code, message=str(self))


class ConfigurationError(HealdError):
    code = "configuration"


class NotFound(HealdError):
    """The named object does not exist, or the caller may not see it."""

    code = "invalid_request"


class UnknownProvider(ConfigurationError):
    code = "unknown_provider"


class MissingKey(ConfigurationError):
    code = "missing_key"


class BadBaseUrl(ConfigurationError):
    code = "bad_base_url"


class ProviderError(HealdError):
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
    withdraws_request = True


class ContentBlocked(ProviderError):
    code = "content_blocked"


class QuotaExhausted(ProviderError):
    """Out of credit. Never retried: waiting does not help."""

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
    """No answer in time. `reached` is False if no connection was made."""

    code = "timeout"
    retryable = True

    def __init__(self, message: str, *, reached: bool = True, **details: Any) -> None:
        super().__init__(message, **details)
        self.reached = reached


class AnswerTooSlow(ProviderError):
    """The answer went on for too long. Another attempt would cost as much, so none is made."""

    code = "answer_too_slow"


class Stalled(ProviderError):
    """The connection was open but no content arrived."""

    code = "stalled"
    retryable = True


class ConnectionFailed(ProviderError):
    """The network failed. `reached` is False if no connection was made."""

    code = "connection"
    retryable = True

    def __init__(self, message: str, *, reached: bool = True) -> None:
        super().__init__(message)
        self.reached = reached


class IncompleteStream(ProviderError):
    """The stream ended before the message was finished."""

    code = "incomplete"
    retryable = True


class MalformedResponse(ProviderError):
    """The HTTP status is a success and the body is not an answer. A retry would have the same result."""

    code = "malformed_response"


class GarbledStream(ProviderError):
    """A part of the stream cannot be parsed: an event, or a call that the API itself rejected.

    The lost part is unknown, so the whole message is discarded. Another attempt mostly succeeds. `generation` is the
    text of a rejected call, where the API returns it: the next attempt shows it to the model.
    """

    code = "malformed_response"
    retryable = True

    def __init__(self, message: str, *, generation: str = "", **details: Any) -> None:
        super().__init__(message, **details)
        self.generation = generation
