"""Settings of a server: its addresses, its access rules and its limits per client."""

import ipaddress
from collections.abc import Sequence
from urllib.parse import urlsplit

import msgspec
from starlette.types import Scope

from weft.core.errors import ConfigurationError
from weft.sessions.resumption import AfterCrash
from weft.tools.client_tools import CLIENT_TOOL_TIMEOUT

DEFAULT_PORT = 7878
_EVERYWHERE = ("0.0.0.0", "::")


class PublicAddress(msgspec.Struct, frozen=True):
    """Where browsers find a server behind a proxy: its origin, and the path that everything of it is below.

    The proxy may pass the whole path on or remove the prefix, and it may pass any of the server's names as Host.
    """

    origin: str
    """As browsers send it, such as `https://example.org`."""
    prefix: str = ""
    """A path without a slash at its end, such as `/weft`; empty if the server has the whole origin."""

    @property
    def url(self) -> str:
        return f"{self.origin}{self.prefix}"

    @property
    def is_secure(self) -> bool:
        return self.origin.startswith("https://")

    def place(self, scope: Scope) -> None:
        """Put a request below the prefix, whether the proxy removed the prefix or not."""
        path: str = scope["path"]
        if not self.prefix:
            return
        scope["root_path"] = self.prefix
        if path != self.prefix and not path.startswith(f"{self.prefix}/"):
            scope["path"] = f"{self.prefix}{path}"


def parse_public_url(url: str) -> PublicAddress:
    """Parse the address. Raises `ConfigurationError` if it is none."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    is_plain = not parts.query and not parts.fragment and not parts.username and "//" not in path
    if parts.scheme not in ("http", "https") or not parts.hostname or not is_plain:
        raise ConfigurationError(f"{url!r} is no address of a server; write it as https://example.org/weft.")
    default = {"http": ":80", "https": ":443"}[parts.scheme]
    return PublicAddress(f"{parts.scheme}://{parts.netloc.lower().removesuffix(default)}", path)


class ServerLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits for each owner of a token, and for the whole server."""

    connections: int | None = None
    """Connections of all clients with a token; half of the process's descriptors unless set."""

    exchanges: int = 16
    """Exchanges that run at the same time."""
    queue: int = 20
    """Requests that wait in one session."""
    sessions_per_minute: int = 240
    streams: int = 4096
    body_bytes: int = 32 * 1024 * 1024
    message_bytes: int = 1024 * 1024
    """Size of one WebSocket message."""
    messages_per_second: int = 100
    """On one WebSocket, after an initial burst of the same number."""
    sessions_per_socket: int = 64
    stall_seconds: float = 30.0
    """A reader that accepts no data for this long is disconnected."""
    tokens_per_day: int | None = None
    usd_per_day: float | None = None


class ServerSettings(msgspec.Struct, frozen=True, kw_only=True):
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
    """A session that is not used for this long is closed; the next request opens it again."""
    client_tool_timeout: float = CLIENT_TOOL_TIMEOUT
    """Seconds that a call waits for the client that runs it."""
    after_crash: AfterCrash = "continue"
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
        names = {_bracketed(self.host), *local}
        named = {f"{name}:{self.port}" for name in names}
        return frozenset(named | (names if self.port == 80 else set()))

    @property
    def own_origins(self) -> frozenset[str]:
        return frozenset(f"http://{host}" for host in self.own_hosts)

    @property
    def address(self) -> str:
        """Where programs of this machine find the server."""
        host = "127.0.0.1" if self.host in _EVERYWHERE else self.host
        return f"http://{_bracketed(host)}:{self.port}"


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


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_address(host: str) -> bool:
    """Whether a Host header names an IP address, which DNS rebinding cannot forge."""
    if "%" in host:  # a zone, which may hold any text
        return False
    name, port = split_host(host)
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return port.isdecimal()


def split_host(host: str) -> tuple[str, str]:
    """The name, without brackets, and the port of a Host header; the port is "0" if there is none."""
    has_port = ":" in host and not host.endswith("]")
    name, port = host.rsplit(":", 1) if has_port else (host, "0")
    return (name[1:-1] if name.startswith("[") and name.endswith("]") else name), port


def hosts_of(origins: Sequence[str]) -> frozenset[str]:
    return frozenset(urlsplit(origin).netloc for origin in origins)


def _check_origin(origin: str) -> None:
    parts = urlsplit(origin)
    if parts.scheme not in ("http", "https") or not parts.netloc or origin != f"{parts.scheme}://{parts.netloc}":
        raise ConfigurationError(f"{origin!r} is no origin; write it as https://example.org, without a path.")


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
