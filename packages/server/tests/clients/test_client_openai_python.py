"""The `openai` package for Python against /v1."""

import asyncio
import json
from pathlib import Path
from typing import Any

import msgspec
import openai
import pytest
from openai import AsyncOpenAI

import heald
from heald.core.events import ExchangeRequest, ExchangeResponse
from heald.providers.scripted import Script, ScriptedRequest
from heald.sessions.settings import SessionSettings
from heald_server.server_limits import ServerLimits
from heald_server.settings import ServerSettings
from scripted_agents import LOCATE, PDF, PIXEL, S, launch, model, slow, weather
from serving_parts import OTHER, TOKEN, Served, served

Messages = list[Any]
TOOL: Any = {"type": "function", "function": LOCATE}


def _client(server: Served, token: str = TOKEN) -> AsyncOpenAI:
    return AsyncOpenAI(base_url=f"{server.url}/v1", api_key=token, max_retries=0)


def _ask(text: str) -> Messages:
    return [{"role": "user", "content": text}]


async def _read(stream: Any) -> tuple[str, list[Any], str | None, str]:
    """The text, the calls, the finish reason and the reasoning of a stream."""
    text, calls, finish, thinking = "", dict[int, Any](), None, ""
    async for chunk in stream:
        for choice in chunk.choices:
            text += choice.delta.content or ""
            thinking += getattr(choice.delta, "reasoning_content", None) or ""
            deltas: list[Any] = choice.delta.tool_calls or []
            calls |= {call.index: call for call in deltas}
            finish = choice.finish_reason or finish
    return text, list(calls.values()), finish, thinking


async def _responses(server: Served) -> list[ExchangeResponse]:
    responses: list[ExchangeResponse] = []
    for info in (await server.context.sessions.list()).sessions:
        responses += [event.data for event in await server.log(info.id) if isinstance(event.data, ExchangeResponse)]
    return responses


# --- turns -----------------------------------------------------------------------------------------------------------


async def test_a_conversation_with_tools_goes_on_in_one_session(tmp_path: Path) -> None:
    async with served(tmp_path, model, tools={"weather": weather}) as server, _client(server) as client:
        messages: Messages = []
        for text in ("Hello", "The weather?", "Thanks"):
            messages += _ask(text)
            stream = await client.chat.completions.create(
                model="heald", messages=messages, stream=True, extra_headers={"X-Conversation-Id": "1"}
            )
            said, calls, finish, _ = await _read(stream)
            assert (calls, finish) == ([], "stop")
            messages.append({"role": "assistant", "content": said})
        assert messages[-1]["content"] == "Answer 3 to “Thanks”."
        (info,) = (await server.context.sessions.list()).sessions
        log = await server.log(info.id)
        assert sum(isinstance(event.data, ExchangeRequest) for event in log) == 3


async def test_a_picture_and_a_document_reach_the_model_and_unknown_parts_are_refused(tmp_path: Path) -> None:
    async with served(tmp_path, model) as server, _client(server) as client:
        picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
        document = {"type": "file", "file": {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{PDF}"}}
        parts: Any = [{"type": "text", "text": "What is seen?"}, picture, document]
        answer = await client.chat.completions.create(model="heald", messages=[{"role": "user", "content": parts}])
        assert answer.choices[0].message.content == "I see text and image/png and application/pdf: What is seen?"
        for bad in ({"type": "file", "file": {"file_id": "file-1"}}, {"type": "video", "video": "x"}):
            content: Any = [{"type": "text", "text": "Seen?"}, bad]
            with pytest.raises(openai.BadRequestError, match="cannot be read"):
                await client.chat.completions.create(model="heald", messages=[{"role": "user", "content": content}])


# --- tools of the client ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stream", [False, True])
async def test_tools_of_the_client_are_called_and_answered(stream: bool, tmp_path: Path) -> None:
    async with served(tmp_path, model, tools={"weather": weather}) as server, _client(server) as client:
        messages = _ask("Use both")

        async def ask() -> Any:
            answer: Any = await client.chat.completions.create(
                model="heald", messages=messages, tools=[TOOL], stream=stream, extra_body={"agent_tools": True}
            )
            if stream:
                text, calls, finish, _ = await _read(answer)
                return text, calls, finish
            choice = answer.choices[0]
            return choice.message.content, choice.message.tool_calls or [], choice.finish_reason

        text, calls, finish = await ask()
        assert (text, finish) == ("First ours.", "tool_calls")
        (call,) = calls
        assert (call.function.name, json.loads(call.function.arguments)) == ("locate", {"of": "me"})
        echoed = {"id": call.id, "type": "function", "function": {"name": "locate", "arguments": '{"of":"me"}'}}
        messages += [{"role": "assistant", "content": text, "tool_calls": [echoed]}]
        messages += [{"role": "tool", "tool_call_id": call.id, "content": "Bergen"}]
        text, calls, finish = await ask()
        assert (text, list(calls), finish) == ("Done: ok Oslo: 3 °C, snow, ok Bergen", [], "stop")
        (response,) = await _responses(server)
        assert response.status == "completed"
        messages += [{"role": "assistant", "content": text}, *_ask("Thanks")]
        text, _, _ = await ask()
        assert text == "Answer 2 to “Thanks”."
        assert len((await server.context.sessions.list()).sessions) == 1


async def test_results_that_come_too_late_continue_from_the_history(tmp_path: Path) -> None:
    settings = ServerSettings(port=0, client_tool_timeout=0.05)
    async with served(tmp_path, model, settings=settings) as server, _client(server) as client:
        first = await client.chat.completions.create(model="heald", messages=_ask("Please locate"), tools=[TOOL])
        await server.wait_idle()
        message = first.choices[0].message
        assert message.tool_calls
        result: Any = {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": "Bergen"}
        messages: Messages = [*_ask("Please locate"), message.model_dump(exclude_none=True), result]
        second = await client.chat.completions.create(model="heald", messages=messages, tools=[TOOL])
        assert second.choices[0].message.content == "Done: ok Bergen"


async def test_bad_results_are_refused_and_the_exchange_waits_on(tmp_path: Path) -> None:
    async with served(tmp_path, model) as server, _client(server) as client, _client(server, OTHER) as other:
        first = await client.chat.completions.create(model="heald", messages=_ask("Please locate"), tools=[TOOL])
        message = first.choices[0].message
        assert message.tool_calls
        call = message.tool_calls[0].id
        begin: Messages = [*_ask("Please locate"), message.model_dump(exclude_none=True)]

        def result(**fields: Any) -> Any:
            return {"role": "tool", "tool_call_id": call, "content": "Bergen", **fields}

        bad: list[tuple[Messages, str]] = [
            ([result(tool_call_id="call_9")], "did not call"),
            ([result(), result()], "twice"),
            ([result(content="x" * 1_100_000)], "send less"),
        ]
        for results, why in bad:
            with pytest.raises(openai.APIStatusError, match=why):
                await client.chat.completions.create(model="heald", messages=[*begin, *results], tools=[TOOL])
        theirs = await other.chat.completions.create(model="heald", messages=[*begin, result()], tools=[TOOL])
        assert theirs.choices[0].message.content == "Done: ok Bergen"  # in a session of its own
        assert server.context.open_sessions.busy == 1
        good = await client.chat.completions.create(model="heald", messages=[*begin, result()], tools=[TOOL])
        assert good.choices[0].message.content == "Done: ok Bergen"
        assert server.context.open_sessions.busy == 0


async def test_a_new_question_ends_a_call_that_nobody_answered(tmp_path: Path) -> None:
    async with served(tmp_path, model) as server, _client(server) as client:
        first = await client.chat.completions.create(model="heald", messages=_ask("Please locate"), tools=[TOOL])
        said: Any = first.choices[0].message.model_dump(exclude_none=True)
        messages: Messages = [*_ask("Please locate"), said, *_ask("Never mind")]
        second = await client.chat.completions.create(model="heald", messages=messages, tools=[TOOL])
        assert second.choices[0].message.content == "Answer 2 to “Never mind”."
        assert [response.status for response in await _responses(server)] == ["cancelled", "completed"]


# --- parameters ------------------------------------------------------------------------------------------------------


async def test_parameters_reach_the_model(tmp_path: Path) -> None:
    seen: list[Any] = []

    def note(request: ScriptedRequest) -> Script:
        seen.append(request.settings)
        return '{"city": "Oslo"}' if request.settings.output_schema else "Hello."

    async with served(tmp_path, lambda: S([note] * 9)) as server, _client(server) as client:
        schema: Any = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
        response_format: Any = {"type": "json_schema", "json_schema": {"name": "place", "schema": schema}}
        answer = await client.chat.completions.create(
            model="heald",
            messages=_ask("Hello"),
            temperature=0.5,
            top_p=0.9,
            max_tokens=77,
            stop=["END"],
            seed=7,
            n=1,
            tools=[TOOL],
            tool_choice="none",
            response_format=response_format,
        )
        assert json.loads(answer.choices[0].message.content or "") == {"city": "Oslo"}
        messages: Messages = [*_ask("Hello"), {"role": "assistant", "content": '{"city": "Oslo"}'}, *_ask("More")]
        await client.chat.completions.create(model="heald", messages=messages)
    first, second = seen
    assert (first.temperature, first.top_p, first.max_output_tokens) == (0.5, 0.9, 77)
    assert (first.stop_sequences, first.extra, first.tool_choice) == (["END"], {"seed": 7}, "none")
    assert first.output_schema == schema
    assert (second.temperature, second.max_output_tokens, second.stop_sequences, second.output_schema) == (
        None,
        None,
        [],
        None,
    )


@pytest.mark.parametrize(
    ("param", "value"),
    [
        ("n", 2),
        ("logprobs", True),
        ("logit_bias", {"1": 5}),
        ("temperature", 9.0),
        ("stop", ["a"] * 5),
        ("max_tokens", 0),
        ("tool_choice", "required"),
        ("response_format", {"type": "json_schema"}),
        ("modalities", ["audio"]),
        ("best_of", 3),
    ],
)
async def test_a_parameter_that_is_not_honoured_is_refused(param: str, value: Any, tmp_path: Path) -> None:
    async with served(tmp_path, model) as server, _client(server) as client:
        with pytest.raises(openai.BadRequestError) as refused:
            await client.chat.completions.create(model="heald", messages=_ask("Hello"), extra_body={param: value})
        assert (refused.value.type, refused.value.param, refused.value.code) == (
            "invalid_request_error",
            param,
            "invalid",
        )
        assert (await server.context.sessions.list()).sessions == []


async def test_tools_of_the_server_are_hidden_or_shown(tmp_path: Path) -> None:
    async with served(tmp_path, model, tools={"weather": weather}) as server, _client(server) as client:
        for body, is_visible in (({}, False), ({"show_tools": True}, True)):
            stream = await client.chat.completions.create(
                model="heald", messages=_ask("The weather?"), stream=True, extra_body=body
            )
            _, calls, _, thinking = await _read(stream)
            assert calls == []
            assert ("weather: ok" in thinking) is is_visible


# --- silence, cancel, errors -----------------------------------------------------------------------------------------


async def test_a_stream_survives_heartbeats(tmp_path: Path) -> None:
    settings = ServerSettings(port=0, heartbeat_seconds=0.05)

    @heald.tool
    async def wait(seconds: float) -> str:
        """Wait."""
        await asyncio.sleep(seconds)
        return "waited"

    def waits(request: ScriptedRequest) -> Script:
        return ["Wait.", S.call("wait", seconds=0.4)] if request.messages[-1].role == "user" else "Done."

    async with served(tmp_path, lambda: S([waits] * 5), tools={"wait": wait}, settings=settings) as server:
        async with server.client.post("/v1/chat/completions", json={"messages": _ask("Go"), "stream": True}) as answer:
            assert b": heartbeat\n" in await answer.read()
        async with _client(server) as client:
            stream = await client.chat.completions.create(model="heald", messages=_ask("Go"), stream=True)
            text, _, finish, _ = await _read(stream)
    assert (text, finish) == ("Wait.\n\nDone.", "stop")


@pytest.mark.parametrize("stream", [False, True])
async def test_closing_the_connection_cancels(stream: bool, tmp_path: Path) -> None:
    async with served(tmp_path, slow) as server, _client(server) as client:
        asking = asyncio.create_task(
            client.chat.completions.create(model="heald", messages=_ask("Long"), stream=stream, store=True)
        )
        if stream:
            answer: Any = await asking
            await anext(aiter(answer))
            await answer.close()
        else:
            async with asyncio.timeout(120):
                while not server.context.open_sessions.busy:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
            asking.cancel()
            await asyncio.wait([asking])
        await server.wait_idle()
        (response,) = await _responses(server)
        assert response.status == "cancelled"


@pytest.mark.parametrize("stream", [False, True])
async def test_an_agent_that_must_ask_reports_that_nobody_is_there(stream: bool, tmp_path: Path) -> None:
    defaults = SessionSettings(permissions="ask", tools=["launch"])
    async with (
        served(tmp_path, model, tools={"launch": launch}, defaults=defaults) as server,
        _client(server) as client,
    ):

        async def ask() -> None:
            answer: Any = await client.chat.completions.create(
                model="heald", messages=_ask("Please launch"), stream=stream
            )
            await _read(answer)

        for _ in range(3):
            with pytest.raises(openai.APIError if stream else openai.PermissionDeniedError, match="nobody to ask"):
                await ask()
        async with asyncio.timeout(120):
            while server.context.open_sessions.busy or server.context.in_memory().open_sessions.busy:  # noqa: ASYNC110
                await asyncio.sleep(0.01)


async def test_small_requests_need_no_session(tmp_path: Path) -> None:
    settings = ServerSettings(port=0, limits=msgspec.structs.replace(ServerLimits(), sessions_per_minute=2))
    async with served(tmp_path, model, settings=settings) as server, _client(server) as client:
        titles = await asyncio.gather(
            *(client.chat.completions.create(model="heald", messages=_ask(f"Title {n}")) for n in range(8))
        )
        assert [title.choices[0].message.content for title in titles] == [f"Answer 1 to “Title {n}”." for n in range(8)]
        assert (await server.context.sessions.list()).sessions == []
        await client.chat.completions.create(model="heald", messages=_ask("Keep it"), store=True)
        assert len((await server.context.sessions.list()).sessions) == 1


async def test_models_and_errors_have_the_fields_of_that_api(tmp_path: Path) -> None:
    async with served(tmp_path, model) as server, _client(server) as client:
        assert (await client.models.retrieve("scripted")).id == "scripted"
        with pytest.raises(openai.NotFoundError) as missing:
            await client.models.retrieve("gpt-17")
        assert (missing.value.type, missing.value.param) == ("invalid_request_error", "model")
        async with _client(server, "wrong") as stranger:
            with pytest.raises(openai.AuthenticationError) as refused:
                await stranger.models.list()
            assert refused.value.type == "authentication_error"
        with pytest.raises(openai.InternalServerError, match="out of order"):
            await client.chat.completions.create(model="heald", messages=_ask("Please fail"))
        with pytest.raises(openai.APIError, match="out of order"):
            await _read(await client.chat.completions.create(model="heald", messages=_ask("Please fail"), stream=True))
