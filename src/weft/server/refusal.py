"""How a request is refused: a status, a code that programs can match, and one sentence for people."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from weft.core.errors import NotFound, WeftError
from weft.core.json import JsonObject
from weft.sessions.changes import ChangeRefused
from weft.sessions.errors import (
    BadArchive,
    SessionBusy,
    StoreError,
    StoreFull,
    StoreLocked,
)
from weft.tools.approvals import NotPending
from weft.tools.workspace.base import PathFault

Code = Literal[
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
    "unavailable",
]

STATUS: dict[Code, int] = {
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
    "unavailable": 503,
}


class Refusal(Exception):
    """Why a request is not answered."""

    def __init__(self, code: Code, message: str, *, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.code: Code = code
        self.message = message
        self.headers = dict(headers or {})

    @property
    def status(self) -> int:
        return STATUS[self.code]

    def data(self) -> JsonObject:
        return {"error": {"code": self.code, "message": self.message}}


class Failure(msgspec.Struct, frozen=True):
    """What was wrong."""

    code: Code
    message: str


class Failed(msgspec.Struct, frozen=True):
    """The body of every refusal."""

    error: Failure


def too_many(message: str, seconds: int = 1) -> Refusal:
    return Refusal("too_many", message, headers={"Retry-After": str(max(1, seconds))})


def refusal_of(error: Exception) -> Refusal | None:
    """What a client is told of an error that was raised on purpose; None for any other."""
    match error:
        case Refusal():
            return error
        case NotFound():
            return Refusal("not_found", str(error))
        case NotPending() | SessionBusy() | ChangeRefused() | PathFault(kind="stale_read"):
            return Refusal("conflict", str(error))
        case BadArchive():
            return Refusal("invalid", str(error))
        case WeftError(code="invalid_request"):
            return Refusal("invalid", str(error))
        case PathFault():
            return Refusal("not_found" if error.kind == "not_found" else "invalid", str(error))
        case StoreFull() | StoreLocked() | StoreError():
            return Refusal("unavailable", str(error), headers={"Retry-After": "5"})
        case UnicodeEncodeError():
            return Refusal(
                "invalid", "A text holds half of a surrogate pair, which nothing can keep; send whole letters."
            )
        case WeftError():  # said on purpose, and in one sentence
            return Refusal("invalid", str(error))
        case _:
            return None
