"""Cancelling in every state of an exchange, on every wire: prompt, final, and the conversation goes on."""

import asyncio
import gc
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic, sleep
from typing import Any

import pytest
from cancel_support import (
    HANGS,
    LATER,
    NOW,
    WIRES,
    Log,
    asking,
    assert_accepted,
    assert_same_history,
    calls_of,
    hanging,
    model_at,
    soon,
    tool_threads,
    until,
)

import heald
from heald.agent.agent import Agent
from heald.core.events import (
    ApprovalRequested,
    ApprovalResolved,
    ExchangeResponse,
    InputJsonDelta,
    QuestionAsked,
    RetryScheduled,
    TextDelta,
    ThinkingDelta,
    ToolExecuting,
    ToolUseContentBlockStart,
)
from heald.core.messages import ToolCall, ToolResult
from heald.testing.server import Hang, Reply, ScriptedServer
from heald.testing.streams import wire_reply
from heald.tools.ask_user import ask_user

SAID = "Half of what the model had to say"
QUESTION = {"question": "Which one?", "suggestions": ["this", "that"]}


@heald.tool
async def wait_long() -> str:
    """Waits."""
    await asyncio.sleep(60)
    return "never"


@heald.tool
def block_a_moment() -> str:
    """Blocks its thread."""
    sleep(0.3)
    return "too late"


@heald.tool
async def look(place: str = "") -> str:
    """Looks."""
    return "seen"


@dataclass(frozen=True)
class State:
    """How an exchange gets there, how that is seen, and what must hold when it is cancelled then."""

    name: str
    first: Callable[[str], list[Reply]]
    reached: Callable[[Log, ScriptedServer], Any]
    tools: list[heald.Tool] = field(default_factory=list[heald.Tool])
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    streams: bool = False
    """The server is sending when the cancel comes."""
    keeps: str = ""
    """What the user saw and the next request must hold."""


STATES = [
    State("before the first event", lambda _: [Reply([Hang()])], lambda _, server: server.requests, streams=True),
    State(
        "mid thinking",
        lambda wire: [hanging(wire, b"ponder", thinking=["I ponder", " it"], text="So.")],
        lambda log, _: log.has(ThinkingDelta),
        streams=True,
    ),
    State(
        "mid text",
        lambda wire: [hanging(wire, b"Half of", thinking="Hm.", text=[SAID, " and the rest"])],
        lambda log, _: log.has(TextDelta),
        streams=True,
        keeps=SAID,
    ),
    State(
        "mid arguments",
        lambda wire: [hanging(wire, b"MARK", text=SAID, calls=calls_of("look", place="MARK" + "x" * 50))],
        lambda log, _: log.has(InputJsonDelta) or log.has(ToolUseContentBlockStart),
        tools=[look],
        streams=True,
        keeps=SAID,
    ),
    State(
        "tool running",
        lambda wire: [asking(wire, "wait_long", "look")],
        lambda log, _: len(log.of(ToolExecuting)) == 2 and log.has(ToolResult),
        tools=[wait_long, look],
        keeps="Let me see.",
    ),
    State(
        "plain function running",
        lambda wire: [asking(wire, "block_a_moment")],
        lambda log, _: log.has(ToolExecuting),
        tools=[block_a_moment],
        keeps="Let me see.",
    ),
    State(
        "awaiting approval",
        lambda wire: [asking(wire, "look", "look")],
        lambda log, _: len(log.of(ApprovalRequested)) == 2,
        tools=[look],
        options={"permissions": "ask"},
        keeps="Let me see.",
    ),
    State(
        "awaiting an answer",
        lambda wire: [asking(wire, "ask_user", **QUESTION)],
        lambda log, _: log.has(QuestionAsked),
        tools=[ask_user],
        keeps="Let me see.",
    ),
    State(
        "backing off",
        lambda _: [Reply.json({"error": {"message": "busy"}}, 503)],
        lambda log, _: log.has(RetryScheduled),
        options={"retry": LATER},
    ),
    State(
        "before the first event of a later turn",
        lambda wire: [asking(wire, "look"), Reply([Hang()])],
        lambda _, server: len(server.requests) == 2,
        tools=[look],
        streams=True,
        keeps="Let me see.",
    ),
    State(
        "mid text of a later turn",
        lambda wire: [asking(wire, "look"), hanging(wire, b"Half of", text=[SAID, " and"])],
        lambda log, _: SAID in "".join(delta.text for delta in log.of(TextDelta)),
        tools=[look],
        streams=True,
        keeps=SAID,
    ),
]


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("state", STATES, ids=lambda state: state.name.replace(" ", "-"))
async def test_a_cancel_is_prompt_and_final_and_the_conversation_goes_on(state: State, wire: str) -> None:
    tasks = asyncio.all_tasks()
    async with ScriptedServer([*state.first(wire), wire_reply(wire, text="Done.")]) as server:
        options: dict[str, Any] = {"retry": NOW, **state.options}
        async with Agent(model_at(server, wire), tools=state.tools, **options) as agent:
            log = Log(agent)
            exchange = agent.send("Go.")
            await until(lambda: state.reached(log, server))
            asked = len(server.requests)
            assert agent.cancel("Enough.")
            result = await soon(exchange.result())
            if state.streams:
                await soon(server.requests[-1].closed_early.wait())
            assert result.status == "cancelled"
            assert [response.status for response in log.of(ExchangeResponse)] == ["cancelled"]
            log.assert_cancelled_once()
            assert {r.id for r in log.of(ToolResult)} == {c.id for c in log.of(ToolCall)}
            assert len(log.of(ToolResult)) == len(log.of(ToolCall))
            assert len(log.of(ApprovalRequested)) == len(log.of(ApprovalResolved))
            await asyncio.sleep(0.02)
            assert len(server.requests) == asked
            assert agent.approvals == []
            assert agent.questions == []

            following = await soon(agent.run("Go on."))
            assert (following.status, following.text) == ("completed", "Done.")
            assert len(server.requests) == asked + 1
            assert_accepted(wire, server)
            assert state.keeps in server.requests[-1].content.decode()
            log.assert_clean()
            assert_same_history(agent, log)
    await until(lambda: not tool_threads())
    assert asyncio.all_tasks() <= tasks


@pytest.mark.parametrize("wire", WIRES)
async def test_while_no_status_line_comes(wire: str) -> None:
    left = asyncio.Event()

    async def never_answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(1 << 16):
            pass
        left.set()
        writer.close()

    server = await asyncio.start_server(never_answer, "127.0.0.1", 0)
    async with server:
        agent = Agent(model_at(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", wire))
        log = Log(agent)
        exchange = agent.send("Go.")
        await until(lambda: "message_start" in log.types)
        await asyncio.sleep(0.05)
        agent.cancel()
        assert (await soon(exchange.result())).status == "cancelled"
        await soon(left.wait())
        await agent.close()
    log.assert_clean()


@pytest.mark.parametrize("wire", WIRES)
async def test_while_waiting_in_the_queue(wire: str) -> None:
    """One that never began leaves nothing in the conversation, and does not disturb the one that runs."""
    replies = [hanging(wire, b"Half of", text=[SAID, " and"]), wire_reply(wire, text="Done.")]
    async with ScriptedServer(replies) as server, Agent(model_at(server, wire)) as agent:
        log = Log(agent)
        running = agent.send("First.")
        queued = agent.send("Second.")
        await until(lambda: log.has(TextDelta))
        assert queued.cancel("Not needed.")
        assert not queued.cancel()
        result = await soon(queued.result())
        assert (result.status, result.turns, result.messages) == ("cancelled", 0, [])
        assert not running.is_over
        agent.cancel()
        assert (await soon(running.result())).status == "cancelled"
        assert (await soon(agent.run("Third."))).text == "Done."
        assert "Second." not in server.requests[-1].content.decode()
        assert len(server.requests) == 2
        assert_accepted(wire, server)
    assert [r.status for r in log.of(ExchangeResponse)] == ["cancelled", "cancelled", "completed"]
    log.assert_clean()


# --- a plain function that cannot be stopped -------------------------------------------------------------------------


async def test_a_thread_that_does_not_stop_is_left_behind_and_reported(caplog: pytest.LogCaptureFixture) -> None:
    """C06: its result is ignored, the exchange ends without it, and the log says so."""
    release, done = threading.Event(), threading.Event()

    @heald.tool
    def stubborn(ctx: heald.ToolContext) -> str:
        """Does not look."""
        release.wait(HANGS)
        ctx.output("nobody hears this")
        done.set()
        return "nobody waits for this"

    model = heald.testing.ScriptedModel([[heald.testing.ScriptedModel.call("stubborn")], "Fine."])
    async with Agent(model, tools=[stubborn]) as agent:
        log = Log(agent)
        exchange = agent.send("Go.")
        await until(lambda: log.has(ToolExecuting))
        agent.cancel()
        result = await soon(exchange.result())
        assert not done.is_set()
        assert result.status == "cancelled"
        assert [r.status for r in log.of(ToolResult)] == ["cancelled"]
        assert "stubborn could not be stopped and was left behind" in caplog.text
        assert (await soon(agent.run("Go on."))).text == "Fine."
        seen = len(log.events)
        release.set()
        await until(done.is_set)
        await asyncio.sleep(0.05)
        assert len(log.events) == seen
    log.assert_clean()


async def test_a_thread_that_fails_after_it_was_left_behind_is_quiet(caplog: pytest.LogCaptureFixture) -> None:
    release, done = threading.Event(), threading.Event()

    @heald.tool
    def stubborn() -> str:
        """Fails, late."""
        release.wait(30)
        done.set()
        raise ValueError("nobody waits for this")

    async with Agent(
        heald.testing.ScriptedModel([[heald.testing.ScriptedModel.call("stubborn")]]), tools=[stubborn]
    ) as agent:
        log = Log(agent)
        exchange = agent.send("Go.")
        await until(lambda: log.has(ToolExecuting))
        agent.cancel()
        await soon(exchange.result())
        release.set()
        await until(done.is_set)
        await asyncio.sleep(0.05)
        gc.collect()
    assert "never retrieved" not in caplog.text


async def test_a_plain_function_that_looks_can_stop_at_once() -> None:
    """`ctx.cancelled` is true as soon as the cancel was asked for."""
    has_seen_cancel: list[bool] = []

    @heald.tool
    def polite(ctx: heald.ToolContext) -> str:
        """Looks whether it is still wanted."""
        while not ctx.cancelled and monotonic() - started < HANGS:
            sleep(0.01)
        has_seen_cancel.append(ctx.cancelled)
        return "stopped"

    started = monotonic()
    async with Agent(
        heald.testing.ScriptedModel([[heald.testing.ScriptedModel.call("polite")]]), tools=[polite]
    ) as agent:
        log = Log(agent)
        exchange = agent.send("Go.")
        await until(lambda: log.has(ToolExecuting))
        await asyncio.sleep(0.05)
        agent.cancel()
        await soon(exchange.result())
        await until(lambda: has_seen_cancel)
    assert has_seen_cancel == [True]
    log.assert_clean()


async def test_a_coroutine_that_ignores_its_cancel_is_left_behind() -> None:
    released = asyncio.Event()
    ended = asyncio.Event()

    @heald.tool
    async def deaf() -> str:
        """Does not hear."""
        while not released.is_set():
            try:
                await released.wait()
            except asyncio.CancelledError:
                continue
        ended.set()
        return "nobody waits for this"

    model = heald.testing.ScriptedModel([[heald.testing.ScriptedModel.call("deaf")], "Fine."])
    async with Agent(model, tools=[deaf]) as agent:
        log = Log(agent)
        exchange = agent.send("Go.")
        await until(lambda: log.has(ToolExecuting))
        agent.cancel()
        assert (await soon(exchange.result())).status == "cancelled"
        assert [r.status for r in log.of(ToolResult)] == ["cancelled"]
        assert (await soon(agent.run("Go on."))).text == "Fine."
        released.set()
        await soon(ended.wait())
    log.assert_clean()


async def test_a_tool_may_clean_up_in_peace() -> None:
    """It is cancelled once: its clean-up is not interrupted, and the exchange waits for it."""
    steps: list[str] = []

    @heald.tool
    async def tidy() -> str:
        """Cleans up."""
        try:
            await asyncio.sleep(60)
        finally:
            steps.append("begun")
            await asyncio.sleep(0.1)
            steps.append("cleaned")
        return "never"

    async with Agent(heald.testing.ScriptedModel([[heald.testing.ScriptedModel.call("tidy")]]), tools=[tidy]) as agent:
        log = Log(agent)
        exchange = agent.send("Go.")
        await until(lambda: log.has(ToolExecuting))
        await asyncio.sleep(0.01)
        agent.cancel()
        assert (await soon(exchange.result())).status == "cancelled"
        assert steps == ["begun", "cleaned"]
    log.assert_clean()
