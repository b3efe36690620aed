"""Builds decoders of types, one at a time.

While msgspec 0.22 builds the first decoder of a struct, another thread that decodes the struct reads what is not there
yet, and the process ends with a segmentation fault. A decoder from here is complete, and so are the structs in it.
"""

from threading import Lock
from typing import TypeVar

import msgspec

T = TypeVar("T")

_building = Lock()


def build_decoder(kind: type[T]) -> "msgspec.json.Decoder[T]":
    with _building:
        return msgspec.json.Decoder(kind)
