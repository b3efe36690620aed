"""A way through a proxy that reads nothing of what passes: CONNECT (RFC 9110, section 9.3.6), then TLS inside."""

import asyncio
from typing import cast

from weft.http1.faults import NotHttp, ProxyFault
from weft.http1.head import check_start, end_of_head, parse_head
from weft.http1.request import Origin


class Tunnelling(asyncio.Protocol):
    """Asks the proxy, and waits for its yes or no. What stands then is a bare transport."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._transport: asyncio.Transport | None = None
        self._answered: asyncio.Future[None] = loop.create_future()
        self._data = b""

    async def ask(self, origin: Origin) -> None:
        """ProxyFault if there will be no tunnel."""
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
                    self._settle(status)
                    return
            check_start(self._data)
        except NotHttp as fault:
            self._refuse(ProxyFault(str(fault)))

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._refuse(ProxyFault("it was closed before an answer came", exc))

    def _settle(self, status: int) -> None:
        if self._transport is not None:
            self._transport.pause_reading()  # what comes next is for the other end of the tunnel
        if status >= 300:
            self._refuse(ProxyFault(status=status))
        elif self._data:
            self._refuse(ProxyFault("it goes on where the tunnel should begin"))
        elif not self._answered.done():
            self._answered.set_result(None)

    def _refuse(self, fault: ProxyFault) -> None:
        if not self._answered.done():
            self._answered.set_exception(fault)


def _request(origin: Origin) -> bytes:
    """The port is always said: a tunnel has no scheme it could follow from."""
    place = f"[{origin.host}]:{origin.port}" if ":" in origin.host else f"{origin.host}:{origin.port}"
    lines = [f"CONNECT {place} HTTP/1.1", f"host: {place}"]
    if origin.proxy is not None and origin.proxy.authorization is not None:
        lines.append(f"proxy-authorization: {origin.proxy.authorization}")
    return "\r\n".join([*lines, "", ""]).encode()
