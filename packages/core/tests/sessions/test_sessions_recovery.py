"""A log that was cut anywhere is closed so that it breaks no invariant."""

import asyncio
from collections.abc import Sequence

import pytest

import heald
from heald.agent.agent import Agent
from heald.agent.bus import EventBus
from heald.agent.state import ConversationState
from heald.core.envelope import Event
from heald.core.errors import Overloaded
from heald.core.events import ExchangeResponse, SessionResumed
from heald.core.messages import ToolResult
from heald.providers.scripted import Script
from heald.sessions.unfinished_exchange import UnfinishedExchange
from heald_check import check_log
from sessions_bench import call, types_of

S = heald.testing.ScriptedModel


@heald.tool
async def slow(n: int, ctx: heald.ToolContext) -> str:
    """Work."""
    ctx.output("working")
    await asyncio.sleep(0.002)
    return f"did {n}"


@heald.tool
async def ask_first(ctx: heald.ToolContext) -> str:
    """Ask."""
    return await ctx.ask("Really?", ["yes"])


async def rich_log(*turns: Script, cancel_at: str | None = None, **options: object) -> list[Event]:
    """The log of an exchange in which a lot happens."""
    agent = Agent(
        heald.testing.ScriptedModel(turns),
        tools=["files", slow, ask_first],
        permissions=heald.Permissions("auto", ["ask slow(*3*)"]),
    )
    log: list[Event] = []

    def on_event(event: Event) -> None:
        log.append(event)
        if event.type == "approval_requested":
            agent.approve(event.data.approval)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownArgumentType]
        if event.type == "question_asked":
            agent.answer(event.data.question, "yes")  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownArgumentType]
        if event.type == cancel_at:
            agent.cancel("Enough.")

    agent.subscribe(on_event)
    await agent.send("Go.").result()
    if cancel_at is None:
        await agent.send("And again.").result()
    await agent.close()
    assert check_log(log) == []
    return log


def closed(log: Sequence[Event]) -> tuple[list[Event], UnfinishedExchange]:
    """The beginning of a log, and what closes it."""
    unfinished = UnfinishedExchange()
    for event in log:
        unfinished.feed(event)
    events = list(log[: unfinished.last_whole_seq])
    open_at = UnfinishedExchange()
    for event in events:
        open_at.feed(event)
    if open_at.exchange is None:
        return events, open_at
    bus = EventBus(log[0].session, seq=len(events), epoch=1)
    bus.subscribe(events.append)
    bus.publish(SessionResumed(len(events)))
    bus.exchange = open_at.exchange
    bus.publish_all(open_at.closing_payloads())
    return events, open_at


RICH: list[Script] = [
    [
        S.think("Hm."),
        "I start. ",
        call("slow", n=1),
        call("slow", n=3),
        call("ask_first"),
        call("nothing_of_that_name"),
    ],
    [call("create_file", path="a.html", content="<p>hello</p>\n" * 5), S.raw_call("slow", '{"n": tru')],
    "Half of it is",
    [call("create_file", path="b.html", content="<p>more</p>")],
    "It is done.",
]


async def test_cut_at_every_event() -> None:
    log = await rich_log(*RICH)
    for cut in range(len(log) + 1):
        events, _ = closed(log[:cut])
        violations = check_log(events)
        assert not violations, f"cut at {cut} behind {log[cut - 1].type}:\n" + "\n".join(map(str, violations))
        state = ConversationState()
        for event in events:
            state.feed(event)
        assert (state.status, state.exchange, state.partial) == ("idle", None, "")
        assert (state.approvals, state.questions) == ({}, {})


@pytest.mark.parametrize("at", ["text_delta", "tool_executing", "tool_output_delta", "input_json_delta"])
async def test_cut_after_a_cancel(at: str) -> None:
    log = await rich_log(*RICH, cancel_at=at)
    asked = types_of(log).index("cancel_requested") + 1
    for cut in range(asked, len(log)):
        events, _ = closed(log[:cut])
        assert check_log(events) == []
        last = events[-1].data
        assert isinstance(last, ExchangeResponse)
        assert last.status == "cancelled"


async def test_cut_in_and_after_a_failed_attempt() -> None:
    model = heald.testing.ScriptedModel([["Let me", S.fail(Overloaded("Too much."))]])
    agent = Agent(model)
    log: list[Event] = []
    agent.subscribe(log.append)
    await agent.send("Go.").result()
    for cut in range(len(log) + 1):
        assert check_log(closed(log[:cut])[0]) == []


async def test_a_started_call_is_interrupted_and_one_that_was_not_is_cancelled() -> None:
    log = await rich_log([call("slow", n=1), call("slow", n=3)], "Done.", "Done.")
    cut = types_of(log).index("tool_executing") + 1
    events, unfinished = closed(log[:cut])
    assert [c.call.input for c in unfinished.calls.values() if c.started] == [{"n": 1}]
    assert unfinished.repeatable == []
    results = [event.data for event in events if isinstance(event.data, ToolResult)]
    assert [result.status for result in results] == ["interrupted", "cancelled"]
    assert "not known whether it took effect" in results[0].text
    last = events[-1].data
    assert isinstance(last, ExchangeResponse)
    assert (last.status, last.stop_reason) == ("failed", "error")
    assert last.error is not None
    assert "Ask again" in last.error.message


async def test_half_a_turn_is_no_turn() -> None:
    log = await rich_log([call("slow", n=1)], "Done.", "Done.")
    stop = types_of(log).index("message_stop")
    for cut in range(stop + 1, types_of(log).index("tool_planned") + 1):
        events, _ = closed(log[:cut])
        assert "message_stop" not in types_of(events)
        assert "message_discarded" in types_of(events)


def test_nothing_open_needs_nothing() -> None:
    assert list(UnfinishedExchange().closing_payloads()) == []
