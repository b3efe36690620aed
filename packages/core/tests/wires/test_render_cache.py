"""What was written once is kept from turn to turn, and never differs from what a fresh start would write."""

from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from example_counts import scaled
from heald.core.json import JsonObject, encode, loads
from heald.core.messages import (
    Block,
    Message,
    Native,
    Text,
    ToolCall,
    ToolDefinition,
    ToolResult,
    assistant,
    tool_results,
    user_message,
)
from heald.core.turn import Settings
from heald.wires.registry import WIRES
from heald.wires.rendering import RenderCache
from heald.wires.request import Quirks, TurnRequest

EVERY_WIRE = pytest.mark.parametrize("wire", list(WIRES))

ids = st.sampled_from(["a", "b", "a_2", "call:1"])


@st.composite
def grown(draw: st.DrawFn) -> list[Message]:
    """A conversation as an agent grows it: results directly behind their calls, if they come at all."""
    history: list[Message] = []
    for number in range(draw(st.integers(1, 4))):
        if draw(st.booleans()):
            history.append(user_message(draw(st.sampled_from(["hi", " ", "and now?"]))))
        calls = [ToolCall(id=call_id, name="f", input={}) for call_id in draw(st.lists(ids, max_size=2, unique=True))]
        content: list[Block] = [Text(draw(st.sampled_from(["", "ok"]))), *calls]
        history.append(Message(role="assistant", content=content))
        answered = [call for call in calls if draw(st.booleans())]
        if draw(st.booleans()):
            history += [tool_results([_result(call, number)]) for call in answered]
        elif answered:
            history.append(tool_results([_result(call, number) for call in answered]))
    return history


def _result(call: ToolCall, number: int) -> ToolResult:
    return ToolResult(id=call.id, status="ok", content=f"result {number}")


def build_request(wire: str, history: list[Message], cache: RenderCache | None = None, model: str = "m") -> JsonObject:
    """The request as it is sent: what the cache holds is in it as bytes."""
    return loads(
        encode(WIRES[wire].build_request(TurnRequest(model=model, messages=history, provider="p", cache=cache)))
    )


ASKED = user_message("and now?")
CALLED = Message(role="assistant", content=[Text(""), ToolCall(id="a", name="f", input={})])


@settings(max_examples=scaled(80))
@given(history=grown())
def test_turn_by_turn_is_as_good_as_from_scratch(history: list[Message]) -> None:
    for wire in WIRES:
        cache = RenderCache()
        for size in range(len(history) + 1):
            assert build_request(wire, history[:size], cache) == build_request(wire, history[:size]), (wire, size)


@settings(max_examples=scaled(40))
@given(first=grown(), second=grown())
@example(first=[ASKED, CALLED, CALLED], second=[ASKED, CALLED, tool_results([_result(CALLED.tool_calls[0], 0)])])
def test_a_conversation_that_was_changed_is_written_anew(first: list[Message], second: list[Message]) -> None:
    for wire in WIRES:
        cache = RenderCache()
        build_request(wire, first, cache)
        assert build_request(wire, second, cache) == build_request(wire, second), wire
        assert build_request(wire, first[:1], cache) == build_request(wire, first[:1]), wire
        assert build_request(wire, [*first[:1], *second], cache) == build_request(wire, [*first[:1], *second]), wire


@EVERY_WIRE
def test_a_request_does_not_change_what_is_kept(wire: str) -> None:
    cache = RenderCache()
    history = [user_message("hi")]
    field = next(name for name in ("messages", "contents", "input") if name in build_request(wire, history, cache))
    build_request(wire, history, cache)[field].append({"role": "user", "content": "mine"})
    assert build_request(wire, history, cache) == build_request(wire, history)


@EVERY_WIRE
def test_another_model_gets_nothing_of_what_was_written_for_the_first(wire: str) -> None:
    """R13: the native content of one model must not reach another through the cache."""
    content = {"chat": {"role": "assistant", "content": "opaque"}, "ollama": {"role": "assistant", "content": "opaque"}}
    parts = {"responses": [{"type": "message", "content": "opaque"}], "messages": [{"type": "text", "text": "opaque"}]}
    wire_name = WIRES[wire].decoder.wire
    native = Native(
        wire=wire_name, provider="p", model="m", content=(content | parts).get(wire_name, [{"text": "opaque"}])
    )
    history = [user_message("hi"), Message(role="assistant", content=[Text("open")], native=native)]
    cache = RenderCache()
    assert "opaque" in str(build_request(wire, history, cache))
    assert "opaque" not in str(build_request(wire, history, cache, model="other"))


@EVERY_WIRE
def test_half_a_surrogate_pair_beside_what_is_kept(wire: str) -> None:
    cache = RenderCache()
    history = [
        message for number in range(6) for message in (user_message(f"question {number} \ud83d"), assistant("answer"))
    ]
    for size in range(1, len(history) + 1):
        assert build_request(wire, history[:size], cache) == build_request(wire, history[:size])


@EVERY_WIRE
def test_tools_and_settings_that_change_between_turns_are_sent(wire: str) -> None:
    first, second = ToolDefinition(name="first"), ToolDefinition(name="second")
    cache = RenderCache()
    tools = [first]
    for offered, given_settings in (
        ([first], Settings()),
        ([first, second], Settings()),
        ([second], Settings(system="Be brief.")),
    ):
        tools[:] = offered  # the same list, as a session has it
        request = TurnRequest(
            model="m", messages=[user_message("hi")], tools=tools, settings=given_settings, cache=cache
        )
        sent = encode(WIRES[wire].build_request(request))
        fresh = encode(WIRES[wire].build_request(msgspec.structs.replace(request, cache=None)))
        assert loads(sent) == loads(fresh)
        assert (b'"first"' in sent, b'"second"' in sent) == (first in offered, second in offered)


@pytest.mark.parametrize("wire", ["messages", "converse", "chat"])
def test_the_marks_of_long_turns_are_those_of_a_fresh_start(wire: str) -> None:
    """The marks stand on messages that the cache may hold as bytes, and on none of an earlier turn."""
    cache, history = RenderCache(), [user_message("question \ud83d")]
    for turn in range(5):
        calls = [ToolCall(id=f"{turn}_{number}", name="f", input={}) for number in range(12)]
        if turn < 4:
            history.append(Message(role="assistant", content=[*calls]))
            history.append(tool_results([_result(call, turn) for call in calls]))
        else:
            history.append(assistant("An answer that was paused."))
        request = TurnRequest(
            model="anthropic/claude-opus-4-6",
            messages=list(history),
            tools=[ToolDefinition(name="f")],
            settings=Settings(system="Be brief."),
            quirks=Quirks(cache_marks=True),
            cache=cache,
        )
        sent = encode(WIRES[wire].build_request(request))
        assert loads(sent) == loads(encode(WIRES[wire].build_request(msgspec.structs.replace(request, cache=None))))
        assert sent.count(b'"cachePoint"' if wire == "converse" else b'"cache_control"') == 3


def test_extra_parameters_are_merged_into_fields_that_are_kept() -> None:
    cache = RenderCache()
    request = TurnRequest(model="m", messages=[user_message("hi")], tools=[ToolDefinition(name="first")], cache=cache)
    WIRES["chat"].build_request(request)
    extra = Settings(extra={"tools": [{"type": "own"}], "stream_options": {"own": True}})
    body = loads(encode(WIRES["chat"].build_request(msgspec.structs.replace(request, settings=extra))))
    assert [tool["type"] for tool in body["tools"]] == ["function", "own"]
    assert body["stream_options"] == {"include_usage": True, "own": True}


@pytest.mark.parametrize("wire", ["chat", "responses", "messages", "gemini"])
def test_a_new_conversation_reuses_the_frame_of_an_equal_one_only(wire: str) -> None:
    tools = [ToolDefinition(name="add", description="Add.")]
    hello = [user_message("Hi.")]

    def build(provider: str, **changes: Any) -> JsonObject:
        cache, fresh = RenderCache(), None
        options: dict[str, Any] = {"model": "m", "messages": hello, "tools": tools, "provider": provider} | changes
        bodies = [loads(encode(WIRES[wire].build_request(TurnRequest(**options, cache=c)))) for c in (cache, fresh)]
        assert bodies[0] == bodies[1]
        frames.append(cache.frame)
        return bodies[0]

    frames: list[JsonObject] = []
    build("p")
    build("p", settings=Settings())
    assert frames[1] is frames[0]
    others: list[dict[str, Any]] = [
        {"settings": Settings(max_output_tokens=7)},
        {"tools": [*tools, ToolDefinition(name="sub")]},
        {"model": "other"},
        {"quirks": Quirks(system_role="developer")},
    ]
    for changes in others:
        build("p", **changes)
    build("q")
    assert len({id(frame) for frame in frames}) == len(frames) - 1
