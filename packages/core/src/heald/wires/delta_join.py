"""Joins the deltas of one block that came in one read.

Every event costs time. Where streams are read together, or one read brings many deltas, no reader could see them one
by one, so they become one event. Otherwise each delta of a provider is an event.
"""

from typing import Any

from heald.core.events import InputJsonDelta, TextDelta, ThinkingDelta
from heald.core.payload import Payload
from heald.wires.writer import MAX_DELTA, split_delta

_FIELDS: dict[type[Payload], str] = {TextDelta: "text", ThinkingDelta: "text", InputJsonDelta: "partial_json"}


def join_deltas(payloads: list[Payload]) -> list[Payload]:
    """Join neighbours that are deltas of one block, up to the size of one delta. Other payloads keep their place."""
    if len(payloads) < 2:
        return payloads
    joined: list[Payload] = []
    texts: list[str] = []
    first: Any = None  # the delta that `texts` begins with
    kind: type[Payload] | None = None
    block = field = ""
    for payload in payloads:
        delta: Any = payload
        if type(delta) is kind and delta.block == block:  # pyrefly: ignore[missing-attribute]
            texts.append(getattr(delta, field))
            continue
        if texts:
            joined += _join(first, texts)
            texts = []
        kind = type(payload)
        field = _FIELDS.get(kind, "")
        if field:
            first, block, texts = delta, delta.block, [getattr(delta, field)]
        else:
            kind = None
            joined.append(payload)
    if texts:
        joined += _join(first, texts)
    return joined


def _join(first: Any, texts: list[str]) -> list[Payload]:
    """Make as few deltas of these texts as their largest size allows."""
    if len(texts) == 1:
        return [first]
    whole = "".join(texts)
    if len(whole) <= MAX_DELTA:
        return [type(first)(first.index, first.block, whole)]
    return [type(first)(first.index, first.block, piece) for piece in split_delta(whole)]
