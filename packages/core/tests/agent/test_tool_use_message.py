"""`tool_use_message`: with the call, and a second time with its result."""

from typing import Any

import heald
from heald.core.envelope import Event, new_event
from heald.core.events import ExchangeRequest, ToolUseMessage
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
