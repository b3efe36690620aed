"""Three servers on a PostgreSQL whose standby takes over while agents stream.

Many streams of it: `python -m benchmarks.nodes.local --database standby`.
"""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from heald.core.envelope import Event
from heald.core.events import ExchangeResponse
from heald_check import check_log
from heald_nodes.postgres.address import PostgresAddress
from heald_nodes.postgres.schema import NOW, SERVING_SINCE
from nodes_parts import ModelThread, Node, follow
from postgres_standby import StandbyPair, running_pair

SESSIONS = 6


@pytest.fixture(scope="module")
def model() -> Iterator[ModelThread]:
    model = ModelThread()
    yield model
    model.close()


@pytest.fixture
def pair(request: pytest.FixtureRequest) -> Iterator[StandbyPair]:
    with running_pair(synchronous=getattr(request, "param", True)) as pair:
        yield pair


@pytest.fixture
def nodes(tmp_path: Path, pair: StandbyPair, model: ModelThread) -> Iterator[list[Node]]:
    nodes = [Node(name, pair.url, tmp_path, model.url).start() for name in ("one", "two", "three")]
    for node in nodes:
        node.wait_ready()
    yield nodes
    for node in nodes:
        node.kill()


async def read_clock(pair: StandbyPair, clock: str) -> float:
    """Read a time of the database that accepts writes."""
    connection = await PostgresAddress(pair.url).connect()
    try:
        return await connection.fetchval(f"SELECT {clock}")
    finally:
        await connection.close()


@pytest.mark.parametrize("frozen", [False, True], ids=["crashed", "silent"])
async def test_the_standby_takes_over_while_agents_stream(nodes: list[Node], pair: StandbyPair, frozen: bool) -> None:
    began = await read_clock(pair, NOW)
    logs: dict[str, list[Event]] = {}
    reading: list[asyncio.Task[None]] = []
    for number in range(SESSIONS):
        holder = nodes[number % len(nodes)]
        async with holder.client() as client:
            session = await client.create()
            logs[session] = []
            others = [node for node in nodes if node is not holder]
            reading.append(asyncio.create_task(follow(others, session, "exchange_response", logs[session])))
            await client.send(session, "Long 150")
            await client.until(session, "text_delta")
    await asyncio.to_thread(pair.take_over, frozen=frozen)
    assert await read_clock(pair, SERVING_SINCE) > began  # the takeover, not the start of the standby
    await asyncio.gather(*reading)
    for log in logs.values():
        assert [event.seq for event in log] == list(range(1, len(log) + 1))
        assert not check_log(log)
        responses = [event.data for event in log if isinstance(event.data, ExchangeResponse)]
        assert [response.status for response in responses] == ["completed"]
    for node in nodes:
        assert "Traceback" not in node.log()
        async with node.client() as client:
            for session, log in logs.items():  # what a reader saw before the crash is what is stored after it
                assert (await client.log(session))[: len(log)] == log


@pytest.mark.parametrize("pair", [False], indirect=True, ids=["asynchronous"])
async def test_a_standby_that_lacks_events_continues_from_its_log(nodes: list[Node], pair: StandbyPair) -> None:
    async with nodes[0].client() as client:
        session = await client.create()
        await client.send(session, "Long 250")
        await client.until(session, "text_delta")
        pair.standby.stop(kill=True)
        seen = await client.log(session)
        lost = await client.until(session, "text_delta", after=seen[-1].seq)
    pair.primary.stop(kill=True)
    pair.standby.start()
    pair.standby.promote()
    log: list[Event] = []
    await follow(nodes[1:], session, "exchange_response", log)
    assert [event.seq for event in log] == list(range(1, len(log) + 1))
    assert not check_log(log)
    assert [event.data.status for event in log if isinstance(event.data, ExchangeResponse)] == ["completed"]
    names = {event.id for event in log}
    assert names.isdisjoint(event.id for event in lost)
    replicated = [event for event in seen if event.id in names]
    assert log[: len(replicated)] == seen[: len(replicated)] == replicated
    for node in nodes:
        async with node.client() as client:
            assert await client.log(session) == log
