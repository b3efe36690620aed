"""A model whose turns are written in code obeys the same rules as one behind a wire."""

import asyncio
from collections.abc import Sequence

import pytest
from provider_bench import streamed_text, types, written

import heald
from heald.core.errors import ConfigurationError, Overloaded, ProviderError
from heald.core.events import (
    InputJsonDelta,
    MessageDiscarded,
    MessageStart,
    TextContentBlockStart,
    TextContentBlockStop,
    TextDelta,
    ThinkingContentBlockStart,
    ThinkingContentBlockStop,
    ThinkingDelta,
    ToolUseContentBlockStart,
    ToolUseContentBlockStop,
)
from heald.core.messages import (
    Message,
    Reasoning,
    Text,
    ToolCall,
    ToolDefinition,
    ToolResult,
    tool_results,
    user_message,
)
from heald.core.payload import Payload
from heald.core.turn import Settings, StopReason, Usage
from heald.providers.base import ProviderTurn
from heald.providers.scripted import Script, ScriptedCall, ScriptedRequest

Scripted = heald.testing.ScriptedModel
STARTS = (TextContentBlockStart, ThinkingContentBlockStart, ToolUseContentBlockStart)
DELTAS = (TextDelta, ThinkingDelta, InputJsonDelta)
STOPS = (TextContentBlockStop, ThinkingContentBlockStop, ToolUseContentBlockStop)


def check_blocks(events: Sequence[Payload]) -> None:
    """Blocks are numbered from 0, begin once, carry their deltas, end once, and stand between start and stop."""
    assert isinstance(events[0], MessageStart)
    assert types(events)[-2:] == ["message_delta", "message_stop"]
    open_blocks: dict[int, str] = {}
    seen: list[int] = []
    for payload in events:
        if isinstance(payload, STARTS):
            seen.append(payload.index)
            open_blocks[payload.index] = payload.block
        elif isinstance(payload, DELTAS):
            assert open_blocks[payload.index] == payload.block
        elif isinstance(payload, STOPS):
            assert open_blocks.pop(payload.index) == payload.block
    assert open_blocks == {}
    assert seen == list(range(len(seen)))


async def play(model: heald.testing.ScriptedModel) -> tuple[ProviderTurn, list[Payload]]:
    events: list[Payload] = []
    turn = await heald.providers.open_provider_session(model, messages=[user_message("Go.")]).stream_turn(events.append)
    check_blocks(events)
    return turn, events


@pytest.mark.parametrize("piece", [1, 3, 8, 1000, 0, -1])
async def test_everything_in_one_turn(piece: int) -> None:
    script: Script = [
        Scripted.think("Oslo is cold."),
        "Let me see. 🙂",
        Scripted.call("weather", city="Oslo", days=3),
        Scripted.call("weather", city="Rome", days=1),
        "One moment.",
    ]
    turn, events = await play(Scripted([script], piece=piece))
    assert turn.text == streamed_text(events) == "Let me see. 🙂One moment."
    assert [call.input for call in turn.tool_calls] == [{"city": "Oslo", "days": 3}, {"city": "Rome", "days": 1}]
    assert [type(block) for block in turn.message.content] == [Reasoning, Text, ToolCall, ToolCall, Text]
    assert turn.stop_reason == "tool_use"
    assert [c.id for c in turn.tool_calls] == [e.id for e in events if isinstance(e, ToolUseContentBlockStart)]


async def test_plain_text() -> None:
    turn, events = await play(Scripted(["Hello."], piece=2))
    assert (turn.text, turn.stop_reason) == ("Hello.", "end_turn")
    assert types(events).count("text_delta") == 3
    assert turn.usage.output is not None


@pytest.mark.parametrize("script", ["", [], [Scripted.think("")], [""]], ids=["text", "list", "thought", "part"])
async def test_a_turn_that_is_silent(script: Script) -> None:
    turn, _ = await play(Scripted([script]))
    assert (turn.message.content, turn.stop_reason) == ([], "end_turn")


async def test_turns_follow_each_other_and_see_the_results() -> None:
    seen: list[ScriptedRequest] = []

    def answer(request: ScriptedRequest) -> Script:
        seen.append(request)
        (result,) = request.messages[-1].content
        assert isinstance(result, ToolResult)
        return f"It is {result.text} there."

    model = Scripted([[Scripted.call("weather", city="Oslo")], answer])
    tools = [ToolDefinition(name="weather")]
    session = heald.providers.open_provider_session(
        model, messages=[user_message("Go.")], tools=tools, settings=Settings(system="Be brief.")
    )
    turn = await session.stream_turn(lambda _: None)
    session.append_tool_results(turn, [ToolResult(id=turn.tool_calls[0].id, status="ok", content="3 °C")])
    assert (await session.stream_turn(lambda _: None)).text == "It is 3 °C there."
    assert (seen[0].tools, seen[0].settings.system) == (tools, "Be brief.")
    assert [message.role for message in seen[0].messages] == ["user", "assistant", "tool"]
    assert [len(request.messages) for request in model.requests] == [1, 3]
    assert session.cost(turn.usage).usd == 0
    await session.close()


async def test_sessions_share_the_script() -> None:
    model = Scripted(["One.", "Two."])
    texts = [(await heald.providers.open_provider_session(model).stream_turn(lambda _: None)).text for _ in range(2)]
    assert texts == ["One.", "Two."]


async def test_ids_are_unique_over_turns() -> None:
    model = Scripted(
        [
            [ScriptedCall("look", {}, id="call_1")],
            [ScriptedCall("look", {}, id="call_1"), ScriptedCall("look", {}, id="call_1")],
        ]
    )
    session = heald.providers.open_provider_session(model)
    first = await session.stream_turn(lambda _: None)
    session.append_tool_results(first, [ToolResult(id="call_1", status="ok", content="")])
    second = await session.stream_turn(lambda _: None)
    ids = [call.id for turn in (first, second) for call in turn.tool_calls]
    assert ids[0] == "call_1"
    assert len(set(ids)) == 3


async def test_ids_are_unique_in_a_history_that_was_replaced() -> None:
    calls = [[ScriptedCall("look", {}, id=name)] for name in ("call_1", "call_2", "call_3")]
    session = heald.providers.open_provider_session(Scripted(calls))
    first = await session.stream_turn(lambda _: None)
    session.append_tool_results(first, [ToolResult(id="call_1", status="ok", content="")])
    await session.stream_turn(lambda _: None)  # its answer was withdrawn
    session.messages[:] = [
        Message(role="assistant", content=[ToolCall(id="call_3", name="look", input={})]),
        tool_results([ToolResult(id="call_3", status="ok", content="")]),
    ]
    (call,) = (await session.stream_turn(lambda _: None)).tool_calls
    assert call.id != "call_3"


@pytest.mark.parametrize("raw", ['{"path": "a', "not json", "[1]", '{"a": 1}}'])
async def test_arguments_that_are_no_object(raw: str) -> None:
    turn, events = await play(Scripted([[Scripted.raw_call("look", raw)]]))
    (call,) = turn.tool_calls
    assert call.invalid is not None
    assert (call.invalid.reason, call.invalid.raw) == ("malformed", raw)
    assert "".join(e.partial_json for e in events if isinstance(e, InputJsonDelta)) == raw


async def test_no_arguments_are_an_empty_object() -> None:
    turn, _ = await play(Scripted([[Scripted.raw_call("look", ""), Scripted.call("look")]]))
    assert [(call.input, call.invalid) for call in turn.tool_calls] == [({}, None)] * 2


@pytest.mark.parametrize(
    ("reason", "runs"),
    [("end_turn", True), ("tool_use", True), ("max_tokens", False), ("content_filter", False), ("refusal", False)],
)
async def test_stops(reason: StopReason, runs: bool) -> None:
    usage = Usage(input=5, output=6, reasoning=7)
    turn, _ = await play(Scripted([[Scripted.call("look", path="a"), Scripted.stop(reason, usage)]]))
    assert turn.stop_reason in (reason, "tool_use")
    assert turn.usage == usage
    assert (turn.tool_calls[0].invalid is None) == runs


@pytest.mark.parametrize("reason", ["max_tokens", "stop_sequence", "refusal", "content_filter", "pause_turn"])
async def test_stops_without_calls(reason: StopReason) -> None:
    turn, _ = await play(Scripted([["Half", Scripted.stop(reason)]]))
    assert (turn.text, turn.stop_reason) == ("Half", reason)


# --- failures -------------------------------------------------------------------------------------------------------


async def test_a_failure_discards_the_attempt() -> None:
    script: Script = ["Half an ", Scripted.fail(Overloaded("Too busy.")), "answer", Scripted.call("look")]
    events: list[Payload] = []
    session = heald.providers.open_provider_session(Scripted([script, "Hello."]))
    with pytest.raises(ProviderError, match=r"Too busy\.") as raised:
        await session.stream_turn(events.append)
    assert isinstance(events[-1], MessageDiscarded)
    assert events[-1].error == raised.value.info()
    assert streamed_text(events) == ""
    assert "answer" not in written(events)
    assert not {"message_delta", "message_stop", "tool_use_content_block_start"} & set(types(events))
    assert (await session.stream_turn(lambda _: None)).text == "Hello."


async def test_a_script_that_is_played_out() -> None:
    session = heald.providers.open_provider_session(Scripted(["Hello."], name="scripted/short"))
    await session.stream_turn(lambda _: None)
    with pytest.raises(ConfigurationError, match="The script of scripted/short has 1 turns and all were played"):
        await session.stream_turn(lambda _: None)


async def test_a_listeners_error_and_a_cancel_end_the_turn() -> None:
    def fail(payload: Payload) -> None:
        if isinstance(payload, TextDelta):
            raise OSError("disk full")

    model = Scripted(["Hello " * 100] * 2, pause=0.01)
    with pytest.raises(OSError, match="disk full"):
        await heald.providers.open_provider_session(model).stream_turn(fail)
    task = asyncio.create_task(heald.providers.open_provider_session(model).stream_turn(lambda _: None))
    await asyncio.sleep(0.03)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
