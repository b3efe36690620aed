"""Content that was compressed although nobody asked for it: gzip and deflate, read as it comes (RFC 9110, 8.4.1)."""

import zlib
from collections.abc import Awaitable, Callable
from typing import Protocol

from weft.http1.faults import Broken, NotHttp

MAX_PIECE = 256 * 1024
_GZIP = 16 + zlib.MAX_WBITS
_NAMES = {"gzip": "gzip", "x-gzip": "gzip", "deflate": "deflate"}


class _Unpacker(Protocol):
    """What `zlib.decompressobj` gives, which has no public name."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    @property
    def unconsumed_tail(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


def coding_of(value: str) -> str | None:
    """How a body is compressed, from its `Content-Encoding`; None if it is not."""
    names = [name for one in value.split(",") if (name := one.strip().lower()) not in ("", "identity")]
    if not names:
        return None
    if len(names) > 1 or names[0] not in _NAMES:
        raise NotHttp("it is compressed in a way that was not asked for, neither gzip nor deflate")
    return _NAMES[names[0]]


class Inflater:
    """Compressed bytes in any cut, content out, at most `MAX_PIECE` at a time however well it was packed."""

    def __init__(self, coding: str) -> None:
        self._coding = coding
        self._packed = b""
        self._unpacker: _Unpacker | None = None
        self._begun = False
        self._more = False  # the last piece was cut off at MAX_PIECE: there may be more without new bytes

    @property
    def idle(self) -> bool:
        """Nothing comes out before something goes in."""
        return not self._packed and not self._more

    def feed(self, data: bytes) -> None:
        self._packed += data
        self._begun = True

    def take(self) -> bytes:
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
                raise Broken("the compressed answer cannot be unpacked") from None
            unpacker = self._unpacker
            self._packed = unpacker.unused_data if unpacker.eof else unpacker.unconsumed_tail
            self._more = len(piece) == MAX_PIECE and not unpacker.eof
            if piece:
                return piece
        return b""

    def close(self) -> None:
        """No more bytes will come. Broken if some are missing."""
        if self._begun and (self._unpacker is None or not self._unpacker.eof):
            raise Broken("the compressed answer ends too early")

    def _over(self) -> bool:
        """All was unpacked and what follows is padding. A gzip body may consist of several members."""
        return self._unpacker is not None and not (self._coding == "gzip" and self._packed.startswith(b"\x1f"))

    def _next_unpacker(self) -> _Unpacker:
        if self._coding == "gzip":
            return zlib.decompressobj(_GZIP)
        # Some servers leave the zlib header out; its first byte names the method, 8, in the lower half.
        return zlib.decompressobj(zlib.MAX_WBITS if self._packed[0] & 0x0F == 8 else -zlib.MAX_WBITS)


class InflatedReader:
    """Reads a compressed body as if it were not."""

    def __init__(self, coding: str, read: Callable[[], Awaitable[bytes]], at_end: Callable[[], bool]) -> None:
        self._inflater = Inflater(coding)
        self._read = read
        self._at_end = at_end

    async def read(self) -> bytes:
        inflater = self._inflater
        while not (piece := inflater.take()):
            packed = await self._read()
            if not packed:
                inflater.close()
                return b""
            inflater.feed(packed)
        return piece

    def at_end(self) -> bool:
        return self._inflater.idle and self._at_end()
