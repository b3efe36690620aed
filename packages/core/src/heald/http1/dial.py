"""Opens connections: to a host name, to given addresses only, or through a proxy (CONNECT, RFC 9110, or SOCKS5)."""

import asyncio
import errno
import os
import socket
import ssl
from collections.abc import Callable, Sequence
from ipaddress import ip_address
from itertools import zip_longest
from typing import cast

from heald.core.lazy import lazy_pattern
from heald.http1.connection import HttpConnection
from heald.http1.errors import (
    ConnectTimeout,
    NotHttp,
    NoTls,
    ProxyError,
    TlsRefused,
    Unreachable,
    UntrustedCertificate,
)
from heald.http1.proxy import HttpProxy
from heald.http1.request import Origin
from heald.http1.response_head import check_start, end_of_head, parse_head
from heald.http1.tls import tls_context


class TunnelHandshake(asyncio.Protocol):
    """Sends CONNECT to a proxy and waits for its reply. Afterwards the transport is a bare tunnel."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._transport: asyncio.Transport | None = None
        self._answered: asyncio.Future[None] = loop.create_future()
        self._data = b""

    async def ask(self, origin: Origin) -> None:
        """Open the tunnel; ProxyError if the proxy refuses."""
        if self._transport is not None:
            self._transport.write(_request(origin))
        await self._answered

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._data += data
        try:
            while (end := end_of_head(self._data)) >= 0:
                status = parse_head(self._data[:end]).status
                self._data = self._data[end:]
                if status >= 200:
                    self._finish(status)
                    return
            check_start(self._data)
        except NotHttp as fault:
            self._fail(ProxyError(str(fault)))

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._fail(ProxyError("it was closed before an answer came", exc))

    def _finish(self, status: int) -> None:
        if self._transport is not None:
            self._transport.pause_reading()  # further bytes belong to the TLS connection inside
        if status >= 300:
            self._fail(ProxyError(status=status))
        elif self._data:
            self._fail(ProxyError("it goes on where the tunnel should begin"))
        elif not self._answered.done():
            self._answered.set_result(None)

    def _fail(self, fault: ProxyError) -> None:
        if not self._answered.done():
            self._answered.set_exception(fault)


def _request(origin: Origin) -> bytes:
    """A CONNECT request. The port is always given: no scheme implies it."""
    place = f"[{origin.host}]:{origin.port}" if ":" in origin.host else f"{origin.host}:{origin.port}"
    lines = [f"CONNECT {place} HTTP/1.1", f"host: {place}"]
    if origin.proxy is not None and origin.proxy.authorization is not None:
        lines.append(f"proxy-authorization: {origin.proxy.authorization}")
    return "\r\n".join([*lines, "", ""]).encode()


HAPPY_EYEBALLS = 0.25
_LEAST = 0.001
_RESET = (errno.ECONNRESET, os.strerror(errno.ECONNRESET))
_ERRNO = lazy_pattern(r"\[Errno (\d+)\]")


async def open_connection(
    make: Callable[[], HttpConnection], tls: ssl.SSLContext | None, seconds: float
) -> HttpConnection:
    """Open a connection to one of its origin's addresses; raises the NetworkError of the last one."""
    connection = make()
    addresses = _alternate_families(connection.origin.addresses)
    if not addresses:
        return await _open_to(connection, connection.origin.host, tls, seconds)
    if len(addresses) == 1:
        return await _open_to(connection, addresses[0], tls, seconds)
    return await _open_first([(make(), address) for address in addresses], tls, seconds)


async def _open_first(
    routes: list[tuple[HttpConnection, str]], tls: ssl.SSLContext | None, seconds: float
) -> HttpConnection:
    """Open the first connection that succeeds (RFC 8305): each attempt starts a little after the one before, or when it
    failed. The others are closed."""
    clock = asyncio.get_running_loop().time
    end = clock() + seconds
    running: set[asyncio.Task[HttpConnection]] = set()
    waiting = list(routes)
    error: BaseException = Unreachable("")
    try:
        while waiting or running:
            if waiting:
                connection, address = waiting.pop(0)
                opening = _open_to(connection, address, tls, max(end - clock(), _LEAST))
                running.add(asyncio.create_task(opening, name="heald-connect"))
            delay = HAPPY_EYEBALLS if waiting else None
            done, running = await asyncio.wait(running, timeout=delay, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                if (failure := task.exception()) is None:
                    return task.result()
                if not isinstance(failure, Unreachable):
                    raise failure
                error = failure
        raise error
    finally:
        for task in running:
            task.cancel()
        for outcome in await asyncio.gather(*running, return_exceptions=True):
            if isinstance(outcome, HttpConnection):
                outcome.abort()


def _alternate_families(addresses: Sequence[str]) -> list[str]:
    """Addresses of both families in turn, each family in its order."""
    first = [address for address in addresses if (":" in address) == (":" in addresses[0])]
    second = [address for address in addresses if address not in first]
    pairs = zip_longest(first, second)
    return [address for pair in pairs for address in pair if address is not None]


async def _open_to(connection: HttpConnection, host: str, tls: ssl.SSLContext | None, seconds: float) -> HttpConnection:
    origin = connection.origin
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(seconds):
            if origin.proxy is not None:
                await _open_through_proxy(origin.proxy, connection, tls, seconds)
                return connection
            await loop.create_connection(
                lambda: connection,
                host,
                origin.port,
                ssl=tls,
                server_hostname=origin.host.rstrip(".") if tls is not None else None,
                ssl_handshake_timeout=seconds if tls is not None else None,
                happy_eyeballs_delay=None if _is_address(host) else HAPPY_EYEBALLS,
                flags=socket.AI_NUMERICHOST if origin.addresses else 0,
            )
    except BaseException as error:
        connection.abort()
        raise _connect_error(error, tls is not None) from None
    return connection


async def _open_through_proxy(
    proxy: HttpProxy, connection: HttpConnection, tls: ssl.SSLContext | None, seconds: float
) -> None:
    """Connect to the proxy (plain http), or through it with a tunnel (https, or SOCKS)."""
    if proxy.is_socks:
        await _open_through_socks(proxy, connection, tls, seconds)
        return
    if tls is None:
        await _connect_to_proxy(proxy, lambda: connection, seconds)
        return
    loop = asyncio.get_running_loop()
    tunnelling = TunnelHandshake(loop)
    transport = await _connect_to_proxy(proxy, lambda: tunnelling, seconds)
    try:
        await tunnelling.ask(connection.origin)
        name = connection.origin.host.rstrip(".")
        inside = await loop.start_tls(transport, connection, tls, server_hostname=name, ssl_handshake_timeout=seconds)
    except BaseException:
        transport.abort()
        raise
    if inside is None or inside.is_closing():  # it was closed during the handshake
        raise ConnectionResetError(*_RESET)
    connection.connection_made(inside)


async def _open_through_socks(
    proxy: HttpProxy, connection: HttpConnection, tls: ssl.SSLContext | None, seconds: float
) -> None:
    loop = asyncio.get_running_loop()
    from heald.http1.socks import SocksHandshake  # few connections have such a proxy

    handshake = SocksHandshake(loop)
    origin = connection.origin
    host = origin.host if proxy.resolves_names or _is_address(origin.host) else await _resolve(origin)
    transport = await _connect_to_proxy(proxy, lambda: handshake, seconds)
    inside: asyncio.Transport | None = transport
    try:
        await handshake.ask(host, origin.port, *(proxy.login or (None, None)))
        if tls is not None:
            name = origin.host.rstrip(".")
            inside = await loop.start_tls(
                transport, connection, tls, server_hostname=name, ssl_handshake_timeout=seconds
            )
    except BaseException:
        transport.abort()
        raise
    if inside is None or inside.is_closing():
        raise ConnectionResetError(*_RESET)
    if tls is None:
        inside.set_protocol(connection)
    connection.connection_made(inside)
    if tls is None:
        inside.resume_reading()


async def _resolve(origin: Origin) -> str:
    """One address of a host, for a proxy that gets no names."""
    loop = asyncio.get_running_loop()
    addresses = await loop.getaddrinfo(origin.host, origin.port, type=socket.SOCK_STREAM)
    return str(addresses[0][4][0])


async def _connect_to_proxy(
    proxy: HttpProxy, make: Callable[[], asyncio.BaseProtocol], seconds: float
) -> asyncio.Transport:
    secure = proxy.scheme == "https"
    try:
        transport, _ = await asyncio.get_running_loop().create_connection(
            make,
            proxy.host,
            proxy.port,
            ssl=tls_context() if secure else None,
            server_hostname=proxy.host.rstrip(".") if secure else None,
            ssl_handshake_timeout=seconds if secure else None,
            happy_eyeballs_delay=None if _is_address(proxy.host) else HAPPY_EYEBALLS,
        )
    except TimeoutError:
        raise
    except (OSError, UnicodeError) as error:
        raise ProxyError("", _first_error(error)) from None
    return transport


def _connect_error(error: BaseException, is_tls: bool) -> BaseException:
    """The NetworkError for a failed connection attempt. Cancellation and our own errors are unchanged."""
    match error:
        case TimeoutError():
            return ConnectTimeout("", error)
        case ssl.SSLCertVerificationError():
            return UntrustedCertificate("", error)
        case ssl.SSLError() if "ALERT" in (error.reason or ""):
            return TlsRefused("", error)
        case ssl.SSLEOFError() | ssl.SSLZeroReturnError():
            return TlsRefused("it was closed during the handshake")
        case ConnectionResetError() if is_tls:
            return TlsRefused("it was closed during the handshake")
        case ssl.SSLError():
            return NoTls("", error)
        case OSError() | UnicodeError():
            return Unreachable("", _first_error(error))
        case _:
            return error


def _first_error(error: OSError | UnicodeError) -> Exception:
    """The first error, where asyncio joined those of several addresses in one text."""
    number = _ERRNO.search(str(error)) if isinstance(error, OSError) and error.errno is None else None
    return error if number is None else OSError(int(number[1]), str(error))


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
