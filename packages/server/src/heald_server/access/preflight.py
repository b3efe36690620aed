"""The response to a CORS preflight request."""

import re

from starlette.responses import Response
from starlette.types import Scope

from heald_server.http.scope import single_header

_ALLOWED_METHODS = "GET, POST, PUT, PATCH, DELETE"
_ALLOWED_HEADERS = ("Authorization", "Content-Type", "Last-Event-ID")
_HEADER_NAME = re.compile(r"[A-Za-z0-9-]{1,60}\Z")
_MAX_HEADERS = 60


def preflight_response(scope: Scope, origin: str | None) -> Response:
    """The response to a CORS preflight request. Foreign origins were rejected before, so any header is allowed: clients
    add their own, such as `x-stainless-*`."""
    if origin is None:
        return Response(None, 204, {"Allow": _ALLOWED_METHODS})
    requested_headers = (single_header(scope, b"access-control-request-headers") or "").split(",")
    valid_names = [name.strip() for name in requested_headers[:_MAX_HEADERS] if _HEADER_NAME.match(name.strip())]
    allowed_names = {name.lower() for name in _ALLOWED_HEADERS}
    headers = [*_ALLOWED_HEADERS, *(name for name in valid_names if name.lower() not in allowed_names)]
    return Response(
        None,
        204,
        {
            "Access-Control-Allow-Methods": _ALLOWED_METHODS,
            "Access-Control-Allow-Headers": ", ".join(headers),
            "Access-Control-Max-Age": "600",
        },
    )
