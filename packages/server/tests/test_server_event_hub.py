"""The memory of watched sessions: what everybody has read is dropped, and all sessions together have a limit."""

from pathlib import Path

import pytest

from heald.agent.model_chain import ModelLike
from heald.core.envelope import Event, new_event
from heald.core.events import TextDelta
from heald_server.streams import event_hub
from heald_server.streams.event_hub import BATCH_EVENTS, EventHub, HubMemory, HubReader
from serving_parts import S, served


def _event(seq: int, text: str = "word ") -> Event:
    delta = TextDelta(0, "block", text)
    return new_event(seq, f"e{seq}", "ses_a", "ex", delta.type, delta.layer, 0.0, 1, delta)


def _read_all(hub: EventHub, reader: HubReader) -> list[int]:
    """The seqs of all events that are there for a reader."""
    seqs: list[int] = []
    while entries := hub.read(reader):
        seqs += [entry.event.seq for entry in entries]
    return seqs


async def test_events_that_everybody_has_read_are_dropped() -> None:
    memory = HubMemory()
    hub = EventHub("ses_a", memory)
    first, second = hub.subscribe(), hub.subscribe()
    seen: list[int] = []
    for seq in range(1, 2001):
        hub.add(_event(seq))
        seen += _read_all(hub, first)
        if seq % 50 == 0:
            _read_all(hub, second)
        assert hub.end - hub.first <= 2 * 64 + 50
    assert seen == list(range(1, 2001))
    assert memory.used < 200_000
    hub.unsubscribe(first)
    hub.unsubscribe(second)
    assert (memory.used, hub.kept, memory.hubs) == (0, 0, set())


async def test_a_reader_that_is_behind_gets_batches_and_then_the_store() -> None:
    hub = EventHub("ses_a")
    behind, there = hub.subscribe(), hub.subscribe()
    for seq in range(1, 1001):
        hub.add(_event(seq))
        _read_all(hub, there)
    first = hub.read(behind)
    assert first is not None
    assert [entry.event.seq for entry in first] == list(range(1, BATCH_EVENTS + 1))
    for seq in range(1001, event_hub.KEPT_EVENTS + 1000):
        hub.add(_event(seq))
    assert hub.read(behind) is None  # the store has what was dropped
    assert hub.end - hub.first == event_hub.KEPT_EVENTS


async def test_the_largest_session_makes_room() -> None:
    memory = HubMemory(limit=1_000_000)
    large, small = EventHub("ses_a", memory), EventHub("ses_b", memory)
    slow, reader = large.subscribe(), small.subscribe()
    small.add(_event(1))
    for seq in range(1, 3000):
        large.add(_event(seq, "x" * 1000))
        assert memory.used <= 1_000_000
    assert memory.used == large.kept + small.kept
    assert large.read(slow) is None
    assert _read_all(small, reader) == [1]


async def test_invalidating_sends_everybody_to_the_store() -> None:
    hub = EventHub("ses_a")
    reader = hub.subscribe()
    hub.add(_event(1))
    assert _read_all(hub, reader) == [1]
    hub.invalidate()
    assert hub.read(reader) is None


async def test_a_limit_that_is_reached_loses_no_event(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With room for ten events in the whole server, each reader still gets all of them, once."""
    monkeypatch.setattr(event_hub, "SERVER_BYTES", 15_000)
    monkeypatch.setattr(HubMemory.__init__, "__defaults__", (15_000,))

    def talks() -> ModelLike:
        return S(["word " * 400], piece=5)

    async with served(tmp_path, talks) as server:
        session = await server.session()
        async with server.client.get(f"/sessions/{session}/events") as stream:
            accepted = await server.send(session, "Go.")
            await server.ended(session, accepted["exchange"])
            seqs: list[int] = []
            async for line in stream.content:
                if line.startswith(b"id: "):
                    seqs.append(int(line[4:]))
                if b'"exchange_response"' in line:
                    break
        assert seqs == list(range(1, len(seqs) + 1))
        assert len(seqs) > 400
