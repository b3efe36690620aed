"""Maps a provider's failure (status, headers and body, or an error object inside a stream) to a `ProviderError`.

One table serves all wires: HTTP 529, an `overloaded_error` event and a 502 in a normal chunk become the same error.
The message is the provider's own, shortened; strings that look like keys are masked.
"""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from heald.core.errors import (
    AuthenticationFailed,
    ContentBlocked,
    ContextOverflow,
    GarbledStream,
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
from heald.core.http_status import error_class, parse_duration, parse_retry_after
from heald.core.json import JsonObject, as_list, as_object, as_objects, encode, loads

_MAX_MESSAGE = 600
_MAX_GENERATION = 16 * 1024

# Codes and types in the body are more precise than the status.
_CODES: dict[type[ProviderError], tuple[str, ...]] = {
    AuthenticationFailed: (
        *("authentication_error", "invalid_api_key", "api_key_invalid", "unauthenticated", "authenticationerror"),
        "invalidapikey",
        *("unrecognizedclientexception", "expiredtokenexception", "invalidsignatureexception"),
    ),
    PermissionRefused: ("permission_error", "permission_denied", "accessdeniedexception", "permissiondeniederror"),
    ModelNotFound: (
        "not_found_error",
        "model_not_found",
        "invalid_model",
        "notfounderror",
        "deploymentnotfound",
        "resourcenotfoundexception",
    ),
    ContextOverflow: ("context_length_exceeded", "too_many_prompt_tokens", "request_too_large"),
    QuotaExhausted: (
        "insufficient_quota",
        "billing_error",
        "billing_hard_limit_reached",
        "enforced_spend_limit_reached",
        "insufficient_balance",
        "insufficient_credits",
        "credits_required",
        "credit_balance_too_low",
        "credit_balance_exhausted",
        "spend_limit_reached",
        "spending_limit_reached",
        "usage_limit_reached",
        "arrearage",
    ),
    ContentBlocked: ("content_filter", "content_policy_violation", "bio_policy", "datainspectionfailed"),
    RateLimited: (
        "rate_limit_error",
        "rate_limit_exceeded",
        "ratelimitreached",
        "resource_exhausted",
        "too_many_requests",
        "ratelimiterror",
        "throttlingexception",
    ),
    Overloaded: (
        "overloaded_error",
        "overloaded",
        "unavailable",
        "server_is_overloaded",
        "slow_down",
        "serviceunavailableexception",
        "modelnotreadyexception",
    ),
    ServerFault: (
        "api_error",
        "server_error",
        "internal_error",
        "internal",
        "internal_server_error",
        "internalservererror",
        "cancelled",
        "internalserverexception",
        "modelstreamerrorexception",
    ),
    ProviderTimeout: ("timeout_error", "deadline_exceeded", "modeltimeoutexception", "vector_store_timeout"),
    InvalidRequest: (
        *("invalid_request_error", "invalid_argument", "failed_precondition", "validationexception"),
        *("invalid_prompt", "data_residency_mismatch", "badrequesterror", "unprocessableentityerror"),
    ),
}
_ERROR_BY_CODE = {code: kind for kind, codes in _CODES.items() for code in codes}
_BLOCKED_CODE = r"(?i)_policy(?:_violation)?$"
_INVALID_CODE = (
    r"(?i)^(?:invalid|unsupported|missing)_?(?!response|upstream)(?=[a-z])|^empty_image|^image_(?:too|parse|file)_"
    r"|^failed_to_download_image"
)
"""Codes that no table lists: each says that the same request fails again."""

# Phrases in the message decide only where status and code do not. They are compiled when there is an error.
_OVERFLOW = (
    r"(?i)context[ _-]?(?:length|window|size|limit)|maximum context"
    r"|max(?:imum)? (?:prompt|context|input) (?:length|tokens?)|(?:prompt|input) (?:is )?too long"
    r"|too many (?:input |prompt )?tokens|tokens? (?:count )?\(?\d*\)? ?exceeds?|input token count.{0,40}exceeds"
    r"|exceeds? (?:the )?(?:maximum|max|model's|available) (?:number of tokens|context|input)|reduce the length"
    r"|request (?:entity )?too large|total length of all messages is too long|longer than the model"
    r"|exceeded max context|larger than the context|n_ctx|kv cache|prompt exceeds|longer than the maximum model length"
    r"|token count.{0,40}(?:exceeds the limit|only supports up to)|exceeded model token limit"
    r"|tokens.{0,40}max_new_tokens.{0,10}must be"
)
_MONEY = (
    r"(?is)insufficient (?:quota|balance|credit|fund)|credit balance is too low|out of credits?|spend(?:ing)? limit"
    r"|billing (?:hard )?limit|payment required|exceeded your current quota(?!.*(?:retry in|per[_ ]?minute))"
    r"|requires more credits|reached your specified (?:workspace )?API usage limits"
    r"|(?:negative|no|zero) (?:account )?balance|\barrears\b"
    r"|(?:no|run out of|not enough|used up (?:all )?(?:your|its|the)) (?:remaining |more )?credits?"
)
_RATE = r"(?i)rate[ _-]?limit|too many requests"
_TOO_LARGE = r"(?is)request too large.{0,200}(?:tokens per min|\bTPM\b)|tokens must be reduced in order to run"
"""A single request above a rate limit: it never fits, however long one waits."""
_NOT_SERVED = r"(?i)requires --jinja|tools? (?:param )?requires? .{0,20}jinja"
"""The server was started without what the request needs."""
_WRONG_KEY = (
    r"(?i)(?:incorrect|invalid|expired|wrong) api[ _-]?key"
    r"|api[ _-]?key (?:is )?(?:not valid|expired|invalid|incorrect)"
)
_KEY = r"(?i)api[ _-]?key|unauthori[sz]ed|authentication"
_MODEL = (
    r"(?i)model.{0,80}(?:not found|does ?n.t exist|does not exist|not a valid model|not supported|has been deprecated)"
    r"|(?:invalid|unknown|unsupported) model|not a valid model|no such model|supported (?:api )?model names"
    r"|model not found"
)
_BLOCKED = (
    r"(?i)content (?:management )?policy|violat(?:es?|ing) (?:our )?(?:usage|content)|safety check|content[ _]filter"
)
_BUSY = r"(?i)overloaded|over capacity|at capacity|temporarily unavailable|try again later"
_SECRET = r"\b(?:[a-z]?sk|pk|rk|xai|key|AIza|nvapi|pplx|hf)[-_]?[A-Za-z0-9_*-]{12,}"

_GOOGLE_RETRY = "type.googleapis.com/google.rpc.RetryInfo"
_MAX_FIELDS = 5
_FINAL = (QuotaExhausted, AuthenticationFailed, PermissionRefused, ModelNotFound, ContextOverflow, ContentBlocked)


def error_from_response(status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
    """The error for an HTTP response that is not a success."""
    lowered = {name.lower(): value for name, value in headers.items()}
    report = _ErrorReport.parse(_parse(body), body)
    return report.error(
        status,
        retry_after=parse_retry_after(lowered) if report.retry_after is None else report.retry_after,
        request_id=lowered.get("x-request-id")
        or lowered.get("request-id")
        or lowered.get("x-amzn-requestid")
        or report.request_id,
        should_retry=lowered.get("x-should-retry"),
    )


def error_from_object(value: Any, status: int | None = None) -> ProviderError:
    """The error for an error object inside a stream."""
    report = _ErrorReport.parse(value, encode(value))
    return report.error(status if status is not None else report.status)


def error_from_body(body: bytes) -> ProviderError | None:
    """The error that a body holds, if it holds one: some servers send it with status 200."""
    value = _parse(body)
    return error_from_event(next(iter(as_list(value)), value))


def error_from_event(value: Any) -> ProviderError | None:
    """The error that an event of a stream is, in any of the forms that servers use; None for any other event.

    Beside `{"error": …}` there are `{"object": "error"}`, `{"code": …, "message": …}`, `{"detail": …}` and
    `{"errors": […]}`.
    """
    event = as_object(value)
    is_error = (
        event.get("error")
        or "error" in (event.get("type"), event.get("object"), event.get("status"))
        or event.get("detail")
        or event.get("errors")
        or (_string(event.get("message")) and _is_error_code(event.get("code")))
    )
    return error_from_object(event) if is_error else None


def error_from_named_event(data: bytes) -> ProviderError:
    """The error of an event whose name says that it is one. Its data may be plain text."""
    value = _parse(data)
    if as_object(value) or as_list(value):
        return error_from_object(value)
    return error_from_object({"message": value if isinstance(value, str) else data.decode("utf-8", "replace")})


def _is_error_code(code: Any) -> bool:
    """Whether a code beside a message says that something failed. Some servers send 0 or 200 for success."""
    if isinstance(code, str) and not code.isdigit():
        return bool(code)
    try:
        return int(code) >= 400
    except (TypeError, ValueError, OverflowError):
        return False


class _ErrorReport(msgspec.Struct):
    """The contents of an error body, collected from all the places that providers use."""

    message: str = ""
    codes: list[str] = []
    status: int | None = None
    retry_after: float | None = None
    request_id: str | None = None
    fields: list[str] = []
    """The fields of the request that were refused, each with its reason."""
    generation: str = ""
    """The text of the model, where the API could not read it."""
    per_day: bool = False
    """The quota of a day is used up."""

    @staticmethod
    def parse(value: Any, body: bytes) -> "_ErrorReport":
        report = _ErrorReport(codes=[], fields=[])
        value = next(iter(as_list(value)), value)
        if value_object := as_object(value):
            report._read(value_object, 0)
        if report.fields:
            refused = "; ".join(report.fields[:_MAX_FIELDS])
            report.message = f"{report.message}: {refused}" if report.message else refused
        if not report.message:
            text = body.decode("utf-8", "replace").strip()
            report.message = "" if text.startswith("<") else text
        return report

    def _read(self, value: JsonObject, depth: int) -> None:
        self.request_id = self.request_id or _string(value.get("request_id"))
        for name in ("code", "type", "status", "reason", "status_code", "statusCode"):
            code = value.get(name)
            if isinstance(code, str) and len(code) == 3 and code.isdecimal() and code[0] in "45":
                self.status = int(code)
            elif isinstance(code, str) and code and code not in ("error", "Bad Request"):
                self.codes.append(code)
            elif isinstance(code, int) and 400 <= code <= 599:
                self.status = code
        for name in ("message", "detail", "error"):
            text = value.get(name)
            if isinstance(text, str) and text:
                self.message = f"{self.message}: {text}" if self.message and depth else text
                break
        for detail in [*as_objects(value.get("details")), *as_objects(value.get("detail"))]:
            self._read_detail(detail)
        for detail in as_objects(as_object(value.get("message")).get("detail")):
            self._read_detail(detail)
        if code := _string(as_object(value.get("details")).get("error_code")):
            self.codes.append(code)
        self.generation = self.generation or _string(value.get("failed_generation")) or ""
        if depth > 3:
            return
        self._read_upstream(as_object(value.get("metadata")).get("raw"), depth)
        for name in ("error", "detail", "errors"):
            inner = value.get(name)
            if isinstance(inner, list) and name != "detail":
                inner = next((item for item in as_list(inner) if item), None)
                if isinstance(inner, str) and not self.message:
                    self.message = inner
            self._read(as_object(inner), depth + 1)

    def _read_upstream(self, raw: Any, depth: int) -> None:
        """Read the error of the provider behind a gateway."""
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
        place = ".".join(str(step) for step in as_list(detail.get("loc"))) or _string(detail.get("field"))
        reason = _string(detail.get("msg")) or _string(detail.get("description"))
        if place and reason:
            self.fields.append(f"{place}: {reason}")
        for violation in as_objects(detail.get("violations")):
            self.per_day = self.per_day or "perday" in str(violation.get("quotaId") or "").lower()
        if detail.get("@type") == _GOOGLE_RETRY and isinstance(delay := detail.get("retryDelay"), str):
            self.retry_after = parse_duration(delay)

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
        elif should_retry == "true" and not kind.retryable and not self._is_final(kind):
            kind = ServerFault
        message = mask_keys(self.message)[:_MAX_MESSAGE] or (f"HTTP {status}" if status else "the provider failed")
        details: dict[str, Any] = {
            "status": status,
            "provider_code": self.codes[0] if self.codes else None,
            "retry_after": retry_after if retry_after is not None else self.retry_after,
            "request_id": request_id or self.request_id,
        }
        if self.generation and "tool_use_failed" in self.codes:
            return GarbledStream(message, generation=self.generation[:_MAX_GENERATION], **details)
        return kind(message, **details)

    def _is_final(self, kind: type[ProviderError]) -> bool:
        """Whether no other attempt can succeed, regardless of the status."""
        return kind in _FINAL or re.search(_NOT_SERVED, self.message) is not None

    def _kind(self, status: int | None) -> type[ProviderError]:
        by_code = [_ERROR_BY_CODE[code.lower()] for code in self.codes if code.lower() in _ERROR_BY_CODE]
        for precise in (QuotaExhausted, ContextOverflow, AuthenticationFailed, ModelNotFound, ContentBlocked):
            if precise in by_code:
                return precise
        if self.per_day:
            return QuotaExhausted
        if re.search(_TOO_LARGE, self.message):
            return ContextOverflow
        if re.search(_NOT_SERVED, self.message):
            return InvalidRequest
        if status == 429 or RateLimited in by_code:
            money = self.retry_after is None and re.search(_MONEY, self.message)
            return QuotaExhausted if money else RateLimited
        if status in (None, 400, 403, 404, 413, 422):
            by_message = self._kind_by_message(status)
            if by_message is not None:
                return by_message
        if status is not None:
            return error_class(status)
        if by_code:
            return by_code[0]
        return self._kind_without_status()

    def _kind_without_status(self) -> type[ProviderError]:
        """The class of an error inside a stream that has no code of the table."""
        if any(re.search(_BLOCKED_CODE, code) for code in self.codes):
            return ContentBlocked
        if self.fields or any(re.search(_INVALID_CODE, code) for code in self.codes):
            return InvalidRequest
        if re.search(_WRONG_KEY, self.message):
            return AuthenticationFailed
        if re.search(_RATE, self.message):
            return RateLimited
        return Overloaded if re.search(_BUSY, self.message) else ServerFault

    def _kind_by_message(self, status: int | None) -> type[ProviderError] | None:
        for kind, pattern in (
            (ContextOverflow, _OVERFLOW),
            (QuotaExhausted, _MONEY),
            (ContentBlocked, _BLOCKED),
            (ModelNotFound, _MODEL),
        ):
            if re.search(pattern, self.message):
                return kind
        if status == 400 and re.search(_WRONG_KEY, self.message):
            return AuthenticationFailed
        if status == 404 and re.search(_KEY, self.message):
            return AuthenticationFailed
        return None


def mask_keys(text: str) -> str:
    """The text with everything that looks like a key masked."""
    return re.sub(_SECRET, lambda secret: secret[0][:4] + "…", text)


def error_from_unexpected_body(content_type: str, body: bytes) -> ProviderError:
    """The error for a response of status 200 that is not a stream: a login page, a proxy's notice, plain text."""
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
