"""The rows of a tail as one stream of deflate, so that a row costs what is new in it.

The stream begins with a dictionary of what events have in common. Each append is a piece of it that ends at a byte, and
knows all pieces before it. A tail grows at its beginning, so it holds its pieces in reverse order, each behind its
length; its last byte tells it from a tail of plain rows, which ends as JSON does.
"""

import zlib
from collections.abc import Sequence

_MARK = b"\x06"
"""Ends a packed tail. Other dictionaries need other marks."""
_WINDOW = -11
"""2 KiB: the dictionary and the rows of a tail."""
_MEMORY = 4
_LEVEL = 6
_PIECE_END = b"\x00\x00\xff\xff"
"""What deflate writes at the end of each piece; it is left out."""
_SHORT = [bytes([size]) for size in range(0x80)]
"""The lengths of most pieces."""
_LONGEST_TAIL = 1024 * 1024
_DICTIONARY = (
    b'","name":"","input":{"tool_use","content":[{"path":"index.html","old_text":"","new_text":"function return const '
    b"import from class=<div style= would there which should with this have about they will for that "
    b'and the ing tion er of to in is a ,"data":{}}\n{"seq":exchange_response","layer":"exchange","time":'
    b'"data":{"status":"completed","stop_reason":"end_turn","duration_ms":,"turns":1,"usage":{"input":,"output":'
    b'"cost_usd":null}}\n{"seq":conversation_end_start_thinking_responding","layer":"state","time":'
    b'tool_use_content_block_start_stop","layer":"stream","time":1","type":"message_delta_stop_start","layer":"stream",'
    b'"time":17,"epoch":1,"data":{"message_id":"msg_","model":"","attempt":1}}\n'
    b'"type":"thinking_delta","type":"input_json_delta","partial_json":"'
    b'","type":"text_content_block_start","type":"text_delta","layer":"stream","time":179,"epoch":1,'
    b'"data":{"index":0,"block":"msg_.0","text":""}}\n{"seq":1,"id":"ses_-1","session":"ses_","exchange":"ex_"]\n['
)
"""Must never change: tails that were written with it are read with it."""


class PackedTail:
    """Packs the rows of one tail, piece by piece."""

    __slots__ = ("_stream", "bytes", "count")

    def __init__(self, lines: Sequence[bytes] = ()) -> None:
        """Continue a tail that has these rows, the oldest first."""
        self.count = len(lines)
        """How many rows it has."""
        rows = b"".join(line + b"\n" for line in lines)
        self.bytes = len(rows)
        """How many bytes these are when they are not packed."""
        dictionary = _DICTIONARY + rows
        self._stream = zlib.compressobj(_LEVEL, zlib.DEFLATED, _WINDOW, _MEMORY, zlib.Z_DEFAULT_STRATEGY, dictionary)

    def pack(self, lines: Sequence[bytes]) -> bytes:
        """Return rows as they are put in front of the tail."""
        rows = b"\n".join(lines) + b"\n"
        piece = (self._stream.compress(rows) + self._stream.flush(zlib.Z_SYNC_FLUSH)).removesuffix(_PIECE_END)
        size = len(piece)
        head = _SHORT[size] if size < len(_SHORT) else _length(size)
        is_first = not self.count
        self.count += len(lines)
        self.bytes += len(rows)
        return head + piece + _MARK if is_first else head + piece


def is_packed(tail: bytes) -> bool:
    return tail.endswith(_MARK)


def unpack_tail(tail: bytes) -> list[bytes]:
    """Return the rows of a packed tail, the oldest first. Raises ValueError if it is damaged."""
    pieces: list[bytes] = []
    place, end = 0, len(tail) - len(_MARK)
    while place < end:
        size, place = _read_length(tail, place)
        pieces.append(tail[place : place + size])
        place += size
    if place != end:
        raise ValueError("a piece of a tail has not its length")
    stream = zlib.decompressobj(_WINDOW, _DICTIONARY)
    try:
        rows = stream.decompress(_PIECE_END.join(pieces[::-1]) + _PIECE_END, _LONGEST_TAIL)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    if not rows.endswith(b"\n") or stream.unconsumed_tail:
        raise ValueError("a tail has no end")
    return rows[:-1].split(b"\n")


def _length(size: int) -> bytes:
    """Return a length as bytes of 7 bits, the lowest first."""
    parts = bytearray()
    while size > 0x7F:
        parts.append(size & 0x7F | 0x80)
        size >>= 7
    parts.append(size)
    return bytes(parts)


def _read_length(tail: bytes, place: int) -> tuple[int, int]:
    """Return the length at a place, and the place behind it."""
    size = shift = 0
    while tail[place] > 0x7F:  # its last byte, the mark, ends a length too
        size |= (tail[place] & 0x7F) << shift
        shift += 7
        place += 1
    return size | tail[place] << shift, place + 1
