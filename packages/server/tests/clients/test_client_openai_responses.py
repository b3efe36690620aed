"""The `openai` package for Python against /v1/responses. Its own types validate every event and every object."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI
from openai.types.responses import Response, ResponseItemList, ResponseStreamEvent
from pydantic import BaseModel, TypeAdapter

import heald
from heald.core.events import ExchangeRequest, ExchangeResponse
from heald.providers.scripted import Script, ScriptedRequest
from heald.sessions.settings import SessionSettings
from heald_server.settings import ServerSettings
from scripted_agents import LOCATE, PDF, PIXEL, S, launch, model, slow, weather
from serving_parts import OTHER, TOKEN, Served, served

TOOL: Any = {"type": "function", **LOCATE}
ASKED: Any = {"type": "mcp", "server_label": "heald", "server_url": "https://example.org", "require_approval": "always"}
BESIDE = {"agent_tools": True}
_EVENTS: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)


def _client(server: Served, token: str = TOKEN) -> Any:
    return AsyncOpenAI(base_url=f"{server.url}/v1", api_key=token, max_retries=0)


async def _events(stream: Any) -> list[Any]:
    """The events of a stream: each is validated, and their numbers have no gap."""
    events: list[Any] = []
    async for event in stream:
        _EVENTS.validate_python(event.model_dump(by_alias=True, warnings=False))
        events.append(event)
    numbers = [event.sequence_number for event in events]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    return events


def _checked(response: Any) -> Any:
    Response.model_validate(response.model_dump(by_alias=True, warnings=False), strict=False)
    return response


async def _responses(server: Served) -> list[ExchangeResponse]:
    responses: list[ExchangeResponse] = []
    for info in (await server.context.sessions.list()).sessions:
        responses += [event.data for event in await server.log(info.id) if isinstance(event.data, ExchangeResponse)]
    return responses


async def _until(condition: Any) -> None:
    async with asyncio.timeout(120):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def _calls(response: Any) -> list[Any]:
    return [item for item in response.output if item.type == "function_call"]


# --- turns -----------------------------------------------------------------------------------------------------------


async def test_responses_continue_in_one_session(tmp_path: Path) -> None:
    async with served(tmp_path, model, tools={"weather": weather}) as server, _client(server) as client:
        first = _checked(await client.responses.create(model="heald", input="Hello"))
        assert (first.output_text, first.status, first.store) == ("Answer 1 to “Hello”.", "completed", True)
        second = _checked(
            await client.responses.create(model="heald", input="The weather?", previous_response_id=first.id)
        )
        assert second.output_text == "Let me see.Done: ok Oslo: 3 °C, snow"
        assert [item.type for item in second.output] == ["reasoning", "message", "message"]
        assert second.output[0].summary[0].text == "Oslo is cold."
        assert second.previous_response_id == first.id
        third = await client.responses.create(model="heald", input="Thanks", previous_response_id=second.id)
        assert third.output_text == "Answer 3 to “Thanks”."
        (info,) = (await server.context.sessions.list()).sessions
        log = await server.log(info.id)
        assert sum(isinstance(event.data, ExchangeRequest) for event in log) == 3


async def test_a_response_can_be_continued_twice(tmp_path: Path) -> None:
    async with served(tmp_path, model) as server, _client(server) as client:
        first = await client.responses.create(model="heald", input="Hello")
        left = await client.responses.create(model="heald", input="One", previous_response_id=first.id)
        right = await client.responses.create(model="heald", input="Two", previous_response_id=first.id)
        assert (left.output_text, right.output_text) == ("Answer 2 to “One”.", "Answer 2 to “Two”.")
        more = await client.responses.create(model="heald", input="More", previous_response_id=left.id)
        assert more.output_text == "Answer 3 to “More”."
        assert len((await server.context.sessions.list()).sessions) == 2


async def test_another_model_continues_the_conversation(tmp_path: Path) -> None:
    async with served(tmp_path, {"scripted": model, "other": model}) as server, _client(server) as client:
        first = await client.responses.create(model="heald", input="Hello")
        other = await client.responses.create(model="other", input="And you?", previous_response_id=first.id)
        assert (other.output_text, other.model) == ("Answer 2 to “And you?”.", "other")
        third = await client.responses.create(model="other", input="Thanks", previous_response_id=other.id)
        assert third.output_text == "Answer 3 to “Thanks”."
        settings = {info.settings.get("model", "") for info in (await server.context.sessions.list()).sessions}
        assert settings == {"", "other"}


async def test_a_conversation_that_is_sent_again_goes_on_in_its_session(tmp_path: Path) -> None:
    async with served(tmp_path, model, tools={"weather": weather}) as server, _client(server) as client:
        items: list[Any] = []
        for text in ("Hello", "The weather?", "Thanks"):
            items.append({"role": "user", "content": text})
            answer = await client.responses.create(model="heald", input=items)
            items += [item.model_dump(exclude_none=True) for item in answer.output]
        assert answer.output_text == "Answer 3 to “Thanks”."
        references: list[Any] = [
            {"type": "item_reference", "id": previous["id"]} if "id" in previous else previous for previous in items
        ]
        last = await client.responses.create(model="heald", input=[*references, {"role": "user", "content": "Bye"}])
        assert last.output_text == "Answer 4 to “Bye”."
        assert len((await server.context.sessions.list()).sessions) == 1
        missing: Any = {"type": "item_reference", "id": items[1]["id"].replace("_", "_0", 1)}
        with pytest.raises(openai.BadRequestError, match="There is no item"):
            await client.responses.create(model="heald", input=[items[0], missing, {"role": "user", "content": "Bye"}])


async def test_every_event_of_a_stream_has_the_types_of_the_api(tmp_path: Path) -> None:
    async with served(tmp_path, model, tools={"weather": weather}) as server, _client(server) as client:
        events = await _events(await client.responses.create(model="heald", input="The weather?", stream=True))
        kinds = [event.type for event in events]
        assert kinds[:2] == ["response.created", "response.in_progress"]
        assert kinds[-1] == "response.completed"
        assert kinds[2:5] == [
            "response.output_item.added",
            "response.reasoning_summary_part.added",
            "response.reasoning_summary_text.delta",
        ]
        text = "".join(event.delta for event in events if event.type == "response.output_text.delta")
        final = _checked(events[-1].response)
        assert text == final.output_text == "Let me see.Done: ok Oslo: 3 °C, snow"
        assert final.usage is not None
        assert final.usage.total_tokens > 0
        async with client.responses.stream(model="heald", input="The weather?") as stream:
            async for _ in stream:
                pass
            assert (await stream.get_final_response()).output_text == text


async def test_pictures_and_files_reach_the_model(tmp_path: Path) -> None:
    async with served(tmp_path, model) as server, _client(server) as client:
        parts: list[Any] = [
            {"type": "input_text", "text": "What is seen?"},
            {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}", "detail": "auto"},
            {"type": "input_file", "filename": "a.pdf", "file_data": f"data:application/pdf;base64,{PDF}"},
        ]
        answer = await client.responses.create(model="heald", input=[{"role": "user", "content": parts}])
        assert answer.output_text == "I see text and image/png and application/pdf: What is seen?"
        bad_parts: list[Any] = [
            {"type": "input_image", "file_id": "file-1"},
            {"type": "input_video", "video": "x"},
            {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
            {"type": "input_image", "image_url": "file:///etc/passwd"},
        ]
        for bad in bad_parts:
            with pytest.raises(openai.BadRequestError) as refused:
                await client.responses.create(model="heald", input=[{"role": "user", "content": [parts[0], bad]}])
            assert refused.value.type == "invalid_request_error"


# --- tools of the client ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("how", ["previous", "again", "unstored"])
async def test_tools_of_the_client_are_called_and_answered(how: str, stream: bool, tmp_path: Path) -> None:
    async with served(tmp_path, model, tools={"weather": weather}) as server, _client(server) as client:

        async def ask(items: list[Any], previous: Any = None) -> Any:
            options: Any = {"previous_response_id": previous.id} if previous is not None else {}
            answer: Any = await client.responses.create(
                model="heald",
                input=items,
                tools=[TOOL],
                stream=stream,
                store=how != "unstored",
                extra_body=BESIDE,
                **options,
            )
            return _checked((await _events(answer))[-1].response if stream else answer)

        items: list[Any] = [{"role": "user", "content": "Use both"}]
        first = await ask(items)
        (call,) = _calls(first)
        assert (first.status, first.output_text) == ("completed", "First ours.")
        assert (call.name, json.loads(call.arguments), call.status) == ("locate", {"of": "me"}, "completed")
        output = {"type": "function_call_output", "call_id": call.call_id, "output": "Bergen"}
        if how == "previous":
            second = await ask([output], first)
        else:
            items += [*(item.model_dump(exclude_none=True) for item in first.output), output]
            second = await ask(items)
        assert (second.output_text, _calls(second)) == ("Done: ok Oslo: 3 °C, snow, ok Bergen", [])
        assert second.id != first.id
        sessions = (await server.context.sessions.list()).sessions
        assert len(sessions) == (0 if how == "unstored" else 1)
        if how != "unstored":
            assert [exchange.status for exchange in await _responses(server)] == ["completed"]
            for response in (first, second):
                assert (await client.responses.retrieve(response.id)).output == response.output
            again = await client.responses.create(model="heald", input="Thanks", previous_response_id=second.id)
            assert again.output_text == "Answer 2 to “Thanks”."
        else:
            with pytest.raises(openai.NotFoundError):
                await client.responses.retrieve(second.id)


async def test_arguments_of_a_call_stream_and_the_call_ends_when_it_may_run(tmp_path: Path) -> None:
    async with served(tmp_path, model) as server, _client(server) as client:
        stream = await client.responses.create(model="heald", input="Please locate", tools=[TOOL], stream=True)
        events = await _events(stream)
        deltas = [event.delta for event in events if event.type == "response.function_call_arguments.delta"]
        (done,) = [event for event in events if event.type == "response.function_call_arguments.done"]
        assert json.loads("".join(deltas)) == json.loads(done.arguments) == {"of": "me"}
        assert [event.type for event in events][-2:] == ["response.output_item.done", "response.completed"]


async def test_answers_that_are_wrong_late_or_missing(tmp_path: Path) -> None:
    settings = ServerSettings(port=0, client_tool_timeout=1.0)
    async with (
        served(tmp_path, model, tools={"weather": weather}, settings=settings) as server,
        _client(server) as client,
        _client(server, OTHER) as other,
    ):
        first = await client.responses.create(model="heald", input="Use both", tools=[TOOL], extra_body=BESIDE)
        (call,) = _calls(first)
        result: Any = {"type": "function_call_output", "call_id": call.call_id, "output": "Bergen"}
        wrong: Any = result | {"call_id": "call_9"}
        with pytest.raises(openai.BadRequestError):
            await client.responses.create(model="heald", input=[wrong], tools=[TOOL], previous_response_id=first.id)
        with pytest.raises(openai.NotFoundError) as foreign:
            await other.responses.create(model="heald", input=[result], previous_response_id=first.id)
        assert (foreign.value.type, foreign.value.param) == ("invalid_request_error", "previous_response_id")
        await server.wait_idle()
        late = await client.responses.create(model="heald", input=[result], tools=[TOOL], previous_response_id=first.id)
        assert late.output_text == "Done: ok Oslo: 3 °C, snow, ok Bergen"
        second = await client.responses.create(model="heald", input="Please locate", tools=[TOOL])
        went_on = await client.responses.create(model="heald", input="Never mind", previous_response_id=second.id)
        assert went_on.output_text == "Answer 2 to “Never mind”."


# --- tools of the server ---------------------------------------------------------------------------------------------


async def test_tools_of_the_server_are_hidden_or_shown(tmp_path: Path) -> None:
    async with served(tmp_path, model, tools={"weather": weather}) as server, _client(server) as client:
        events = await _events(
            await client.responses.create(model="heald", input="The weather?", stream=True, tools=[ASKED])
        )
        final = _checked(events[-1].response)
        (call,) = [item for item in final.output if item.type == "mcp_call"]
        assert (call.name, json.loads(call.arguments), call.output) == (
            "weather",
            {"city": "Oslo"},
            "Oslo: 3 °C, snow",
        )
        kinds = [event.type for event in events if "mcp" in event.type]
        assert kinds == [
            "response.mcp_call.in_progress",
            "response.mcp_call_arguments.done",
            "response.mcp_call.completed",
        ]
        hidden = await client.responses.create(model="heald", input="The weather?")
        assert {item.type for item in hidden.output} == {"reasoning", "message"}
        visible = await client.responses.create(model="heald", input="The weather?", extra_body={"show_tools": True})
        assert "mcp_call" in {item.type for item in visible.output}


@pytest.mark.parametrize("approve", [True, False])
@pytest.mark.parametrize("how", ["previous", "again"])
async def test_approvals_of_the_agents_tools(how: str, approve: bool, tmp_path: Path) -> None:
    defaults = SessionSettings(permissions="ask", tools=["launch"])
    async with (
        served(tmp_path, model, tools={"launch": launch}, defaults=defaults) as server,
        _client(server) as client,
    ):
        asked: Any = {"role": "user", "content": "Please launch"}
        first = _checked(await client.responses.create(model="heald", input=[asked], tools=[ASKED]))
        request = first.output[-1]
        assert (request.type, request.name, json.loads(request.arguments)) == (
            "mcp_approval_request",
            "launch",
            {"what": "rocket"},
        )
        answer: Any = {"type": "mcp_approval_response", "approval_request_id": request.id, "approve": approve}
        options: Any = {"input": [answer], "previous_response_id": first.id}
        if how == "again":
            options = {"input": [asked, *(item.model_dump(exclude_none=True) for item in first.output), answer]}
        stream = await client.responses.create(model="heald", tools=[ASKED], stream=True, **options)
        final = _checked((await _events(stream))[-1].response)
        (call,) = [item for item in final.output if item.type == "mcp_call"]
        assert call.approval_request_id == request.id
        if approve:
            assert (call.output, final.output_text) == ("rocket launched", "Done: ok rocket launched")
        else:
            assert call.error
            assert "denied" in final.output_text
        with pytest.raises(openai.ConflictError, match="waits"):
            await client.responses.create(model="heald", tools=[ASKED], **options)


@pytest.mark.parametrize("how", ["plain", "stream", "background"])
async def test_an_agent_that_must_ask_reports_that_nobody_is_there(how: str, tmp_path: Path) -> None:
    defaults = SessionSettings(permissions="ask", tools=["launch"])
    async with (
        served(tmp_path, model, tools={"launch": launch}, defaults=defaults) as server,
        _client(server) as client,
    ):
        if how == "plain":
            with pytest.raises(openai.PermissionDeniedError, match="nobody can be asked"):
                await client.responses.create(model="heald", input="Please launch")
        elif how == "stream":
            events = await _events(await client.responses.create(model="heald", input="Please launch", stream=True))
            assert events[-1].type == "response.failed"
            assert "nobody can be asked" in events[-1].response.error.message
        else:
            begun = await client.responses.create(model="heald", input="Please launch", background=True)
            await server.wait_idle()
            ended = _checked(await client.responses.retrieve(begun.id))
            assert (ended.status, "nobody can be asked" in ended.error.message) == ("failed", True)
        await server.wait_idle()


# --- parameters ------------------------------------------------------------------------------------------------------


async def test_parameters_reach_the_model_and_are_repeated(tmp_path: Path) -> None:
    seen: list[Any] = []

    def note(request: ScriptedRequest) -> Script:
        seen.append(request.settings)
        return '{"city": "Oslo"}' if request.settings.output_schema else "Hello."

    class Place(BaseModel):
        city: str

    async with served(tmp_path, lambda: S([note] * 9)) as server, _client(server) as client:
        answer = await client.responses.parse(
            model="heald",
            input=[{"role": "developer", "content": "Be brief."}, {"role": "user", "content": "Hello"}],
            instructions="You are a pirate.",
            temperature=0.5,
            top_p=0.9,
            max_output_tokens=77,
            tools=[TOOL],
            tool_choice="none",
            parallel_tool_calls=False,
            reasoning={"effort": "low", "summary": "auto"},
            metadata={"topic": "sea"},
            text_format=Place,
            user="me",
        )
        assert answer.output_parsed == Place(city="Oslo")
        stored = _checked(await client.responses.retrieve(answer.id))
        assert (stored.instructions, stored.temperature, stored.top_p) == ("You are a pirate.", 0.5, 0.9)
        assert (stored.max_output_tokens, stored.metadata, stored.tool_choice) == (77, {"topic": "sea"}, "none")
        assert (stored.parallel_tool_calls, stored.tools[0].name, stored.user) == (False, "locate", "me")
        assert (stored.reasoning.effort, stored.text.format.type) == ("low", "json_schema")
        await client.responses.create(model="heald", input="More", previous_response_id=answer.id)
    first, second = seen
    assert (first.temperature, first.top_p, first.max_output_tokens) == (0.5, 0.9, 77)
    assert (first.tool_choice, first.parallel_tool_calls, first.reasoning.effort) == ("none", False, "low")
    assert first.system.endswith("You are a pirate.\n\nBe brief.")
    assert first.output_schema["required"] == ["city"]
    assert (second.temperature, second.max_output_tokens, second.output_schema) == (None, None, None)
    assert "pirate" not in second.system


@pytest.mark.parametrize(
    ("param", "value"),
    [
        ("conversation", 7),
        ("max_tool_calls", 3),
        ("prompt", {"id": "pmpt_1"}),
        ("top_logprobs", 5),
        ("temperature", 9.0),
        ("max_output_tokens", 0),
        ("tools", "all"),
        ("tool_choice", {"type": "web_search"}),
        ("tool_choice", "required"),
        ("text", {"format": {"type": "json_schema", "name": "x"}}),
        ("reasoning", {"effort": "utmost"}),
        ("include", ["message.output_text.logprobs"]),
        ("metadata", {"n": 1}),
        ("truncation", "some"),
        ("input", []),
        ("input", [{"type": "computer_call", "id": "x"}]),
        ("input", [{"type": "function_call_output", "output": "x"}]),
        ("background", "yes"),
        ("best_of", 3),
    ],
)
async def test_a_parameter_that_is_not_honoured_is_refused(param: str, value: Any, tmp_path: Path) -> None:
    async with served(tmp_path, model) as server, _client(server) as client:
        with pytest.raises(openai.BadRequestError) as refused:
            await client.responses.create(model="heald", input="Hello", extra_body={param: value})
        assert (refused.value.type, refused.value.code) == ("invalid_request_error", "invalid")
        assert refused.value.param == param
        assert (await server.context.sessions.list()).sessions == []


# --- stored responses ------------------------------------------------------------------------------------------------


async def test_input_items_are_listed(tmp_path: Path) -> None:
    async with served(tmp_path, model) as server, _client(server) as client:
        items: list[Any] = [{"role": "user", "content": text} for text in ("One", "Two")]
        items.insert(1, {"role": "assistant", "content": "Fine."})
        answer = await client.responses.create(model="heald", input=items)
        page = await client.responses.input_items.list(answer.id, order="asc", limit=2)
        ResponseItemList.model_validate(page.model_dump(by_alias=True, warnings=False))
        listed = [item async for item in page]
        assert [item.content[0].text for item in listed] == ["One", "Fine.", "Two"]
        newest = await client.responses.input_items.list(answer.id)
        assert [item.content[0].text for item in newest.data] == ["Two", "Fine.", "One"]
        with pytest.raises(openai.NotFoundError):
            await client.responses.input_items.list(answer.id, after="msg_x")


async def test_a_response_is_deleted(tmp_path: Path) -> None:
    async with served(tmp_path, model) as server, _client(server) as client, _client(server, OTHER) as other:
        first = await client.responses.create(model="heald", input="One")
        second = await client.responses.create(model="heald", input="Two", previous_response_id=first.id)
        for stranger in (other.responses.retrieve, other.responses.delete, other.responses.cancel):
            with pytest.raises(openai.NotFoundError):
                await stranger(first.id)
        with pytest.raises(openai.NotFoundError):
            await other.responses.input_items.list(first.id)
        await client.responses.delete(first.id)
        for call in (client.responses.retrieve, client.responses.delete, client.responses.cancel):
            with pytest.raises(openai.NotFoundError):
                await call(first.id)
        with pytest.raises(openai.NotFoundError):
            await client.responses.create(model="heald", input="Three", previous_response_id=first.id)
        assert (await client.responses.retrieve(second.id)).output_text == "Answer 2 to “Two”."
        await client.responses.delete(second.id)
        assert (await server.context.sessions.list()).sessions == []


async def test_responses_survive_a_restart(tmp_path: Path) -> None:
    async with served(tmp_path, model) as server, _client(server) as client:
        first = await client.responses.create(model="heald", input="One")
    async with served(tmp_path, model) as server, _client(server) as client:
        assert (await client.responses.retrieve(first.id)).output == first.output
        second = await client.responses.create(model="heald", input="Two", previous_response_id=first.id)
        assert second.output_text == "Answer 2 to “Two”."


# --- background, cut connections, cancel, errors ---------------------------------------------------------------------


async def _cut(stream: Any, count: int) -> list[Any]:
    """Read some events, then close the connection."""
    events: AsyncIterator[Any] = aiter(stream)
    received = [await anext(events) for _ in range(count)]
    await stream.close()
    return received


async def test_a_cut_background_stream_is_resumed(tmp_path: Path) -> None:
    async with served(tmp_path, slow) as server, _client(server) as client:
        stream = await client.responses.create(model="heald", input="A long one", stream=True, background=True)
        head = await _cut(stream, 20)
        assert [event.type for event in head[:3]] == ["response.created", "response.queued", "response.in_progress"]
        assert head[0].response.status == "queued"
        name = head[0].response.id
        running = _checked(await client.responses.retrieve(name))
        assert (running.status, running.background) == ("in_progress", True)
        tail = await _events(
            await client.responses.retrieve(name, stream=True, starting_after=head[-1].sequence_number)
        )
        assert tail[0].sequence_number == head[-1].sequence_number + 1
        text = "".join(event.delta for event in [*head, *tail] if event.type == "response.output_text.delta")
        assert text == "Word after word. " * 200 == tail[-1].response.output_text
        whole = await _events(await client.responses.retrieve(name, stream=True))
        assert [event.model_dump() for event in whole] == [event.model_dump() for event in [*head, *tail]]
        assert _checked(await client.responses.retrieve(name)).status == "completed"


async def test_a_background_response_is_cancelled(tmp_path: Path) -> None:
    async with served(tmp_path, slow) as server, _client(server) as client:
        begun = _checked(await client.responses.create(model="heald", input="A long one", background=True))
        assert (begun.status, begun.output) == ("queued", [])
        with pytest.raises(openai.ConflictError, match="in progress"):
            await client.responses.create(model="heald", input="And?", previous_response_id=begun.id)
        await _until(lambda: server.context.open_sessions.busy)
        for _ in range(2):
            cancelled = _checked(await client.responses.cancel(begun.id))
            assert cancelled.status == "cancelled"
        (response,) = await _responses(server)
        assert response.status == "cancelled"
        events = await _events(await client.responses.retrieve(begun.id, stream=True))
        assert (events[-1].type, events[-1].response.status) == ("response.incomplete", "cancelled")


@pytest.mark.parametrize("stream", [False, True])
async def test_closing_the_connection_cancels(stream: bool, tmp_path: Path) -> None:
    async with served(tmp_path, slow) as server, _client(server) as client:
        asking = asyncio.create_task(client.responses.create(model="heald", input="A long one", stream=stream))
        if stream:
            await _cut(await asking, 5)
        else:
            await _until(lambda: server.context.open_sessions.busy)
            asking.cancel()
            await asyncio.wait([asking])
        await server.wait_idle()
        (response,) = await _responses(server)
        assert response.status == "cancelled"


async def test_errors_have_the_fields_of_the_api(tmp_path: Path) -> None:
    async with served(tmp_path, model) as server, _client(server) as client:
        with pytest.raises(openai.InternalServerError, match="out of order"):
            await client.responses.create(model="heald", input="Please fail")
        events = await _events(await client.responses.create(model="heald", input="Please fail", stream=True))
        failed = _checked(events[-1].response)
        assert (events[-1].type, failed.status, failed.output_text) == ("response.failed", "failed", "")
        assert "out of order" in failed.error.message
        assert (await client.responses.retrieve(failed.id)).error.message == failed.error.message
        for name in ("resp_1", "resp_00_1", "x", "resp_00_99999999999999999999999"):
            with pytest.raises(openai.NotFoundError):
                await client.responses.retrieve(name)
        with pytest.raises(openai.NotFoundError, match="no model"):
            await client.responses.create(model="gpt-17", input="Hello")
        async with _client(server, "wrong") as stranger:
            with pytest.raises(openai.AuthenticationError):
                await stranger.responses.create(model="heald", input="Hello")
        with pytest.raises(openai.BadRequestError):
            await client.responses.retrieve(failed.id, starting_after=3)


async def test_a_limit_and_a_full_answer_are_incomplete(tmp_path: Path) -> None:
    @heald.tool
    async def more() -> str:
        """More."""
        return "more"

    def script(request: ScriptedRequest) -> Script:
        if "cut" in request.messages[-1].words:
            return ["Half", S.stop("max_tokens")]
        return ["On.", S.call("more")]

    defaults = SessionSettings(tools=["more"], budget=heald.Budget(turns=2))
    async with (
        served(tmp_path, lambda: S([script] * 9), tools={"more": more}, defaults=defaults) as server,
        _client(server) as client,
    ):
        cut = _checked(await client.responses.create(model="heald", input="cut"))
        assert (cut.status, cut.incomplete_details.reason) == ("incomplete", "max_output_tokens")
        limit = _checked(await client.responses.create(model="heald", input="on"))
        assert (limit.status, limit.incomplete_details.reason) == ("incomplete", "max_messages")
