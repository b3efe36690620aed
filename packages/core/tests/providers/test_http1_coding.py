"""Compressed bodies: unpacked as they come, however they were cut, and never more than is good to hold."""

import gzip
import zlib

import pytest
from http1_bench import bytewise, cut
from hypothesis import given
from hypothesis import strategies as st

from heald.http1.content_coding import MAX_PIECE, InflatedReader, Inflater, parse_content_coding
from heald.http1.errors import ConnectionBroken, NotHttp

TEXT = b"data: hello\n\n" * 50


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


PACKED = {
    "gzip": ("gzip", gzip.compress(TEXT)),
    "members": ("gzip", gzip.compress(TEXT[:100]) + gzip.compress(b"") + gzip.compress(TEXT[100:])),
    "padded": ("gzip", gzip.compress(TEXT) + b"\0\0\0"),
    "zlib": ("deflate", zlib.compress(TEXT)),
    "raw": ("deflate", raw_deflate(TEXT)),
}


async def read(coding: str, pieces: list[bytes]) -> bytes:
    left = iter(pieces)

    async def next_piece() -> bytes:
        return next(left, b"")

    reader = InflatedReader(coding, next_piece, lambda: True)
    content: list[bytes] = []
    while piece := await reader.read():
        assert len(piece) <= MAX_PIECE
        content.append(piece)
    assert reader.at_end()
    return b"".join(content)


@pytest.mark.parametrize("name", PACKED)
async def test_whole_and_byte_by_byte(name: str) -> None:
    coding, packed = PACKED[name]
    assert await read(coding, [packed]) == TEXT
    assert await read(coding, bytewise(packed)) == TEXT


@given(st.binary(max_size=2000), st.sampled_from(["gzip", "deflate"]), st.lists(st.integers(0, 3000), max_size=10))
async def test_any_content_in_any_cut(content: bytes, coding: str, cuts: list[int]) -> None:
    packed = gzip.compress(content) if coding == "gzip" else zlib.compress(content)
    assert await read(coding, cut(packed, cuts)) == content


def test_what_is_flushed_is_read_at_once() -> None:
    packer = zlib.compressobj(wbits=31)
    inflater = Inflater("gzip")
    for word in (b"one", b"two"):
        inflater.feed(packer.compress(word) + packer.flush(zlib.Z_SYNC_FLUSH))
        assert inflater.next_piece() == word
        assert inflater.next_piece() == b""
        assert inflater.idle


async def test_a_bomb_goes_off_in_small_pieces() -> None:
    size = 64 * 1024 * 1024
    assert len(await read("gzip", [gzip.compress(b"\0" * size)])) == size


async def test_an_empty_body() -> None:
    assert await read("gzip", []) == b""


@pytest.mark.parametrize("name", PACKED)
async def test_a_body_that_ends_too_early(name: str) -> None:
    coding, packed = PACKED[name]
    with pytest.raises(ConnectionBroken, match="too early"):
        await read(coding, bytewise(packed[: len(packed) // 2]))


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
async def test_a_body_that_is_not_packed_at_all(coding: str) -> None:
    with pytest.raises(ConnectionBroken, match="unpacked"):
        await read(coding, [b"\x1f" + TEXT])


@pytest.mark.parametrize(
    ("value", "coding"),
    [
        ("", None),
        ("identity", None),
        ("Identity, identity", None),
        ("gzip", "gzip"),
        ("X-GZIP", "gzip"),
        ("identity, deflate", "deflate"),
    ],
)
def test_names(value: str, coding: str | None) -> None:
    assert parse_content_coding(value) == coding


@pytest.mark.parametrize("value", ["br", "zstd", "gzip, gzip", "compress", "sk-canary"])
def test_what_was_not_asked_for(value: str) -> None:
    with pytest.raises(NotHttp) as refused:
        parse_content_coding(value)
    assert "canary" not in str(refused.value)
