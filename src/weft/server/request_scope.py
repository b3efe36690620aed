"""One ASGI request: its path below the prefix, its headers and its trace; and the response's headers, error and log
line."""

import logging
import re
from time import monotonic
from urllib.parse import unquote

from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from weft.core.ids import new_id
from weft.core.json import encode
from weft.server.errors import ApiError, api_error_of

SECURITY_HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
"""Headers of every response that does not set them itself."""
PREVIEWS = "/preview/"
"""Pages that models wrote. They have an opaque origin and no token; their addresses are unguessable."""
_EXPOSED_HEADERS = (
    b"Content-Disposition, Retry-After, X-Request-Id, X-Weft-Exchange, X-Weft-Session, x-vercel-ai-ui-message-stream"
)
"""Headers of a response that pages of other origins may read."""

_ABSOLUTE_TARGET = re.compile(rb"(?i:https?|wss?)://([^/]+)(/.*)?\Z", re.DOTALL)

_log = logging.getLogger("weft.server.http")


class RequestScope:
    """One request or socket: counts its body, adds headers to its response and logs it."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, limit: int) -> None:
        self.id = new_id("req")
        self._scope = scope
        self._receive = receive
        self._send = send
        self._remaining = limit
        self.status = 0
        self._origin: str | None = None
        self._began = monotonic()
        self._started = self._accepted = False
        scope["state"] = {**scope.get("state", {}), "request": self.id}

    def allow_origin(self, origin: str) -> None:
        self._origin = origin

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._remaining -= len(message.get("body", b""))
            if self._remaining < 0:
                raise ApiError("too_large", "The body is too large; send large data as blobs, one at a time.")
        return message

    async def send(self, message: Message) -> None:
        if message["type"] in ("http.response.start", "websocket.http.response.start"):
            self._started = True
            self.status = message["status"]
            headers = [*message.get("headers", []), (b"x-request-id", self.id.encode())]
            names = {name.lower() for name, _ in headers}
            if self._origin is not None and b"access-control-allow-origin" not in names:
                headers += [
                    (b"access-control-allow-origin", self._origin.encode()),
                    (b"access-control-expose-headers", _EXPOSED_HEADERS),
                    (b"vary", b"Origin"),
                ]
            headers += [(name, value) for name, value in SECURITY_HEADERS if name not in names]
            message = {**message, "headers": headers}
        elif message["type"] == "websocket.accept":
            self._accepted, self.status = True, 101
        await self._send(message)

    async def send_error(self, error: Exception) -> None:
        """Answer with the error, unless a response has begun."""
        api_error = api_error_of(error)
        if isinstance(error, OSError) and self._scope["type"] == "websocket" and api_error is None:
            return  # the client left before its socket was accepted
        if api_error is None:
            _log.exception("A request failed.", extra={"request": self.id, "path": _loggable_path(self._scope)})
            api_error = ApiError("internal", f"The request failed; the log has the cause under {self.id}.")
        reason = api_error.message[:120]
        if self._scope["type"] == "websocket":
            if self._accepted:
                await self._send({"type": "websocket.close", "code": 1011, "reason": reason})
            elif "websocket.http.response" in self._scope.get("extensions", {}):
                await error_response(api_error, self._scope)(self._scope, self._receive, self.send)
            else:
                await self._send({"type": "websocket.close", "code": 4403, "reason": reason})
        elif not self._started:
            await error_response(api_error, self._scope)(self._scope, self._receive, self.send)
        else:
            raise error  # half a response is sent: the connection breaks, and the client notices

    @property
    def seconds(self) -> float:
        return monotonic() - self._began

    def log(self) -> None:
        _log.info(
            "%s %s %d",
            self._scope.get("method", "WS"),
            _loggable_path(self._scope),
            self.status,
            extra={
                "request": self.id,
                "session": self._scope.get("path_params", {}).get("session"),
                "ms": round(self.seconds * 1000, 1),
            },
        )


def error_response(error: ApiError, scope: Scope | None = None) -> Response:
    """The response for an error; below /v1 with the fields that clients of that API read."""
    headers = dict(error.headers)
    if error.status in (401, 413):
        headers["Connection"] = "close"  # the rest of the request is not read
    data = error.data()
    if scope is not None and route_path(scope).startswith("/v1/"):
        data["error"] |= {"type": error.kind, "param": error.param}
    return Response(encode(data), error.status, headers, "application/json")


def _loggable_path(scope: Scope) -> str:
    """The path without the secret of a preview's address."""
    return f"{scope.get('root_path', '')}{PREVIEWS}…" if route_path(scope).startswith(PREVIEWS) else scope["path"]


def read_absolute_target(scope: Scope) -> None:
    """Split a request target that is a whole address, as clients send it to a proxy (RFC 9112, section 3.2.2): its path
    is the path, and its authority counts instead of the Host header."""
    if scope["path"].startswith("/"):
        return
    found = _ABSOLUTE_TARGET.match(scope.get("raw_path") or b"")
    if found is not None:
        authority, path = found.groups()
        scope["raw_path"] = path or b"/"
        scope["path"] = unquote(scope["raw_path"].decode("latin-1"))
        scope["headers"] = [*(each for each in scope["headers"] if each[0] != b"host"), (b"host", authority.lower())]


def route_path(scope: Scope) -> str:
    """The path below the prefix that the server is mounted under."""
    path: str = scope["path"]
    root: str = scope.get("root_path", "")
    rest = path.removeprefix(root)
    return rest if not root or rest.startswith("/") or path == root else path


def single_header(scope: Scope, name: bytes) -> str | None:
    """The value of a header that may occur once; empty if it occurs more often, so that it matches nothing."""
    found = header_values(scope, name)
    if len(found) > 1:
        return ""
    return found[0] if found else None


def read_trace(scope: Scope) -> dict[str, str]:
    """The headers that name the trace of a request."""
    found = {name: single_header(scope, name.encode()) for name in ("traceparent", "tracestate")}
    return {name: value for name, value in found.items() if value}


def header_values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]
