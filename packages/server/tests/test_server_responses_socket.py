"""The WebSocket of /v1/responses: turns, continuation without storing, errors, and the end of a connection."""

import asyncio
import json
from pathlib import Path
from typing import Any

import aiohttp
import pytest

import heald
from heald.core.messages import ToolResult
from heald.providers.scripted import Script, ScriptedRequest
from heald_server.protocols.responses import response_socket
from serving_parts import OTHER, TOKEN, S, Served, served

_TOOL: dict[str, Any] = {"type": "function", "name": "locate", "parameters": {"type": "object", "properties": {}}}
_ENDS = ("response.completed", "response.incomplete", "response.failed", "error")


def _script(request: ScriptedRequest) -> Script:
    """Repeats the requests of the conversation; calls the client's tool; talks for long."""
    message = request.messages[-1]
    if message.role == "tool":
        return "Found: " + "".join(block.text for block in message.content if isinstance(block, ToolResult))
    if "locate" in message.text:
        return [S.call("locate")]
    if "long" in message.text:
        return "word " * 20_000
    return " | ".join(message.text for message in request.messages if message.role == "user")


def _model() -> heald.testing.ScriptedModel:
    return S([_script] * 20)


async def _turn(socket: aiohttp.ClientWebSocketResponse, **body: Any) -> list[dict[str, Any]]:
    """Send a request, and read the events up to its end."""
    await socket.send_str(json.dumps({"type": "response.create", "model": "scripted", **body}))
    return await _events(socket)


async def _events(socket: aiohttp.ClientWebSocketResponse) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = []
    async with asyncio.timeout(60):
        while not events or events[-1]["type"] not in _ENDS:
            events.append(json.loads(await socket.receive_str()))
    return events


def _text(events: list[dict[str, Any]]) -> str:
    assert events[-1]["type"] == "response.completed", events[-1]
    return "".join(part["text"] for item in events[-1]["response"]["output"] for part in item["content"])


def _error(events: list[dict[str, Any]]) -> tuple[int, str, str | None]:
    event = events[-1]
    assert event["type"] == "error"
    return event["status"], event["error"]["code"], event["error"]["param"]


async def _stored(server: Served) -> int:
    return len((await server.context.sessions.list()).sessions)


async def _in_memory(server: Served) -> int:
    return len((await server.context.in_memory().sessions.list()).sessions)


async def test_the_events_are_those_of_a_stream_over_http(tmp_path: Path) -> None:
    async with served(tmp_path, _model) as server, server.client.ws_connect("/v1/responses") as socket:
        events = await _turn(socket, input="Hello")
        async with server.client.post("/v1/responses", json={"input": "Hello", "stream": True}) as answer:
            lines = [line async for line in answer.content if line.startswith(b"data: {")]
    streamed = [json.loads(line[6:]) for line in lines]
    assert [event["type"] for event in events] == [event["type"] for event in streamed]
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert _text(events) == "Hello"


async def test_a_response_that_is_not_stored_continues_on_its_connection_only(tmp_path: Path) -> None:
    async with served(tmp_path, _model) as server:
        async with server.client.ws_connect("/v1/responses") as socket:
            first = await _turn(socket, input="cobalt", store=False)
            name = first[-1]["response"]["id"]
            second = await _turn(socket, input="which?", store=False, previous_response_id=name)
            assert _text(second) == "cobalt | which?"
            async with server.client.ws_connect("/v1/responses") as other:
                missing = await _turn(other, input="which?", store=False, previous_response_id=name)
            assert _error(missing) == (404, "previous_response_not_found", "previous_response_id")
            assert await _stored(server) == 0
            assert await _in_memory(server) == 1
        async with asyncio.timeout(120):
            while await _in_memory(server):  # noqa: ASYNC110
                await asyncio.sleep(0.01)


async def test_an_unstored_response_can_be_continued_as_a_stored_one(tmp_path: Path) -> None:
    async with served(tmp_path, _model) as server, server.client.ws_connect("/v1/responses") as socket:
        first = await _turn(socket, input="cobalt", store=False)
        second = await _turn(socket, input="which?", previous_response_id=first[-1]["response"]["id"])
        body = {"input": "and now?", "previous_response_id": second[-1]["response"]["id"]}
        async with server.client.post("/v1/responses", json=body) as answer:
            third = await answer.json()
    assert third["output"][0]["content"][0]["text"] == "cobalt | which? | and now?"


async def test_calls_of_the_clients_tools_are_answered_on_the_connection(tmp_path: Path) -> None:
    async with served(tmp_path, _model) as server, server.client.ws_connect("/v1/responses") as socket:
        first = await _turn(socket, input="Please locate", store=False, tools=[_TOOL])
        (call,) = first[-1]["response"]["output"]
        result = {"type": "function_call_output", "call_id": call["call_id"], "output": "Bergen"}
        name = first[-1]["response"]["id"]
        second = await _turn(socket, input=[result], store=False, tools=[_TOOL], previous_response_id=name)
        assert _text(second) == "Found: Bergen"
        assert await _stored(server) == 0


async def test_a_failed_turn_evicts_the_response_that_it_continued(tmp_path: Path) -> None:
    async with served(tmp_path, _model) as server, server.client.ws_connect("/v1/responses") as socket:
        name = (await _turn(socket, input="ember", store=False))[-1]["response"]["id"]
        result = {"type": "function_call_output", "call_id": "call_of_nobody", "output": "?"}
        failed = await _turn(socket, input=[result], store=False, previous_response_id=name)
        assert _error(failed)[:2] == (400, "invalid")
        retried = await _turn(socket, input="which?", store=False, previous_response_id=name)
        assert _error(retried)[1] == "previous_response_not_found"
        assert await _in_memory(server) == 0


async def test_requests_are_answered_one_after_the_other(tmp_path: Path) -> None:
    async with served(tmp_path, _model) as server, server.client.ws_connect("/v1/responses") as socket:
        for word in ("one", "two", "three"):
            await socket.send_str(json.dumps({"type": "response.create", "model": "scripted", "input": word}))
        turns = [await _events(socket) for _ in range(3)]
    assert [_text(events) for events in turns] == ["one", "two", "three"]
    assert all([event["sequence_number"] for event in events] == list(range(len(events))) for events in turns)


@pytest.mark.parametrize(
    ("message", "param"),
    [
        ({"type": "response.delete"}, "type"),
        ({"type": "response.create", "input": "Hello", "background": True}, "background"),
        ({"type": "response.create", "input": "Hello", "generate": False}, "generate"),
        ({"type": "response.create", "input": 3}, "input"),
    ],
)
async def test_a_wrong_request_has_an_error_and_the_next_one_an_answer(
    tmp_path: Path, message: dict[str, Any], param: str
) -> None:
    async with served(tmp_path, _model) as server, server.client.ws_connect("/v1/responses") as socket:
        await socket.send_str(json.dumps(message))
        assert _error(await _events(socket)) == (400, "invalid", param)
        assert _text(await _turn(socket, input="Hello", stream=True)) == "Hello"


async def test_a_message_that_is_not_json_closes_the_connection(tmp_path: Path) -> None:
    async with served(tmp_path, _model) as server, server.client.ws_connect("/v1/responses") as socket:
        await socket.send_str("Hello")
        assert _error(await _events(socket)) == (400, "invalid", None)
        assert (await socket.receive()).type == aiohttp.WSMsgType.CLOSE
        assert socket.close_code == 1008


async def test_a_client_that_goes_cancels_its_response(tmp_path: Path) -> None:
    async with served(tmp_path, lambda: S([_script], piece=5, pause=0.005)) as server, asyncio.timeout(60):
        async with server.client.ws_connect("/v1/responses") as socket:
            await socket.send_str(json.dumps({"type": "response.create", "model": "scripted", "input": "long"}))
            while json.loads(await socket.receive_str())["type"] != "response.output_text.delta":
                pass
        await server.wait_idle()
        (info,) = (await server.context.sessions.list()).sessions
        end = [event for event in await server.log(info.id) if event.type == "exchange_response"][-1]
    assert getattr(end.data, "status", None) == "cancelled"


async def test_a_connection_ends_after_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(response_socket, "MAX_SECONDS", 0.0)
    async with served(tmp_path, _model) as server, server.client.ws_connect("/v1/responses") as socket:
        assert _error(await _events(socket))[:2] == (400, "websocket_connection_limit_reached")
        assert (await socket.receive()).type == aiohttp.WSMsgType.CLOSE


async def test_a_connection_needs_a_token_and_ends_with_it(tmp_path: Path) -> None:
    async with served(tmp_path, _model) as server:
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await server.stranger.ws_connect("/v1/responses")
        assert refused.value.status == 401
        async with server.client.ws_connect("/v1/responses") as socket, asyncio.timeout(60):
            await _turn(socket, input="Hello", store=False)
            token = server.context.tokens.identify(TOKEN)
            assert token is not None
            await server.context.tokens.revoke(token)
            assert (await socket.receive()).type == aiohttp.WSMsgType.CLOSE
            assert socket.close_code == 4401


async def test_another_owner_cannot_continue_a_response(tmp_path: Path) -> None:
    other = {"Authorization": f"Bearer {OTHER}"}
    async with (
        served(tmp_path, _model) as server,
        server.client.ws_connect("/v1/responses") as socket,
        server.stranger.ws_connect("/v1/responses", headers=other) as stranger,
    ):
        for store in (True, False):
            name = (await _turn(socket, input="secret", store=store))[-1]["response"]["id"]
            events = await _turn(stranger, input="which?", previous_response_id=name, store=store)
            assert _error(events)[1] == "previous_response_not_found"
