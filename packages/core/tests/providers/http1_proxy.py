"""A proxy as a test wants it: it tunnels, it forwards, it asks for a password, it refuses, it dies."""

import asyncio
import ssl
from base64 import b64encode
from contextlib import suppress

from provider_sockets import RawServer


class Proxying(RawServer):
    """Whatever is asked for is found at one port of this machine. `heads` are the requests that the proxy saw."""

    def __init__(
        self,
        to: int,
        *,
        password: str | None = None,
        refusal: bytes = b"",
        dies_after: int | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        super().__init__(self._accept, tls)
        self.heads: list[bytes] = []
        self.left = 0
        """How many connections have ended."""
        self._to = to
        self._password = None if password is None else b"proxy-authorization: Basic " + b64encode(password.encode())
        self._refusal = refusal
        self._dies_after = dies_after

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner: asyncio.StreamWriter | None = None
        try:
            head = await self._admit(reader, writer)
            inner_reader, inner = await asyncio.open_connection("127.0.0.1", self._to)
            if head.startswith(b"CONNECT "):
                writer.write(b"HTTP/1.1 200 Connection established\r\nvia: 1.1 test\r\n\r\n")
                back = asyncio.create_task(self._pass(inner_reader, writer))
                await self._pass(reader, inner, limited=False)
                await back
                return
            back = asyncio.create_task(self._pass(inner_reader, writer))
            while True:
                method, place, version = head.split(b"\r\n")[0].split(b" ")
                inner.write(b" ".join([method, b"/" + place.split(b"/", 3)[3], version]) + head[head.index(b"\r\n") :])
                length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0] or 0)
                inner.write(await reader.readexactly(length))
                head = await self._admit(reader, writer)
        except asyncio.IncompleteReadError:
            pass
        finally:
            self.left += 1
            if inner is not None:
                inner.transport.abort()

    async def _admit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        head = await reader.readuntil(b"\r\n\r\n")
        self.heads.append(head)
        refusal = self._refusal
        if self._password is not None and self._password not in head:
            refusal = b"HTTP/1.1 407 No\r\nproxy-authenticate: Basic realm=x\r\ncontent-length: 0\r\n\r\n"
        if refusal:
            writer.write(refusal)
            await writer.drain()
            await reader.read()  # until the client leaves
            raise asyncio.IncompleteReadError(b"", None)
        return head

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, limited: bool = True) -> None:
        left = self._dies_after if limited else None
        with suppress(ConnectionError):
            while data := await reader.read(65536):
                if left is not None:
                    data, left = data[:left], left - len(data)
                writer.write(data)
                await writer.drain()
                if left is not None and left <= 0:
                    writer.transport.abort()
                    return
            if writer.can_write_eof():
                writer.write_eof()
            else:
                writer.close()
