"""Settings of a server: its addresses, its access rules and its limits per client."""

from typing import Literal
from urllib.parse import urlsplit

import msgspec

from heald.core.errors import ConfigurationError
from heald.sessions.resumption import DEFAULT_AFTER_CRASH, AfterCrash
from heald.tools.client_tools import CLIENT_TOOL_TIMEOUT
from heald_server.http.hosts import bracketed, is_loopback
from heald_server.http.public_address import PublicAddress, parse_public_url
from heald_server.server_limits import ServerLimits

DEFAULT_PORT = 7878
ClientToolsMode = Literal["only", "beside"]
_EVERYWHERE = ("0.0.0.0", "::")


class ServerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of a server."""

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    origins: tuple[str, ...] = ()
    """Origins of other pages that have access, as a browser sends them."""
    public_url: str = ""
    """The address of the server behind a proxy, with its path."""
    needs_token: bool = True
    open_metrics: bool = False
    """Programs of this machine read /metrics without a token."""
    mounted: bool = False
    """The server is part of another ASGI program, which owns the socket: `host` and `port` mean nothing."""
    limits: ServerLimits = ServerLimits()
    show_tools: bool = False
    """Clients of /v1 see the agent's own calls as lines of `reasoning_content`."""
    heartbeat_seconds: float = 15.0
    idle_seconds: float = 300.0
    """A session that is not used for this long is closed; the next request reopens it."""
    client_tools: ClientToolsMode = "only"
    """Whether the tools that a request of /v1 brings are the only ones, or offered beside the agent's own."""
    client_tool_timeout: float = CLIENT_TOOL_TIMEOUT
    """Seconds that a call waits for the client that runs it."""
    after_crash: AfterCrash = DEFAULT_AFTER_CRASH
    """What happens to an exchange whose process ended: another one continues it, or closes it as failed."""
    keep_deltas: float | None = None
    """Seconds after which the deltas of an idle session are joined; None keeps them one by one."""
    room: int = 200
    """Exchanges that run here at once; a server that is full claims no work of others."""
    placement: str = "store"
    """What decides where requests run: `store`, `temporal://host:port/namespace`, or `module:name` of your own."""
    goodbye_seconds: float = 5.0
    """Time for exchanges to finish when the server stops."""

    @property
    def public(self) -> PublicAddress | None:
        return parse_public_url(self.public_url) if self.public_url else None

    @property
    def is_local(self) -> bool:
        return is_loopback(self.host)

    @property
    def own_hosts(self) -> frozenset[str]:
        """Host headers that name this server. One that listens everywhere is on this machine's own names too."""
        local = ("127.0.0.1", "localhost", "[::1]") if self.is_local or self.host in _EVERYWHERE else ()
        names = {bracketed(self.host), *local}
        named = {f"{name}:{self.port}" for name in names}
        return frozenset(named | (names if self.port == 80 else set()))

    @property
    def own_origins(self) -> frozenset[str]:
        return frozenset(f"http://{host}" for host in self.own_hosts)

    @property
    def address(self) -> str:
        """Where programs of this machine find the server."""
        host = "127.0.0.1" if self.host in _EVERYWHERE else self.host
        return f"http://{bracketed(host)}:{self.port}"


def validate_settings(settings: ServerSettings) -> ServerSettings:
    """Return the settings, or raise `ConfigurationError` if they are unsafe or invalid."""
    if not settings.is_local and not settings.needs_token:
        raise ConfigurationError(
            f"Without a token the server listens on this machine only, not on {settings.host}; drop --no-token."
        )
    if settings.public is not None and not settings.needs_token:
        raise ConfigurationError("Behind a proxy everybody could use a server without a token; drop --no-token.")
    if settings.public is not None and settings.open_metrics:
        raise ConfigurationError(
            "Behind a proxy every request comes from this machine; drop --open-metrics and give the scraper the token."
        )
    if not settings.host.strip():
        raise ConfigurationError("The host is empty; 0.0.0.0 listens everywhere, 127.0.0.1 on this machine only.")
    if not 0 <= settings.port < 65536:
        raise ConfigurationError(f"There is no port {settings.port}; choose one below 65536, or 0 for a free one.")
    for origin in settings.origins:
        _check_origin(origin)
    return settings


def _check_origin(origin: str) -> None:
    parts = urlsplit(origin)
    if parts.scheme not in ("http", "https") or not parts.netloc or origin != f"{parts.scheme}://{parts.netloc}":
        raise ConfigurationError(f"{origin!r} is not an origin; write it as https://example.org, without a path.")
