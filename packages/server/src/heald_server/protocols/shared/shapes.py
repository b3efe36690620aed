"""Responses that the endpoints of several protocols have."""

import msgspec

from heald_server.http.errors import ErrorCode


class Stopped(msgspec.Struct, frozen=True):
    cancelled: bool
    """False if nothing was running."""


class V1ErrorDetail(msgspec.Struct, frozen=True, kw_only=True):
    message: str
    type: str | None = None
    code: ErrorCode | str | None = None
    param: str | None = None


class V1ErrorBody(msgspec.Struct, frozen=True):
    """The body of an error response below /v1."""

    error: V1ErrorDetail
