"""Servers whose work is placed by a real Temporal: it survives kill -9 of a worker, and signals reach it."""

import asyncio
import signal
from collections.abc import Iterator, Sequence

import pytest

from heald.core.envelope import Event
from heald.core.errors import ConfigurationError
from heald.core.events import ExchangeResponse, SessionResumed
from heald_check import check_log
from heald_server.cluster.placement import open_placement
from heald_server.cluster.store_placement import StorePlacement
from nodes_parts import ModelThread, Node, follow
from temporal_server import running_temporal

temporalio = pytest.importorskip("temporalio", reason="temporalio is not installed: pip install 'heald[temporal]'")

from temporalio.client import Client  # noqa: E402

from heald_nodes.temporal_placement import workflow_id  # noqa: E402


class PlacedNodes:
    """Two servers on one database, and the Temporal that places their work."""

    def __init__(self, temporal: str, nodes: list[Node]) -> None:
        self.temporal = temporal
        self.nodes = nodes


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, module_schema: str) -> Iterator[PlacedNodes]:
    folder = tmp_path_factory.mktemp("placed")
    with running_temporal(folder) as temporal:
        model = ModelThread()
        placement = ("--placement", f"temporal://{temporal}/default/designs")
        loaded = "heald_nodes.temporal_placement"
        nodes = [Node(name, module_schema, folder, model.url, *placement, loaded=loaded) for name in ("one", "two")]
        try:
            for node in nodes:
                node.start()
            for node in nodes:
                node.wait_ready()
            yield PlacedNodes(temporal, nodes)
        finally:
            for node in nodes:
                node.kill()
            model.close()


@pytest.fixture
def placed(cluster: PlacedNodes) -> PlacedNodes:
    for node in cluster.nodes:
        if not node.is_running:
            node.start().wait_ready()
    return cluster


def _check(events: Sequence[Event], status: str = "completed") -> list[SessionResumed]:
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert not check_log(events)
    (response,) = [event.data for event in events if isinstance(event.data, ExchangeResponse)]
    assert response.status == status, response.error
    return [event.data for event in events if isinstance(event.data, SessionResumed)]


async def test_a_request_is_an_activity_and_its_workflow_ends_with_it(placed: PlacedNodes) -> None:
    async with placed.nodes[0].client() as client:
        session = await client.create()
        sent = await client.send(session, "Word")
        assert sent["state"] == "queued"
        seen: list[Event] = []
        await follow(placed.nodes, session, "exchange_response", seen)
        _check(seen)
        temporal = await Client.connect(placed.temporal)
        handle = temporal.get_workflow_handle(workflow_id(session))
        async with asyncio.timeout(120):
            await handle.result()
        assert (await handle.describe()).task_queue == "designs"
        await client.send(session, "Word")  # a later request starts it anew
        await client.wait_idle(session)
        log = await client.log(session)
        assert not check_log(log)
        assert sum(event.type == "exchange_response" for event in log) == 2


@pytest.mark.parametrize("request_text", ["Long 130", "Run sleep 4; echo done"])
async def test_the_work_of_a_killed_worker_goes_on_elsewhere(placed: PlacedNodes, request_text: str) -> None:
    async with placed.nodes[0].client() as client:
        session = await client.create(workspace="site")
        await client.send(session, request_text)
        seen = await client.until(session, "text_delta" if request_text.startswith("Long") else "tool_executing")
    (resumed,) = [event.data for event in seen if isinstance(event.data, SessionResumed)]
    victim = next(node for node in placed.nodes if resumed.node.startswith(node.name))
    (other,) = [node for node in placed.nodes if node is not victim]
    victim.kill()
    await follow([other], session, "exchange_response", seen)
    assert _check(seen)[-1].node.startswith(other.name)


async def test_a_worker_that_is_stopped_hands_its_work_over(placed: PlacedNodes) -> None:
    async with placed.nodes[0].client() as client:
        session = await client.create()
        await client.send(session, "Long 400")
        seen = await client.until(session, "text_delta")
    (resumed,) = [event.data for event in seen if isinstance(event.data, SessionResumed)]
    stopped = next(node for node in placed.nodes if resumed.node.startswith(node.name))
    (other,) = [node for node in placed.nodes if node is not stopped]
    stopped.signal(signal.SIGTERM)
    assert await asyncio.to_thread(stopped.wait) in (0, -signal.SIGTERM)
    await follow([other], session, "exchange_response", seen)
    resumed = _check(seen)[-1]
    assert resumed.node.startswith(other.name)
    assert not resumed.crashed


async def test_signals_approve_and_cancel(placed: PlacedNodes) -> None:
    temporal = await Client.connect(placed.temporal)
    async with placed.nodes[0].client() as client:
        approved = await client.create(permissions="ask")
        await client.send(approved, "Run echo approved")
        await client.until(approved, "approval_requested")
        (approval,) = (await client.request("GET", f"/sessions/{approved}/pending"))["approvals"]
        handle = temporal.get_workflow_handle(workflow_id(approved))
        await handle.signal("decide", args=[approval["approval"], "approve"])
        _check(await client.until(approved, "exchange_response"))
        cancelled = await client.create()
        await client.send(cancelled, "Long 6000")
        await client.until(cancelled, "text_delta")
        await temporal.get_workflow_handle(workflow_id(cancelled)).signal("cancel", "Enough.")
        _check(await client.until(cancelled, "exchange_response"), "cancelled")


def test_placements_by_name() -> None:
    assert isinstance(open_placement("store"), StorePlacement)
    assert isinstance(open_placement("heald_server.cluster.store_placement:StorePlacement"), StorePlacement)
    for wrong in ("celery", "temporal://", "no_such_module:Placement", "redis://host/0"):
        with pytest.raises(ConfigurationError):
            open_placement(wrong)
