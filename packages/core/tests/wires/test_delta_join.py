"""Deltas of one block that came in one read become one; everything else keeps its place."""

import pytest

from heald.core.events import InputJsonDelta, TextContentBlockStop, TextDelta, ThinkingDelta
from heald.core.payload import Payload
from heald.wires.delta_join import join_deltas
from heald.wires.writer import MAX_DELTA


@pytest.mark.parametrize("kind", [TextDelta, ThinkingDelta, InputJsonDelta])
def test_neighbours_of_one_block_become_one(kind: type[TextDelta]) -> None:
    assert join_deltas([kind(0, "m.0", part) for part in ("Hel", "", "lo")]) == [kind(0, "m.0", "Hello")]


def test_another_block_another_kind_and_other_payloads_separate() -> None:
    stop = TextContentBlockStop(0, "m.0")
    payloads: list[Payload] = [
        TextDelta(0, "m.0", "a"),
        TextDelta(0, "m.0", "b"),
        stop,
        TextDelta(0, "m.0", "c"),
        TextDelta(1, "m.1", "d"),
        ThinkingDelta(1, "m.1", "e"),
        ThinkingDelta(1, "m.1", "f"),
    ]
    assert join_deltas(payloads) == [
        TextDelta(0, "m.0", "ab"),
        stop,
        TextDelta(0, "m.0", "c"),
        TextDelta(1, "m.1", "d"),
        ThinkingDelta(1, "m.1", "ef"),
    ]


def test_one_payload_stays_as_it_is() -> None:
    alone: list[Payload] = [TextDelta(0, "m.0", "a")]
    assert join_deltas(alone) is alone
    assert join_deltas([]) == []


def test_a_joined_delta_is_not_larger_than_one_may_be() -> None:
    parts = [TextDelta(0, "m.0", "x" * (MAX_DELTA // 3)) for _ in range(7)]
    joined = join_deltas([*parts])
    texts = [delta.text for delta in joined if isinstance(delta, TextDelta)]
    assert [len(text) for text in texts] == [MAX_DELTA, MAX_DELTA, 7 * (MAX_DELTA // 3) - 2 * MAX_DELTA]
    assert "".join(texts) == "".join(part.text for part in parts)
