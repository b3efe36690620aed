"""HTTP to providers: pooled, streaming, no redirects, proxies and certificates from the environment.

One pool serves all sessions of an event loop, so that a conversation does not pay for a handshake with every turn.
"""

import asyncio
import os
import socket
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from weft.core.errors import ConnectionFailed, MalformedResponse, ProviderError, ProviderTimeout
from weft.http1.coding import InflatedReader, coding_of
from weft.http1.faults import ConnectTimeout, Fault, NotHttp, NoTls, ProxyFault, Unreachable, Untrusted
from weft.http1.pool import Pool
from weft.http1.proxy import proxy_for
from weft.http1.reply import Reply
from weft.http1.request import Target
from weft.http1.trust import trust

MAX_ERROR_BODY = 256 * 1024
_MAX_ROUTES = 1024
_PROXY_WANTS_A_PASSWORD = 407


class Response:
    """An answer while it is being read. Whoever opened it ends it, with `release` or `close`."""

    def __init__(
        self,
        status: int,
        headers: Mapping[str, str],
        read_chunk: Callable[[], Awaitable[bytes]],
        *,
        at_end: Callable[[], bool],
        release: Callable[[], None],
        close: Callable[[], None],
    ) -> None:
        self.status = status
        self.headers = headers
        self.read_chunk = read_chunk
        """The next bytes; empty at the end."""
        self.at_end = at_end
        """All has been read, as far as is known without waiting."""
        self.release = release
        """The turn is over: the connection may serve another one."""
        self.close = close
        """Drop the connection at once."""

    @property
    def content_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    async def read_error(self) -> bytes:
        """The body of an error, as far as anybody wants to read it."""
        body = b""
        try:
            while len(body) < MAX_ERROR_BODY and (chunk := await self.read_chunk()):
                body += chunk
        except Exception as error:
            raise broken_read(error) from None
        return body[:MAX_ERROR_BODY]


class Transport:
    """The connection pool of one event loop. It lives as long as the loop does."""

    _of_loop: "WeakKeyDictionary[asyncio.AbstractEventLoop, Transport]" = WeakKeyDictionary()

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._pool = Pool()
        self._keeper = self._keep()
        self._routes: dict[str, Target] = {}

    @classmethod
    async def of_this_loop(cls) -> "Transport":
        loop = asyncio.get_running_loop()
        transport = cls._of_loop.get(loop)
        if transport is None:
            transport = cls._of_loop[loop] = cls()
            await anext(transport._keeper)
        return transport

    def is_here(self) -> bool:
        """The loop that runs now is the one this pool belongs to."""
        return asyncio.get_running_loop() is self._loop

    async def _keep(self) -> AsyncGenerator[None]:
        """Closes the pool when the loop ends: `asyncio.run` finishes every generator that is still open."""
        try:
            yield
        finally:
            self._of_loop.pop(self._loop, None)
            await self._pool.close()

    async def post(
        self,
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes,
        connect_timeout: float,
    ) -> Response:
        """Send a request and hand out the answer as it begins."""
        tls = trust() if url.startswith("https:") else None
        try:
            target = self._routes.get(url) or self._route(url)
            head = target.head(headers, len(body))
            reply = await self._pool.send(target.origin, head, body, tls=tls, connect_timeout=connect_timeout)
            if reply.status == _PROXY_WANTS_A_PASSWORD and target.origin.proxy is not None:
                reply.close()
                raise ProxyFault(status=reply.status)
            return _response(reply)
        except (Fault, OSError, UnicodeError) as error:
            raise error_of(error, url) from None

    def _route(self, url: str) -> Target:
        if len(self._routes) >= _MAX_ROUTES:
            self._routes.clear()
        target = self._routes[url] = Target.of(url, proxy_for(url))
        return target


def _response(reply: Reply) -> Response:
    read, at_end = reply.read, reply.at_end
    if (named := reply.headers.get("content-encoding")) is not None:
        try:
            coding = coding_of(named)
        except Fault:
            reply.close()
            raise
        if coding is not None:
            inflated = InflatedReader(coding, read, at_end)
            read, at_end = inflated.read, inflated.at_end
    return Response(reply.status, reply.headers, read, at_end=at_end, release=reply.release, close=reply.close)


class BrokenRead(Exception):
    """The network failed while an answer was being read."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


def broken_read(error: Exception) -> Exception:
    """What to raise for a failed read: the network's failures are told apart from all others."""
    return BrokenRead(error) if isinstance(error, Fault | OSError) else error


def error_of(error: BaseException, url: str) -> ProviderError:
    """A network failure in our words: where, what, what to do."""
    where = f"{urlsplit(url).scheme}://{urlsplit(url).netloc}"
    match error:
        case TimeoutError():
            told = f"{where} did not answer in time; check the network, or raise the timeouts."
            return ProviderTimeout(told, reached=not isinstance(error, ConnectTimeout))
        case NotHttp():
            return MalformedResponse(
                f"The answer of {where} cannot be read: {error}; check that the address is that of an API."
            )
        case Unreachable():
            return ConnectionFailed(_why_unreachable(error, where), reached=False)
        case _:
            return ConnectionFailed(f"The connection to {where} broke ({reason_of(error)}); try again.")


def _why_unreachable(fault: Unreachable, where: str) -> str:
    reason = reason_of(fault)
    match fault:
        case Untrusted():
            return (
                f"The TLS certificate of {where} is not trusted ({reason}); "
                "set SSL_CERT_FILE to the certificate of your authority."
            )
        case NoTls():
            return f"{where} does not speak TLS as it should ({reason}); check that it is not a plain http address."
        case ProxyFault(status=int() as status):
            return f"The proxy to {where} failed (HTTP {status}); check HTTPS_PROXY and what it lets through."
        case ProxyFault():
            return f"The proxy to {where} failed ({reason}); check HTTPS_PROXY."
        case _:
            return f"Cannot connect to {where} ({reason}); check the address and that the server runs."


def reason_of(error: BaseException) -> str:
    """What the system says of a failure, in few words."""
    cause = getattr(error, "os_error", None) or error
    number = None if isinstance(cause, ssl.SSLError) else getattr(cause, "errno", None)
    said = os.strerror(number) if isinstance(number, int) and number > 0 else None
    if isinstance(cause, ssl.SSLCertVerificationError):
        said = cause.verify_message
    elif isinstance(cause, ssl.SSLError):
        said = (cause.reason or "").replace("_", " ").lower()
    elif isinstance(cause, socket.gaierror):
        said = cause.strerror
    return (str(said or cause) or type(error).__name__).strip(" .")[:200]
