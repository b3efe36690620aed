"""Servers that answer byte for byte as a test says, and what the transport makes of it."""

import asyncio
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from provider_sockets import RawServer

from heald.providers.transport import Response, Transport

HEADERS = {"content-type": "application/json", "authorization": "Bearer k"}


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes


async def read_request(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    """The head and the body of the next request."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    return head, await reader.readexactly(length)


class PieceServer(RawServer):
    """Answers each request with the same pieces, each read by the client before the next is sent."""

    def __init__(self, pieces: Sequence[bytes], *, close: bool = True) -> None:
        super().__init__(self._send_pieces)
        self.requests: list[tuple[bytes, bytes]] = []
        self._pieces = pieces
        self._close = close

    async def _send_pieces(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            try:
                self.requests.append(await read_request(reader))
            except asyncio.IncompleteReadError:
                return
            for piece in self._pieces:
                writer.write(piece)
                await asyncio.sleep(0)
                await asyncio.sleep(0)
            if self._close:
                writer.close()
                await writer.wait_closed()
                return


async def post(url: str, body: bytes = b"{}", headers: Mapping[str, str] = HEADERS) -> Response:
    transport = await Transport.for_running_loop()
    async with asyncio.timeout(60):
        return await transport.post(url, headers=headers, body=body, connect_timeout=5)


async def read_all(response: Response) -> bytes:
    body = b""
    async with asyncio.timeout(60):
        while chunk := await response.read_chunk():
            body += chunk
    return body


async def fetch(url: str, body: bytes = b"{}", headers: Mapping[str, str] = HEADERS) -> Answer:
    response = await post(url, body, headers)
    try:
        answer = Answer(response.status, response.headers, await read_all(response))
    except BaseException:
        response.close()
        raise
    response.release()
    return answer


def chunked(*chunks: bytes, trailers: bytes = b"") -> bytes:
    return b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n" + trailers + b"\r\n"


def cut(data: bytes, at: Sequence[int]) -> list[bytes]:
    """The data in pieces, cut at these places."""
    places = sorted({place % (len(data) + 1) for place in at} | {0, len(data)})
    return [data[start:end] for start, end in pairwise(places)]


def bytewise(data: bytes) -> list[bytes]:
    return [data[at : at + 1] for at in range(len(data))]
