"""Guardrails of sessions: of one that is opened again, and of an exchange that another process continues."""

import asyncio
from collections.abc import Sequence

import msgspec
import pytest

import heald
from heald.core.envelope import Event
from heald.core.events import ExchangeResponse, MessageDiscarded, RetryScheduled, TextDelta
from heald.core.messages import Message, ToolResult
from heald.sessions.memory import MemoryStore
from heald.sessions.session_info import SessionInfo
from heald.sessions.sessions import Sessions
from heald.tools.runtime import Invocation
from heald_check import check_log
from sessions_bench import call, log_of

S = heald.testing.ScriptedModel
TEXT = "Nobody may read BANANA in this answer, which goes on."


@heald.guardrail("output")
async def no_fruit(answer: heald.StreamedText) -> str | None:
    text = answer.text
    await asyncio.sleep(0)
    return "It names a fruit." if "BANANA" in text else None


@heald.guardrail("request")
def no_cards(messages: Sequence[Message]) -> str | None:
    return "It holds a card number." if any("4111" in message.text for message in messages) else None


@heald.guardrail("call")
def no_looking(invocation: Invocation) -> str | None:
    return "Nobody looks."


@heald.tool
async def look(place: str) -> str:
    """Look around."""
    return f"Nothing at {place}."


async def test_a_stopped_session_continues_without_the_refused_text() -> None:
    store = MemoryStore()
    agent = heald.Agent(S([TEXT]), guardrails=[no_fruit])
    async with heald.open_session("one", agent, store=store) as session:
        result = await session.send("Go.").result()
    assert (result.status, result.stop_reason, result.text) == ("failed", "content_filter", "")
    model = S(["Better."])
    async with heald.open_session("one", heald.Agent(model, guardrails=[no_fruit]), store=store) as session:
        assert (await session.run("Try again.")).text == "Better."
    assert [message.text for message in model.requests[0].messages] == ["Go.", "Try again."]
    log = await log_of(store, "one")
    assert check_log(log) == []
    assert "BANANA" not in str(log)


async def test_a_refused_request_is_not_sent_by_the_next_process() -> None:
    store = MemoryStore()
    async with heald.open_session("one", heald.Agent(S([]), guardrails=[no_cards]), store=store) as session:
        assert (await session.send("My card is 4111.").result()).status == "failed"
    model = S(["Hello."])
    async with heald.open_session("one", heald.Agent(model, guardrails=[no_cards]), store=store) as session:
        assert (await session.run("Hi.")).text == "Hello."
    assert [message.text for message in model.requests[0].messages] == ["Hi."]
    assert check_log(await log_of(store, "one")) == []


async def cut_store(model: S, last: str) -> MemoryStore:
    """A store whose writer died behind the first event of a type, in an agent without guardrails."""
    store = MemoryStore()
    async with heald.open_session("one", heald.Agent(model, tools=[look]), store=store) as session:
        await session.send("Go.").result()
    log = await log_of(store, "one")
    cut = next(number for number, event in enumerate(log) if event.type == last) + 1
    store = MemoryStore()
    await store.create(SessionInfo(id="one"))
    lease = await store.acquire("one", "dead")
    await store.append(lease, [msgspec.structs.replace(event, epoch=lease.epoch) for event in log[:cut]])
    await store.release(lease)
    return store


async def continued(store: MemoryStore, model: S, *guardrails: heald.Guardrail) -> list[Event]:
    session = await Sessions(store).open("one", model=model, tools=[look], guardrails=guardrails)
    for exchange in session.resumed:
        await exchange.result()
    await session.close()
    log = await log_of(store, "one")
    assert check_log(log) == []
    return log


@pytest.mark.parametrize("last", ["conversation_start", "text_delta"])
async def test_a_continued_answer_is_checked(last: str) -> None:
    log = await continued(await cut_store(S(["Well, well, well."]), last), S([TEXT]), no_fruit)
    response = log[-1].data
    assert isinstance(response, ExchangeResponse)
    assert (response.status, response.stop_reason) == ("failed", "content_filter")
    assert "BANANA" not in "".join(event.data.text for event in log if isinstance(event.data, TextDelta))
    discarded = [event.data.error.code for event in log if isinstance(event.data, MessageDiscarded)]
    assert discarded[-1] == "content_blocked"
    assert len([event for event in log if isinstance(event.data, RetryScheduled)]) == len(discarded) - 1


async def test_a_continued_call_is_checked() -> None:
    store = await cut_store(S([[call("look", place="home")], "Done."]), "tool_use_message")
    log = await continued(store, S(["Done."]), no_looking)
    (result,) = [event.data for event in log if isinstance(event.data, ToolResult)]
    assert result.text == "The guardrail no_looking stopped the call: Nobody looks."


async def test_the_guardrails_of_a_session_hold_for_its_delegates() -> None:
    helper = heald.Agent(S([[call("look", place="home")], TEXT]), tools=[look])
    tools = [helper.as_tool("helper", "Helps.")]

    @heald.guardrail("call")
    def no_looking_below(invocation: heald.Invocation) -> str | None:
        return "Nobody looks." if invocation.call.name == "look" else None

    agent = heald.Agent(
        S([[call("helper", prompt="Go.")], "Done."]), tools=tools, guardrails=[no_fruit, no_looking_below]
    )
    events: list[Event] = []
    async with heald.open_session("one", agent, store=MemoryStore()) as session:
        session.subscribe(events.append)
        assert (await session.run("Go.")).text == "Done."
    texts = [event.data.text for event in events if isinstance(event.data, ToolResult)]
    assert texts == [
        "The guardrail no_looking_below stopped the call: Nobody looks.",
        "The agent failed: The guardrail no_fruit stopped the answer: It names a fruit.",
    ]
    assert "BANANA" not in str(events)
