"""HTTP over aiohttp: pooled, streaming, no redirects, proxies and certificates from the environment.

One pool serves all sessions of an event loop, so that a conversation does not pay for a handshake with every turn.
"""

import asyncio
import os
import ssl
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass
from weakref import WeakKeyDictionary

from weft.core.errors import ConnectionFailed, ProviderError, ProviderTimeout

if TYPE_CHECKING:
    import aiohttp

MAX_ERROR_BODY = 256 * 1024
_DRAIN_SECONDS = 1.0
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


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
        import aiohttp
        from yarl import URL

        self._aiohttp = aiohttp
        self._parse_url = URL
        self._loop = asyncio.get_running_loop()
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=60),
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        self._keeper = self._keep()
        self._unread: set[aiohttp.ClientResponse] = set()  # finished turns whose last bytes are still under way
        self._targets: dict[str, tuple[Any, str | None]] = {}

    @classmethod
    async def of_this_loop(cls) -> "Transport":
        loop = asyncio.get_running_loop()
        transport = cls._of_loop.get(loop)
        if transport is None:
            transport = cls._of_loop[loop] = cls()
            await anext(transport._keeper)
        return transport

    def _give_up(self, response: "aiohttp.ClientResponse") -> None:
        self._unread.discard(response)
        if not response.content.is_eof():
            response.close()

    def is_here(self) -> bool:
        """The loop that runs now is the one this pool belongs to."""
        return asyncio.get_running_loop() is self._loop

    async def _keep(self) -> AsyncGenerator[None]:
        """Closes the pool when the loop ends: `asyncio.run` finishes every generator that is still open."""
        try:
            yield
        finally:
            self._of_loop.pop(self._loop, None)
            for response in self._unread:
                response.close()
            await self._session.close()

    async def post(
        self,
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes,
        connect_timeout: float,
    ) -> Response:
        """Send a request and hand out the answer as it begins."""
        target = self._targets.get(url)
        if target is None:
            target = self._targets[url] = (self._parse_url(url), _proxy_for(url))
        try:
            response = await self._session.post(
                target[0],
                data=body,
                headers=headers,
                timeout=_timeout(connect_timeout),
                allow_redirects=False,
                proxy=target[1],
                ssl=_ssl_context() if url.startswith("https:") else True,
            )
        except (self._aiohttp.ClientError, OSError, TimeoutError, UnicodeError) as error:
            raise error_of(error, url) from None

        def release() -> None:
            # The last bytes may still be under way. When they are here the pool takes the connection back by itself.
            if not response.content.at_eof():
                self._unread.add(response)
                self._loop.call_later(_DRAIN_SECONDS, self._give_up, response)

        return Response(
            response.status,
            response.headers,
            response.content.readany,
            at_end=response.content.at_eof,
            release=release,
            close=response.close,
        )


@cache
def _timeout(connect: float) -> "aiohttp.ClientTimeout":
    import aiohttp

    return aiohttp.ClientTimeout(total=None, sock_connect=connect, sock_read=None)


class BrokenRead(Exception):
    """The network failed while an answer was being read."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


def broken_read(error: Exception) -> Exception:
    """What to raise for a failed read: the network's failures are told apart from all others."""
    import aiohttp

    return BrokenRead(error) if isinstance(error, aiohttp.ClientError | OSError | TimeoutError) else error


def error_of(error: BaseException, url: str) -> ProviderError:
    """A network failure in our words: where, what, what to do."""
    import aiohttp

    where = f"{urlsplit(url).scheme}://{urlsplit(url).netloc}"
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return ConnectionFailed(
            f"The TLS certificate of {where} is not trusted ({reason_of(error)}); "
            "set SSL_CERT_FILE to the certificate of your authority.",
            reached=False,
        )
    if isinstance(error, aiohttp.ClientSSLError):
        return ConnectionFailed(
            f"{where} does not speak TLS as it should ({reason_of(error)}); check that it is not a plain http address.",
            reached=False,
        )
    if isinstance(error, TimeoutError):
        reached = not isinstance(error, aiohttp.ConnectionTimeoutError)
        return ProviderTimeout(
            f"{where} did not answer in time; check the network, or raise the timeouts.", reached=reached
        )
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return ConnectionFailed(
            f"The proxy to {where} failed (HTTP {error.status}); check HTTPS_PROXY and what it lets through.",
            reached=False,
        )
    if isinstance(error, aiohttp.ClientProxyConnectionError):
        return ConnectionFailed(f"The proxy to {where} failed ({reason_of(error)}); check HTTPS_PROXY.", reached=False)
    if isinstance(error, aiohttp.ClientConnectorError):
        return ConnectionFailed(
            f"Cannot connect to {where} ({reason_of(error)}); check the address and that the server runs.",
            reached=False,
        )
    return ConnectionFailed(f"The connection to {where} broke ({reason_of(error)}); try again.")


def reason_of(error: BaseException) -> str:
    """What the system says of a failure, in few words."""
    cause = getattr(error, "os_error", None) or error
    number = None if isinstance(cause, ssl.SSLError) else getattr(cause, "errno", None)
    said = os.strerror(number) if isinstance(number, int) and number > 0 else None
    if isinstance(cause, ssl.SSLCertVerificationError):
        said = cause.verify_message
    elif isinstance(cause, ssl.SSLError):
        said = (cause.reason or "").replace("_", " ").lower()
    return (str(said or cause) or type(error).__name__).strip(" .")[:200]


def _proxy_for(url: str) -> str | None:
    """The proxy the environment names for an address. Never for this machine itself."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if host in _LOOPBACK or not any(name.lower().endswith("_proxy") for name in os.environ):
        return None
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if proxy is None or proxy_bypass(parts.netloc):
        return None
    return proxy


@cache
def _ssl_context() -> ssl.SSLContext:
    """The system's authorities; SSL_CERT_FILE, SSL_CERT_DIR and REQUESTS_CA_BUNDLE are honoured."""
    context = ssl.create_default_context()
    bundle = os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("CURL_CA_BUNDLE")
    if bundle and os.path.exists(bundle):
        context.load_verify_locations(bundle)
    if sys.platform != "win32":
        context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context
