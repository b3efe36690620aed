"""The body of an answer, read within limits: bytes on the way, and bytes after decompression."""

import zlib
from collections.abc import AsyncIterator

from weft.tools.outcome import ToolFault

_ENCODINGS = {"": None, "identity": None, "gzip": 31, "x-gzip": 31, "deflate": 15}
"""How zlib is to read each encoding."""
ACCEPT_ENCODING = "gzip, deflate"


async def read_body(chunks: AsyncIterator[bytes], encoding: str, limit: int) -> bytes:
    """All of the body, or a fault as soon as it is more than the limit. No more than that is ever held."""
    encoding = encoding.strip().lower()
    if encoding not in _ENCODINGS:
        raise ToolFault(f"The answer is compressed as {encoding[:40]!r}, which was not asked for.", "unreadable")
    window = _ENCODINGS[encoding]
    unpack = None if window is None else _Unpacker(window, limit)
    body = bytearray()
    arrived = 0
    async for chunk in chunks:
        arrived += len(chunk)
        if arrived > limit:
            raise too_large(limit)
        body += chunk if unpack is None else unpack(chunk, limit - len(body))
    if unpack is not None and arrived and not unpack.ended:
        raise ToolFault("The answer ended before its compressed body was complete; try again.", "unreadable")
    return bytes(body)


def too_large(limit: int) -> ToolFault:
    return ToolFault(f"The answer is larger than {limit:,} bytes, the most that is fetched.", "too_large")


class _Unpacker:
    """Decompresses piece by piece, never further than there is room for."""

    def __init__(self, window: int, limit: int) -> None:
        self.ended = False
        self._limit = limit
        self._bare = window == 15  # "deflate" is sent with and without its zlib header
        self._zlib = zlib.decompressobj(window)

    def __call__(self, chunk: bytes, room: int) -> bytes:
        if self.ended or not chunk:
            return b""
        try:
            data = self._zlib.decompress(chunk, room + 1)
        except zlib.error:
            if not self._bare:
                raise ToolFault("The compressed body of the answer cannot be read.", "unreadable") from None
            self._bare = False
            self._zlib = zlib.decompressobj(-15)
            return self(chunk, room)
        self._bare = False
        if len(data) > room:
            raise too_large(self._limit)
        self.ended = self._zlib.eof
        return data
