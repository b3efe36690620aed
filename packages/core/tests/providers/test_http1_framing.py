"""Bodies: any cut of one gives the same content, and what comes after it is told apart from it."""

import pytest
from http1_bench import bytewise, chunked, cut
from hypothesis import example, given
from hypothesis import strategies as st

from heald.http1.body_framing import MAX_LINE, MAX_TRAILERS, BodyFraming, ByLength, Chunked, UntilClose
from heald.http1.errors import ConnectionBroken

CUTS = st.lists(st.integers(min_value=0, max_value=4096), max_size=40)
EXTENSION = st.sampled_from([b"", b" ", b"\t ", b";a", b" ; a=b", b';q="0\\r;x"', b";" + b"e" * 300])
TRAILERS = st.sampled_from([b"", b"a: b\r\n", b"x-sum: 1\r\ny: 2\r\n", b"0\r\n", b"\r" * 3 + b"x\r\n"])


def read(framing: BodyFraming, pieces: list[bytes]) -> tuple[bytes, bytes | None]:
    """The content, and what came after its end."""
    out: list[bytes] = []
    rest: bytes | None = None
    for piece in pieces:
        if rest is not None:
            rest += piece
        else:
            rest = framing.feed(piece, out)
    assert b"" not in out
    return b"".join(out), rest


@given(st.lists(st.binary(min_size=1, max_size=100), max_size=8), st.data(), TRAILERS, st.binary(max_size=8), CUTS)
def test_chunks_in_any_cut(
    chunks: list[bytes], data: st.DataObject, trailers: bytes, after: bytes, cuts: list[int]
) -> None:
    wire = b""
    for chunk in chunks:
        size = data.draw(st.sampled_from([b"%x", b"%X", b"000%x"])) % len(chunk)
        wire += size + data.draw(EXTENSION) + b"\r\n" + chunk + b"\r\n"
    wire += data.draw(st.sampled_from([b"0", b"0000"])) + data.draw(EXTENSION) + b"\r\n" + trailers + b"\r\n"
    whole = wire + after
    for pieces in ([whole], bytewise(whole), cut(whole, cuts)):
        assert read(Chunked(), pieces) == (b"".join(chunks), after)
    assert read(Chunked(), bytewise(wire[:-1]))[1] is None


EVENTS = st.sampled_from([b"data: {}\n\n", b"data: 10\n\n", b"x" * 40])
BREAKS = st.sampled_from([b"data: {}\r\n\r\n", b"\r\n", b"0\r\n\r\n", b"a\r\n0", b"1\r\nb", b"\r\n0"])


@given(st.lists(EVENTS, min_size=60, max_size=70), st.lists(BREAKS, max_size=2), st.binary(max_size=8), CUTS)
@example([b"data: {}\n\n"] * 60, [b"a\r\n0"] * 2, b"", [])
def test_many_chunks_in_one_read(events: list[bytes], breaks: list[bytes], after: bytes, cuts: list[int]) -> None:
    """Chunks that come together are read together, also around contents that look like the frame of one."""
    chunks = [*events[:30], *breaks, *events[30:]]
    wire = chunked(*chunks) + after
    for pieces in ([wire], cut(wire, cuts)):
        assert read(Chunked(), pieces) == (b"".join(chunks), after)


@given(st.binary(max_size=300), st.binary(max_size=8), CUTS)
def test_a_length_in_any_cut(content: bytes, after: bytes, cuts: list[int]) -> None:
    whole = content + after
    for pieces in ([whole], [b"", *bytewise(whole)], [b"", *cut(whole, cuts)]):
        assert read(ByLength(len(content)), pieces) == (content, after)
    if content:
        assert read(ByLength(len(content)), bytewise(content[:-1])) == (content[:-1], None)


@given(st.binary(max_size=300), CUTS)
def test_until_the_connection_ends(content: bytes, cuts: list[int]) -> None:
    framing = UntilClose()
    assert framing.ends_with_connection
    assert read(framing, [b"", *cut(content, cuts)]) == (content, None)


MALFORMED = [
    b"\r\n",
    b"x\r\n",
    b"-5\r\nhello\r\n",
    b"+5\r\nhello\r\n",
    b"0x5\r\nhello\r\n",
    b"1_0\r\n",
    b" 5\r\nhello\r\n",
    b"5 5\r\nhello\r\n",
    b"5\n\r\nhello\r\n",
    b"5;a\nb\r\nhello\r\n",
    b";a\r\nhello\r\n",
    b"5\r\nhelloo\r\n",
    b"5\r\nhello\n0\r\n",
    b"5\r\nhello\rx",
    b"5\r\nhello5\r\n",
    b"f" * 16 + b"\r\n",
    b"0" * 20 + b"5\r\nhello\r\n",
    b"5" * (MAX_LINE + 2),
    b"5;" + b"e" * MAX_LINE + b"\r\n",
    b"0\r\n" + b"a: b\r\n" * (MAX_TRAILERS // 6 + 1),
    b"0\r\n" + b"a" * (MAX_TRAILERS + 1),
]


@pytest.mark.parametrize("wire", MALFORMED, ids=lambda wire: repr(wire[:20]))
def test_chunks_that_cannot_be_read(wire: bytes) -> None:
    for start in (b"", chunked(b"good")[:-5]):
        with pytest.raises(ConnectionBroken):
            read(Chunked(), [start + wire])
        pieces = bytewise(wire) if len(wire) < 1000 else cut(wire, range(0, len(wire), 997))
        with pytest.raises(ConnectionBroken):
            read(Chunked(), [start, *pieces])


@given(st.binary(max_size=60), CUTS)
@example(b"5\r\n", [])
@example(b"0\r\n\r", [1])
def test_any_bytes_are_read_alike_in_any_cut(wire: bytes, cuts: list[int]) -> None:
    def outcome(pieces: list[bytes]) -> object:
        try:
            return read(Chunked(), pieces)
        except ConnectionBroken:
            return ConnectionBroken

    assert outcome([wire]) == outcome(bytewise(wire)) == outcome(cut(wire, cuts))
