"""The preview of a dev server: an origin of its own on the loopback, whose name is a secret.

Its address is `http://<secret>.localhost:<port>`, which browsers resolve to this machine. The page of Heald has another
host and another site, so neither sees the cookies, the storage or the document of the other. Requests, hot reload and
other WebSockets are passed on to the dev server with the names that it expects. Pages get a script that reports errors,
and a policy: they load from the dev server and from hosts that a person allowed, and only Heald's page may frame them.
"""

import asyncio
import re
import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from html import escape
from importlib import resources

import msgspec

from heald.core.lazy import lazy_pattern
from heald.http1.body_framing import BodyFraming, ByLength, Chunked, UntilClose
from heald.http1.errors import ConnectionBroken
from heald_studio.repositories.dev_server import MAX_HEAD, DevServer, Streams

_MAX_CONNECTIONS = 256
_HEAD_SECONDS = 30.0
_PIECE = 64 * 1024
_START_BYTES = 1024
"""Bytes of a page in which its document type is looked for."""
_DOCTYPE = lazy_pattern(rb"(?:\xef\xbb\xbf)?(?:\s|<!--.*?-->)*<!doctype[^>]*>", re.IGNORECASE | re.DOTALL)
_COOKIE_DOMAIN = lazy_pattern(r";\s*domain=[^;]*", re.IGNORECASE)
_HOST_NAME = lazy_pattern(r"(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]")
_REPLACED = {"connection", "keep-alive", "x-frame-options", "referrer-policy"}
_WAITING_PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Dev server</title>
<meta http-equiv="refresh" content="2"><style>body{{margin:0;min-height:100vh;display:grid;place-content:center;
font:16px/1.5 system-ui,sans-serif;color:#3c4a48;background:#fff}}</style></head><body><p>{message}</p></body></html>"""


class _BadHead(Exception):
    """The head of a request or of an answer is not valid."""


class _Head(msgspec.Struct, frozen=True):
    first: str
    fields: list[tuple[str, str]]

    def value(self, name: str) -> str:
        return next((value for key, value in self.fields if key.lower() == name), "")

    def encode(self) -> bytes:
        lines = [self.first, *(f"{name}: {value}" for name, value in self.fields)]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


class PreviewProxy:
    """Serves the preview of one repository until it is closed."""

    def __init__(self, find_server: Callable[[], DevServer | None], list_hosts: Callable[[], Sequence[str]]) -> None:
        """`find_server` returns the dev server that runs now, `list_hosts` the hosts that its pages may reach."""
        self._find_server = find_server
        self._list_hosts = list_hosts
        self.ancestors: set[str] = set()
        """The origins of pages that may frame the preview."""
        self._name = f"{secrets.token_hex(16)}.localhost"
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self.host = ""
        """The name and the port."""

    @property
    def origin(self) -> str:
        return f"http://{self.host}"

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=MAX_HEAD)
        self.host = f"{self._name}:{self._server.sockets[0].getsockname()[1]}"

    async def close(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        if len(self._connections) >= _MAX_CONNECTIONS:
            writer.transport.abort()
            return
        self._connections.add(task)
        try:
            await self._answer((reader, writer))
            writer.close()
            await writer.wait_closed()
        except (
            OSError,
            TimeoutError,
            asyncio.IncompleteReadError,
            asyncio.LimitOverrunError,
            ConnectionBroken,
            _BadHead,
        ):
            pass  # either side went away, or does not speak HTTP
        except asyncio.CancelledError:
            pass  # the server closes
        finally:
            self._connections.discard(task)
            writer.transport.abort()

    async def _answer(self, client: Streams) -> None:
        async with asyncio.timeout(_HEAD_SECONDS):
            request = await _read_head(client[0])
        if request.value("host").lower() != self.host:  # the name is the permission
            client[1].write(_plain("404 Not Found", "There is no preview at this address."))
            return
        server = self._find_server()
        try:
            if server is None or server.port is None:
                raise ConnectionRefusedError
            upstream = await server.dial()
        except (OSError, TimeoutError):
            text = (
                "The dev server is starting…"
                if server is not None and server.status == "starting"
                else "The dev server does not run."
            )
            client[1].write(self._waiting_page(text))
            return
        try:
            await self._pass_on(client, upstream, request, server.port)
        finally:
            upstream[1].transport.abort()

    async def _pass_on(self, client: Streams, upstream: Streams, request: _Head, port: int) -> None:
        upstream[1].write(self._inward(request, port).encode())
        sending = asyncio.create_task(_copy(client[0], upstream[1]))
        try:
            answer = await _read_head(upstream[0])
            client[1].write(self._outward(answer, port).encode())
            if " 101 " in f"{answer.first} ":
                receiving = asyncio.create_task(_copy(upstream[0], client[1]))
                await asyncio.wait({sending, receiving}, return_when=asyncio.FIRST_COMPLETED)
                receiving.cancel()
            elif _is_page(request, answer):
                await self._send_page(upstream[0], client[1], answer)
            else:
                await _copy(upstream[0], client[1], is_last=False)
        finally:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)

    def _inward(self, request: _Head, port: int) -> _Head:
        """The head as the dev server expects it: its own name, and one request in a connection."""
        local = f"http://localhost:{port}"
        is_upgrade = bool(request.value("upgrade"))
        fields = [("Host", f"localhost:{port}")]
        for name, value in request.fields:
            key = name.lower()
            if key in ("host", "keep-alive") or (key == "connection" and not is_upgrade):
                continue
            if key == "accept-encoding" and "text/html" in request.value("accept"):
                continue  # the page is changed on its way
            fields.append((name, value.replace(self.origin, local) if key in ("origin", "referer") else value))
        return _Head(request.first, fields if is_upgrade else [*fields, ("Connection", "close")])

    def _outward(self, answer: _Head, port: int) -> _Head:
        if " 101 " in f"{answer.first} ":
            return answer
        fields: list[tuple[str, str]] = []
        is_html = answer.value("content-type").lower().startswith("text/html")
        is_changed = is_html and not answer.value("content-encoding")
        for name, value in answer.fields:
            key = name.lower()
            if key in _REPLACED or (is_changed and key in ("content-length", "transfer-encoding")):
                continue
            if key == "location":
                value = re.sub(rf"^https?://(?:localhost|127\.0\.0\.1):{port}(?=/|$)", self.origin, value)
            elif key == "set-cookie":
                value = _COOKIE_DOMAIN.sub("", value)  # a cookie stays with the preview
            fields.append((name, value))
        return _Head(answer.first, [*fields, *self._own_fields()])

    def _own_fields(self) -> list[tuple[str, str]]:
        hosts = " ".join(f"https://{host}" for host in self._list_hosts() if is_host_name(host))
        files = f"'self' data: blob: {hosts}".strip()
        ancestors = " ".join(sorted(self.ancestors)) or "'none'"
        policy = (
            f"default-src {files} 'unsafe-inline' 'unsafe-eval'; connect-src {files} ws://{self.host}; "
            f"object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors {ancestors}"
        )
        return [
            ("Content-Security-Policy", policy),
            ("Referrer-Policy", "same-origin"),
            ("X-DNS-Prefetch-Control", "off"),
            ("Permissions-Policy", "camera=(), microphone=(), geolocation=(), payment=(), usb=(), clipboard-read=()"),
            ("Connection", "close"),
        ]

    async def _send_page(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, answer: _Head) -> None:
        """Send a page with the script after its document type, while it arrives. The end of the connection ends it."""
        framing = _framing(answer)
        start: bytes | None = b""
        is_over = False
        while not is_over:
            data = await reader.read(_PIECE)
            content: list[bytes] = []
            is_over = not data or framing.feed(data, content) is not None
            text = b"".join(content)
            if start is not None:
                start += text
                if len(start) < _START_BYTES and not is_over and _DOCTYPE.match(start) is None:
                    continue
                text, start = _insert_script(start), None
            writer.write(text)
            await writer.drain()

    def _waiting_page(self, message: str) -> bytes:
        body = _insert_script(_WAITING_PAGE.format(message=escape(message)).encode())
        fields = [
            ("Content-Type", "text/html; charset=utf-8"),
            ("Content-Length", str(len(body))),
            ("Cache-Control", "no-store"),
        ]
        return _Head("HTTP/1.1 503 Service Unavailable", [*fields, *self._own_fields()]).encode() + body


def is_host_name(text: str) -> bool:
    """Whether a text is the name of a host, in lower case, that may be part of a policy."""
    return _HOST_NAME.fullmatch(text) is not None


async def _read_head(reader: asyncio.StreamReader) -> _Head:
    """Read the head of a request or of an answer. Raises _BadHead."""
    text = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = text[:-4].split("\r\n")
    fields: list[tuple[str, str]] = []
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not name or name != name.strip() or "\n" in line or "\r" in line or "\0" in line:
            raise _BadHead
        fields.append((name, value.strip(" \t")))
    if "\n" in first or sum(name.lower() == "host" for name, _ in fields) > 1:
        raise _BadHead
    return _Head(first, fields)


def _is_page(request: _Head, answer: _Head) -> bool:
    """Whether the answer has a page that the script is inserted into."""
    is_bare = request.first.startswith("HEAD ") or re.match(r"HTTP/1\.\d (?:1\d\d|204|304)\b", answer.first) is not None
    is_html = answer.value("content-type").lower().startswith("text/html")
    return is_html and not is_bare and not answer.value("content-encoding")


def _framing(answer: _Head) -> BodyFraming:
    if answer.value("transfer-encoding").lower() == "chunked":
        return Chunked()
    length = answer.value("content-length")
    return ByLength(int(length)) if length.isdecimal() else UntilClose()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, is_last: bool = True) -> None:
    """Copy bytes until the end of a stream, and pass the end on unless more follows it."""
    with suppress(OSError):
        while data := await reader.read(_PIECE):
            writer.write(data)
            await writer.drain()
        if is_last and writer.can_write_eof():
            writer.write_eof()


def _plain(status: str, text: str) -> bytes:
    body = text.encode()
    fields = [("Content-Type", "text/plain"), ("Content-Length", str(len(body))), ("Connection", "close")]
    return _Head(f"HTTP/1.1 {status}", fields).encode() + body


def _insert_script(page: bytes) -> bytes:
    match = _DOCTYPE.match(page)
    at = match.end() if match else 0
    return page[:at] + b"<script>" + _script() + b"</script>" + page[at:]


@cache
def _script() -> bytes:
    return resources.files("heald_studio.repositories").joinpath("report.js").read_bytes()
