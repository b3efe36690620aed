"""Two servers on a PostgreSQL whose disk is full for a while: nothing is shown that is not stored, and all goes on when
there is room."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from full_database import no_room
from heald.core.envelope import Event
from heald.core.events import ExchangeResponse
from heald_check import check_log
from heald_nodes.postgres.store import PostgresStore
from nodes_parts import ModelThread, Node, follow
from postgres_small_disk import SmallDiskServer, running_on_small_disk


@pytest.fixture
def database() -> Iterator[SmallDiskServer]:
    with running_on_small_disk() as server:
        yield server


@pytest.fixture
def nodes(tmp_path: Path, database: SmallDiskServer) -> Iterator[list[Node]]:
    model = ModelThread()
    nodes = [Node(name, database.url, tmp_path, model.url).start() for name in ("one", "two")]
    for node in nodes:
        node.wait_ready()
    yield nodes
    for node in nodes:
        node.kill()
    model.close()


async def test_a_full_disk_interrupts_an_exchange_until_there_is_room(
    nodes: list[Node], database: SmallDiskServer
) -> None:
    seen: list[Event] = []
    async with nodes[0].client() as client, nodes[1].client() as other:
        session, refused = await client.create(), await client.create()
        await client.send(session, "Long 1500")
        reading = asyncio.create_task(follow(nodes[::-1], session, "exchange_response", seen))
        await other.until(session, "text_delta")
        await asyncio.to_thread(database.fill)
        body = {"text": "Hello " + os.urandom(200_000).hex()}
        async with client.http.post(f"/sessions/{refused}/messages", json=body) as answer:
            assert answer.status == 503, await answer.text()
            assert "has no room left; make room" in (await answer.json())["error"]["message"]
        async with asyncio.timeout(60):
            while f'"session":"{session}"' not in nodes[0].log():  # noqa: ASYNC110
                await asyncio.sleep(0.1)
        assert await client.status("/health") == 200
        store = PostgresStore(database.url)
        stored = (await store.info(session)).last_seq
        await store.close()
        assert seen[-1].seq <= stored
        await asyncio.to_thread(database.make_room)
        await reading
        assert [event.seq for event in seen] == list(range(1, len(seen) + 1))
        assert not check_log(seen)
        responses = [event.data for event in seen if isinstance(event.data, ExchangeResponse)]
        assert [response.status for response in responses] == ["completed"]
        await client.send(refused, "Hello")
        await client.until(refused, "exchange_response")
    for node in nodes:
        assert "Traceback" not in node.log()


async def test_a_node_that_starts_without_room_is_ready_when_there_is(
    nodes: list[Node], database: SmallDiskServer
) -> None:
    async with nodes[1].client() as client:
        session = await client.create()
        await client.send(session, "Hello")
        await client.until(session, "exchange_response")
        nodes[0].kill()
        async with no_room(database.url, "nodes"):
            nodes[0].start().wait_ready()
            async with nodes[0].client() as started:
                assert await started.status("/ready") == 503
                assert await started.log(session) == await client.log(session)
        async with nodes[0].client() as started, asyncio.timeout(60):
            while await started.status("/ready") != 200:  # noqa: ASYNC110
                await asyncio.sleep(0.1)
    assert "the node is not ready: The database has no room left" in nodes[0].log()
    assert "Traceback" not in nodes[0].log()
