"""What went wrong, from a status, headers and body, or from an error object inside a stream.

One table for all wires, so that HTTP 529, an `overloaded_error` event and a 502 in a normal chunk are the same kind
of trouble. The message is the provider's own, shortened; secrets that look like keys are masked.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import msgspec

from weft.core.errors import (
    AuthenticationFailed,
    ContentBlocked,
    ContextOverflow,
    InvalidRequest,
    MalformedResponse,
    ModelNotFound,
    Overloaded,
    PermissionRefused,
    ProviderError,
    ProviderTimeout,
    QuotaExhausted,
    RateLimited,
    ServerFault,
)
from weft.core.json import JsonObject, as_list, as_object, as_objects, encode, loads

MAX_RETRY_AFTER = 120.0
_MAX_MESSAGE = 600

_BY_STATUS: dict[int, type[ProviderError]] = {
    400: InvalidRequest,
    401: AuthenticationFailed,
    402: QuotaExhausted,
    403: PermissionRefused,
    404: ModelNotFound,
    408: ProviderTimeout,
    409: ServerFault,
    413: ContextOverflow,
    422: InvalidRequest,
    425: ServerFault,
    429: RateLimited,
    499: ServerFault,
    503: Overloaded,
    504: ProviderTimeout,
    529: Overloaded,
}

# Codes and types that providers put into the body. They know better than the status.
_BY_CODE: dict[str, type[ProviderError]] = {
    "authentication_error": AuthenticationFailed,
    "invalid_api_key": AuthenticationFailed,
    "api_key_invalid": AuthenticationFailed,
    "unauthenticated": AuthenticationFailed,
    "permission_error": PermissionRefused,
    "permission_denied": PermissionRefused,
    "not_found_error": ModelNotFound,
    "model_not_found": ModelNotFound,
    "invalid_model": ModelNotFound,
    "deploymentnotfound": ModelNotFound,
    "context_length_exceeded": ContextOverflow,
    "too_many_prompt_tokens": ContextOverflow,
    "request_too_large": ContextOverflow,
    "insufficient_quota": QuotaExhausted,
    "billing_error": QuotaExhausted,
    "billing_hard_limit_reached": QuotaExhausted,
    "enforced_spend_limit_reached": QuotaExhausted,
    "insufficient_balance": QuotaExhausted,
    "content_filter": ContentBlocked,
    "content_policy_violation": ContentBlocked,
    "rate_limit_error": RateLimited,
    "rate_limit_exceeded": RateLimited,
    "ratelimitreached": RateLimited,
    "resource_exhausted": RateLimited,
    "too_many_requests": RateLimited,
    "overloaded_error": Overloaded,
    "overloaded": Overloaded,
    "unavailable": Overloaded,
    "server_is_overloaded": Overloaded,
    "api_error": ServerFault,
    "server_error": ServerFault,
    "internal_error": ServerFault,
    "internal": ServerFault,
    "internal_server_error": ServerFault,
    "cancelled": ServerFault,
    "timeout_error": ProviderTimeout,
    "deadline_exceeded": ProviderTimeout,
    "invalid_request_error": InvalidRequest,
    "invalid_argument": InvalidRequest,
    "failed_precondition": InvalidRequest,
}

# Said in many words. Looked for only where status and code leave it open.
_OVERFLOW = re.compile(
    r"context[ _-]?(?:length|window|size|limit)|maximum context"
    r"|max(?:imum)? (?:prompt|context|input) (?:length|tokens?)|(?:prompt|input) (?:is )?too long"
    r"|too many (?:input |prompt )?tokens|tokens? (?:count )?\(?\d*\)? ?exceeds?|input token count.{0,40}exceeds"
    r"|exceeds? (?:the )?(?:maximum|max|model's|available) (?:number of tokens|context|input)|reduce the length"
    r"|request (?:entity )?too large|total length of all messages is too long|longer than the model"
    r"|exceeded max context|larger than the context|n_ctx|kv cache|prompt exceeds|longer than the maximum model length"
    r"|token count.{0,40}(?:exceeds the limit|only supports up to)|exceeded model token limit"
    r"|tokens.{0,40}max_new_tokens.{0,10}must be",
    re.I,
)
_MONEY = re.compile(
    r"insufficient (?:quota|balance|credit|fund)|credit balance is too low|out of credits?|spend(?:ing)? limit"
    r"|billing (?:hard )?limit|payment required|exceeded your current quota(?!.*(?:retry in|per[_ ]?minute))"
    r"|requires more credits",
    re.I | re.S,
)
_KEY = re.compile(r"api[ _-]?key|unauthori[sz]ed|authentication", re.I)
_MODEL = re.compile(
    r"model.{0,80}(?:not found|does ?n.t exist|does not exist|not a valid model|not supported|has been deprecated)"
    r"|(?:invalid|unknown|unsupported) model|not a valid model|no such model|supported (?:api )?model names"
    r"|model not found",
    re.I,
)
_BLOCKED = re.compile(
    r"content (?:management )?policy|violates? (?:our )?(?:usage|content)|safety check|content[ _]filter",
    re.I,
)
_BUSY = re.compile(r"overloaded|over capacity|at capacity|temporarily unavailable|try again later", re.I)
_SECRET = re.compile(r"\b(?:[a-z]?sk|pk|rk|xai|key|AIza|nvapi|pplx|hf)[-_]?[A-Za-z0-9_*-]{12,}")

_GOOGLE_RETRY = "type.googleapis.com/google.rpc.RetryInfo"


def error_from_response(status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
    """The error for an HTTP answer that is not a success."""
    lowered = {name.lower(): value for name, value in headers.items()}
    fault = _Fault.of(_parse(body), body)
    return fault.error(
        status,
        retry_after=retry_after(lowered) if fault.retry_after is None else fault.retry_after,
        request_id=lowered.get("x-request-id") or lowered.get("request-id") or fault.request_id,
        should_retry=lowered.get("x-should-retry"),
    )


def error_from_object(value: Any, status: int | None = None) -> ProviderError:
    """The error for an error object inside a stream: of the class of the HTTP status it stands for."""
    fault = _Fault.of(value, encode(value))
    return fault.error(status if status is not None else fault.status)


def error_from_body(body: bytes) -> ProviderError | None:
    """The error that a body holds, if it holds one: some servers say 200 first and think better of it."""
    value = _parse(body)
    value = as_object(next(iter(as_list(value)), value))
    if not value:
        return None
    if value.get("error") is None and value.get("type") != "error" and value.get("detail") is None:
        return None
    return error_from_object(value)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from `retry-after-ms` or `retry-after` (seconds or a date), between 0 and the cap."""
    seconds: float | None = None
    if (ms := headers.get("retry-after-ms")) is not None:
        seconds = _number(ms)
        seconds = seconds / 1000 if seconds is not None else None
    if not seconds and (value := headers.get("retry-after")) is not None:
        seconds = _number(value)
        if seconds is None:
            seconds = _seconds_until(value)
    if seconds is None:
        return None
    return min(max(seconds, 0.0), MAX_RETRY_AFTER)


class _Fault(msgspec.Struct):
    """What a body says, wherever a provider puts it."""

    message: str = ""
    codes: list[str] = []
    status: int | None = None
    retry_after: float | None = None
    request_id: str | None = None

    @staticmethod
    def of(value: Any, body: bytes) -> "_Fault":
        fault = _Fault(codes=[])
        value = next(iter(as_list(value)), value)
        if value_object := as_object(value):
            fault._read(value_object, 0)
        if not fault.message:
            text = body.decode("utf-8", "replace").strip()
            fault.message = "" if text.startswith("<") else text
        return fault

    def _read(self, value: JsonObject, depth: int) -> None:
        self.request_id = self.request_id or _string(value.get("request_id"))
        for name in ("code", "type", "status", "reason"):
            code = value.get(name)
            if isinstance(code, str) and code and code not in ("error", "Bad Request"):
                self.codes.append(code)
            elif isinstance(code, int) and 400 <= code <= 599:
                self.status = code
        for name in ("message", "detail", "error"):
            text = value.get(name)
            if isinstance(text, str) and text:
                self.message = f"{self.message}: {text}" if self.message and depth else text
                break
        for detail in as_objects(value.get("details")):
            self._read_detail(detail)
        if depth > 3:
            return
        self._read_upstream(as_object(value.get("metadata")).get("raw"), depth)
        self._read(as_object(value.get("error")), depth + 1)

    def _read_upstream(self, raw: Any, depth: int) -> None:
        """A gateway's copy of what the provider behind it said."""
        if not isinstance(raw, str):
            return
        value = as_object(_parse(raw.encode("utf-8", "replace")))
        if value:
            self._read(value, depth + 1)
        elif raw:
            self.message = f"{self.message}: {raw}"

    def _read_detail(self, detail: JsonObject) -> None:
        if isinstance(reason := detail.get("reason"), str):
            self.codes.append(reason)
        if detail.get("@type") == _GOOGLE_RETRY and isinstance(delay := detail.get("retryDelay"), str):
            self.retry_after = min(max(_number(delay.removesuffix("s")) or 0.0, 0.0), MAX_RETRY_AFTER)

    def error(
        self,
        status: int | None,
        *,
        retry_after: float | None = None,
        request_id: str | None = None,
        should_retry: str | None = None,
    ) -> ProviderError:
        kind = self._kind(status)
        if should_retry == "false" and kind.retryable and kind is not RateLimited:
            kind = InvalidRequest
        elif should_retry == "true" and not kind.retryable:
            kind = ServerFault
        message = mask(self.message)[:_MAX_MESSAGE] or (f"HTTP {status}" if status else "the provider failed")
        return kind(
            message,
            status=status,
            provider_code=self.codes[0] if self.codes else None,
            retry_after=retry_after if retry_after is not None else self.retry_after,
            request_id=request_id or self.request_id,
        )

    def _kind(self, status: int | None) -> type[ProviderError]:
        by_code = [_BY_CODE[code.lower()] for code in self.codes if code.lower() in _BY_CODE]
        for precise in (QuotaExhausted, ContextOverflow, AuthenticationFailed, ModelNotFound, ContentBlocked):
            if precise in by_code:
                return precise
        if status == 429 or RateLimited in by_code:
            money = self.retry_after is None and _MONEY.search(self.message)
            return QuotaExhausted if money else RateLimited
        if status is not None and status >= 500:
            return _BY_STATUS.get(status, ServerFault)
        if status in (None, 400, 403, 404, 413, 422):
            said = self._kind_by_words(status)
            if said is not None:
                return said
        if status is not None:
            return _BY_STATUS.get(status, InvalidRequest if status < 500 else ServerFault)
        if by_code:
            return by_code[0]
        return Overloaded if _BUSY.search(self.message) else ServerFault

    def _kind_by_words(self, status: int | None) -> type[ProviderError] | None:
        for kind, words in (
            (ContextOverflow, _OVERFLOW),
            (QuotaExhausted, _MONEY),
            (ContentBlocked, _BLOCKED),
            (ModelNotFound, _MODEL),
        ):
            if words.search(self.message):
                return kind
        if status == 400 and re.search(r"api key (?:not valid|expired|invalid)", self.message, re.I):
            return AuthenticationFailed
        if status == 404 and _KEY.search(self.message):
            return AuthenticationFailed
        return None


def mask(text: str) -> str:
    """The text with everything that looks like a key made unreadable."""
    return _SECRET.sub(lambda found: found[0][:4] + "…", text)


def unexpected_body(content_type: str, body: bytes) -> ProviderError:
    """HTTP said 200, the body is something else: a login page, a proxy's notice, plain text."""
    return error_from_body(body) or MalformedResponse(
        f"The server answered 200 with {content_type or 'no content type'} instead of a stream; "
        "check the base URL and what stands between.",
        status=200,
    )


def _parse(body: bytes) -> Any:
    try:
        return loads(body)
    except ValueError:
        return None


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if number == number else None


def _seconds_until(date: str) -> float | None:
    try:
        when = parsedate_to_datetime(date)
    except (ValueError, TypeError):
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return (when - datetime.now(UTC)).total_seconds()
