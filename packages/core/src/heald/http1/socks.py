"""Opens a connection through a SOCKS5 proxy: RFC 1928, with a user and password (RFC 1929) or without."""

import asyncio
from ipaddress import ip_address
from typing import cast

from heald.http1.errors import ProxyError

_VERSION = 5
_NO_AUTHENTICATION, _PASSWORD, _NONE_ACCEPTED = 0, 2, 255
_CONNECT = 1
_IPV4, _NAME, _IPV6 = 1, 3, 4
_REFUSALS = {
    1: "it failed",
    2: "its rules do not allow the connection",
    3: "the network cannot be reached",
    4: "the host cannot be reached",
    5: "the host refused the connection",
    6: "the host did not answer in time",
    7: "it does not support the command",
    8: "it does not support this kind of address",
}


class SocksHandshake(asyncio.Protocol):
    """Asks a SOCKS5 proxy for a connection. Afterwards the transport is a bare tunnel."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._transport: asyncio.Transport | None = None
        self._data = b""
        self._error: ProxyError | None = None
        self._waiter: asyncio.Future[None] | None = None

    async def ask(self, host: str, port: int, user: str | None, password: str | None) -> None:
        """Open the tunnel; ProxyError if the proxy refuses."""
        methods = [_NO_AUTHENTICATION] if user is None else [_NO_AUTHENTICATION, _PASSWORD]
        self._write(bytes([_VERSION, len(methods), *methods]))
        version, method = await self._read(2)
        if version != _VERSION:
            raise ProxyError("it does not speak SOCKS5")
        if method == _PASSWORD and user is not None:
            await self._log_in(user, password or "")
        elif method != _NO_AUTHENTICATION:
            raise ProxyError("it requires a user and a password, or another kind of authentication")
        self._write(bytes([_VERSION, _CONNECT, 0]) + _encode_host(host) + port.to_bytes(2))
        _, reply, _, kind = await self._read(4)
        if reply:
            raise ProxyError(_REFUSALS.get(reply, "it refused the connection"))
        rest = {_IPV4: 4, _IPV6: 16}.get(kind)
        await self._read((rest if rest is not None else (await self._read(1))[0]) + 2)
        if self._transport is not None:
            self._transport.pause_reading()  # further bytes belong to the connection inside
        if self._data:
            raise ProxyError("it goes on where the tunnel should begin")

    async def _log_in(self, user: str, password: str) -> None:
        name, secret = user.encode(), password.encode()
        if len(name) > 255 or len(secret) > 255:
            raise ProxyError("its user or password is too long")
        self._write(bytes([1, len(name)]) + name + bytes([len(secret)]) + secret)
        if (await self._read(2))[1]:
            raise ProxyError("it did not accept the user and password")

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._data += data
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._error = ProxyError("it was closed before an answer came", exc)
        self._wake()

    def _write(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)

    async def _read(self, size: int) -> bytes:
        while len(self._data) < size:
            if self._error is not None:
                raise self._error
            self._waiter = self._loop.create_future()
            await self._waiter
        data, self._data = self._data[:size], self._data[size:]
        return data

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


def _encode_host(host: str) -> bytes:
    try:
        address = ip_address(host)
    except ValueError:
        name = host.encode("ascii")
        if len(name) > 255:
            raise ProxyError("the name of the host is too long for it") from None
        return bytes([_NAME, len(name)]) + name
    return bytes([_IPV4 if address.version == 4 else _IPV6]) + address.packed
