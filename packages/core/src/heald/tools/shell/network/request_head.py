"""Reads the head of a request to the proxy, strictly: what can be read in two ways is refused (RFC 9112)."""

from dataclasses import dataclass

from heald.core.lazy import lazy_pattern
from heald.tools.tool_fault import ToolFault
from heald.tools.web.urls import WebTarget, parse_target

MAX_HEAD = 32 * 1024
_MAX_FIELDS = 200
_REQUEST_LINE = lazy_pattern(r"([A-Z][A-Z-]{0,31}) ([\x21-\x7e]+) HTTP/1\.([01])\Z")
_FIELD = lazy_pattern(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x20-\x7e\x80-\xff\t]*?)[ \t]*\Z")
_LENGTH = lazy_pattern(r"[0-9]{1,18}\Z")
_HOP_BY_HOP = frozenset(
    ("connection", "keep-alive", "proxy-connection", "proxy-authorization", "proxy-authenticate", "te", "trailer",
     "transfer-encoding", "upgrade", "http2-settings")
)  # fmt: skip


class BadRequest(Exception):
    """The request cannot be read, or can be read in two ways."""


@dataclass(frozen=True, slots=True)
class ProxyRequest:
    """A request to the proxy: a tunnel (CONNECT), or one request in absolute form."""

    method: str
    target: WebTarget
    fields: tuple[tuple[str, str], ...]
    """The header fields, names as they came."""
    length: int = 0
    """Bytes of the body."""
    is_chunked: bool = False

    @property
    def is_tunnel(self) -> bool:
        return self.method == "CONNECT"

    def forwarded_head(self) -> bytes:
        """The head for the server: in origin form, with the checked host, for one request only."""
        named = {
            name.strip().lower()
            for key, value in self.fields
            if key.lower() == "connection"
            for name in value.split(",")
        }
        dropped = _HOP_BY_HOP | (named - {"host", "content-length"}) | {"host"}
        lines = [f"{self.method} {self.target.path} HTTP/1.1", f"Host: {_host_field(self.target)}"]
        lines += [f"{name}: {value}" for name, value in self.fields if name.lower() not in dropped]
        if self.is_chunked:
            lines.append("Transfer-Encoding: chunked")
        return "\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1")


def parse_request_head(head: bytes) -> ProxyRequest:
    """Parse a head, without the empty line at its end. Raises BadRequest, or ToolFault if the target is not a host."""
    lines = head.decode("latin-1").split("\r\n")
    match = _REQUEST_LINE.match(lines[0])
    if match is None:
        raise BadRequest("the request line is not that of an HTTP/1.1 proxy request")
    fields = tuple(_parse_field(line) for line in lines[1:])
    if len(fields) > _MAX_FIELDS:
        raise BadRequest("it has too many header fields")
    method, place = match[1], match[2]
    target = _tunnel_target(place) if method == "CONNECT" else _absolute_target(place)
    _check_host(fields, target, is_tunnel=method == "CONNECT")
    length, is_chunked = _framing(fields)
    if method == "CONNECT" and (length or is_chunked):
        raise BadRequest("a CONNECT request has no body")
    return ProxyRequest(method, target, fields, length, is_chunked)


def _parse_field(line: str) -> tuple[str, str]:
    match = _FIELD.match(line)
    if match is None:
        raise BadRequest("a header field is malformed")
    return match[1], match[2]


def _tunnel_target(place: str) -> WebTarget:
    host, colon, port = place.rpartition(":")
    if not colon or not _LENGTH.match(port) or "/" in host or "?" in host or "#" in host:
        raise BadRequest("CONNECT needs a host and a port")
    return parse_target(f"https://{host}:{port}/")


def _absolute_target(place: str) -> WebTarget:
    if not place.lower().startswith("http://"):
        raise BadRequest("the proxy takes CONNECT and http:// addresses only")
    return parse_target(place.partition("#")[0])


def _check_host(fields: tuple[tuple[str, str], ...], target: WebTarget, *, is_tunnel: bool) -> None:
    """Refuse a request whose Host field names another host than its target."""
    hosts = [value for name, value in fields if name.lower() == "host"]
    if len(hosts) > 1 or (not hosts and not is_tunnel):
        raise BadRequest("it needs exactly one Host field")
    for host in hosts:
        try:
            named = parse_target(f"{target.scheme}://{host}/")
        except ToolFault:
            raise BadRequest("its Host field is not a host") from None
        if (named.host, named.port, named.path) != (target.host, target.port, "/"):
            raise BadRequest(f"its Host field names {named.host}, and its target {target.host}")


def _framing(fields: tuple[tuple[str, str], ...]) -> tuple[int, bool]:
    lengths = [value for name, value in fields if name.lower() == "content-length"]
    codings = [value for name, value in fields if name.lower() == "transfer-encoding"]
    if codings:
        if lengths or len(codings) > 1 or codings[0].lower() != "chunked":
            raise BadRequest("the length of its body is ambiguous")
        return 0, True
    if len(lengths) > 1 or (lengths and not _LENGTH.match(lengths[0])):
        raise BadRequest("the length of its body is ambiguous")
    return int(lengths[0]) if lengths else 0, False


def _host_field(target: WebTarget) -> str:
    return target.url.removeprefix(f"{target.scheme}://").removesuffix(target.path)
