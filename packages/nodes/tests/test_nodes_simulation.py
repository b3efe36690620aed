"""Random schedules of faults against the real code of nodes, in virtual time."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from benchmarks.nodes.simulation.old_faults import OLD_FAULTS, OldFault
from benchmarks.nodes.simulation.schedule import LENGTHS, Simulation

SCHEDULES = 20


@pytest.fixture
def simulation() -> Iterator[Simulation]:
    with closing(Simulation()) as made:
        yield made


@pytest.mark.parametrize("length", LENGTHS)
def test_nothing_is_lost_doubled_or_left_behind(simulation: Simulation, length: str) -> None:
    count = SCHEDULES if length == "short" else SCHEDULES // 4
    outcomes = list(simulation.run(range(1, count + 1), length=length))
    assert [(outcome.seed, outcome.violations) for outcome in outcomes if outcome.violations] == []
    assert sum(outcome.events for outcome in outcomes) > count
    assert len({fault.split()[0] for outcome in outcomes for fault in outcome.faults}) > 3


def test_a_seed_repeats_its_schedule(simulation: Simulation) -> None:
    first, second = simulation.run([3, 3])
    assert (first.digest, first.faults, first.events) == (second.digest, second.faults, second.events)


@pytest.mark.parametrize("fault", OLD_FAULTS, ids=lambda fault: fault.name)
def test_an_old_fault_is_found(simulation: Simulation, fault: OldFault) -> None:
    assert fault.find(simulation, range(1, 400), fault.causes) is not None
