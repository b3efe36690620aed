"""The `openai` package against /v1, and an ordinary reader of server-sent events against /api/chat."""

import asyncio
from pathlib import Path
from typing import Any

import aiohttp
import openai
import pytest
from client_parts import answers, model, weather
from openai import AsyncOpenAI
from stream_readers import sse_frames

import heald
from heald.core.events import ExchangeRequest, ExchangeResponse
from heald_check.checker import check_log
from serving_parts import TOKEN, S, Served, served

Messages = list[Any]


def _client(server: Served, token: str = TOKEN) -> AsyncOpenAI:
    return AsyncOpenAI(base_url=f"{server.url}/v1", api_key=token, max_retries=0)


# --- openai ----------------------------------------------------------------------------------------------------------


async def test_the_openai_client_streams(tmp_path: Path) -> None:
    async with served(tmp_path, model, tools={"weather": weather}) as server, _client(server) as client:
        messages: Messages = [{"role": "user", "content": "The weather?"}]
        stream = await client.chat.completions.create(
            model="heald", messages=messages, stream=True, stream_options={"include_usage": True}
        )
        chunks = [chunk async for chunk in stream]
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == "Let me see. \n\nAnswer 1 to “The weather?”."
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"
    assert chunks[-1].usage is not None
    assert len({chunk.id for chunk in chunks}) == 1
    assert not any(chunk.choices[0].delta.tool_calls for chunk in chunks if chunk.choices)


async def test_the_openai_client_gets_one_answer_and_goes_on_by_its_history(tmp_path: Path) -> None:
    async with served(tmp_path, model, tools={"weather": weather}) as server, _client(server) as client:
        messages: Messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}]
        first = await client.chat.completions.create(model="heald", messages=messages)
        assert first.choices[0].message.content == "Answer 1 to “Hello”."
        assert (first.choices[0].finish_reason, first.model) == ("stop", "heald")
        assert first.usage is not None
        messages += [first.choices[0].message.model_dump(), {"role": "user", "content": "More"}]
        second = await client.chat.completions.create(model="scripted", messages=messages)
        assert second.choices[0].message.content == "Answer 2 to “More”."
        raw = await client.chat.completions.with_raw_response.create(model="heald", messages=messages)
        session = raw.headers["x-heald-session"]
        log = await server.log(session)
    assert raw.headers["x-heald-exchange"] == log[0].exchange
    assert not check_log(log)


async def test_the_openai_client_lists_models(tmp_path: Path) -> None:
    async with served(tmp_path, model) as server, _client(server) as client:
        assert [listed.id async for listed in client.models.list()] == ["heald", "scripted"]


async def test_the_openai_client_knows_what_is_wrong(tmp_path: Path) -> None:
    async with served(tmp_path, model) as server, _client(server) as client:
        hello: Messages = [{"role": "user", "content": "Hello"}]
        with pytest.raises(openai.NotFoundError, match="no model"):
            await client.chat.completions.create(model="gpt-17", messages=hello)
        with pytest.raises(openai.BadRequestError):
            await client.chat.completions.create(model="heald", messages=[])
        async with _client(server, "wrong") as stranger:
            with pytest.raises(openai.AuthenticationError):
                await stranger.chat.completions.create(model="heald", messages=hello)
        failing: Messages = [{"role": "user", "content": "Please fail"}]
        with pytest.raises(openai.InternalServerError, match="out of order"):
            await client.chat.completions.create(model="heald", messages=failing)
        with pytest.raises(openai.APIError, match="out of order"):
            async for _ in await client.chat.completions.create(model="heald", messages=failing, stream=True):
                pass


# --- /api/chat in the words of a small page --------------------------------------------------------------------------


async def _chat(server: Served, messages: Messages, **more: Any) -> list[tuple[str | None, dict[str, Any]]]:
    async with server.client.post("/api/chat", json={"messages": messages, **more}) as answer:
        assert answer.status == 200, await answer.text()
        assert answer.headers["Content-Type"].startswith("text/event-stream")
        return [(told.event, told.json) async for told in sse_frames(answer)]


async def test_the_four_events_of_the_loop(tmp_path: Path) -> None:
    async with served(tmp_path, model, tools={"weather": weather}) as server:
        told = await _chat(server, [{"role": "user", "content": "The weather?"}])
    names = [name for name, _ in told]
    assert list(dict.fromkeys(names)) == ["content_delta", "tool_call_start", "tool_call_result", "done"]
    assert "".join(data["delta"] for name, data in told if name == "content_delta").endswith("“The weather?”.")
    (start,) = [data for name, data in told if name == "tool_call_start"]
    (result,) = [data for name, data in told if name == "tool_call_result"]
    assert (start["name"], start["arguments"]) == ("weather", {"city": "Oslo"})
    assert result == {"id": start["id"], "result": "Oslo: 3 °C, snow", "is_error": False}
    assert told[-1] == ("done", {})


async def test_a_conversation_with_a_name_goes_on_in_one_session(tmp_path: Path) -> None:
    async with served(tmp_path, model, tools={"weather": weather}) as server:
        messages: Messages = []
        for text in ("Hello", "The weather?", "Thanks"):
            messages.append({"role": "user", "content": text})
            told = await _chat(server, messages, id="page-1")
            assert told[-1] == ("done", {})
            said = "".join(data["delta"] for name, data in told if name == "content_delta")
            messages.append({"role": "assistant", "content": said})
        assert messages[-1]["content"] == "Answer 3 to “Thanks”."
        (info,) = (await server.context.sessions.list()).sessions
        log = await server.log(info.id)
        assert sum(isinstance(event.data, ExchangeRequest) for event in log) == 3
        assert not check_log(log)
        messages[1]["content"] = "Something that was never said."
        told = await _chat(server, [*messages, {"role": "user", "content": "Really?"}], id="page-1")
        assert told[-1] == ("done", {})
        assert len((await server.context.sessions.list()).sessions) == 2


async def test_an_error_ends_the_loop_with_done(tmp_path: Path) -> None:
    async with served(tmp_path, model) as server:
        told = await _chat(server, [{"role": "user", "content": "Please fail"}])
    assert told[-1][0] == "done"
    assert told[-1][1]["status"] == "failed"
    assert "out of order" in told[-1][1]["error"]


async def test_a_page_that_disconnects_does_not_cancel(tmp_path: Path) -> None:
    def slow() -> heald.testing.ScriptedModel:
        return S([answers] * 5, piece=6, pause=0.01)

    async with served(tmp_path, slow) as server:
        body = {"messages": [{"role": "user", "content": "Something long"}], "id": "page-2"}
        async with server.client.post("/api/chat", json=body) as answer:
            session, exchange = answer.headers["X-Heald-Session"], answer.headers["X-Heald-Exchange"]
            await anext(sse_frames(answer))
        response = (await server.ended(session, exchange)).data
        assert isinstance(response, ExchangeResponse)
        assert response.status == "completed"


async def test_two_requests_in_one_conversation_each_receive_their_own_answer(tmp_path: Path) -> None:
    """The second waits for the first; neither is told what the other asked for."""

    def slow() -> heald.testing.ScriptedModel:
        return S([answers] * 5, piece=6, pause=0.005)

    async with served(tmp_path, slow) as server:
        messages: Messages = [{"role": "user", "content": "Something long"}]
        first = asyncio.create_task(_chat(server, messages, id="page-3"))
        async with asyncio.timeout(120):
            while server.context.open_sessions.busy == 0:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        second = asyncio.create_task(_chat(server, [{"role": "user", "content": "Hello"}], id="page-3"))
        told = await asyncio.gather(first, second)
    words = ["".join(data["delta"] for name, data in stream if name == "content_delta") for stream in told]
    assert words[0] == "Word after word. " * 30
    assert "Hello" in words[1]
    assert "Word after" not in words[1]
    for stream in told:
        assert [name for name, _ in stream].count("done") == 1


async def test_the_dialect_can_be_named(tmp_path: Path) -> None:
    async with served(tmp_path, model) as server:
        body = {"messages": [{"role": "user", "content": "Hello"}]}
        accept = {"Accept": "text/event-stream;dialect=normalized"}
        ways: list[dict[str, Any]] = [{"params": {"dialect": "normalized"}}, {"headers": accept}]
        for way in ways:
            async with server.client.post("/api/chat", json=body, **way) as answer:
                told = [told.json async for told in sse_frames(answer)]
                assert told[-1] == {"type": "end"}
        async with server.client.post("/api/chat", json=body, params={"dialect": "klingon"}) as answer:
            assert answer.status == 400


async def test_the_stream_ends_properly_when_the_server_goes(tmp_path: Path) -> None:
    def slow() -> heald.testing.ScriptedModel:
        return S([answers] * 5, piece=2, pause=0.05)

    body = {"messages": [{"role": "user", "content": "Something long"}]}
    timeout = aiohttp.ClientTimeout(total=60)
    async with served(tmp_path, slow) as server:
        async with server.client.post("/api/chat", json=body, timeout=timeout) as answer:
            frames = sse_frames(answer)
            await anext(frames)
            server.context.end_streams()
            told = [told async for told in frames]
        assert (told[-1].event, told[-1].json["status"]) == ("done", "interrupted")
