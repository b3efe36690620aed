"""Three servers on a PostgreSQL that stalls and restarts: nobody dies, so every node goes on with what it has.

Many rounds of it: `python -m benchmarks.nodes.rounds`.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import asynccontextmanager

import pytest

from heald.core.envelope import Event
from heald.core.events import ExchangeResponse
from heald_check import check_log
from nodes_parts import ModelThread, Node, follow
from postgres_server import PostgresServer, running_postgres

SESSIONS = 6


@pytest.fixture(scope="module")
def database() -> Iterator[PostgresServer]:
    with running_postgres() as server:
        yield server


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory, database: PostgresServer) -> Iterator[list[Node]]:
    folder = tmp_path_factory.mktemp("stall")
    model = ModelThread()
    nodes = [Node(name, database.url, folder, model.url) for name in ("one", "two", "three")]
    for node in nodes:
        node.start()
    for node in nodes:
        node.wait_ready()
    yield nodes
    for node in nodes:
        node.kill()
    model.close()


@asynccontextmanager
async def streaming(nodes: Sequence[Node], request_text: str) -> AsyncGenerator[list[list[Event]]]:
    """Have sessions of all nodes at work during the block, and wait for their ends after it. Yields what readers on
    other nodes get."""
    logs: list[list[Event]] = []
    reading: list[asyncio.Task[None]] = []
    for number in range(SESSIONS):
        holder = nodes[number % len(nodes)]
        readers = [node for node in nodes if node is not holder]
        async with holder.client() as client:
            session = await client.create()
            logs.append([])
            reading.append(asyncio.create_task(follow(readers, session, "exchange_response", logs[-1])))
            await client.send(session, request_text)
            await client.until(session, "text_delta")
    yield logs
    await asyncio.gather(*reading)
    for log in logs:
        assert [event.seq for event in log] == list(range(1, len(log) + 1))
        assert not check_log(log)
        responses = [event.data for event in log if isinstance(event.data, ExchangeResponse)]
        assert [response.status for response in responses] == ["completed"]


async def test_a_stall_of_the_database_moves_no_session(nodes: list[Node], database: PostgresServer) -> None:
    async with streaming(nodes, "Long 150") as logs:
        database.freeze()
        try:
            await asyncio.sleep(4.0)
        finally:
            database.thaw()
    assert not [event for log in logs for event in log if event.type == "session_resumed"]


async def test_after_a_restart_of_the_database_every_task_of_every_node_runs(
    nodes: list[Node], database: PostgresServer
) -> None:
    for kill in (False, True):
        async with streaming(nodes, "Long 60"):
            await asyncio.to_thread(database.stop, kill=kill)
            await asyncio.to_thread(database.start)
    for node in nodes:
        async with node.client() as client:
            async with asyncio.timeout(60):
                while await client.status("/ready") != 200:  # noqa: ASYNC110
                    await asyncio.sleep(0.2)
            tasks = (await client.request("GET", "/health"))["tasks"]
            assert set(tasks) == {"heartbeat", "claims", "commands", "events"}
            assert all(age < 45 for age in tasks.values())
        assert "Traceback" not in node.log()
