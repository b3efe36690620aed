"""Parses a response: its head, the framing of its body (RFC 9112, sections 4 to 6) and its content coding.

Parsing is strict wherever two readers could disagree on where the body ends: a folded line, a space before a colon, two
lengths, a length beside chunks. Gzip and deflate are decoded although they are never requested (RFC 9110, 8.4.1).
"""

import re
from collections.abc import Awaitable, Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

import msgspec

from weft.core.lazy import LazyModule, lazy_pattern
from weft.http1.errors import CompressionBroken, ConnectionBroken, NotHttp

if TYPE_CHECKING:
    import zlib
else:
    zlib = LazyModule("zlib")

MAX_LINE = 16 * 1024
MAX_TRAILERS = 64 * 1024
_HEX = b"0123456789abcdefABCDEF"
_MAX_DIGITS = 15


class BodyFraming(Protocol):
    """Finds the end of a body, in any split of its bytes."""

    ends_with_connection: bool

    def feed(self, data: bytes, out: list[bytes]) -> bytes | None:
        """Append the content to `out`. None while the body continues, else the bytes after its end."""
        ...


class ByLength:
    ends_with_connection = False

    def __init__(self, length: int) -> None:
        self._left = length

    def feed(self, data: bytes, out: list[bytes]) -> bytes | None:
        left = self._left - len(data)
        if left < 0:
            data, rest = data[:left], data[left:]
        else:
            rest = None if left else b""
        if data:
            out.append(data)
        self._left = max(left, 0)
        return rest


class UntilClose:
    ends_with_connection = True

    def feed(self, data: bytes, out: list[bytes]) -> bytes | None:
        if data:
            out.append(data)
        return None


class Chunked:
    """The chunked transfer coding. Extensions and trailers are skipped."""

    ends_with_connection = False

    def __init__(self) -> None:
        self._held = b""  # an incomplete line
        self._left = 0  # of the content of the open chunk
        self._closing = False  # the content was read, its line break was not
        self._trailers: int | None = None  # bytes of trailers so far, once the last chunk was seen

    def feed(self, data: bytes, out: list[bytes]) -> bytes | None:
        if self._held:
            data, self._held = self._held + data, b""
        at, end = 0, len(data)
        while at < end:
            if self._trailers is not None:
                return self._pass_trailers(data, at)
            if self._left:
                piece = data[at : at + self._left]
                out.append(piece)
                at += len(piece)
                self._left -= len(piece)
                self._closing = not self._left
                continue
            if self._closing:
                if data[at : at + 2] != b"\r\n":
                    return self._hold_break(data[at:])
                at += 2
                self._closing = False
                continue
            stop = data.find(b"\r\n", at)
            if stop < 0 or stop - at > MAX_LINE:
                return self._hold(data[at:])
            line = data[at:stop]
            size = _size(line) if stop - at <= _MAX_DIGITS else _read_size(line)
            at = stop + 2
            if not size:
                self._trailers = 0
                continue
            stop = at + size
            if data[stop : stop + 2] == b"\r\n":
                out.append(data[at:stop])
                at = stop + 2
            else:
                self._left = size
        return None

    def _hold(self, line: bytes) -> None:
        if len(line) > MAX_LINE + 1:  # it may end with the first half of its line break
            raise ConnectionBroken("a chunk's first line is too long")
        self._held = line

    def _hold_break(self, line: bytes) -> None:
        if line != b"\r":
            raise ConnectionBroken("a chunk does not end at its length")
        self._held = line

    def _pass_trailers(self, data: bytes, at: int) -> bytes | None:
        while (stop := data.find(b"\r\n", at)) >= 0:
            if stop == at:
                return data[at + 2 :]
            self._count_trailer(stop + 2 - at)
            at = stop + 2
        self._held = data[at:]
        self._count_trailer(0, len(self._held))
        return None

    def _count_trailer(self, size: int, held: int = 0) -> None:
        self._trailers = (self._trailers or 0) + size
        if self._trailers + held > MAX_TRAILERS:
            raise ConnectionBroken("the trailers are too long")


def _read_size(line: bytes) -> int:
    """The size of a chunk; `int` alone would accept signs, spaces and underscores too."""
    digits = line if line.isalnum() else line.partition(b";")[0].rstrip(b" \t")
    if not digits or len(digits) > _MAX_DIGITS or digits.translate(None, _HEX) or b"\n" in line:
        raise ConnectionBroken("a chunk has no size")
    return int(digits, 16)


_size = lru_cache(1024)(_read_size)  # few distinct sizes occur


MAX_HEAD = 64 * 1024
_END = lazy_pattern(rb"\n\r?\n")
_STATUS = lazy_pattern(r"HTTP/1\.([0-9]) ([1-9][0-9][0-9])(?: [^\0\r\n]*+)?\r?\n")
_FIELD = lazy_pattern(r"^([-!#$%&'*+.^_`|~0-9A-Za-z]++):[ \t]*+([^\0\r\n]*+)\r?\n", re.MULTILINE)
_MAX_LENGTH_DIGITS = 18
_TLS_RECORDS = (b"\x15", b"\x16")  # an alert, a handshake


class ResponseHead(msgspec.Struct, frozen=True):
    status: int
    headers: dict[str, str]
    """Names in lower case; the values of a repeated one are joined by commas."""
    framing: BodyFraming
    keep: bool
    """The connection may serve another request."""


def end_of_head(data: bytes, start: int = 0) -> int:
    """The offset of the body; -1 while the head is incomplete."""
    found = _END.search(data, start)
    return found.end() if found is not None else -1


def check_start(data: bytes) -> None:
    """NotHttp if the bytes so far cannot begin a response."""
    if data.startswith(_TLS_RECORDS):
        raise NotHttp("it answers in TLS, so its address should begin with https")
    if not data.startswith(b"HTTP/1."[: len(data)]):
        raise NotHttp("it does not begin with an HTTP/1 status line")
    if len(data) > MAX_HEAD:
        raise NotHttp(f"it has headers of more than {MAX_HEAD} bytes")


def parse_head(data: bytes, *, bare: bool = False) -> ResponseHead:
    """Parse a head with its empty line. A `bare` one replies to HEAD and has no body."""
    if len(data) > MAX_HEAD:
        raise NotHttp(f"it has headers of more than {MAX_HEAD} bytes")
    text = data.decode("utf-8", "replace")
    status_line = _STATUS.match(text)
    if status_line is None:
        raise NotHttp("it does not begin with an HTTP/1 status line")
    fields = _FIELD.findall(text, status_line.end())
    if len(fields) != text.count("\n") - 2:
        raise NotHttp("it has a header that is folded, has no name, or holds a control character")
    headers: dict[str, str] = {}
    for name, value in fields:
        key, value = name.lower(), value.rstrip(" \t")
        headers[key] = f"{headers[key]}, {value}" if key in headers else value
    status = int(status_line[2])
    return ResponseHead(status, headers, _framing(status, headers, bare), _keeps(headers, status_line[1] != "0"))


def _framing(status: int, headers: dict[str, str], bare: bool) -> BodyFraming:
    coding, length = headers.get("transfer-encoding"), headers.get("content-length")
    if coding is not None and length is not None:
        raise NotHttp("it gives both a length and a transfer encoding")
    if bare or status < 200 or status in (204, 304):
        return ByLength(0)
    if coding is not None:
        if coding.lower() != "chunked":
            raise NotHttp("it has another transfer encoding than chunked")
        return Chunked()
    return ByLength(_length(length)) if length is not None else UntilClose()


def _length(value: str) -> int:
    if not value.isdecimal() and "," in value:
        lengths = {one.strip(" \t") for one in value.split(",")}
        value = lengths.pop() if len(lengths) == 1 else ""
    if not (value.isascii() and value.isdecimal() and len(value) <= _MAX_LENGTH_DIGITS):
        raise NotHttp("it has a length that is no number, or several of them")
    return int(value)


def _keeps(headers: dict[str, str], modern: bool) -> bool:
    options = headers.get("connection")
    if options is None or (modern and options == "keep-alive"):
        return modern
    tokens = {token.strip().lower() for token in options.split(",")}
    if "close" in tokens:
        return False
    # HTTP/1.0 has no chunks: a connection that sends them is not reused.
    return modern or ("keep-alive" in tokens and "transfer-encoding" not in headers)


MAX_PIECE = 256 * 1024
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
    names = [name for one in value.split(",") if (name := one.strip().lower()) not in ("", "identity")]
    if not names:
        return None
    if len(names) > 1 or names[0] not in _NAMES:
        raise NotHttp("it is compressed in a way that was not asked for, neither gzip nor deflate")
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
