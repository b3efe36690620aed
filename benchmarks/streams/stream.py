"""One response as server-sent events, and how an event is written."""

import random
from dataclasses import dataclass
from typing import Any

import orjson

Json = dict[str, Any]

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_PADDING = "".join(random.Random(7).choices(_LETTERS, k=16))


@dataclass(frozen=True)
class Stream:
    """The events before the deltas, the deltas, and the events after them; only the deltas are paced."""

    opening: tuple[bytes, ...]
    deltas: tuple[bytes, ...]
    closing: tuple[bytes, ...]

    @property
    def events(self) -> tuple[bytes, ...]:
        return self.opening + self.deltas + self.closing


def data(payload: object, line_end: bytes = b"\n") -> bytes:
    """An event without a name."""
    return b"data: %b%b%b" % (orjson.dumps(payload), line_end, line_end)


def named(payload: Json) -> bytes:
    """An event named after the payload's type, as OpenAI Responses and Anthropic Messages send it."""
    return b"event: %b\ndata: %b\n\n" % (str(payload["type"]).encode(), orjson.dumps(payload))


def obfuscation(delta: str) -> str:
    """The filler that OpenAI adds so that the length of an event does not betray the length of its delta."""
    return _PADDING[: max(0, 16 - len(delta))]
