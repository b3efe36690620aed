"""Connections to checked addresses and to no others."""

import socket
import ssl
from collections.abc import Sequence
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from weft.tools.web.addresses import Address, parse_address
from weft.tools.web.body import ACCEPT_ENCODING

_HEADERS = {
    "Accept": "text/html, application/json, text/*, image/*, */*;q=0.1",
    "Accept-Encoding": ACCEPT_ENCODING,
    "User-Agent": "weft",
}


def session_to(addresses: Sequence[Address], port: int, tls: ssl.SSLContext | None) -> aiohttp.ClientSession:
    """A client that dials these addresses whatever the name, with no cookies, proxies or credentials of its own."""
    checked = frozenset(addresses)

    def open_socket(info: tuple[Any, ...]) -> socket.socket:
        family, kind, proto, _, where = info
        if parse_address(str(where[0])) not in checked:
            raise OSError("not a checked address")
        return socket.socket(family, kind, proto)

    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(
            resolver=_Checked(addresses, port),
            socket_factory=open_socket,
            use_dns_cache=False,
            force_close=True,
            ssl=True if tls is None else tls,
        ),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None),
        headers=_HEADERS,
        auto_decompress=False,
        trust_env=False,
    )


class _Checked(AbstractResolver):
    """Resolves to the addresses that were checked, whatever is asked."""

    def __init__(self, addresses: Sequence[Address], port: int) -> None:
        self._addresses = addresses
        self._port = port

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        return [
            ResolveResult(
                hostname=host,
                host=str(address),
                port=self._port,
                family=socket.AF_INET if address.version == 4 else socket.AF_INET6,
                proto=0,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
            for address in self._addresses
        ]

    async def close(self) -> None:
        pass


def why_not(error: Exception) -> str:
    """What went wrong with a request, in words that give nothing away."""
    match error:
        case aiohttp.ClientConnectorCertificateError() | ssl.SSLCertVerificationError():
            return "its certificate is not valid for that name"
        case aiohttp.ClientSSLError() | ssl.SSLError():
            return "no secure connection could be made"
        case aiohttp.ClientConnectorError():
            return "no connection could be made"
        case aiohttp.ServerDisconnectedError() | aiohttp.ClientPayloadError() | aiohttp.ClientOSError():
            return "the connection broke off"
        case _:
            return "it did not answer as a web server does"
