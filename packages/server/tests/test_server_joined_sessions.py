"""A session that clients of several protocols join by its id."""

import asyncio
from pathlib import Path
from typing import Any

import aiohttp

from heald.core.events import ConversationSteered, ExchangeRequest, ExchangeResponse
from heald.core.json import loads
from heald_check import check_log
from scripted_agents import model, slow
from serving_parts import Served, served


async def _frames(answer: aiohttp.ClientResponse) -> list[dict[str, Any]]:
    return [loads(line[6:]) async for line in answer.content if line.startswith(b"data: {")]


async def _requests(server: Served, session: str) -> list[str]:
    log = await server.log(session)
    assert check_log(log) == []
    return [event.data.message.text for event in log if isinstance(event.data, ExchangeRequest)]


async def test_a_run_without_a_message_follows_the_exchange_of_another_client(tmp_path: Path) -> None:
    async with served(tmp_path, slow) as server:
        session = await server.session()
        await server.send(session, "Hello")
        body: dict[str, Any] = {"threadId": session, "runId": "run-1", "messages": [], "protocolVersion": "1.0"}
        async with server.client.post("/agui", json=body) as answer:
            events = await _frames(answer)
        text = "".join(event["delta"] for event in events if event["type"] == "TEXT_MESSAGE_CONTENT")
        assert text == "Answer 1 to “Hello”."
        assert events[-1]["type"] == "RUN_FINISHED"
        assert await _requests(server, session) == ["Hello"]


async def test_a_run_without_a_message_needs_a_thread_that_exists(tmp_path: Path) -> None:
    async with served(tmp_path, model) as server:
        for thread in ("ses_0123", "mine"):
            async with server.client.post("/agui", json={"threadId": thread, "messages": []}) as answer:
                assert answer.status == 400


async def test_a_response_without_an_input_is_the_exchange_of_another_client(tmp_path: Path) -> None:
    async with served(tmp_path, slow) as server:
        session = await server.session()
        await server.send(session, "Hello")
        body: dict[str, Any] = {"conversation": session, "input": []}
        async with server.client.post("/v1/responses", json=body) as answer:
            response = await answer.json()
        assert response["output"][0]["content"][0]["text"] == "Answer 1 to “Hello”."
        async with server.client.get(f"/v1/responses/{response['id']}") as answer:
            assert (await answer.json())["output"] == response["output"]
        body = {"previous_response_id": response["id"], "input": "Thanks"}
        async with server.client.post("/v1/responses", json=body) as answer:
            assert answer.headers["X-Heald-Session"] == session
        assert await _requests(server, session) == ["Hello", "Thanks"]


async def test_a_session_of_another_owner_is_not_joined(tmp_path: Path) -> None:
    async with served(tmp_path, model) as server:
        info = await server.context.sessions.create(owner="somebody else")
        bodies: dict[str, dict[str, Any]] = {
            "/agui": {"threadId": info.id, "messages": []},
            "/v1/responses": {"conversation": info.id, "input": []},
        }
        for path, body in bodies.items():
            async with server.client.post(path, json=body) as answer:
                assert answer.status == 400, await answer.text()
        message = {"id": "1", "role": "user", "parts": [{"type": "text", "text": "Hello"}]}
        async with server.client.post("/api/chat", json={"id": info.id, "messages": [message]}) as answer:
            assert answer.headers["X-Heald-Session"] != info.id
        assert await server.log(info.id) == []


async def test_a_request_with_a_key_is_answered_once(tmp_path: Path) -> None:
    async with served(tmp_path, model) as server:
        session = await server.session()
        responses: list[Any] = []
        for body in [{"input": "Hello"}] * 2 + [{"input": "Hello", "conversation": session}] * 2:
            async with server.client.post("/v1/responses", json=body, headers={"Idempotency-Key": "k1"}) as answer:
                assert answer.status == 200, await answer.text()
                responses.append(await answer.json())
        assert responses[0] == responses[1]
        assert responses[2] == responses[3]
        assert responses[0]["id"] != responses[2]["id"]
        assert await _requests(server, session) == ["Hello"]


async def test_a_page_continues_its_session_after_another_client_steered(tmp_path: Path) -> None:
    async with served(tmp_path, slow) as server:
        asked = {"id": "1", "role": "user", "parts": [{"type": "text", "text": "A long answer"}]}
        async with server.client.post("/api/chat", json={"id": "chat", "messages": [asked]}) as answer:
            session = answer.headers["X-Heald-Session"]
            await server.send(session, "Also this", when_busy="steer")
            await _frames(answer)
        await server.wait_idle()
        assert any(isinstance(event.data, ConversationSteered) for event in await server.log(session))
        async with server.client.get("/api/chat/chat") as answer:
            messages = (await answer.json())["messages"]
        following = {"id": "2", "role": "user", "parts": [{"type": "text", "text": "Thanks"}]}
        body = {"id": "chat", "messages": [*messages, following]}
        async with server.client.post("/api/chat", json=body) as answer:
            assert answer.headers["X-Heald-Session"] == session
            await _frames(answer)
        assert await _requests(server, session) == ["A long answer", "Thanks"]


async def test_a_client_that_goes_cancels_nothing_that_another_watches(tmp_path: Path) -> None:
    async with served(tmp_path, slow) as server:
        session = await server.session()
        async with server.client.get(f"/sessions/{session}/events") as watching:
            body = {"conversation": session, "input": "A long answer", "stream": True}
            async with server.client.post("/v1/responses", json=body) as answer:
                await answer.content.readline()
                answer.close()
            async with asyncio.timeout(60):
                async for line in watching.content:
                    if b'"type":"exchange_response"' in line:
                        break
        ends = [event.data for event in await server.log(session) if isinstance(event.data, ExchangeResponse)]
        assert [end.status for end in ends] == ["completed"]
