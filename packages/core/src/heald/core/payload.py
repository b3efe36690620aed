"""The base classes of all event payloads."""

from typing import ClassVar, Literal

import msgspec

Layer = Literal["stream", "state", "message", "exchange"]


class Payload(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A payload: an event without its position in a log. Subclasses set `type` and `layer`.

    A frozen struct is never part of a reference cycle, so the garbage collector need not track it.
    """

    type: ClassVar[str]
    layer: ClassVar[Layer]


class StreamPayload(Payload, frozen=True):
    """Increments while a model writes and tools run."""

    layer = "stream"
