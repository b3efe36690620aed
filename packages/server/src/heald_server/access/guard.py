"""Checks every request before it reaches a route: host, origin, fetch metadata, body type and token.

Host and Origin are compared exactly; Fetch metadata of a foreign site is rejected; a body needs a content type that no
foreign form can send; and every path needs a token, except those of `OpenPaths`.
"""

import inspect
import logging
from collections.abc import Iterable

from starlette.requests import ClientDisconnect, HTTPConnection
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from heald.agent.trace_context import incoming_trace
from heald_server.access.caller import AdmitCaller, Authenticate, Caller
from heald_server.access.credentials import BEARER_PROTOCOL, cookie_name
from heald_server.access.open_paths import OpenPaths
from heald_server.access.preflight import preflight_response
from heald_server.access.rate_limiter import RateLimiter
from heald_server.access.tokens import AccessTokens
from heald_server.http.connections import Connection
from heald_server.http.errors import ApiError
from heald_server.http.hosts import hosts_of, is_address, is_loopback, split_host
from heald_server.http.metrics import METRICS_PATH, ServerMetrics
from heald_server.http.public_address import PublicAddress
from heald_server.http.request_scope import RequestScope
from heald_server.http.scope import header_values, read_absolute_target, read_trace, route_path, single_header
from heald_server.session_request import current_scope
from heald_server.settings import ServerSettings

UNKNOWN_LINES_PER_SECOND = 20
"""Lines of the log for requests without a token."""
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_BODY_TYPES = (
    "application/json",
    "application/octet-stream",
    "application/x-ndjson",
    "application/zip",
    "image/",
    "video/",
)

_log = logging.getLogger("heald_server.http")


class Guard:
    """ASGI middleware around the whole application."""

    def __init__(
        self,
        app: ASGIApp,
        settings: ServerSettings,
        tokens: AccessTokens,
        authenticate: Authenticate | None = None,
        metrics: ServerMetrics | None = None,
        *,
        paths: OpenPaths | None = None,
        admit: AdmitCaller | None = None,
    ) -> None:
        self.app = app
        self._paths = paths or OpenPaths()
        self._admit_caller = admit
        self._metrics = metrics or ServerMetrics()
        self._settings = settings
        self._tokens = tokens
        self._authenticate = authenticate
        self._public = settings.public
        public_origins = [self._public.origin] if self._public is not None else []
        self._hosts = settings.own_hosts | hosts_of([*settings.origins, *public_origins])
        self._origins = settings.own_origins | {*settings.origins, *public_origins}
        self._unknown_lines = RateLimiter(UNKNOWN_LINES_PER_SECOND)
        self._omitted = 0
        self._secure_hosts = hosts_of([origin for origin in settings.origins if origin.startswith("https://")])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        read_absolute_target(scope)
        if single_header(scope, b"host") in self._secure_hosts:  # a proxy in front of the server terminates TLS
            scope["scheme"] = "https" if scope["type"] == "http" else "wss"
        origin = single_header(scope, b"origin")
        if self._public is not None:
            self._place(self._public, scope, origin)
            if scope["type"] == "http" and scope["path"] == self._public.prefix:
                await RedirectResponse(f"{self._public.prefix}/", 308)(scope, receive, send)
                return
        incoming_trace.set(read_trace(scope))
        current_scope.set(scope)
        visit = RequestScope(scope, receive, send, self._settings.limits.body_bytes, self._paths.loggable_path(scope))
        self._metrics.begin_request(scope["type"])
        if origin in self._settings.origins:
            visit.allow_origin(origin)
        try:
            scope["state"]["caller"] = await self._admit(scope, origin)
            if scope["type"] == "http" and scope["method"] == "OPTIONS":
                await preflight_response(scope, origin)(scope, receive, visit.send)
                return
            await self.app(scope, visit.receive, visit.send)
        except ClientDisconnect:
            return
        except Exception as error:
            await visit.send_error(error)
        finally:
            self._metrics.end_request(scope["type"], scope.get("method", "WS"), visit.status, visit.seconds)
            self._log(visit, scope)

    def _log(self, visit: RequestScope, scope: Scope) -> None:
        """Log a request; of those without a token only some, so that nobody can fill the disk with them."""
        if scope["state"].get("caller") is not None:
            visit.log()
        elif self._unknown_lines.allows():
            visit.log()
            if self._omitted:
                _log.info("%d requests without a token were not logged.", self._omitted)
            self._omitted = 0
        else:
            self._omitted += 1

    def _place(self, public: PublicAddress, scope: Scope, origin: str | None) -> None:
        """Give a request the path and the scheme that browsers see. The page of this machine has no prefix."""
        if origin not in self._settings.own_origins:
            public.place(scope)
        if public.is_secure and (origin == public.origin or single_header(scope, b"host") in hosts_of([public.origin])):
            scope["scheme"] = "https" if scope["type"] == "http" else "wss"

    # --- admission ---------------------------------------------------------------------------------------------------

    async def _admit(self, scope: Scope, origin: str | None) -> Caller | None:
        """Check a request and return its caller; None for a public path without a token. Raises `ApiError`."""
        host = single_header(scope, b"host")
        is_from_page = host is not None  # every browser names the host; the checks of some balancers (HTTP/1.0) do not
        host = host or ""
        if is_from_page and not self._is_known_host(host) and not await self._has_token(scope):
            raise ApiError(
                "forbidden",
                "This server is not known under that name; use the address it printed, or start it with --public-url.",
            )
        if self._paths.is_secret(scope):
            return None
        if origin is not None and origin not in self._origins and not self._is_own_origin(origin, host):
            raise ApiError(
                "forbidden", "Pages of that origin have no access; allow it with --allow-origin, or with `origins`."
            )
        is_public = self._paths.is_public(scope)
        if not (is_public and scope["method"] in _SAFE):  # other sites may link to the page
            self._check_site(scope, origin)
        if scope["type"] == "http" and scope["method"] == "OPTIONS":
            return None
        _check_body(scope)
        caller = await self._identify(scope, origin)
        if caller is None and not is_public and not self._is_open_scrape(scope):
            raise ApiError(
                "unauthorized",
                "A token is needed; send it as 'Authorization: Bearer …'.",
                headers={"WWW-Authenticate": "Bearer"},
            )
        if caller is not None and self._admit_caller is not None:
            caller = await self._admit_caller(caller, scope, route_path(scope))
        if caller is not None and not _count_as_known(scope) and not is_public:
            raise ApiError(
                "unavailable",
                "This server has as many connections as it accepts; close some, or try again later.",
                headers={"Retry-After": "5", "Connection": "close"},
            )
        return caller

    def _is_open_scrape(self, scope: Scope) -> bool:
        """Whether a program of this machine reads the metrics, and the operator lets it do so without a token."""
        client: tuple[str, int] | None = scope.get("client")
        is_near = client is not None and is_loopback(client[0])
        return self._settings.open_metrics and is_near and scope["type"] == "http" and route_path(scope) == METRICS_PATH

    def _is_known_host(self, host: str) -> bool:
        """A DNS name that an attacker rebinds to this machine is not known.

        A mounted server does not know its names. Nobody holds a cookie or a token for a rebound name, so with
        authentication any name is safe there; without, only names of this machine are.
        """
        if host in self._hosts:
            return True
        if self._settings.mounted:
            return self._settings.needs_token or is_loopback(split_host(host)[0])
        return not self._settings.is_local and is_address(host)

    async def _has_token(self, scope: Scope) -> bool:
        """Whether a program that knows the token uses another name of a server on a network, such as that of its
        container. A page that rebinds a name has no token."""
        token = None if self._settings.is_local or self._authenticate is not None else self._bearer(scope)
        return token is not None and await self._tokens.identify_signed(token) is not None

    def _is_own_origin(self, origin: str, host: str) -> bool:
        """A server on all interfaces, or a mounted one, has the origin that its Host header names."""
        is_open = self._settings.mounted or not self._settings.is_local
        return is_open and origin in (f"http://{host}", f"https://{host}")

    def _check_site(self, scope: Scope, origin: str | None) -> None:
        site = single_header(scope, b"sec-fetch-site")
        if site not in (None, "same-origin", "none") and (origin is None or origin not in self._settings.origins):
            raise ApiError("forbidden", "Requests from other sites are not answered.")

    async def _identify(self, scope: Scope, origin: str | None) -> Caller | None:
        root_path: str = scope.get("root_path", "")
        if self._authenticate is not None:
            owner = self._authenticate(HTTPConnection(scope))
            owner = await owner if inspect.isawaitable(owner) else owner
            return Caller(owner, None, root_path) if owner is not None else None
        if not self._settings.needs_token:
            return Caller("", None, root_path)
        token = self._bearer(scope)
        token_id = await self._tokens.identify_signed(token) if token is not None else None
        if token_id is None and self._is_same_page(scope, origin):
            token_id = self._cookie(scope)
        owner = self._tokens.owner_of(token_id) if token_id is not None else None
        return Caller(owner, token_id, root_path) if owner is not None else None

    def _bearer(self, scope: Scope) -> str | None:
        """Return the token that a request carries, whether it is known or not."""
        value = single_header(scope, b"authorization")
        if value is not None:
            kind, _, token = value.partition(" ")
            return token.strip() if kind.lower() == "bearer" else None
        if scope["type"] == "websocket":  # a page cannot set headers on a socket, but it can name protocols
            offers: list[str] = scope.get("subprotocols") or []
            for offered in offers:
                if offered.startswith(BEARER_PROTOCOL):
                    return offered.removeprefix(BEARER_PROTOCOL)
        return None

    def _is_same_page(self, scope: Scope, origin: str | None) -> bool:
        """Whether the browser vouches that our own page sent the request; only then a cookie counts.

        Behind a proxy that is the page of the name in the Host header.
        """
        if self._public is not None and origin == self._public.origin:
            return True
        if origin is not None:
            return origin not in self._settings.origins or single_header(scope, b"host") in hosts_of([origin])
        return scope["type"] == "http" and scope["method"] in _SAFE

    def _cookie(self, scope: Scope) -> bytes | None:
        cookie = cookie_name(self._settings, scope)
        for pair in ";".join(header_values(scope, b"cookie")).split(";"):
            name, _, value = pair.strip().partition("=")
            if name == cookie:
                return self._tokens.identify_cookie(value)
        return None


def _count_as_known(scope: Scope) -> bool:
    """Count the connection of an authenticated request; False if there are too many. A host counts its own."""
    connection: Connection | None = scope["state"].get("connection")
    return connection is None or connection.authenticate()


def _check_body(scope: Scope) -> None:
    if scope["type"] != "http" or scope["method"] in _SAFE:
        return
    length = single_header(scope, b"content-length")
    has_body = length not in (None, "0") or single_header(scope, b"transfer-encoding") is not None
    kind = (single_header(scope, b"content-type") or "").partition(";")[0].strip().lower()
    if (has_body or kind) and not _matches_type(kind, _BODY_TYPES):
        raise ApiError("unsupported_media_type", "Send the body as application/json.")
    if (single_header(scope, b"content-encoding") or "identity").strip().lower() != "identity":
        raise ApiError(
            "unsupported_media_type",
            "Send the body without a Content-Encoding; compressed bodies are not read here.",
            headers={"Accept-Encoding": "identity"},
        )


def _matches_type(kind: str, prefixes: Iterable[str]) -> bool:
    return any(kind.startswith(prefix) if prefix.endswith("/") else kind == prefix for prefix in prefixes)
