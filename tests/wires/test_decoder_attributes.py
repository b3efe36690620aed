"""Decoders stay small: beyond thirty attributes of its own, every access to an attribute of an instance is slower."""

import pytest

from weft.testing.streams import wire_stream
from weft.wires.registry import WIRES

MOST = 30
"""The number of keys that the instances of a class share in CPython."""


@pytest.mark.parametrize("wire", list(WIRES))
def test_a_decoder_has_few_attributes(wire: str) -> None:
    decoder = WIRES[wire].decoder("msg_1", model="m")
    decoder.open()
    decoder.feed(b"".join(wire_stream(wire, text=["Hel", "lo"], thinking="Hm.")))
    assert len(vars(decoder)) <= MOST
