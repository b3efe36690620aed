"""Budgets: reaching one ends the exchange with status limit, in whatever state it is, and all that was done is kept."""

import asyncio
from time import monotonic
from typing import Any

import pytest
from cancel_support import LATER, NOW, WIRES, Log, assert_accepted, assert_same_history, hanging, model_at, soon, until
from test_cancel_states import STATES, State

import heald
from heald.agent.agent import Agent
from heald.core.errors import ConfigurationError
from heald.core.events import AssistantMessage, CancelRequested, ExchangeResponse, ToolExecuting
from heald.core.messages import ToolCall, ToolResult
from heald.core.turn import Usage
from heald.testing.server import ReceivedRequest, Reply, ScriptedServer
from heald.testing.streams import wire_reply
from heald.tools.families import families

Scripted = heald.testing.ScriptedModel
call = Scripted.call


class Counter:
    def __init__(self) -> None:
        self.runs = 0

        @heald.tool
        async def count() -> str:
            """Counts."""
            self.runs += 1
            return f"{self.runs}"

        self.tool = count


# --- time ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("state", STATES, ids=lambda state: state.name.replace(" ", "-"))
async def test_time_runs_out_in_every_state(state: State, wire: str) -> None:
    """Tried with more time where the machine was too busy to come to the state."""
    for seconds in (0.25, 1.0, 4.0, 8.0):
        if await run_out(state, wire, seconds):
            return
    pytest.fail("the state was not reached in time")


async def run_out(state: State, wire: str, seconds: float) -> bool:
    """Let the time of an exchange run out, and check all that must hold then. False: it did not come to the state."""
    tasks = asyncio.all_tasks()
    async with ScriptedServer([*state.first(wire), wire_reply(wire, text="Done.")]) as server:
        options: dict[str, Any] = {"retry": NOW, **state.options}
        budget = heald.Budget(seconds=seconds)
        async with Agent(model_at(server, wire), tools=state.tools, budget=budget, **options) as agent:
            log = Log(agent)
            result = await soon(agent.run("Go."))
            if not state.reached(log, server):
                return False
            asked = len(server.requests)
            assert (result.status, result.limit) == ("limit", "seconds")
            assert result.note == f"The exchange reached its budget of {seconds:g} seconds."
            if state.streams:
                await soon(server.requests[-1].closed_early.wait())
            assert not log.has(CancelRequested)
            assert sorted(r.id for r in log.of(ToolResult)) == sorted(c.id for c in log.of(ToolCall))
            assert state.keeps in "".join(message.text for message in agent.messages)
            following = await soon(agent.run("Go on."))
            assert (following.status, following.text) == ("completed", "Done.")
            assert len(server.requests) == asked + 1
            assert_accepted(wire, server)
            log.assert_clean()
            assert_same_history(agent, log)
    assert asyncio.all_tasks() <= tasks
    return True


async def test_time_starts_with_the_exchange_and_not_in_the_queue() -> None:
    model = Scripted(["one two three " * 10, "Done."], piece=4, pause=0.01)
    async with Agent(model, budget=heald.Budget(seconds=5)) as agent:
        first, second = agent.send("A."), agent.send("B.")
        waited_for = await soon(first.result())
        result = await soon(second.result())
        assert (waited_for.status, result.status) == ("completed", "completed")
        assert result.duration_ms < waited_for.duration_ms


async def test_a_cancel_after_time_ran_out_is_a_cancel() -> None:
    """While a tool still needs time to end. It is cancelled once, and the log stays clean."""
    cancel_times: list[float] = []

    @heald.tool
    async def tidy() -> str:
        """Takes a moment."""
        try:
            await asyncio.sleep(60)
        finally:
            cancel_times.append(monotonic())
            await asyncio.sleep(0.3)
            cancel_times.append(monotonic())
        return ""

    model = Scripted([[call("tidy")], "Fine."])
    async with Agent(model, tools=[tidy], budget=heald.Budget(seconds=0.1)) as agent:
        log = Log(agent)
        exchange = agent.send("Go.")
        await asyncio.sleep(0.2)
        agent.cancel("Now.")
        assert (await soon(exchange.result())).status == "cancelled"
        assert len(cancel_times) == 2
    log.assert_clean()


# --- turns -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("turns", [1, 3])
async def test_turns_are_requests(wire: str, turns: int) -> None:
    """M01: a model that calls a tool on every turn."""
    counter = Counter()
    numbers = iter(range(100))

    def answer(_: ReceivedRequest) -> Reply:
        made = ToolCall(id=f"c{next(numbers)}", name="count", input={})
        return wire_reply(wire, text="Again.", calls=[made])

    async with (
        ScriptedServer(answer) as server,
        Agent(model_at(server, wire), tools=[counter.tool], budget=heald.Budget(turns=turns)) as agent,
    ):
        log = Log(agent)
        result = await soon(agent.run("Go."))
        assert (result.status, result.limit, result.turns) == ("limit", "turns", turns)
        assert len(server.requests) == turns
        assert counter.runs == turns
        assert result.text == "Again."
        await soon(agent.run("Go on."))
        assert len(server.requests) == 2 * turns
        assert_accepted(wire, server)
        assert_same_history(agent, log)
    log.assert_clean()


async def test_the_default_is_twenty_turns() -> None:
    counter = Counter()
    model = Scripted([[call("count")] for _ in range(30)])
    async with Agent(model, tools=[counter.tool]) as agent:
        result = await soon(agent.run("Go."))
        assert (result.status, result.turns, len(model.requests), counter.runs) == ("limit", 20, 20, 20)


async def test_an_answer_in_the_last_turn_is_complete() -> None:
    counter = Counter()
    async with Agent(Scripted([[call("count")], "Done."]), tools=[counter.tool], budget=heald.Budget(turns=2)) as agent:
        result = await soon(agent.run("Go."))
        assert (result.status, result.text) == ("completed", "Done.")


# --- tokens and money ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wire", WIRES)
async def test_tokens_stop_the_batch_and_the_next_request(wire: str) -> None:
    """M02: usage over the budget. The calls of that message are not run, and the model is not asked again."""
    counter = Counter()
    made = [ToolCall(id=f"c{at}", name="count", input={}) for at in range(2)]
    replies = [
        wire_reply(wire, calls=made[:1], usage=(100, 10)),
        wire_reply(wire, text="Much.", calls=made[1:], usage=(100, 10_000_000)),
        wire_reply(wire, text="Done."),
    ]
    async with (
        ScriptedServer(replies) as server,
        Agent(model_at(server, wire), tools=[counter.tool], budget=heald.Budget(tokens=100_000)) as agent,
    ):
        log = Log(agent)
        result = await soon(agent.run("Go."))
        assert (result.status, result.limit, result.turns) == ("limit", "tokens", 2)
        assert len(server.requests) == 2
        assert counter.runs == 1
        assert [r.status for r in log.of(ToolResult)] == ["ok", "cancelled"]
        assert "budget of 100,000 tokens" in log.of(ToolResult)[1].text
        assert result.usage.total == 110 + 10_000_100
        assert (await soon(agent.run("Go on."))).text == "Done."
        assert_accepted(wire, server)
        assert_same_history(agent, log)
    log.assert_clean()


async def test_an_answer_that_uses_the_budget_up_is_still_an_answer() -> None:
    model = Scripted([["Done.", Scripted.stop("end_turn", Usage(input=10, output=90))]])
    async with Agent(model, budget=heald.Budget(tokens=50)) as agent:
        assert (await soon(agent.run("Go."))).status == "completed"


@pytest.mark.parametrize("wire", ["chat", "messages"])
async def test_dollars_stop_the_batch_and_the_next_request(wire: str) -> None:
    names = {"chat": "gpt-4o", "messages": "claude-sonnet-4-5"}
    counter = Counter()
    made = [ToolCall(id=f"c{at}", name="count", input={}) for at in range(3)]
    usage = (1000, 100_000)
    replies = [wire_reply(wire, calls=[request], usage=usage) for request in made]
    async with ScriptedServer(replies) as server:
        provider = {"chat": "openai", "messages": "anthropic"}[wire]
        model = heald.Model(
            names[wire], wire=wire, base_url=f"{server.url}/v1", api_key="no-real-key-1234", provider=provider
        )
        async with Agent(model, tools=[counter.tool], budget=heald.Budget(usd=1.2)) as agent:
            log = Log(agent)
            result = await soon(agent.run("Go."))
            assert (result.status, result.limit) == ("limit", "usd")
            assert result.cost_usd is not None
            assert result.cost_usd >= 1.2
            assert len(server.requests) == result.turns
            assert counter.runs == result.turns - 1
            assert log.of(ToolResult)[-1].status == "cancelled"
            assert "budget of $1.2" in log.of(ToolResult)[-1].text
    log.assert_clean()


async def test_a_budget_of_money_needs_a_price() -> None:
    async with ScriptedServer([]) as server, Agent(model_at(server), budget=heald.Budget(usd=1)) as agent:
        log = Log(agent)
        with pytest.raises(ConfigurationError, match="The price of test-model is not known"):
            await soon(agent.run("Go."))
        assert server.requests == []
        assert [r.status for r in log.of(ExchangeResponse)] == ["failed"]
    log.assert_clean()


async def test_what_a_helper_uses_counts() -> None:
    """Tokens of an agent that works for this one stand in the way of the next request."""
    helper = Agent(Scripted([["Report.", Scripted.stop("end_turn", Usage(input=500, output=500))]]))
    model = Scripted([[call("helper", prompt="A")], "never"])
    async with Agent(model, tools=[helper.as_tool("helper", "Helps.")], budget=heald.Budget(tokens=900)) as agent:
        log = Log(agent)
        result = await soon(agent.run("Go."))
        assert (result.status, result.limit, len(model.requests)) == ("limit", "tokens", 1)
        assert [r.text for r in log.of(ToolResult)] == ["Report."]
    log.assert_clean()


# --- seeds -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wire", WIRES)
async def test_the_order_of_an_exchange(wire: str) -> None:
    """Each call has its events in order; the one signal that all is over comes last, after two messages."""
    counter = Counter()
    made = ToolCall(id="c1", name="count", input={})
    replies = [wire_reply(wire, thinking="Hm.", text="Let me see.", calls=[made]), wire_reply(wire, text="One.")]
    async with ScriptedServer(replies) as server, Agent(model_at(server, wire), tools=[counter.tool]) as agent:
        log = Log(agent)
        await soon(agent.run("Go."))
    kinds = {"tool_call", "tool_use_message", "tool_result", "exchange_response"}
    assert [kind for kind in log.types if kind in kinds] == [
        *("tool_call", "tool_use_message", "tool_result", "tool_use_message", "exchange_response")
    ]
    assert log.types[-1] == "exchange_response"
    assert log.types.count("message_stop") == 2
    shape = [kind for kind in log.types if not kind.endswith(("_delta", "_block_start", "_block_stop"))]
    assert shape == [
        *("exchange_request", "user_message", "conversation_start"),
        *("message_start", "conversation_thinking", "conversation_responding", "message_stop", "assistant_message"),
        *("tool_call", "tool_use_message", "tool_planned", "tool_executing", "tool_completed", "tool_result"),
        "tool_use_message",
        *("message_start", "conversation_thinking", "conversation_responding", "message_stop", "assistant_message"),
        *("conversation_end", "exchange_response"),
    ]
    assert {event.layer for event in log.own} == {"stream", "state", "message", "exchange"}
    log.assert_clean()


@pytest.mark.parametrize("wire", WIRES)
async def test_the_life_of_a_file(wire: str) -> None:
    """A file grows while its call arrives, is written when the call runs, and is in the result at the end."""
    page = "<!doctype html><title>Hi</title>" + "<p>x</p>" * 40
    made = ToolCall(id="c1", name="create_file", input={"path": "index.html", "content": page})
    replies = [wire_reply(wire, text="I write.", calls=[made]), wire_reply(wire, text="There it is.")]
    async with ScriptedServer(replies) as server, Agent(model_at(server, wire), tools=families()["files"]) as agent:
        log = Log(agent)
        result = await soon(agent.run("A page, please."))
    assert result.files == {"index.html": page}
    order = ["file_preview", "tool_call", "tool_executing", "file_changed", "tool_completed", "tool_result"]
    positions = [log.types.index(kind) for kind in order]
    assert positions == sorted(positions)
    assert log.types.index("file_preview") < log.types.index("message_stop")
    assert "file_preview_reset" not in log.types
    assert len(log.of(ToolExecuting)) == 1
    assert len(log.of(AssistantMessage)) == 2
    log.assert_clean()


async def test_a_preview_that_came_to_nothing_is_withdrawn() -> None:
    """The message is cut off, filtered or cancelled: the file that was shown is not there."""
    made = ToolCall(id="c1", name="create_file", input={"path": "a.txt", "content": "word " * 60 + "MARK" + " x" * 200})
    async with (
        ScriptedServer([hanging("chat", b"MARK", calls=[made])]) as server,
        Agent(model_at(server), tools=families()["files"], retry=LATER) as agent,
    ):
        log = Log(agent)
        exchange = agent.send("Go.")
        await until(lambda: "file_preview" in log.types)
        agent.cancel()
        result = await soon(exchange.result())
        assert result.files == {}
        assert log.types.count("file_preview_reset") == 1
    log.assert_clean()
