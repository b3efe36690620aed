"""One HTTP/1.1 request as it was received, and how it is read from a connection."""

import asyncio
from dataclasses import dataclass, field
from json import loads
from typing import Any


@dataclass(frozen=True)
class Request:
    """What a client sent. Header names are lower case."""

    method: str
    path: str
    headers: dict[str, str]
    content: bytes
    connection: int
    """The number of the connection it came over: equal numbers mean that the client kept it alive."""
    closed_early: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the client leaves before the reply is complete."""

    @property
    def body(self) -> Any:
        """The content as JSON, None where it is none."""
        try:
            return loads(self.content)
        except ValueError:
            return None

    @property
    def keeps_alive(self) -> bool:
        return self.headers.get("connection", "").lower() != "close"


async def read_request(reader: asyncio.StreamReader, connection: int) -> Request | None:
    """The next request, or None where the client has nothing more to ask."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").strip().split("\r\n")
        method, path, _ = first.split(" ", 2)
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        content = await _content(reader, headers)
    except (asyncio.IncompleteReadError, ConnectionError, ValueError):
        return None
    return Request(method, path, headers, content, connection)


async def _content(reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
    if "chunked" not in headers.get("transfer-encoding", ""):
        return await reader.readexactly(int(headers.get("content-length") or 0))
    pieces: list[bytes] = []
    while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
        pieces.append(await reader.readexactly(size))
        await reader.readexactly(2)
    await reader.readuntil(b"\r\n")
    return b"".join(pieces)
