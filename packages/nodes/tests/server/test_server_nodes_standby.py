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


@pytest.mark.parametrize("frozen", [False, True], ids=["crashed", "silent"])
async def test_the_standby_takes_over_while_agents_stream(nodes: list[Node], pair: StandbyPair, frozen: bool) -> None:
    logs: list[list[Event]] = []
    reading: list[asyncio.Task[None]] = []
    for number in range(SESSIONS):
        holder = nodes[number % len(nodes)]
        async with holder.client() as client:
            session = await client.create()
            logs.append([])
            others = [node for node in nodes if node is not holder]
            reading.append(asyncio.create_task(follow(others, session, "exchange_response", logs[-1])))
            await client.send(session, "Long 150")
            await client.until(session, "text_delta")
    await asyncio.to_thread(pair.take_over, frozen=frozen)
    await asyncio.gather(*reading)
    for log in logs:
        assert [event.seq for event in log] == list(range(1, len(log) + 1))
        assert not check_log(log)
        responses = [event.data for event in log if isinstance(event.data, ExchangeResponse)]
        assert [response.status for response in responses] == ["completed"]
    for node in nodes:
        assert "Traceback" not in node.log()


@pytest.mark.parametrize("pair", [False], indirect=True, ids=["asynchronous"])
async def test_a_standby_that_lacks_events_continues_from_its_log(nodes: list[Node], pair: StandbyPair) -> None:
    async with nodes[0].client() as client:
        session = await client.create()
        await client.send(session, "Long 150")
        replicated = await client.until(session, "text_delta")
        pair.standby.stop()
        lost = await client.until(session, "text_delta", after=replicated[-1].seq + 10)
    pair.primary.stop(kill=True)
    pair.standby.start()
    pair.standby.promote()
    log: list[Event] = []
    await follow(nodes[1:], session, "exchange_response", log)
    assert [event.seq for event in log] == list(range(1, len(log) + 1))
    assert not check_log(log)
    assert [event.data.status for event in log if isinstance(event.data, ExchangeResponse)] == ["completed"]
    assert {event.id for event in lost} - {event.id for event in log}
    for node in nodes:
        async with node.client() as client:
            assert await client.log(session) == log
