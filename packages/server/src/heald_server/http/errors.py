"""API errors: a status, a code for programs and one sentence for people."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from heald.core.errors import HealdError, NotFound
from heald.core.json import JsonObject
from heald.providers.key_store import NoKeyring
from heald.sessions.changes import ChangeRefused
from heald.sessions.store_errors import BadArchive, SessionBusy, StoreError, StoreFull, StoreLocked
from heald.tools.approvals import NotPending
from heald.tools.client_results import ResultTooLarge
from heald.tools.workspace.paths import PathFault

ErrorCode = Literal[
    "invalid",
    "unauthorized",
    "budget",
    "forbidden",
    "not_found",
    "method_not_allowed",
    "busy",
    "conflict",
    "invalid_cursor",
    "too_large",
    "unsupported_media_type",
    "too_many",
    "internal",
    "no_keyring",
    "unavailable",
]

STATUS: dict[ErrorCode, int] = {
    "invalid": 400,
    "unauthorized": 401,
    "budget": 402,
    "forbidden": 403,
    "not_found": 404,
    "method_not_allowed": 405,
    "busy": 409,
    "conflict": 409,
    "invalid_cursor": 409,
    "too_large": 413,
    "unsupported_media_type": 415,
    "too_many": 429,
    "internal": 500,
    "no_keyring": 409,
    "unavailable": 503,
}

_KINDS = {
    401: "authentication_error",
    402: "insufficient_quota",
    403: "permission_error",
    429: "rate_limit_error",
}


class ApiError(Exception):
    """An error that the client sees."""

    def __init__(
        self, code: ErrorCode, message: str, *, headers: Mapping[str, str] | None = None, param: str | None = None
    ) -> None:
        super().__init__(message)
        self.code: ErrorCode = code
        self.message = message
        self.headers = dict(headers or {})
        self.param = param
        """The parameter that is wrong, for clients of /v1."""

    @property
    def status(self) -> int:
        return STATUS[self.code]

    @property
    def kind(self) -> str:
        """The type of the error, as clients of /v1 know it."""
        return error_type(self.status)

    def data(self) -> JsonObject:
        return {"error": {"code": self.code, "message": self.message}}


def error_type(status: int) -> str:
    """The type of an error with this status, as clients of /v1 know it."""
    return _KINDS.get(status, "invalid_request_error" if status < 500 else "server_error")


class ErrorDetail(msgspec.Struct, frozen=True):
    code: ErrorCode
    message: str


class ErrorBody(msgspec.Struct, frozen=True):
    """The body of every error response."""

    error: ErrorDetail


def too_many(message: str, seconds: int = 1) -> ApiError:
    return ApiError("too_many", message, headers={"Retry-After": str(max(1, seconds))})


def api_error_of(error: Exception) -> ApiError | None:
    """The API error for an exception that was raised on purpose; None for any other."""
    match error:
        case ApiError():
            return error
        case NotFound():
            return ApiError("not_found", str(error))
        case NotPending() | SessionBusy() | ChangeRefused() | PathFault(kind="stale_read"):
            return ApiError("conflict", str(error))
        case ResultTooLarge():
            return ApiError("too_large", str(error))
        case NoKeyring():
            return ApiError("no_keyring", str(error))
        case BadArchive() | HealdError(code="invalid_request"):
            return ApiError("invalid", str(error))
        case PathFault():
            return ApiError("not_found" if error.kind == "not_found" else "invalid", str(error))
        case StoreFull() | StoreLocked() | StoreError():
            return ApiError("unavailable", str(error), headers={"Retry-After": "5"})
        case UnicodeEncodeError():
            return ApiError("invalid", "A text holds an unpaired surrogate, which cannot be stored.")
        case HealdError():
            return ApiError("invalid", str(error))
        case _:
            return None
