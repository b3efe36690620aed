"""Joins the deltas of one block that came in one read.

Each event has its price. Where streams are read together, or a read brings a flood, nobody could see the deltas one by
one, so they are one event. Otherwise each delta of a provider stays an event of its own."""

from collections.abc import Sequence
from typing import Any, cast

from weft.core.events import InputJsonDelta, TextDelta, ThinkingDelta
from weft.core.payload import Payload
from weft.wires.writer import MAX_DELTA

_FIELDS: dict[type[Payload], str] = {TextDelta: "text", ThinkingDelta: "text", InputJsonDelta: "partial_json"}


def join_deltas(payloads: Sequence[Payload]) -> Sequence[Payload]:
    """Join neighbours that are deltas of one block, up to the size of one delta. Other payloads keep their place."""
    if len(payloads) < 2:
        return payloads
    joined: list[Payload] = []
    texts: list[str] = []
    first: Any = None
    kind: type[Payload] | None = None
    size = 0
    for payload in payloads:
        own = type(payload)
        field = _FIELDS.get(own)
        if field is None:
            if texts:
                joined.append(_join(first, texts))
                texts = []
            kind = None
            joined.append(payload)
            continue
        delta = cast("Any", payload)
        text: str = getattr(delta, field)
        if own is kind and delta.block == first.block and size + len(text) <= MAX_DELTA:
            texts.append(text)
            size += len(text)
            continue
        if texts:
            joined.append(_join(first, texts))
        first, kind, texts, size = delta, own, [text], len(text)
    if texts:
        joined.append(_join(first, texts))
    return joined


def _join(first: Any, texts: list[str]) -> Payload:
    return first if len(texts) == 1 else type(first)(first.index, first.block, "".join(texts))
