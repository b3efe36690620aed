"""HTTP to providers: pooled, streaming, without redirects; proxies and certificates come from the environment.

One pool serves all sessions of an event loop, so a conversation does not need a handshake for every turn.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from weakref import WeakKeyDictionary

import msgspec

from heald.http1.connection import HttpReply
from heald.http1.content_coding import InflatedReader, parse_content_coding
from heald.http1.errors import (
    NetworkError,
    ProxyError,
)
from heald.http1.pool import ConnectionPool
from heald.http1.proxy import proxy_for
from heald.http1.request import RequestTarget
from heald.http1.tls import tls_context
from heald.providers.network_errors import network_error

MAX_ERROR_BODY = 256 * 1024
_MAX_ROUTES = 1024
_PROXY_WANTS_A_PASSWORD = 407


def _do_nothing() -> None:
    pass


class Response(msgspec.Struct, eq=False):
    """A response while it is read. The caller ends it with `release` or `close`."""

    status: int
    headers: Mapping[str, str]
    read_chunk: Callable[[], Awaitable[bytes]]
    """The next bytes; empty at the end."""
    at_end: Callable[[], bool]
    """Everything was read, as far as is known without waiting."""
    release: Callable[[], None]
    """End the response; the connection is reused."""
    close: Callable[[], None]
    """Close the connection at once."""
    share_reads: Callable[[], object] = _do_nothing
    """Let it be read together with other streams, if what they bring is stored together."""

    @property
    def content_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    async def peek(self, size: int) -> bytes:
        """The first bytes, which are read once more afterwards: at least `size`, or all if there are fewer."""
        read, start = self.read_chunk, b""
        try:
            while len(start) < size and (chunk := await read()):
                start += chunk
        except Exception as error:
            raise broken_read(error) from None
        unread = [start]

        async def read_after_peek() -> bytes:
            return unread.pop() if unread else await read()

        self.read_chunk = read_after_peek
        return start

    async def read_error(self) -> bytes:
        """Read the body of an error, up to a limit."""
        body = b""
        try:
            while len(body) < MAX_ERROR_BODY and (chunk := await self.read_chunk()):
                body += chunk
        except Exception as error:
            raise broken_read(error) from None
        return body[:MAX_ERROR_BODY]

    async def read_body(self, limit: int) -> bytes | None:
        """Read the whole body; None if it has more than `limit` bytes."""
        body = bytearray()
        try:
            while chunk := await self.read_chunk():
                body += chunk
                if len(body) > limit:
                    return None
        except Exception as error:
            raise broken_read(error) from None
        return bytes(body)


class Transport:
    """The connection pool of one event loop. It lives as long as the loop does."""

    _of_loop: "WeakKeyDictionary[asyncio.AbstractEventLoop, Transport]" = WeakKeyDictionary()

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._pool = ConnectionPool()
        self._keeper = self._keep()
        self._routes: dict[str, RequestTarget] = {}

    @classmethod
    async def for_running_loop(cls) -> "Transport":
        loop = asyncio.get_running_loop()
        transport = cls._of_loop.get(loop)
        if transport is None:
            transport = cls._of_loop[loop] = cls()
            await anext(transport._keeper)
        return transport

    async def _keep(self) -> AsyncGenerator[None]:
        """Close the pool when the loop ends: `asyncio.run` closes every open async generator."""
        try:
            yield
        finally:
            self._of_loop.pop(self._loop, None)
            await self._pool.close()

    def post(
        self,
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes,
        connect_timeout: float,
    ) -> Awaitable[Response]:
        """Send a POST and return the response once its head has arrived."""
        return self.send(url, headers, body, connect_timeout)

    def get(self, url: str, *, headers: Mapping[str, str], connect_timeout: float) -> Awaitable[Response]:
        """Send a GET and return the response once its head has arrived."""
        return self.send(url, headers, None, connect_timeout)

    async def send(self, url: str, headers: Mapping[str, str], body: bytes | None, connect_timeout: float) -> Response:
        """Send a POST, or a GET if there is no body, and return the response once its head has arrived."""
        tls = tls_context() if url.startswith("https:") else None
        try:
            target = self._routes.get(url) or self._route(url)
            head = target.encode_head("GET", headers) if body is None else target.encode_post_head(headers, len(body))
            reply = await self._pool.send(target.origin, head, body or b"", tls=tls, connect_timeout=connect_timeout)
            if reply.status == _PROXY_WANTS_A_PASSWORD and target.origin.proxy is not None:
                reply.close()
                raise ProxyError(status=reply.status)
            return _response(reply)
        except (NetworkError, OSError, UnicodeError) as error:
            raise network_error(error, url) from None

    async def connect_early(self, url: str) -> None:
        """Open a connection for the next request to a URL, unless there is one. See `ConnectionPool.open_early`."""
        try:
            target = self._routes.get(url) or self._route(url)
            if not tls_context.cache_info().currsize:  # the first one reads all certificates of the system
                await asyncio.to_thread(tls_context)
            await self._pool.open_early(target.origin, tls=tls_context() if url.startswith("https:") else None)
        except (NetworkError, OSError, UnicodeError) as error:
            raise network_error(error, url) from None

    def _route(self, url: str) -> RequestTarget:
        if len(self._routes) >= _MAX_ROUTES:
            self._routes.clear()
        target = self._routes[url] = RequestTarget.parse(url, proxy_for(url))
        return target


def _response(reply: HttpReply) -> Response:
    read, at_end = reply.read, reply.at_end
    if (named := reply.headers.get("content-encoding")) is not None:
        try:
            coding = parse_content_coding(named)
        except NetworkError:
            reply.close()
            raise
        if coding is not None:
            inflated = InflatedReader(coding, read, at_end)
            read, at_end = inflated.read, inflated.at_end
    return Response(
        reply.status,
        reply.headers,
        read,
        at_end=at_end,
        release=reply.release,
        close=reply.close,
        share_reads=reply.share_reads,
    )


class BrokenRead(Exception):
    """The network failed while a response was read."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


def broken_read(error: Exception) -> Exception:
    """Convert an error of a failed read: network errors become `BrokenRead`."""
    return BrokenRead(error) if isinstance(error, NetworkError | OSError) else error
