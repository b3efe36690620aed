"""The guard: before any route it asks who comes, from where, and with what. Nothing behind it is public by accident.

Host and Origin are compared exactly; Fetch metadata of a foreign site is refused; bodies have a type that no foreign
form can send; and without a token nobody gets past it, but for what is listed in `PUBLIC`.
"""

import logging
from collections.abc import Iterable
from time import monotonic

import msgspec
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from weft.core.ids import new_id
from weft.core.json import encode
from weft.server.headers import only, values, with_security
from weft.server.refusal import Refusal, refusal_of
from weft.server.settings import ServerSettings, hosts_of, is_address
from weft.server.tokens import Tokens

PUBLIC = frozenset({"/", "/health", "/login", "/favicon.ico"})
"""Paths that need no token. The page is one: it holds nothing but itself."""
PUBLIC_FOLDERS = ("/assets/",)
"""The page's own files."""
PREVIEWS = "/preview/"
"""Pages that models wrote: they have no origin and no token, and their addresses are secrets of their own."""

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_BODY_TYPES = (
    "application/json",
    "application/octet-stream",
    "application/x-ndjson",
    "application/zip",
    "image/",
    "video/",
)
_METHODS = "GET, POST, PUT, PATCH, DELETE"
_HEADERS = "Authorization, Content-Type, Last-Event-ID"

_log = logging.getLogger("weft.server.http")


class Caller(msgspec.Struct, frozen=True):
    """Who is asking."""

    owner: str
    holder: bytes | None = None
    """Under what the token is known; None where none is needed."""


class Guard:
    """Wraps the whole application."""

    def __init__(self, app: ASGIApp, settings: ServerSettings, tokens: Tokens) -> None:
        self.app = app
        """What it guards."""
        self._settings = settings
        self._tokens = tokens
        self._hosts = settings.own_hosts | hosts_of(settings.origins)
        self._origins = settings.own_origins | frozenset(settings.origins)
        self._secure_hosts = hosts_of([origin for origin in settings.origins if origin.startswith("https://")])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if only(scope, b"host") in self._secure_hosts:  # a proxy before us has done TLS
            scope["scheme"] = "https" if scope["type"] == "http" else "wss"
        visit = _Visit(scope, receive, send, self._settings.limits.body_bytes)
        origin = only(scope, b"origin")
        if origin in self._settings.origins:
            visit.allow(origin)
        try:
            self._admit(scope, origin)
            if scope["type"] == "http" and scope["method"] == "OPTIONS":
                await _preflight(origin)(scope, receive, visit.send)
                return
            await self.app(scope, visit.receive, visit.send)
        except ClientDisconnect:
            return  # before it had said all: there is nobody to answer
        except Exception as error:
            await visit.refuse(error)
        finally:
            visit.log()

    # --- who comes in ------------------------------------------------------------------------------------------------

    def _admit(self, scope: Scope, origin: str | None) -> None:
        host = only(scope, b"host") or ""
        if host not in self._hosts and not (not self._settings.is_local and is_address(host)):
            raise Refusal("forbidden", "This server is not known under that name; use the address it printed.")
        if _is_preview(scope):
            scope.setdefault("state", {})["caller"] = None
            return
        if origin is not None and origin not in self._origins and not self._is_own_address(origin, host):
            raise Refusal("forbidden", "Pages of that origin may not ask here; allow it with --allow-origin.")
        is_public = _is_public(scope)
        if not (is_public and scope["method"] in _SAFE):  # a link to the page may stand anywhere
            self._check_site(scope, origin)
        if scope["type"] == "http" and scope["method"] == "OPTIONS":
            return
        _check_body(scope)
        caller = self._caller(scope, origin)
        if caller is None and not is_public:
            raise Refusal(
                "unauthorized",
                "A token is needed; send it as 'Authorization: Bearer …'.",
                headers={"WWW-Authenticate": "Bearer"},
            )
        scope.setdefault("state", {})["caller"] = caller

    def _is_own_address(self, origin: str, host: str) -> bool:
        """A server that listens everywhere is reached under any of its addresses."""
        return not self._settings.is_local and origin in (f"http://{host}", f"https://{host}")

    def _check_site(self, scope: Scope, origin: str | None) -> None:
        site = only(scope, b"sec-fetch-site")
        if site in (None, "same-origin", "none") or (origin is not None and origin in self._settings.origins):
            return
        raise Refusal("forbidden", "Requests from other sites are not answered.")

    def _caller(self, scope: Scope, origin: str | None) -> Caller | None:
        if not self._settings.needs_token:
            return Caller("")
        holder = self._bearer(scope)
        if holder is None and self._is_same_page(scope, origin):
            holder = self._cookie(scope)
        owner = self._tokens.owner(holder) if holder is not None else None
        return Caller(owner, holder) if owner is not None else None

    def _bearer(self, scope: Scope) -> bytes | None:
        given = only(scope, b"authorization")
        if given is not None:
            kind, _, token = given.partition(" ")
            return self._tokens.holder(token.strip()) if kind.lower() == "bearer" else None
        if scope["type"] == "websocket":  # a page cannot set headers on a socket, but it can name protocols
            offers: list[str] = scope.get("subprotocols") or []
            for offered in offers:
                if offered.startswith("weft.bearer."):
                    return self._tokens.holder(offered.removeprefix("weft.bearer."))
        return None

    def _is_same_page(self, scope: Scope, origin: str | None) -> bool:
        """A cookie counts only where the browser vouches that it is our own page that asks.

        Behind a proxy that is the page of the name under which we are asked.
        """
        if origin is not None:
            return origin not in self._settings.origins or only(scope, b"host") in hosts_of([origin])
        return scope["type"] == "http" and scope["method"] in _SAFE

    def _cookie(self, scope: Scope) -> bytes | None:
        wanted = cookie_name(self._settings)
        for pair in ";".join(values(scope, b"cookie")).split(";"):
            name, _, value = pair.strip().partition("=")
            if name == wanted:
                return self._tokens.holder_of_cookie(value)
        return None


class _Visit:
    """One request or socket on its way through."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, limit: int) -> None:
        self.id = new_id("req")
        self._scope = scope
        self._receive = receive
        self._send = send
        self._left = limit
        self._status = 0
        self._origin: str | None = None
        self._began = monotonic()
        self._started = self._accepted = False
        scope.setdefault("state", {})["request"] = self.id

    def allow(self, origin: str) -> None:
        self._origin = origin

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._left -= len(message.get("body", b""))
            if self._left < 0:
                raise Refusal("too_large", "The body is too large; send large things as blobs, one at a time.")
        return message

    async def send(self, message: Message) -> None:
        if message["type"] in ("http.response.start", "websocket.http.response.start"):
            self._started = True
            self._status = message["status"]
            headers = [*message.get("headers", []), (b"x-request-id", self.id.encode())]
            if self._origin is not None and not any(name == b"access-control-allow-origin" for name, _ in headers):
                headers += [(b"access-control-allow-origin", self._origin.encode()), (b"vary", b"Origin")]
            message = {**message, "headers": with_security(headers)}
        elif message["type"] == "websocket.accept":
            self._accepted, self._status = True, 101
        await self._send(message)

    async def refuse(self, error: Exception) -> None:
        """Say why not, if there is still somebody to say it to."""
        refusal = refusal_of(error)
        if refusal is None:
            _log.exception("A request failed.", extra={"request": self.id, "path": _shown(self._scope["path"])})
            refusal = Refusal("internal", f"Something went wrong here; the log says more under {self.id}.")
        if self._scope["type"] == "websocket":
            if self._accepted:
                await self._send({"type": "websocket.close", "code": 1011, "reason": refusal.message[:120]})
            elif "websocket.http.response" in self._scope.get("extensions", {}):
                await answer_refusal(refusal)(self._scope, self._receive, self.send)
            else:
                await self._send({"type": "websocket.close", "code": 4403, "reason": refusal.message[:120]})
        elif not self._started:
            await answer_refusal(refusal)(self._scope, self._receive, self.send)
        else:
            raise error  # half an answer is out: the connection breaks, and the client notices

    def log(self) -> None:
        _log.info(
            "%s %s %d",
            self._scope.get("method", "WS"),
            _shown(self._scope["path"]),
            self._status,
            extra={
                "request": self.id,
                "session": self._scope.get("path_params", {}).get("session"),
                "ms": round((monotonic() - self._began) * 1000, 1),
            },
        )


def cookie_name(settings: ServerSettings) -> str:
    """Cookies are shared by all ports of a host, so each server has its own."""
    return f"weft_{settings.port}"


def answer_refusal(refusal: Refusal) -> Response:
    headers = dict(refusal.headers)
    if refusal.status in (401, 413):
        headers["Connection"] = "close"  # whatever else was sent is not read
    return Response(encode(refusal.data()), refusal.status, headers, "application/json")


def _is_public(scope: Scope) -> bool:
    path: str = scope["path"]
    return scope["type"] == "http" and (path in PUBLIC or path.startswith(PUBLIC_FOLDERS))


def _is_preview(scope: Scope) -> bool:
    return scope["type"] == "http" and scope["method"] in ("GET", "HEAD") and scope["path"].startswith(PREVIEWS)


def _shown(path: str) -> str:
    """A path as logs may hold it: the address of a preview is a secret."""
    return f"{PREVIEWS}…" if path.startswith(PREVIEWS) else path


def _check_body(scope: Scope) -> None:
    if scope["type"] != "http" or scope["method"] in _SAFE:
        return
    length = only(scope, b"content-length")
    has_body = length not in (None, "0") or only(scope, b"transfer-encoding") is not None
    kind = (only(scope, b"content-type") or "").partition(";")[0].strip().lower()
    if (has_body or kind) and not _is_type(kind, _BODY_TYPES):
        raise Refusal("unsupported_media_type", "Send the body as application/json.")


def _is_type(kind: str, known: Iterable[str]) -> bool:
    return any(kind.startswith(each) if each.endswith("/") else kind == each for each in known)


def _preflight(origin: str | None) -> Response:
    """The browser asks whether a page may ask. Foreign ones did not get here."""
    allowed = {"Access-Control-Allow-Methods": _METHODS, "Access-Control-Allow-Headers": _HEADERS}
    return Response(None, 204, allowed if origin is not None else {"Allow": _METHODS})
