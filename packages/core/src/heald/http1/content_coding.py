"""The content coding of a response (RFC 9110, section 8.4).

Gzip and deflate are decoded although they are never requested.
"""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol

from heald.core.lazy import LazyModule
from heald.http1.errors import CompressionBroken, NotHttp

if TYPE_CHECKING:
    import zlib
else:
    zlib = LazyModule("zlib")


MAX_PIECE = 256 * 1024
"""Bytes of one decoded piece."""
_NAMES = {"gzip": "gzip", "x-gzip": "gzip", "deflate": "deflate"}


class _Decompressor(Protocol):
    """The type of `zlib.decompressobj()`, which has no public name."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    @property
    def unconsumed_tail(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


def parse_content_coding(value: str) -> str | None:
    """The compression that `Content-Encoding` names; None if there is none."""
    names = [name for element in value.split(",") if (name := element.strip().lower()) not in ("", "identity")]
    if not names:
        return None
    if len(names) > 1 or names[0] not in _NAMES:
        raise NotHttp("it has a compression that was not requested, neither gzip nor deflate")
    return _NAMES[names[0]]


class Inflater:
    """Decompresses bytes in any split into pieces of at most `MAX_PIECE`."""

    def __init__(self, coding: str) -> None:
        self._coding = coding
        self._packed = b""
        self._unpacker: _Decompressor | None = None
        self._begun = False
        self._more = False  # the last piece was cut at MAX_PIECE: more may follow without new input

    @property
    def idle(self) -> bool:
        """There is no output before more input."""
        return not self._packed and not self._more

    def feed(self, data: bytes) -> None:
        self._packed += data
        self._begun = True

    def next_piece(self) -> bytes:
        """The next piece; empty if there is none yet."""
        while not self.idle:
            if self._unpacker is None or self._unpacker.eof:
                if self._over():
                    self._packed = b""
                    break
                self._unpacker = self._next_unpacker()
            try:
                piece = self._unpacker.decompress(self._packed, MAX_PIECE)
            except zlib.error:
                raise CompressionBroken("the compressed answer cannot be unpacked") from None
            unpacker = self._unpacker
            self._packed = unpacker.unused_data if unpacker.eof else unpacker.unconsumed_tail
            self._more = len(piece) == MAX_PIECE and not unpacker.eof
            if piece:
                return piece
        return b""

    def close(self) -> None:
        """End the input; CompressionBroken if it is incomplete."""
        if self._begun and (self._unpacker is None or not self._unpacker.eof):
            raise CompressionBroken("the compressed answer ends too early")

    def _over(self) -> bool:
        """Everything is decompressed and only padding follows. A gzip body may have several members."""
        return self._unpacker is not None and not (self._coding == "gzip" and self._packed.startswith(b"\x1f"))

    def _next_unpacker(self) -> _Decompressor:
        if self._coding == "gzip":
            return zlib.decompressobj(16 + zlib.MAX_WBITS)
        # Some servers omit the zlib header, whose first byte has the method, 8, in its lower half.
        return zlib.decompressobj(zlib.MAX_WBITS if self._packed[0] & 0x0F == 8 else -zlib.MAX_WBITS)


class InflatedReader:
    """Reads and decompresses a body."""

    def __init__(self, coding: str, read: Callable[[], Awaitable[bytes]], at_end: Callable[[], bool]) -> None:
        self._inflater = Inflater(coding)
        self._read = read
        self._at_end = at_end

    async def read(self) -> bytes:
        inflater = self._inflater
        while not (piece := inflater.next_piece()):
            packed = await self._read()
            if not packed:
                inflater.close()
                return b""
            inflater.feed(packed)
        return piece

    def at_end(self) -> bool:
        return self._inflater.idle and self._at_end()
