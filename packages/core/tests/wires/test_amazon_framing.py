"""Amazon's event stream: messages in any split of bytes, read as botocore reads them."""

import random
import struct
from importlib import import_module
from typing import Any
from zlib import crc32

import pytest

from heald.core.errors import GarbledStream
from heald.core.json import JsonObject, loads
from heald.core.messages import ToolCall
from heald.testing import wire_stream
from heald.testing.streams import amazon_event
from heald.wires.amazon_framing import AmazonChunkParser, AmazonEventParser

STREAM = [
    *wire_stream("converse", thinking=["Let ", "me."], text=["Grüße ", "\U0001f600", ""], signature="s" * 300),
    *wire_stream("converse", calls=[ToolCall(id="c1", name="look", input={"path": "a" * 2000})]),
]
WHOLE = b"".join(STREAM)


def as_botocore_reads(data: bytes) -> list[tuple[str, bytes]]:
    buffer: Any = import_module("botocore.eventstream").EventStreamBuffer()
    buffer.add_data(data)
    return [(str(message.headers[":event-type"]), message.payload) for message in buffer]


def read_in(pieces: list[bytes]) -> list[tuple[str, bytes]]:
    parser = AmazonEventParser()
    return [(event.event, event.data) for piece in pieces for event in parser.feed(piece)]


def test_whole_and_byte_by_byte() -> None:
    expected = as_botocore_reads(WHOLE)
    assert len(expected) == len(STREAM)
    assert read_in([WHOLE]) == expected
    assert read_in([WHOLE[at : at + 1] for at in range(len(WHOLE))]) == expected


def test_a_hundred_thousand_random_cuts() -> None:
    expected = as_botocore_reads(WHOLE)
    chance = random.Random(7)
    cuts = 0
    while cuts < 100_000:
        count = chance.randint(1, 400)
        places = sorted(chance.randrange(len(WHOLE)) for _ in range(count))
        pieces = [WHOLE[start:end] for start, end in zip([0, *places], [*places, len(WHOLE)], strict=True)]
        assert read_in(pieces) == expected
        cuts += count


@pytest.mark.parametrize("place", [0, 5, 9, 20, 60, -1])
def test_damage_is_noticed(place: int) -> None:
    damaged = bytearray(STREAM[1])
    damaged[place] ^= 0x10
    parser = AmazonEventParser()
    with pytest.raises(GarbledStream):
        parser.feed(bytes(damaged) + bytes(64))


def test_every_type_of_header_is_skipped_or_read() -> None:
    """botocore's own reader accepts the same message."""
    values = [b"\x00", b"\x01", b"\x02\x07", b"\x03\x00\x07", b"\x04" + bytes(4), b"\x05" + bytes(8)]
    values += [b"\x06\x00\x02ab", b"\x08" + bytes(8), b"\x09" + bytes(16)]
    headers = b"".join(bytes([2]) + f"h{at}".encode() + value for at, value in enumerate(values))
    headers += bytes([11]) + b":event-type" + b"\x07" + struct.pack(">H", 4) + b"last"
    payload = b"{}"
    prelude = struct.pack(">II", len(headers) + len(payload) + 16, len(headers))
    message = prelude + struct.pack(">I", crc32(prelude)) + headers + payload
    message += struct.pack(">I", crc32(message))
    assert as_botocore_reads(message) == [("last", b"{}")]
    assert read_in([message]) == [("last", b"{}")]


def test_exceptions() -> None:
    parser = AmazonEventParser()
    (event,) = parser.feed(amazon_event("throttlingException", {"message": "Slow down."}, "exception"))
    assert event.event == "exception"
    assert loads(event.data) == {"error": {"code": "throttlingException", "message": "Slow down."}}


@pytest.mark.parametrize("payload", [{"bytes": "%%%"}, {"bytes": 3}])
def test_chunks_that_are_no_base64(payload: JsonObject) -> None:
    with pytest.raises(GarbledStream):
        AmazonChunkParser().feed(amazon_event("chunk", payload))
