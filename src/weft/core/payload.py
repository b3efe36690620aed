"""The base of all payloads: what an event says, without its place in a log."""

from typing import ClassVar, Literal

import msgspec

Layer = Literal["stream", "state", "message", "exchange"]


class Payload(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A fact. Subclasses name their `type` and `layer` once.

    A frozen struct is built from what is there before it, so it is in no cycle and the collector need not look at it.
    """

    type: ClassVar[str]
    layer: ClassVar[Layer]


class StreamPayload(Payload, frozen=True):
    """Increments while a model writes and tools run."""

    layer = "stream"
