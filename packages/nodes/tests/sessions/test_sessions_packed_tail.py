"""Packed tails: what is packed piece by piece is read as it was, and what was packed once stays readable."""

import random
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heald_nodes.postgres.chunks import TAIL, unpack_lines
from heald_nodes.postgres.packed_tail import PackedTail, is_packed, unpack_tail

ROWS = [
    b'{"seq":1,"id":"ses_a-1","session":"ses_a","exchange":"ex_1","type":"text_delta","layer":"stream","time":1.5,'
    b'"epoch":1,"data":{"index":0,"block":"msg_1.0","text":"The "}}',
    b'[1,45012,"first "]',
    b'[1,44001,"words of ",21000,"an answer"]',
]
STORED = bytes.fromhex(
    "23020999181800cd2bcf2f4a29066552251d23430303a0798979c07c5c5c0e744b2c1700148a36d43131353034d2514acb2c02160240"
    "d703001cc2a235118bde440ccd8624fa4fcf9478ff19227b30049813419e040006"
)
"""The tail of these rows as the first version of this form has stored it."""

row_of_tail = st.binary(min_size=1, max_size=300).map(lambda body: body.replace(b"\n", b" "))


def packed(appends: list[list[bytes]]) -> bytes:
    tail = b""
    stream = PackedTail()
    for lines in appends:
        tail = stream.pack(lines) + tail
    return tail


@given(st.lists(st.lists(row_of_tail, min_size=1, max_size=4), min_size=1, max_size=12), st.integers(0, 12))
def test_rows_are_read_as_they_were_also_from_a_stream_that_was_begun_anew(
    appends: list[list[bytes]], place: int
) -> None:
    tail = packed(appends[:place])
    stream = PackedTail([line for lines in appends[:place] for line in lines])
    for lines in appends[place:]:
        tail = stream.pack(lines) + tail
    assert is_packed(tail)
    assert unpack_tail(tail) == [line for lines in appends for line in lines]


def test_a_tail_that_was_stored_once_is_read() -> None:
    assert unpack_tail(STORED) == ROWS
    assert unpack_lines(TAIL, STORED) == ROWS


def test_a_row_costs_what_is_new_in_it() -> None:
    source = random.Random(1)
    words = ["the ", "page ", "has ", "a form ", "with ", "three ", "fields ", "and ", "one ", "button "]
    appends = [[b'[7,%d,"%s"]' % (source.randint(40000, 50000), source.choice(words).encode())] for _ in range(20)]
    plain = sum(len(lines[0]) + 1 for lines in appends)
    assert len(packed(appends)) < 0.7 * plain


@pytest.mark.parametrize("place", range(len(STORED) - 1))
def test_damage_is_an_error_of_values_or_changes_what_is_read(place: int) -> None:
    damaged = STORED[:place] + bytes([STORED[place] ^ 0x55]) + STORED[place + 1 :]
    with suppress(ValueError):
        assert unpack_tail(damaged) != ROWS


@pytest.mark.parametrize("size", range(1, len(STORED)))
def test_a_tail_that_lacks_its_newest_bytes_is_an_error_of_values(size: int) -> None:
    with suppress(ValueError):
        assert unpack_tail(STORED[-size:]) != ROWS


def test_a_tail_that_would_fill_the_memory_is_an_error_of_values() -> None:
    stream = PackedTail()
    tail = stream.pack([bytes(2 * 1024 * 1024)])
    assert len(tail) < 10_000
    with pytest.raises(ValueError, match="no end"):
        unpack_tail(tail)
