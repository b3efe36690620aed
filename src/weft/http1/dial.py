"""How a connection comes to stand: to a name, to given addresses and no others, or through a proxy."""

import asyncio
import errno
import os
import re
import socket
import ssl
from collections.abc import Callable
from ipaddress import ip_address

from weft.http1.connection import Connection
from weft.http1.faults import ConnectTimeout, NoTls, ProxyFault, Unreachable, Untrusted
from weft.http1.proxy import Proxy
from weft.http1.trust import trust
from weft.http1.tunnel import Tunnelling

HAPPY_EYEBALLS = 0.25
_LEAST = 0.001
_RESET = (errno.ECONNRESET, os.strerror(errno.ECONNRESET))
_ERRNO = re.compile(r"\[Errno (\d+)\]")


async def dial(make: Callable[[], Connection], tls: ssl.SSLContext | None, seconds: float) -> Connection:
    """A connection that stands, or the fault that kept it from standing."""
    connection = make()
    addresses = connection.origin.addresses
    if not addresses:
        return await _stand(connection, connection.origin.host, tls, seconds)
    clock = asyncio.get_running_loop().time
    end = clock() + seconds
    for left in range(len(addresses), 1, -1):
        try:
            return await _stand(connection, addresses[-left], tls, max((end - clock()) / left, _LEAST))
        except Unreachable:
            connection = make()
    return await _stand(connection, addresses[-1], tls, max(end - clock(), _LEAST))


async def _stand(connection: Connection, host: str, tls: ssl.SSLContext | None, seconds: float) -> Connection:
    origin = connection.origin
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(seconds):
            if origin.proxy is not None:
                await _through(origin.proxy, connection, tls, seconds)
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
        raise _told(error) from None
    return connection


async def _through(proxy: Proxy, connection: Connection, tls: ssl.SSLContext | None, seconds: float) -> None:
    """To the proxy if it reads the request itself, through it if the request is for other eyes."""
    if tls is None:
        await _reach(proxy, lambda: connection, seconds)
        return
    loop = asyncio.get_running_loop()
    tunnelling = Tunnelling(loop)
    transport = await _reach(proxy, lambda: tunnelling, seconds)
    try:
        await tunnelling.ask(connection.origin)
        name = connection.origin.host.rstrip(".")
        inside = await loop.start_tls(transport, connection, tls, server_hostname=name, ssl_handshake_timeout=seconds)
    except BaseException:
        transport.abort()
        raise
    if inside is None or inside.is_closing():  # it was closed before anybody could be told
        raise ConnectionResetError(*_RESET)
    connection.connection_made(inside)


async def _reach(proxy: Proxy, make: Callable[[], asyncio.BaseProtocol], seconds: float) -> asyncio.Transport:
    secure = proxy.scheme == "https"
    try:
        transport, _ = await asyncio.get_running_loop().create_connection(
            make,
            proxy.host,
            proxy.port,
            ssl=trust() if secure else None,
            server_hostname=proxy.host.rstrip(".") if secure else None,
            ssl_handshake_timeout=seconds if secure else None,
            happy_eyeballs_delay=None if _is_address(proxy.host) else HAPPY_EYEBALLS,
        )
    except TimeoutError:
        raise
    except (OSError, UnicodeError) as error:
        raise ProxyFault("", _first(error)) from None
    return transport


def _told(error: BaseException) -> BaseException:
    """What kept a connection from being made. Cancelling and faults of our own pass as they are."""
    match error:
        case TimeoutError():
            return ConnectTimeout("", error)
        case ssl.SSLCertVerificationError():
            return Untrusted("", error)
        case ssl.SSLError():
            return NoTls("", error)
        case OSError() | UnicodeError():
            return Unreachable("", _first(error))
        case _:
            return error


def _first(error: OSError | UnicodeError) -> Exception:
    """Where several addresses were tried asyncio tells of them in one text. The first speaks for all."""
    number = _ERRNO.search(str(error)) if isinstance(error, OSError) and error.errno is None else None
    return error if number is None else OSError(int(number[1]), str(error))


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
