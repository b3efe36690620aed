"""Limits over two servers on one PostgreSQL: they are exact, however many requests come at once."""

import asyncio
from collections.abc import Iterator, Sequence

import pytest

from nodes_parts import ModelThread, Node, NodeClient

LIMIT = 4


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory, module_schema: str) -> Iterator[list[Node]]:
    folder = tmp_path_factory.mktemp("limits")
    model = ModelThread()
    nodes = [
        Node(name, module_schema, folder, model.url, "--max-exchanges", str(LIMIT)).start() for name in ("one", "two")
    ]
    for node in nodes:
        node.wait_ready()
    yield nodes
    for node in nodes:
        node.kill()
    model.close()


async def _submit(client: NodeClient, session: str) -> int:
    async with client.http.post(f"/sessions/{session}/messages", json={"text": "Long 3000"}) as answer:
        return answer.status


async def _start_all(clients: Sequence[NodeClient], sessions: Sequence[str]) -> list[str]:
    """Send a message to every session at once, to all nodes. Returns the sessions that accepted it."""
    asked = [_submit(clients[number % len(clients)], session) for number, session in enumerate(sessions)]
    statuses = await asyncio.gather(*asked)
    assert set(statuses) <= {200, 201, 202, 429}, statuses
    return [session for session, status in zip(sessions, statuses, strict=True) if status != 429]


async def test_exchanges_at_once_are_limited_over_all_nodes(nodes: list[Node]) -> None:
    async with nodes[0].client() as first, nodes[1].client() as second:
        sessions = [await first.create() for _ in range(6 * LIMIT)]
        for _ in range(2):
            accepted = await _start_all([first, second], sessions)
            assert len(accepted) == LIMIT
            assert await _start_all([second, first], [name for name in sessions if name not in accepted]) == []
            for session in accepted:
                assert await second.request("POST", f"/sessions/{session}/cancel") == {"cancelled": True}
                await first.wait_idle(session)
