"""Turns of Responses over one WebSocket: only what is new is sent, and every loss of the connection is survived."""

import asyncio
from http import HTTPStatus
from typing import Any

import pytest
from provider_bench import KEY, NOW, ONCE, error_of, model_at
from socket_server import HANG_UP, SocketServer, answer, error

import heald
from heald.core.errors import AuthenticationFailed, ConnectionFailed, IncompleteStream, InvalidRequest, RateLimited
from heald.core.events import ThinkingDelta
from heald.core.messages import Message, Text, ToolCall, ToolResult, user_message
from heald.core.payload import Payload
from heald.core.turn import Settings
from heald.providers.base import ProviderSession, ProviderTurn
from heald.testing.server import ScriptedServer
from heald.testing.streams import wire_reply

CALL = ToolCall(id="call_1", name="look", input={"path": "a"})
NO_RETRY: dict[str, Any] = {"retry": ONCE}


def open_session(url: str, *, websocket: bool = True, **options: Any) -> ProviderSession:
    arguments: dict[str, Any] = {"messages": [user_message("Go.")], "retry": NOW} | options
    settings = Settings(system="Be brief.", websocket=websocket)
    return heald.providers.open_provider_session(model_at(url, "responses"), settings=settings, **arguments)


async def turn(session: ProviderSession) -> ProviderTurn:
    async with asyncio.timeout(60):
        return await session.stream_turn(lambda _: None)


def answer_calls(session: ProviderSession, finished: ProviderTurn) -> None:
    results = [ToolResult(id=c.id, name=c.name, status="ok", content="seen") for c in finished.tool_calls]
    session.append_tool_results(finished, results)


def look(number: int) -> list[Any]:
    call = ToolCall(id=f"call_{number}", name="look", input={"path": "a"})
    return answer(thinking="Hm.", text="Looking.", calls=[call])


async def test_a_later_turn_sends_only_what_is_new_over_the_same_connection() -> None:
    async with SocketServer([look(1), look(2), answer(text="Done.")]) as server:
        session = open_session(server.url)
        for _ in range(2):
            answer_calls(session, await turn(session))
        last = await turn(session)
        await session.close()
    assert last.text == "Done."
    assert server.connections == 1
    first, second, third = server.requests
    assert "previous_response_id" not in first
    assert first["input"][0]["content"][0]["text"] == "Go."
    assert (second["previous_response_id"], third["previous_response_id"]) == ("resp_1", "resp_2")
    for request, call_id in ((second, "call_1"), (third, "call_2")):
        assert [(item["type"], item["call_id"]) for item in request["input"]] == [("function_call_output", call_id)]
        assert request["instructions"] == "Be brief."
        assert request["store"] is False


async def test_a_turn_is_the_same_over_http_and_over_a_websocket() -> None:
    content: dict[str, Any] = {"thinking": "Hm.", "text": ["Look", "ing."], "calls": [CALL]}
    seen: dict[bool, list[Payload]] = {True: [], False: []}
    reply = wire_reply("responses", **content)
    async with SocketServer([answer(**content)]) as socket, ScriptedServer([reply]) as http:
        for websocket, url in ((True, socket.url), (False, http.url)):
            session = open_session(url, websocket=websocket)
            await session.stream_turn(seen[websocket].append)
            await session.close()
    assert [type(event) for event in seen[True]] == [type(event) for event in seen[False]]


async def test_the_key_is_in_the_handshake() -> None:
    async with SocketServer([answer(text="Hi.")]) as server:
        session = open_session(server.url)
        await turn(session)
        await session.close()
    [headers] = server.headers
    assert headers["authorization"] == f"Bearer {KEY}"
    assert "content-type" not in headers


@pytest.mark.parametrize("code", ["previous_response_not_found", "websocket_connection_limit_reached"])
async def test_a_conversation_that_the_server_forgot_is_sent_whole(code: str) -> None:
    async with SocketServer([look(1), error(400, code), answer(text="Done.")]) as server:
        session = open_session(server.url)
        answer_calls(session, await turn(session))
        last = await turn(session)
        await session.close()
    assert (last.text, last.attempts) == ("Done.", 1)
    assert server.connections == (1 if code.startswith("previous") else 2)
    whole = server.requests[-1]
    assert "previous_response_id" not in whole
    assert [item.get("type", item.get("role")) for item in whole["input"]] == [
        *("user", "reasoning", "message", "function_call", "function_call_output")
    ]


async def test_a_connection_that_was_closed_between_turns_is_opened_again() -> None:
    async with SocketServer([look(1), answer(text="Done.")]) as server:
        session = open_session(server.url)
        answer_calls(session, await turn(session))
        await server.open[0].close()
        last = await turn(session)
        await session.close()
    assert (last.text, last.attempts, server.connections) == ("Done.", 1, 2)
    assert "previous_response_id" not in server.requests[-1]


async def test_a_history_that_was_edited_is_sent_whole() -> None:
    async with SocketServer([look(1), answer(text="Done.")]) as server:
        session = open_session(server.url)
        answer_calls(session, await turn(session))
        session.messages[0] = user_message("Stop.")
        await turn(session)
        await session.close()
    assert "previous_response_id" not in server.requests[-1]
    assert server.requests[-1]["input"][0]["content"][0]["text"] == "Stop."


async def test_an_answer_that_was_edited_is_sent_whole() -> None:
    async with SocketServer([answer(text="Four."), answer(text="Done.")]) as server:
        session = open_session(server.url)
        await turn(session)
        session.append(Message(role="assistant", content=[Text("Five.")]))
        session.append(user_message("Sure?"))
        await turn(session)
        await session.close()
    assert "previous_response_id" not in server.requests[-1]


async def test_nothing_of_an_answer_counts_whose_connection_broke_in_the_middle() -> None:
    half = [*look(1)[:-1], HANG_UP]
    async with SocketServer([half, half]) as server:
        failure = await error_of(open_session(server.url, **NO_RETRY))
        assert isinstance(failure, IncompleteStream)
        server.scripts[:] = [half, answer(text="Done.")]
        session = open_session(server.url)
        finished = await turn(session)
        await session.close()
    assert (finished.text, finished.attempts) == ("Done.", 2)
    assert "previous_response_id" not in server.requests[-1]


async def test_a_turn_after_a_cancelled_one_reads_its_own_answer() -> None:
    async with SocketServer([look(1)[:3], answer(text="Done.")]) as server:
        session = open_session(server.url)
        begun = asyncio.Event()
        task = asyncio.create_task(
            session.stream_turn(lambda event: begun.set() if isinstance(event, ThinkingDelta) else None)
        )
        async with asyncio.timeout(60):
            await begun.wait()
        task.cancel()
        await asyncio.wait([task])
        finished = await turn(session)
        await session.close()
    assert finished.text == "Done."
    assert server.connections == 2


async def test_errors_have_the_class_of_their_status() -> None:
    scripts = [error(429, "odd", "Not now."), error(401, "odd", "Not you."), answer(text="Done.")]
    async with SocketServer(scripts) as server:
        limited = await error_of(open_session(server.url, **NO_RETRY))
        assert isinstance(limited, RateLimited)
        assert "Not now." in str(limited)
        assert isinstance(await error_of(open_session(server.url, **NO_RETRY)), AuthenticationFailed)
        session = open_session(server.url)
        assert (await turn(session)).text == "Done."
        await session.close()


@pytest.mark.parametrize(
    ("status", "kind", "words"),
    [
        (HTTPStatus.UNAUTHORIZED, AuthenticationFailed, "key"),
        (HTTPStatus.NOT_FOUND, InvalidRequest, "remove `websocket` from the settings"),
        (HTTPStatus.OK, InvalidRequest, "remove `websocket` from the settings"),
        (HTTPStatus.FOUND, InvalidRequest, "a key does not follow a redirect"),
    ],
)
async def test_a_refused_handshake(status: HTTPStatus, kind: type[Exception], words: str) -> None:
    async with SocketServer([answer(text="Never.")]) as other:
        location = f"{other.url}/v1/responses".replace("http", "ws") if status is HTTPStatus.FOUND else ""
        async with SocketServer([], status=status, location=location) as server:
            refusal = await error_of(open_session(server.url, **NO_RETRY))
        assert other.headers == []
    assert isinstance(refusal, kind)
    assert words in str(refusal)
    assert KEY not in str(refusal)


async def test_a_server_that_is_not_there() -> None:
    async with SocketServer([]) as server:
        url = server.url
    assert isinstance(await error_of(open_session(url, **NO_RETRY)), ConnectionFailed)


async def test_other_wires_ignore_the_setting() -> None:
    async with ScriptedServer([wire_reply("chat", text="Hi.")]) as server:
        session = heald.providers.open_provider_session(
            model_at(server.url, "chat"), messages=[user_message("Go.")], settings=Settings(websocket=True)
        )
        assert (await turn(session)).text == "Hi."
        await session.close()
