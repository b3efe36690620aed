"""HTTP over aiohttp: pooled, streaming, no redirects, proxies and certificates from the environment.

One pool serves all sessions of an event loop. It opens with the first session and closes with the last one.
"""

import asyncio
import os
import ssl
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass
from weakref import WeakKeyDictionary

from weft.core.errors import ConnectionFailed, ProviderError, ProviderTimeout

MAX_ERROR_BODY = 256 * 1024
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Response:
    """An answer while it is being read."""

    def __init__(
        self,
        status: int,
        headers: Mapping[str, str],
        read_chunk: Callable[[], Awaitable[bytes]],
        close: Callable[[], None],
    ) -> None:
        self.status = status
        self.headers = headers
        self.read_chunk = read_chunk
        """The next bytes; empty at the end."""
        self.close = close
        """Drop the connection at once."""

    @property
    def content_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    async def read_error(self) -> bytes:
        """The body of an error, as far as anybody wants to read it."""
        body = b""
        while len(body) < MAX_ERROR_BODY and (chunk := await self.read_chunk()):
            body += chunk
        return body[:MAX_ERROR_BODY]


class Transport:
    """The connection pool of one event loop."""

    _of_loop: "WeakKeyDictionary[asyncio.AbstractEventLoop, Transport]" = WeakKeyDictionary()

    def __init__(self) -> None:
        import aiohttp

        self._aiohttp = aiohttp
        connector = aiohttp.TCPConnector(limit=0, ssl=_ssl_context(), keepalive_timeout=60)
        self._session = aiohttp.ClientSession(
            connector=connector,
            auto_decompress=True,
            cookie_jar=aiohttp.DummyCookieJar(),
            skip_auto_headers=("User-Agent",),
        )
        self._users = 0

    @classmethod
    def acquire(cls) -> "Transport":
        loop = asyncio.get_running_loop()
        transport = cls._of_loop.get(loop)
        if transport is None:
            transport = cls._of_loop[loop] = cls()
        transport._users += 1
        return transport

    async def release(self) -> None:
        self._users -= 1
        if self._users:
            return
        for loop, transport in list(self._of_loop.items()):
            if transport is self:
                del self._of_loop[loop]
        await self._session.close()

    @asynccontextmanager
    async def post(
        self, url: str, *, headers: Mapping[str, str], body: bytes, connect_timeout: float
    ) -> AsyncGenerator[Response]:
        """Send a request and hand out the answer. Leaving early drops the connection."""
        timeout = self._aiohttp.ClientTimeout(total=None, sock_connect=connect_timeout, sock_read=None)
        try:
            response = await self._session.post(
                url, data=body, headers=headers, timeout=timeout, allow_redirects=False, proxy=_proxy_for(url)
            )
        except (self._aiohttp.ClientError, OSError, TimeoutError) as error:
            raise error_of(error, url) from None
        finished = False
        try:
            yield Response(response.status, response.headers, response.content.readany, response.close)
            finished = True
        finally:
            if finished and response.content.at_eof():
                response.release()
            else:
                response.close()


def is_network_error(error: BaseException) -> bool:
    """The failure is the network's, not ours."""
    import aiohttp

    return isinstance(error, aiohttp.ClientError | OSError | TimeoutError)


def error_of(error: BaseException, url: str) -> ProviderError:
    """A network failure in our words: where, what, what to do."""
    import aiohttp

    where = f"{urlsplit(url).scheme}://{urlsplit(url).netloc}"
    if isinstance(error, aiohttp.ClientConnectorCertificateError | aiohttp.ClientSSLError):
        return ConnectionFailed(
            f"The TLS certificate of {where} is not trusted ({_reason(error)}); "
            "set SSL_CERT_FILE to the certificate of your authority.",
            reached=False,
        )
    if isinstance(error, TimeoutError):
        return ProviderTimeout(f"{where} did not answer in time; check the network, or raise the timeouts.")
    if isinstance(error, aiohttp.ClientProxyConnectionError | aiohttp.ClientHttpProxyError):
        return ConnectionFailed(f"The proxy to {where} failed ({_reason(error)}); check HTTPS_PROXY.", reached=False)
    if isinstance(error, aiohttp.ClientConnectorError):
        return ConnectionFailed(
            f"Cannot connect to {where} ({_reason(error)}); check the address and that the server runs.",
            reached=False,
        )
    return ConnectionFailed(f"The connection to {where} broke ({_reason(error)}); try again.")


def _reason(error: BaseException) -> str:
    cause = getattr(error, "os_error", None) or error
    return (str(getattr(cause, "strerror", None) or cause) or type(error).__name__).strip(" .")[:200]


def _proxy_for(url: str) -> str | None:
    """The proxy the environment names for an address. Never for this machine itself."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if host in _LOOPBACK or not any(name.lower().endswith("_proxy") for name in os.environ):
        return None
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if proxy is None or proxy_bypass(host):
        return None
    return proxy


def _ssl_context() -> ssl.SSLContext:
    """The system's authorities; SSL_CERT_FILE, SSL_CERT_DIR and REQUESTS_CA_BUNDLE are honoured."""
    context = ssl.create_default_context()
    bundle = os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("CURL_CA_BUNDLE")
    if bundle and os.path.exists(bundle):
        context.load_verify_locations(bundle)
    if sys.platform != "win32":
        context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context
