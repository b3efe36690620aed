"""Random schedules of faults against the real code of nodes, in virtual time."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from functools import partial

import pytest
from benchmarks.nodes.simulation.database import SimulatedDatabase
from benchmarks.nodes.simulation.driver import SimulatedDriver
from benchmarks.nodes.simulation.old_faults import OLD_FAULTS, OldFault
from benchmarks.nodes.simulation.schedule import LENGTHS, Simulation

SCHEDULES = 20


@pytest.fixture
def simulation() -> Iterator[Simulation]:
    with closing(Simulation()) as made:
        yield made


@pytest.mark.parametrize("length", LENGTHS)
def test_nothing_is_lost_doubled_or_left_behind(simulation: Simulation, length: str) -> None:
    count = SCHEDULES if length == "short" else SCHEDULES // 2
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


def test_an_abandoned_wait_for_a_connection_keeps_its_place_free() -> None:
    """A pool of one connection: whoever is cancelled while it waits, or just when it gets its place, frees it."""

    async def use_pool() -> None:
        clock = asyncio.get_running_loop().time
        driver = SimulatedDriver(SimulatedDatabase(clock))
        pool = await driver.create_pool(
            connect=partial(driver.connect, "postgresql://one@simulated/heald"), max_size=1, command_timeout=30.0
        )
        first = await pool.take()
        waiting, woken, last = [asyncio.create_task(pool.take()) for _ in range(3)]
        await asyncio.sleep(0)
        waiting.cancel()
        pool.put_back(first)
        woken.cancel()
        async with asyncio.timeout(60):
            assert await last is first
        assert (waiting.cancelled(), woken.cancelled()) == (True, True)

    asyncio.run(use_pool())
