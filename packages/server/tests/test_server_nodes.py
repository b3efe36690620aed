"""Several servers on one PostgreSQL: any node serves any session, and the work of a dead node goes on."""

import asyncio
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from heald.core.envelope import Event
from heald.core.events import ExchangeResponse, QuestionAsked
from heald_check import check_log
from nodes_parts import ModelThread, Node, NodeClient, follow


@pytest.fixture(scope="module")
def model() -> Iterator[ModelThread]:
    thread = ModelThread()
    yield thread
    thread.close()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, model: ModelThread, module_schema: str) -> Iterator[list[Node]]:
    folder = tmp_path_factory.mktemp("nodes")
    nodes = [Node(name, module_schema, folder, model.url) for name in ("one", "two", "three")]
    for node in nodes:
        node.start()
    for node in nodes:
        node.wait_ready()
    yield nodes
    for node in nodes:
        node.kill()


@pytest.fixture
def nodes(cluster: list[Node]) -> list[Node]:
    """The cluster, with all nodes running."""
    for node in cluster:
        if not node.is_running:
            node.start().wait_ready()
    return cluster


def check_events(events: Sequence[Event], status: str = "completed") -> None:
    """Nothing is lost or doubled, the log keeps its promises, and its exchanges have ended well."""
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert not check_log(events)
    responses = [event.data for event in events if isinstance(event.data, ExchangeResponse)]
    assert responses
    assert {response.status for response in responses} == {status}, [response.error for response in responses]


async def test_a_stream_on_another_node_is_live_and_whole(nodes: list[Node]) -> None:
    first, second, _ = nodes
    async with first.client() as here, second.client() as there:
        session = await here.create()
        reading = asyncio.create_task(there.until(session, "exchange_response"))
        await here.send(session, "Long 20")
        seen = await reading
        assert seen == await here.log(session)
        check_events(seen)


async def test_readers_of_another_node_share_one_read(nodes: list[Node]) -> None:
    first, second, _ = nodes
    async with first.client() as here, second.client() as there:
        session = await here.create()
        reading = [asyncio.create_task(there.until(session, "exchange_response")) for _ in range(8)]
        await here.send(session, "Long 20")
        logs = await asyncio.gather(*reading)
        assert all(log == logs[0] for log in logs)
        check_events(logs[0])


async def test_a_cancel_on_another_node_reaches_the_holder(nodes: list[Node]) -> None:
    first, second, _ = nodes
    async with first.client() as here, second.client() as there:
        session = await here.create()
        await here.send(session, "Long 3000")
        await there.until(session, "text_delta")
        assert await there.request("POST", f"/sessions/{session}/cancel") == {"cancelled": True}
        check_events(await here.until(session, "exchange_response"), "cancelled")


async def test_a_response_is_read_cancelled_and_deleted_on_another_node(nodes: list[Node]) -> None:
    first, second, _ = nodes
    async with first.client() as here, second.client() as there:
        begun = await here.request("POST", "/v1/responses", {"input": "Long 3000", "background": True})
        path = f"/v1/responses/{begun['id']}"
        async with asyncio.timeout(120):
            while (await there.request("GET", path))["status"] != "in_progress":  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        assert (await there.request("POST", f"{path}/cancel"))["status"] == "cancelled"
        assert (await here.request("GET", path))["status"] == "cancelled"
        assert (await there.request("DELETE", path))["deleted"] is True


async def test_messages_queue_and_steer_through_any_node(nodes: list[Node]) -> None:
    first_node, second_node, third_node = nodes
    async with first_node.client() as here, second_node.client() as there, third_node.client() as third:
        session = await here.create()
        await here.send(session, "Long 40")
        await there.until(session, "text_delta")
        queued = await there.send(session, "Second", client_request_id="second")
        assert queued["state"] == "queued"
        again = await third.send(session, "Second", client_request_id="second")
        assert (again["state"], again["exchange"]) == ("repeated", queued["exchange"])
        seen: list[Event] = []
        await follow([third_node], session, "exchange_response", seen)
        await third.wait_idle(session)
        log = await there.log(session)
        check_events(log)
        assert sum(event.type == "exchange_response" for event in log) == 2


async def test_an_approval_is_decided_on_another_node(nodes: list[Node]) -> None:
    first, second, _ = nodes
    async with first.client() as here, second.client() as there:
        session = await here.create(permissions="ask")
        await here.send(session, "Run echo approved")
        await there.until(session, "approval_requested")
        (approval,) = (await there.request("GET", f"/sessions/{session}/pending"))["approvals"]
        await there.request("POST", f"/sessions/{session}/approvals/{approval['approval']}", {"decision": "approve"})
        check_events(await there.until(session, "exchange_response"))


async def test_a_question_is_answered_over_a_socket_of_another_node(nodes: list[Node]) -> None:
    first, second, _ = nodes
    async with first.client() as here, second.client() as there:
        session = await here.create()
        await here.send(session, "Ask Which colour?")
        asked = (await there.until(session, "question_asked"))[-1].data
        assert isinstance(asked, QuestionAsked)
        async with there.http.ws_connect("/ws") as socket:
            answer = {"type": "answer", "id": 1, "session": session, "question": asked.question, "text": "Blue"}
            await socket.send_json(answer)
            assert (await socket.receive_json())["type"] == "reply"
        check_events(await there.until(session, "exchange_response"))


async def test_an_idle_session_moves_to_the_node_that_is_asked(nodes: list[Node]) -> None:
    session = ""
    for number, node in enumerate((*nodes, nodes[0])):
        async with node.client() as client:
            session = session or await client.create()
            await client.send(session, f"Word {number}")
            await client.wait_idle(session)
    async with nodes[0].client() as client:
        log = await client.log(session)
        check_events(log)
        assert sum(event.type == "exchange_response" for event in log) == 4


async def test_settings_rewind_and_delete_work_on_any_node(nodes: list[Node]) -> None:
    first_node, second_node, third_node = nodes
    async with first_node.client() as here, second_node.client() as there, third_node.client() as third:
        session = await here.create()
        await here.send(session, "Word")
        await here.wait_idle(session)
        changed = await there.request("PATCH", f"/sessions/{session}", {"title": "Other", "instructions": "Be brief."})
        assert (changed["title"], changed["settings"]["instructions"]) == ("Other", "Be brief.")
        await third.request("POST", f"/sessions/{session}/rewind", {"seq": 0})
        assert (await here.request("GET", f"/sessions/{session}/messages"))["messages"] == []
        await here.send(session, "Long 2000")
        reading = asyncio.create_task(_read_to_end(third, session))
        await there.until(session, "text_delta")
        await there.request("PATCH", f"/sessions/{session}", {"instructions": "No."}, status=409)
        await there.request("DELETE", f"/sessions/{session}")
        async with asyncio.timeout(60):
            await reading
        await here.request("GET", f"/sessions/{session}", status=404)


async def _read_to_end(client: NodeClient, session: str) -> None:
    async for _ in client.events(session):
        pass


@pytest.mark.parametrize("request_text", ["Long 50", "Run sleep 4; echo done"])
async def test_the_work_of_a_killed_node_goes_on_elsewhere(nodes: list[Node], request_text: str) -> None:
    victim, second, three = nodes
    async with victim.client() as here:
        session = await here.create(workspace="site")
        seen: list[Event] = []
        reading = asyncio.create_task(follow([second, three], session, "exchange_response", seen))
        await here.send(session, request_text)
        kind = "text_delta" if request_text.startswith("Long") else "tool_executing"
        await here.until(session, kind)
    victim.kill()
    await reading
    check_events(seen)
    async with three.client() as third:
        assert seen == await third.log(session)
    assert any(event.type == "session_resumed" for event in seen)


async def test_a_frozen_node_that_wakes_writes_nothing(nodes: list[Node]) -> None:
    frozen, second, third = nodes
    async with frozen.client() as here:
        session = await here.create()
        await here.send(session, "Long 100")
        await here.until(session, "text_delta")
    frozen.signal(signal.SIGSTOP)
    try:
        seen: list[Event] = []
        await follow([second, third], session, "exchange_response", seen)
        check_events(seen)
    finally:
        frozen.signal(signal.SIGCONT)
    await asyncio.sleep(1.5)
    async with frozen.client() as here, second.client() as there:
        assert await there.log(session) == seen
        await here.send(session, "Word")  # it is a node like any other again
        await here.wait_idle(session)
        check_events(await there.log(session))


async def test_a_node_that_is_stopped_hands_its_work_over(nodes: list[Node]) -> None:
    stopped, second, third = nodes
    async with stopped.client() as here:
        session = await here.create()
        seen: list[Event] = []
        reading = asyncio.create_task(follow([second, third], session, "exchange_response", seen))
        await here.send(session, "Long 400")
        await here.until(session, "text_delta")
    stopped.signal(signal.SIGTERM)
    assert await asyncio.to_thread(stopped.wait) in (0, -signal.SIGTERM)
    await reading
    check_events(seen)


async def test_a_session_with_a_folder_is_continued_where_the_folder_is(nodes: list[Node], tmp_path: Path) -> None:
    victim, second, _ = nodes
    async with victim.client() as here:
        session = await here.create(workspace="site")
        await here.send(session, "Run sleep 4; echo done")
        await here.until(session, "tool_executing")
    victim.kill()
    seen: list[Event] = []
    await follow([second], session, "exchange_response", seen)
    check_events(seen)


async def test_ready_and_health(nodes: list[Node]) -> None:
    async with nodes[0].client() as client:
        assert (await client.request("GET", "/ready"))["node"].startswith("one_")
        assert (await client.request("GET", "/health"))["status"] == "ok"
