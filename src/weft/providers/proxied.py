"""The way through a proxy, with aiohttp: it is loaded only where the environment names one.

aiohttp's failures are told in the words of `http1.faults`, so that nobody else needs to know them.
"""

import asyncio
import ssl
from collections.abc import Mapping
from functools import cache

import aiohttp
from yarl import URL

from weft.providers.http1.connection import DRAIN_SECONDS
from weft.providers.http1.faults import Broken, ConnectTimeout, NoTls, ProxyFault, Unreachable, Untrusted
from weft.providers.transport import Response

_FAILURES = (aiohttp.ClientError, OSError, TimeoutError, UnicodeError)


class Proxied:
    """The connections of one event loop that go through proxies."""

    def __init__(self) -> None:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=60),
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        self._unread: set[aiohttp.ClientResponse] = set()  # finished turns whose last bytes are still under way

    async def post(
        self,
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes,
        connect_timeout: float,
        proxy: str,
        tls: ssl.SSLContext | None,
    ) -> Response:
        """Send a request and hand out the answer as it begins."""
        try:
            response = await self._session.post(
                URL(url),
                data=body,
                headers=headers,
                timeout=_timeout(connect_timeout),
                allow_redirects=False,
                proxy=proxy,
                ssl=tls if tls is not None else True,
            )
        except _FAILURES as error:
            raise _fault_of(error) from None

        async def read_chunk() -> bytes:
            try:
                return await response.content.readany()
            except aiohttp.ClientError as error:
                raise _fault_of(error) from None

        def release() -> None:
            # The last bytes may still be under way. When they are here the pool takes the connection back by itself.
            if not response.content.at_eof():
                self._unread.add(response)
                asyncio.get_running_loop().call_later(DRAIN_SECONDS, self._give_up, response)

        return Response(
            response.status,
            response.headers,
            read_chunk,
            at_end=response.content.at_eof,
            release=release,
            close=response.close,
        )

    async def close(self) -> None:
        for response in self._unread:
            response.close()
        await self._session.close()

    def _give_up(self, response: aiohttp.ClientResponse) -> None:
        self._unread.discard(response)
        if not response.content.is_eof():
            response.close()


@cache
def _timeout(connect: float) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(total=None, sock_connect=connect, sock_read=None)


def _fault_of(error: Exception) -> Exception:
    match error:
        case aiohttp.ClientConnectorCertificateError():
            return Untrusted("", error.certificate_error)
        case aiohttp.ClientSSLError():
            return NoTls("", error.os_error)
        case aiohttp.ConnectionTimeoutError():
            return ConnectTimeout("", error)
        case TimeoutError():
            return error
        case aiohttp.ClientHttpProxyError():
            return ProxyFault(error, error.status)
        case aiohttp.ClientProxyConnectionError():
            return ProxyFault(error.os_error)
        case aiohttp.ClientConnectorError():
            return Unreachable("", error.os_error)
        case aiohttp.ClientError() | UnicodeError():
            return Broken("", error)
        case _:
            return error
