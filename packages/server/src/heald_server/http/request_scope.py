"""One request or socket: counts its body, adds headers to its response, answers its error and logs it."""

import logging
from time import monotonic

from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from heald.core.ids import new_id
from heald.core.json import encode
from heald_server.http.errors import ApiError, api_error_of
from heald_server.http.scope import route_path

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
_EXPOSED_HEADERS = (
    b"Content-Disposition, Retry-After, X-Request-Id, X-Heald-Exchange, X-Heald-Session, x-vercel-ai-ui-message-stream"
)
"""Headers of a response that pages of other origins may read."""

_log = logging.getLogger("heald_server.http")


class RequestScope:
    """One request or socket: counts its body, adds headers to its response and logs it."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, limit: int, log_path: str) -> None:
        """`limit` is that of the body in bytes; `log_path` is the path as logs show it."""
        self.id = new_id("req")
        self._scope = scope
        self._receive = receive
        self._send = send
        self._remaining = limit
        self._log_path = log_path
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
            _log.exception("A request failed.", extra={"request": self.id, "path": self._log_path})
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
            self._log_path,
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
