"""The framing of a body (RFC 9112, sections 6 and 7): by length, in chunks, or until the connection closes."""

from functools import lru_cache
from typing import Protocol

from heald.http1.errors import ConnectionBroken

MAX_LINE = 16 * 1024
MAX_TRAILERS = 64 * 1024
_HEX = b"0123456789abcdefABCDEF"
_MAX_DIGITS = 15
_SPLIT_FROM = 600
"""Bytes from which on data may hold enough chunks to read them together."""


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
        may_split = end > _SPLIT_FROM
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
            if may_split:
                at += _split(data, at, out)
                may_split = False
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


def _split(data: bytes, at: int, out: list[bytes]) -> int:
    """Append the contents of the whole chunks from a place on, if they hold no line breaks. Return the bytes that they
    take up; 0 if there is anything else among them, which is read chunk by chunk."""
    blank = data.find(b"\r\n\r\n", at)
    if blank >= 0 and data[blank - 3 : blank] != b"\r\n0":  # not the last chunk, but line breaks of a content
        return 0
    parts = (data[at : blank - 1] if blank >= 0 else data[at:]).split(b"\r\n")
    end = (len(parts) - 1) // 2 * 2
    lines, contents = parts[0:end:2], parts[1:end:2]
    if not lines or len(max(lines, key=len)) > _MAX_DIGITS:
        return 0
    try:
        sizes = list(map(_size, lines))
    except ConnectionBroken:
        return 0
    if sizes != list(map(len, contents)):
        return 0
    out += contents
    return sum(sizes) + sum(map(len, lines)) + 2 * end
