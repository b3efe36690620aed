"""Folds alone: at every point of a log they say what a client should show, and they never fail."""

import asyncio
from collections.abc import Sequence

import pytest

import heald
from heald.agent.agent import Agent
from heald.agent.assembler import MessageAssembler, message_payloads
from heald.agent.state import ConversationState
from heald.agent.tracker import ExchangeTracker
from heald.core.envelope import Event, decode_event
from heald.core.errors import ErrorInfo, Overloaded
from heald.core.events import (
    ApprovalRequested,
    AssistantMessage,
    ExchangeResponse,
    InputJsonDelta,
    MessageDelta,
    MessageDiscarded,
    MessageStart,
    MessageStop,
    QuestionAsked,
    TextContentBlockStart,
    TextDelta,
    ThinkingContentBlockStart,
    ThinkingDelta,
    ToolExecuting,
    ToolUseContentBlockStart,
)
from heald.core.json import encode
from heald.core.messages import Reasoning, Text, ToolCall
from heald.core.payload import Payload
from heald.core.turn import StopReason, Usage
from log_support import Log, call, fail, raw_call, scripted, stop, think, until


@heald.tool
async def look(place: str = "") -> str:
    """Looks."""
    return "seen"


@heald.tool(effect="write")
async def change() -> str:
    """Changes."""
    return "changed"


@heald.tool
async def wait_long() -> str:
    """Waits."""
    await asyncio.sleep(60)
    return "never"


def folded(events: Sequence[Event]) -> ConversationState:
    state = ConversationState()
    for event in events:
        state.feed(event)
    return state


def at(log: Log, kind: str, which: int = 0) -> ConversationState:
    """The state right after an event."""
    place = [number for number, event in enumerate(log.own) if event.type == kind][which]
    return folded(log.own[: place + 1])


async def a_log() -> Log:
    """A bit of everything: thinking, calls of all kinds, a failed attempt, an approval, a question, two exchanges."""

    async def yes(_: ApprovalRequested) -> bool:
        return True

    async def blue(_: QuestionAsked) -> str:
        return "blue"

    first = scripted(
        [think("Hm."), "Let me see.", call("look", place="a"), call("nowhere"), raw_call("look", "{")],
        [call("change"), call("create_file", path="a.txt", content="abc")],
        ["Half", fail(Overloaded("busy"))],
    )
    second = scripted([call("ask_user", question="Which?", suggestions=["red", "blue"])], "Done.", "Again.")
    agent = Agent(
        first,
        fallbacks=[second],
        tools=[look, change, "files", "ask"],
        permissions=heald.Permissions("auto", ["ask change"]),
        on_approval=yes,
        on_question=blue,
    )
    log = Log(agent)
    await agent.run("Go.")
    await agent.run("Once more.")
    log.prove()
    return log


async def test_every_beginning_of_a_log_can_be_folded() -> None:
    log = await a_log()
    state = ConversationState()
    for event in log.own:
        state.feed(event)
        assert state.seq == event.seq
        encode(state.messages)
    whole = folded([decode_event(encode(event)) for event in log.own])
    assert (whole.messages, whole.usage, whole.turns) == (state.messages, state.usage, state.turns)
    assert whole.tools.keys() == state.tools.keys()


async def test_what_a_client_shows_in_between() -> None:
    log = await a_log()
    assert at(log, "exchange_request").status == "thinking"
    assert at(log, "exchange_request").exchange == log.own[0].exchange
    assert at(log, "conversation_responding").status == "responding"
    assert at(log, "text_delta").partial == "Let me s"
    assert at(log, "message_stop").partial == ""
    assert at(log, "tool_executing").status == "working"
    asked = at(log, "approval_requested")
    assert (asked.status, [request.name for request in asked.approvals.values()]) == ("waiting", ["change"])
    assert at(log, "approval_resolved").approvals == {}
    question = at(log, "question_asked")
    assert (question.status, [question_asked.text for question_asked in question.questions.values()]) == (
        "waiting",
        ["Which?"],
    )
    assert at(log, "question_answered").questions == {}
    assert at(log, "message_discarded").partial == ""
    assert at(log, "exchange_response").status == "idle"
    assert at(log, "exchange_response").exchange is None


async def test_tools_and_files() -> None:
    log = await a_log()
    phases = {tool.call.name: tool.phase for tool in at(log, "assistant_message").tools.values()}
    assert set(phases.values()) == {"planned"}
    assert "running" in {tool.phase for tool in at(log, "tool_executing").tools.values()}
    done = folded(log.own)
    ended = [(tool.call.name, tool.phase, tool.result.status if tool.result else None) for tool in done.tools.values()]
    assert ended[:3] == [
        ("look", "done", "ok"),
        ("nowhere", "failed", "unknown_tool"),
        ("look", "failed", "invalid_input"),
    ]
    assert {phase for _, phase, _ in ended} == {"done", "failed"}
    assert done.files["a.txt"].revision == 1


async def test_what_it_used() -> None:
    log = await a_log()
    state = folded(log.own)
    responses = log.of(ExchangeResponse)
    assert state.turns == sum(response.turns for response in responses)
    assert state.usage == responses[0].usage + responses[1].usage
    assert state.cost_usd == 0.0


async def test_why_it_failed_until_the_next_request() -> None:
    agent = Agent(scripted([fail(Overloaded("busy"))], "Fine."))
    log = Log(agent)
    await agent.send("Go.").result()
    assert folded(log.own).error == ErrorInfo(code="overloaded", message="busy", retryable=True)
    await agent.send("Go.").result()
    assert folded(log.own).error is None


async def test_how_many_wait() -> None:
    agent = Agent(scripted([call("wait_long")], "Two.", "Three."), tools=[wait_long])
    log = Log(agent)
    exchanges = [agent.send("One.")]
    await until(lambda: log.of(ToolExecuting))
    exchanges += [agent.send("Two."), agent.send("Three.")]
    assert folded(log.own).queued == 2
    agent.cancel()
    for exchange in exchanges:
        await exchange.result()
    counts = [at(log, "exchange_request", number).queued for number in range(3)]
    assert counts == [0, 1, 0]


async def test_how_many_wait_if_the_first_has_not_begun() -> None:
    """All are asked for before the loop has turned once: the first does not wait, two do."""
    agent = Agent(scripted("One.", "Two.", "Three."))
    log = Log(agent)
    exchanges = [agent.send(prompt) for prompt in "ABC"]
    for exchange in exchanges:
        await exchange.result()
    assert [at(log, "exchange_request", number).queued for number in range(3)] == [2, 1, 0]


async def test_a_cancel_while_somebody_is_asked() -> None:
    agent = Agent(scripted([call("ask_user", question="Which?", suggestions=["a", "b"])]), tools=["ask"])
    log = Log(agent)
    exchange = agent.send("Go.")
    await until(lambda: log.of(QuestionAsked))
    agent.cancel()
    await exchange.result()
    state = folded(log.own)
    assert (state.status, state.questions, state.approvals) == ("idle", {}, {})
    log.prove()


async def test_what_was_seen_of_a_message_that_was_stopped_stays() -> None:
    agent = Agent(scripted("word " * 500, piece=5))
    log = Log(agent)
    exchange = agent.send("Go.")
    await until(lambda: len(log.of(TextDelta)) > 3)
    agent.cancel()
    await exchange.result()
    last_message = folded(log.own).messages[-1]
    assert last_message.role == "assistant"
    assert last_message.text == "".join(delta.text for delta in log.of(TextDelta))
    assert last_message.text.startswith("word word ")


# --- the assembler ----------------------------------------------------------------------------------------------------


def stream(stop_reason: StopReason, arguments: Sequence[str] = ('{"pla', 'ce":"x"}')) -> list[Payload]:
    return [
        MessageStart("m1", "model", 1),
        ThinkingContentBlockStart(0, "b0"),
        ThinkingDelta(0, "b0", "Hm"),
        ThinkingDelta(0, "b0", "."),
        TextContentBlockStart(1, "b1"),
        ToolUseContentBlockStart(2, "b2", "c1", "look"),
        TextDelta(1, "b1", "Let me "),
        InputJsonDelta(2, "b2", arguments[0]),
        TextDelta(1, "b1", "see."),
        *(InputJsonDelta(2, "b2", piece) for piece in arguments[1:]),
        MessageDelta("m1", stop_reason, Usage(output=3)),
        MessageStop("m1"),
    ]


def test_blocks_may_be_interleaved() -> None:
    assembler = MessageAssembler()
    *nothing, made = [assembler.feed(payload) for payload in stream("tool_use")]
    assert not any(nothing)
    message, asked, *_ = made
    assert isinstance(message, AssistantMessage)
    assert isinstance(asked, ToolCall)
    assert message.message.content == [Reasoning("Hm."), Text("Let me see."), asked]
    assert asked.input == {"place": "x"}
    assert made == message_payloads(message.message)
    assert [payload.type for payload in made] == ["assistant_message", "tool_call", "tool_use_message", "tool_planned"]


@pytest.mark.parametrize("reason", ["max_tokens", "refusal", "content_filter", "pause_turn", "error"])
def test_a_message_that_was_cut_has_no_call_that_may_run(reason: StopReason) -> None:
    made = [payload for part in stream(reason) for payload in _ASSEMBLER.feed(part)]
    (asked,) = (payload for payload in made if isinstance(payload, ToolCall))
    assert asked.invalid is not None


@pytest.mark.parametrize("text", ["{", "[1]", '{"a":1,"a":2}', "NaN"])
def test_arguments_are_strict(text: str) -> None:
    made = [payload for part in stream("tool_use", [text]) for payload in _ASSEMBLER.feed(part)]
    (asked,) = (payload for payload in made if isinstance(payload, ToolCall))
    assert asked.invalid is not None
    assert asked.invalid.raw == text


def test_a_discarded_message_cleans_up() -> None:
    assembler = MessageAssembler()
    for payload in stream("tool_use")[:-2]:
        assembler.feed(payload)
    assert (assembler.text, assembler.length) == ("Let me see.", len("Hm.Let me see.") + len('{"place":"x"}'))
    assert assembler.feed(MessageDiscarded("m1", ErrorInfo(code="incomplete", message="cut"))) == []
    assert (assembler.text, assembler.message, assembler.length) == ("", "", 0)
    made = [payload for part in stream("tool_use") for payload in assembler.feed(part)]
    assert isinstance(made[0], AssistantMessage)
    assert made[0].message.text == "Let me see."


_ASSEMBLER = MessageAssembler()


# --- the tracker ------------------------------------------------------------------------------------------------------


def test_the_tracker_counts_what_failed_too() -> None:
    tracker = ExchangeTracker()
    for payload in (
        MessageDiscarded("m1", ErrorInfo(code="incomplete", message="cut"), Usage(input=5, output=1)),
        MessageDelta("m2", "tool_use", Usage(input=5, output=2)),
        MessageStop("m2"),
        MessageDelta("m3", "end_turn", Usage(input=9, reasoning=4)),
        MessageStop("m3"),
    ):
        tracker.feed(payload)
    response = tracker.response("completed", 12.0)
    assert (response.turns, response.usage) == (2, Usage(input=19, output=3, reasoning=4))
    assert (response.stop_reason, response.cost_usd, tracker.tokens) == ("end_turn", 0.0, 26)
    assert tracker.response("failed", 1.0).stop_reason == "error"


def test_an_unknown_price_stays_unknown() -> None:
    tracker = ExchangeTracker()
    tracker.spend(0.5)
    tracker.spend(None)
    tracker.spend(0.5)
    assert tracker.response("completed", 1.0).cost_usd is None


async def test_a_turn_without_text_or_calls() -> None:
    agent = Agent(scripted([stop("end_turn")]))
    log = Log(agent)
    await agent.run("Go.")
    assert folded(log.own).messages == agent.messages
    log.prove()
