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
    """An error as data, as events and results hold it."""

    code: ErrorCode
    """The kind of the error, for programs."""
    message: str
    """One sentence: what is wrong, where, and what to do."""
    retryable: bool = False
    """Whether another attempt may succeed."""
    status: int | None = None
    """The HTTP status of the provider's answer."""
    provider_code: str | None = None
    """The provider's own code."""
    request_id: str | None = None
    """The provider's id of the request, for its support."""


class HealdError(Exception):
    """Base of everything Heald raises on purpose."""

    code: ClassVar[ErrorCode] = "internal"
    """The kind of the error, for programs."""
    withdraws_request: bool = False
    """Whether a request that ends with it, before the model answered, is removed from the conversation."""
    stop_reason: Literal["error", "content_filter"] = "error"
    """The stop reason of an exchange that fails with it."""

    def info(self) -> ErrorInfo:
        """Return the error as data."""
        return ErrorInfo(code=self.code, message=str(self))


class ConfigurationError(HealdError):
    """Something that the program or the settings say cannot be used. It is raised before a request is sent."""

    code = "configuration"


class NotFound(HealdError):
    """The named object does not exist, or the caller may not see it."""

    code = "invalid_request"


class UnknownProvider(ConfigurationError):
    """The name of a model begins with no provider that is known."""

    code = "unknown_provider"


class MissingKey(ConfigurationError):
    """The provider needs an API key, and there is none."""

    code = "missing_key"


class BadBaseUrl(ConfigurationError):
    """The address of a provider is not a usable URL."""

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
    """The provider does not accept the request: an option, a tool or a picture that it cannot use."""

    code = "invalid_request"


class AuthenticationFailed(ProviderError):
    """The provider does not accept the API key."""

    code = "authentication"


class PermissionRefused(ProviderError):
    """The API key is valid, and may not use this model or function."""

    code = "permission"


class ModelNotFound(ProviderError):
    """The provider has no model of this name."""

    code = "model_not_found"


class ContextOverflow(ProviderError):
    """The conversation does not fit into the model's context, even shortened."""

    code = "context_overflow"
    withdraws_request = True


class ContentBlocked(ProviderError):
    """The provider's content filter rejected the request or the answer."""

    code = "content_blocked"


class QuotaExhausted(ProviderError):
    """Out of credit. Never retried: waiting does not help."""

    code = "quota_exhausted"


class RateLimited(ProviderError):
    """Too many requests in a short time. Retried with a delay, as long as the retry policy allows."""

    code = "rate_limited"
    retryable = True


class Overloaded(ProviderError):
    """The provider has no capacity at the moment. Retried with a delay."""

    code = "overloaded"
    retryable = True


class ServerFault(ProviderError):
    """The provider failed with an error of its own. Retried with a delay."""

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
    text of a rejected call, where the API returns it: the next attempt shows it to the model. `text_differs`: the text
    that was streamed is not the finished one, and the next attempt waits for that.
    """

    code = "malformed_response"
    retryable = True

    def __init__(self, message: str, *, generation: str = "", text_differs: bool = False, **details: Any) -> None:
        super().__init__(message, **details)
        self.generation = generation
        self.text_differs = text_differs
