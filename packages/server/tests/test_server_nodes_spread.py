"""Two servers on one PostgreSQL: a full one passes its work on, and two users see nothing of each other on either."""

import asyncio
import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import aiohttp
import pytest
from crash_parts import Turn

from heald.core.envelope import Event
from heald.core.events import ExchangeResponse, SessionResumed
from heald_check import check_log
from nodes_parts import ModelThread, Node, NodeClient, by_request, follow

ANN, BOB = "a-token-of-ann-that-is-long", "a-token-of-bob-that-is-long"
PAGE = "<!doctype html><html><head><title>Harbour</title></head><body><h1>Harbour</h1></body></html>\n"


def _script(messages: Sequence[Turn]) -> tuple[str, list[tuple[str, dict[str, Any]]]]:
    """A page for a design, a call of the client's tool, else an answer by the first word."""
    asked = str([message for message in messages if message["role"] == "user"][-1]["content"])
    if "Locate" in asked:
        return (
            ("I ask you. ", [("locate", {"of": "me"})]) if messages[-1]["role"] != "tool" else ("You are there. ", [])
        )
    if "A page" not in asked:
        return by_request(messages)
    if messages[-1]["role"] != "tool":
        return "I see. ", [("create_file", {"path": "index.html", "content": PAGE})]
    return "It is a page. ", []


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory, module_schema: str) -> Iterator[list[Node]]:
    """A node that has room for one exchange, and one that has room for many."""
    folder = tmp_path_factory.mktemp("nodes")
    (folder / "users.toml").write_text(f'[ann]\ntokens = ["{ANN}"]\n\n[bob]\ntokens = ["{BOB}"]\n')
    model = ModelThread(_script)
    users = ("--users", str(folder / "users.toml"))
    small = Node("small", module_schema, folder, model.url, "--room", "1", *users)
    large = Node("large", module_schema, folder, model.url, *users)
    for node in (small, large):
        node.start()
    for node in (small, large):
        node.wait_ready()
    yield [small, large]
    for node in (small, large):
        node.kill()
    model.close()


def _node_of(log: Sequence[Event]) -> str:
    """The node that a session was passed on to."""
    *_, resumed = [
        event.data for event in log if isinstance(event.data, SessionResumed)
    ]  # the first holder may be back
    return resumed.node.partition("_")[0]


async def _occupy(client: NodeClient) -> str:
    """Start an exchange that takes all the room of the small node."""
    session = await client.create()
    await client.send(session, "Long 6000")
    await client.until(session, "text_delta")
    return session


async def test_a_full_node_passes_a_message_on(nodes: list[Node]) -> None:
    small, _ = nodes
    async with small.client() as client:
        occupied = await _occupy(client)
        session = await client.create()
        sent = await client.send(session, "Word", client_request_id="one")
        assert sent["state"] == "queued"
        seen: list[Event] = []
        await follow([small], session, "exchange_response", seen)
        assert not check_log(seen)
        assert _node_of(seen) == "large"
        assert seen[-1].exchange == sent["exchange"]
        assert isinstance(seen[-1].data, ExchangeResponse)
        assert seen[-1].data.status == "completed"
        again = await client.send(session, "Word", client_request_id="one")
        assert (again["state"], again["exchange"]) == ("repeated", sent["exchange"])
        await client.request("POST", f"/sessions/{occupied}/cancel")


async def test_a_full_node_passes_a_variant_on(nodes: list[Node]) -> None:
    small, _ = nodes
    async with small.client() as client:
        occupied = await _occupy(client)
        body = {"prompt": {"text": "A page"}, "variants": 2}
        project = await client.request("POST", "/projects", body)
        async with asyncio.timeout(60):
            while True:
                project = await client.request("GET", f"/projects/{project['id']}")
                variants = project["versions"][0]["variants"]
                if all(variant["ended"] for variant in variants):
                    break
                await asyncio.sleep(0.1)
        assert [variant["status"] for variant in variants] == ["completed"] * 2
        for variant in variants:
            log = await client.log(variant["session"])
            assert not check_log(log)
            assert _node_of(log) == "large"
        await client.request("POST", f"/sessions/{occupied}/cancel")


async def test_six_variants_spread_over_the_nodes_that_have_room(nodes: list[Node]) -> None:
    small, _ = nodes
    async with small.client() as client:
        project = await client.request("POST", "/projects", {"prompt": {"text": "A page"}, "variants": 6})
        async with asyncio.timeout(60):
            while True:
                project = await client.request("GET", f"/projects/{project['id']}")
                variants = project["versions"][0]["variants"]
                if all(variant["ended"] for variant in variants):
                    break
                await asyncio.sleep(0.1)
        assert [variant["status"] for variant in variants] == ["completed"] * 6
        logs = [await client.log(variant["session"]) for variant in variants]
    started_here = [log for log in logs if not any(event.type == "conversation_queued" for event in log)]
    assert len(started_here) < 6
    times = sorted((_time_of(log, "exchange_request"), _time_of(log, "exchange_response")) for log in started_here)
    for (_, ended), (began, _) in pairwise(times):
        assert ended <= began  # it has room for one


def _time_of(log: Sequence[Event], kind: str) -> float:
    return next(event.time for event in log if event.type == kind)


async def _chat(node: Node, *messages: dict[str, Any]) -> tuple[str, list[dict[str, Any]]]:
    """Send the messages of an AI SDK client. Returns the session, and the chunks of the answer.

    On a busy machine the other node may be late with the session. The answer is then "ask again in a moment"."""
    tool = {"name": "locate", "description": "Locate.", "inputSchema": {"type": "object"}}
    body = {"id": "chat-1", "messages": messages, "tools": [tool], "trigger": "submit-message"}
    async with asyncio.timeout(60), node.client() as client:
        while True:
            async with client.http.post("/api/chat", json=body) as answer:
                text = await answer.text()
                if answer.status == 503 and "ask again" in text:
                    await asyncio.sleep(0.1)
                    continue
                assert answer.status == 200, text
                chunks = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {")]
                return answer.headers["X-Heald-Session"], chunks


async def test_an_exchange_that_waits_for_its_client_moves_to_the_node_that_gets_the_answer(nodes: list[Node]) -> None:
    small, large = nodes
    asked = {"id": "m1", "role": "user", "parts": [{"type": "text", "text": "Locate me"}]}
    session, chunks = await _chat(large, asked)
    (call,) = [chunk["toolCallId"] for chunk in chunks if chunk["type"] == "tool-input-available"]
    result = {"type": "tool-locate", "toolCallId": call, "state": "output-available", "input": {"of": "me"}}
    answered = {"id": "m2", "role": "assistant", "parts": [{"type": "step-start"}, result | {"output": "Bergen"}]}
    assert (await _chat(small, asked, answered))[0] == session
    async with small.client() as client:
        await client.wait_idle(session)
        log = await client.log(session)
    assert not check_log(log)
    assert _node_of(log) == "small"
    (response,) = [event.data for event in log if isinstance(event.data, ExchangeResponse)]
    assert response.status == "completed"
    assert response.turns == 2


async def test_a_chat_is_resumed_and_stopped_on_another_node(nodes: list[Node]) -> None:
    small, large = nodes
    asked = {"id": "m1", "role": "user", "parts": [{"type": "text", "text": "Long 6000"}]}
    body = {"id": "chat-2", "messages": [asked], "trigger": "submit-message"}
    async with asyncio.timeout(60), large.client() as there, small.client() as here:
        async with there.http.post("/api/chat", json=body) as first:
            await _read_until(first, '"text-delta"')
            async with here.http.get("/api/chat/chat-2/stream") as resumed:
                assert resumed.status == 200, await resumed.text()
                await _read_until(resumed, '"text-delta"')
                assert await here.request("POST", "/api/chat/chat-2/stop") == {"cancelled": True}
                assert '"abort"' in await resumed.text()
        async with here.http.get("/api/chat/chat-2/stream") as resumed:
            assert resumed.status == 204


async def _read_until(answer: aiohttp.ClientResponse, text: str) -> None:
    async for line in answer.content:
        if text in line.decode():
            return
    raise AssertionError(f"The stream ended without {text}.")


async def test_two_users_on_two_nodes_see_nothing_of_each_other(nodes: list[Node]) -> None:
    small, large = nodes
    async with small.client(ANN) as ann, large.client(BOB) as bob:
        project = await _build(ann)
        project_of_bob = await _build(bob)
        version = project["versions"][0]
        variant = version["variants"][0]
        session, preview = variant["session"], variant["preview"]
        at = f"/projects/{project['id']}/versions/{version['id']}/variants/0"
        for path in (
            f"/projects/{project['id']}",
            f"/projects/{project['id']}/events",
            f"{at}/files",
            f"{at}/files/index.html",
            f"/sessions/{session}",
            f"/sessions/{session}/events",
            f"/sessions/{session}/log",
            f"/sessions/{session}/files",
        ):
            await bob.request("GET", path, status=404)
        await bob.request("POST", f"/sessions/{session}/cancel", status=404)
        await bob.request("POST", f"{at}/cancel", status=404)
        await bob.request("DELETE", f"/projects/{project['id']}", status=404)
        assert [listed["id"] for listed in (await bob.request("GET", "/projects"))["projects"]] == [
            project_of_bob["id"]
        ]
        assert session not in str(await bob.request("GET", "/sessions"))
        async with ann.http.post(f"/sessions/{session}/blobs", data=b"of ann") as answer:
            blob = (await answer.json())["blob"]
        async with ann.http.get(f"/sessions/{session}/blobs/{blob}") as answer:
            assert await answer.read() == b"of ann"
        await bob.request("GET", f"/sessions/{session}/blobs/{blob}", status=404)
        await _check_previews(large, preview, project_of_bob["versions"][0]["variants"][0]["preview"])


async def _build(client: NodeClient) -> dict[str, Any]:
    project = await client.request("POST", "/projects", {"prompt": {"text": "A page"}, "variants": 1})
    async with asyncio.timeout(60):
        while not project["versions"][0]["variants"][0]["ended"]:
            await asyncio.sleep(0.1)
            project = await client.request("GET", f"/projects/{project['id']}")
    return project


async def _check_previews(node: Node, preview: str, other: str) -> None:
    """The address of a preview is its permission on every node, and parts of two addresses make no third."""
    async with aiohttp.ClientSession(node.url) as browser:
        async with browser.get(preview) as answer:
            assert answer.status == 200
            assert "Harbour" in await answer.text()
        ticket, stranger = preview.rstrip("/").rpartition("/")[2], other.rstrip("/").rpartition("/")[2]
        for forged in (stranger[:22] + ticket[22:], ticket[:22] + stranger[22:], ticket[:-2] + "AA"):
            async with browser.get(preview.replace(ticket, forged)) as answer:
                assert answer.status == 404
