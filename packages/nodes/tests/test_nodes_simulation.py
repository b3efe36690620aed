"""Random schedules of faults against the real code of nodes, in virtual time."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from benchmarks.nodes.simulation.schedule import Simulation

from heald_nodes.postgres.store import PostgresStore
from heald_server.cluster import node
from heald_server.streams.event_stream import EventStream

SCHEDULES = 20


@pytest.fixture
def simulation() -> Iterator[Simulation]:
    with closing(Simulation()) as made:
        yield made


def test_nothing_is_lost_doubled_or_left_behind(simulation: Simulation) -> None:
    outcomes = list(simulation.run(range(1, SCHEDULES + 1)))
    assert [(outcome.seed, outcome.violations) for outcome in outcomes if outcome.violations] == []
    assert sum(outcome.events for outcome in outcomes) > SCHEDULES
    assert len({fault.split()[0] for outcome in outcomes for fault in outcome.faults}) > 5


def test_a_seed_repeats_its_schedule(simulation: Simulation) -> None:
    first, second = simulation.run([3, 3])
    assert (first.digest, first.faults, first.events) == (second.digest, second.faults, second.events)


def test_a_limit_that_is_only_counted_is_found(simulation: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    async def count(store: PostgresStore, session: str, owner: str, *, limit: int) -> int:
        return await store.count_running(owner)

    monkeypatch.setattr(PostgresStore, "admit_work", count)
    assert "exchanges run where" in _first_violation(simulation)


def test_a_reader_that_only_news_wake_is_found(simulation: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    async def believe(stream: EventStream, seconds: float) -> bool:
        return False

    monkeypatch.setattr(EventStream, "_is_behind", believe)
    monkeypatch.setattr(node, "EVENTS_SECONDS", 10_000.0)
    assert "stands still" in _first_violation(simulation)


def _first_violation(simulation: Simulation) -> str:
    outcomes = simulation.run(range(1, 200))
    return next(violation for outcome in outcomes for violation in outcome.violations)
