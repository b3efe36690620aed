"""`tool_use_message`: with the call, and a second time with its result."""

from typing import Any

import pytest

import heald
from heald.core.envelope import Event, new_event
from heald.core.events import MAX_TOOL_USE_BYTES, ExchangeRequest, ToolUseMessage, tool_use_result
from heald.core.json import encode
from heald.core.messages import ToolCall, ToolResult, user_message
from heald.core.payload import Payload
from heald.sessions.unfinished_exchange import UnfinishedExchange
from heald_check import check_log

S = heald.testing.ScriptedModel


@heald.tool
async def repeat(text: str, times: int) -> str:
    """Repeat a text."""
    return text[:200] * times


async def _log(*turns: Any, piece: int = 8) -> list[Event]:
    events: list[Event] = []
    async with heald.Agent(S([*turns, "Done."], piece=piece), tools=[repeat]) as agent:
        agent.subscribe(events.append)
        await agent.run("Go.")
    assert check_log(events) == []
    return events


async def test_each_call_has_two_and_the_second_has_its_result() -> None:
    calls = [S.call("repeat", text="a", times=2), S.call("repeat", text="b", times="x"), S.call("nowhere")]
    log = await _log(calls)
    results = {event.data.id: event.data for event in log if isinstance(event.data, ToolResult)}
    messages = [event.data for event in log if isinstance(event.data, ToolUseMessage)]
    assert [message.result for message in messages[:3]] == [None] * 3
    assert {message.call.id: message.result for message in messages[3:]} == results
    assert sorted(result.status for result in results.values()) == ["invalid_input", "ok", "unknown_tool"]


async def test_the_second_comes_right_after_the_result() -> None:
    kinds = [event.type for event in await _log([S.call("repeat", text="a", times=2)])]
    assert kinds[kinds.index("tool_result") + 1] == "tool_use_message"


async def test_a_pair_that_no_event_can_hold_is_not_repeated() -> None:
    log = await _log([S.call("repeat", text="x" * 990_000, times=200)], piece=4096)
    assert [event.data.result for event in log if isinstance(event.data, ToolUseMessage)] == [None]
    assert [event.type for event in log].count("tool_result") == 1


def test_a_call_that_a_crash_interrupted_gets_its_second_one() -> None:
    call = ToolCall(id="call_1", name="repeat", input={})
    payloads: list[Payload] = [ExchangeRequest(user_message("Go."), "m"), call, ToolUseMessage(call)]
    exchange = UnfinishedExchange()
    for seq, payload in enumerate(payloads, 1):
        exchange.feed(new_event(seq, f"e{seq}", "ses_1", "ex_1", payload.type, payload.layer, 1.0, 1, payload))
    closing = list(exchange.closing_payloads())
    (result,) = [payload for payload in closing if isinstance(payload, ToolResult)]
    assert ToolUseMessage(call, result) in closing


@pytest.mark.parametrize("characters", [0, 100_000, 124_000, 126_000, 165_000, 167_000, 200_000, 1_000_000])
@pytest.mark.parametrize("place", ["content", "summary", "argument", "name of an argument", "id", "wire id", "data"])
def test_a_pair_is_left_out_exactly_if_it_is_too_large(place: str, characters: int) -> None:
    text = "\x01" * characters  # each takes six bytes in JSON
    call = ToolCall(
        id=text if place == "id" else "c",
        name="repeat",
        input={text if place == "name of an argument" else "text": text if place == "argument" else 1},
        wire_id=text if place == "wire id" else None,
    )
    result = ToolResult(
        id=call.id,
        status="ok",
        content=text if place == "content" else "",
        summary=text if place == "summary" else "",
        data={"text": text} if place == "data" else None,
    )
    size = len(encode(ToolUseMessage(call, result)))
    assert (tool_use_result(call, result) is None) == (size > MAX_TOOL_USE_BYTES)
