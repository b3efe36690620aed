"""Two servers whose sessions are divided between two PostgreSQL databases."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from heald.core.envelope import Event
from heald.core.events import ExchangeResponse
from heald_check import check_log
from nodes_parts import ModelThread, Node, follow
from postgres_server import PostgresServer, running_postgres

SESSIONS = 8


@pytest.fixture(scope="module")
def databases() -> Iterator[list[PostgresServer]]:
    with running_postgres() as first, running_postgres() as second:
        yield [first, second]


@pytest.fixture
def nodes(tmp_path: Path, databases: list[PostgresServer]) -> Iterator[list[Node]]:
    model = ModelThread()
    store = ",".join(database.url for database in databases)
    nodes = [Node(name, store, tmp_path, model.url).start() for name in ("one", "two")]
    for node in nodes:
        node.wait_ready()
    yield nodes
    for node in nodes:
        node.kill()
    model.close()


async def test_agents_of_both_databases_survive_a_node_and_a_database(
    nodes: list[Node], databases: list[PostgresServer]
) -> None:
    logs: list[list[Event]] = []
    reading: list[asyncio.Task[None]] = []
    sessions: list[str] = []
    for number in range(SESSIONS):
        async with nodes[number % 2].client() as client:
            session = await client.create()
            sessions.append(session)
            logs.append([])
            reading.append(asyncio.create_task(follow(nodes[::-1], session, "exchange_response", logs[-1])))
            await client.send(session, "Long 150")
            await client.until(session, "text_delta")
    nodes[0].kill()
    await asyncio.to_thread(databases[1].stop, kill=True)
    await asyncio.to_thread(databases[1].start)
    await asyncio.gather(*reading)
    for log in logs:
        assert [event.seq for event in log] == list(range(1, len(log) + 1))
        assert not check_log(log)
        responses = [event.data for event in log if isinstance(event.data, ExchangeResponse)]
        assert [response.status for response in responses] == ["completed"]
    async with nodes[1].client() as client:
        listed = (await client.request("GET", "/sessions"))["sessions"]
        assert {info["id"] for info in listed} == set(sessions)
        for session in sessions:
            await client.request("DELETE", f"/sessions/{session}")
        assert (await client.request("GET", "/sessions"))["sessions"] == []
    assert "Traceback" not in nodes[1].log()
