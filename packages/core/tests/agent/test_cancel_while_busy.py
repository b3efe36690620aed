"""Requests while an exchange runs: they wait, join it, or replace it. No message is lost."""

import asyncio
from typing import Any

import pytest
from cancel_support import WIRES, Log, assert_accepted, assert_same_history, calls_of, hanging, model_at, soon, until

import heald
from heald.agent.agent import Agent
from heald.core.events import (
    ExchangeRequest,
    TextDelta,
    ToolExecuting,
    UserMessage,
)
from heald.core.messages import ToolResult
from heald.testing.server import ScriptedServer
from heald.testing.streams import wire_reply

SAID = "Half of it"
call = heald.testing.ScriptedModel.call


def slow(*more: Any) -> heald.testing.ScriptedModel:
    """A model that takes its time with the first answer."""
    return heald.testing.ScriptedModel(["one two three four five six " * 50, *more], piece=4, pause=0.01)


async def test_queue_waits_for_its_turn() -> None:
    model = heald.testing.ScriptedModel(["One.", "Two.", "Three."])
    async with Agent(model) as agent:
        log = Log(agent)
        exchanges = [agent.send(f"Request {number}.") for number in range(3)]
        results = [await soon(exchange.result()) for exchange in exchanges]
        assert [result.text for result in results] == ["One.", "Two.", "Three."]
        assert len(model.requests[2].messages) == 5
    assert log.types.count("conversation_queued") == 2
    log.assert_clean()


async def test_a_reactor_cancels_when_something_is_queued() -> None:
    """The cancellation belongs to the exchange that runs, though the event that caused it belongs to none."""
    async with Agent(slow("Next.")) as agent:
        log = Log(agent)
        agent.subscribe(lambda _: agent.cancel("Enough."), types=["conversation_queued"])
        first = agent.send("Go.")
        await until(lambda: log.has(TextDelta))
        second = agent.send("And this.")
        assert (await soon(first.result())).status == "cancelled"
        assert (await soon(second.result())).text == "Next."
    log.assert_clean()


@pytest.mark.parametrize("wire", WIRES)
async def test_interrupt_ends_the_running_one_and_replaces_it(wire: str) -> None:
    replies = [hanging(wire, b"Half", text=[SAID, " more"]), wire_reply(wire, text="Done.")]
    async with ScriptedServer(replies) as server, Agent(model_at(server, wire)) as agent:
        log = Log(agent)
        first = agent.send("Go.")
        await until(lambda: log.has(TextDelta))
        second = agent.send("No, this.", when_busy="interrupt")
        assert (await soon(second.result())).text == "Done."
        assert (await soon(first.result())).status == "cancelled"
        await soon(server.requests[0].closed_early.wait())
        assert SAID in server.requests[1].content.decode()
        assert_accepted(wire, server)
        assert_same_history(agent, log)
    log.assert_clean()


async def test_interrupt_comes_before_what_waits() -> None:
    async with Agent(slow("Now.", "Later.")) as agent:
        log = Log(agent)
        first = agent.send("First.")
        waiting = agent.send("Waiting.")
        await until(lambda: log.has(TextDelta))
        urgent = agent.send("Urgent.", when_busy="interrupt")
        assert (await soon(first.result())).status == "cancelled"
        assert (await soon(urgent.result())).text == "Now."
        assert (await soon(waiting.result())).text == "Later."
    log.assert_clean()


@pytest.mark.parametrize("wire", WIRES)
async def test_steer_is_seen_at_the_next_turn(wire: str) -> None:
    gate = asyncio.Event()

    @heald.tool
    async def look() -> str:
        """Looks."""
        await gate.wait()
        return "seen"

    first = wire_reply(wire, calls=calls_of("look"))
    async with (
        ScriptedServer([first, wire_reply(wire, text="Done.")]) as server,
        Agent(model_at(server, wire), tools=[look]) as agent,
    ):
        log = Log(agent)
        exchange = agent.send("Go.")
        await until(lambda: log.has(ToolExecuting))
        assert agent.send("And look left.", when_busy="steer") is exchange
        gate.set()
        assert (await soon(exchange.result())).text == "Done."
        assert "And look left." in server.requests[1].content.decode()
        assert_accepted(wire, server)
        assert [m.message.text for m in log.of(UserMessage)] == ["Go.", "And look left."]
        assert len(log.of(ExchangeRequest)) == 1
        assert_same_history(agent, log)
    log.assert_clean()


async def test_steer_during_the_last_turn_makes_one_more() -> None:
    model = slow("And Rome is warm.")
    async with Agent(model) as agent:
        log = Log(agent)
        exchange = agent.send("Oslo?")
        await until(lambda: log.has(TextDelta))
        agent.send("And Rome?", when_busy="steer")
        result = await soon(exchange.result())
        assert (result.text, result.turns) == ("And Rome is warm.", 2)
    log.assert_clean()


async def test_steering_what_is_being_cancelled_starts_anew() -> None:
    async with Agent(slow("Fine.")) as agent:
        log = Log(agent)
        first = agent.send("Go.")
        await until(lambda: log.has(TextDelta))
        agent.cancel()
        second = agent.send("Else.", when_busy="steer")
        assert second is not first
        assert (await soon(second.result())).text == "Fine."
    log.assert_clean()


async def test_what_was_steered_in_is_not_lost_when_the_exchange_is_cancelled() -> None:
    """The agent accepted the message. Whatever the outcome of the exchange, the next turn sees it."""
    model = slow("Fine.")
    async with Agent(model) as agent:
        log = Log(agent)
        exchange = agent.send("Go.")
        await until(lambda: log.has(TextDelta))
        agent.send("And mind the gap.", when_busy="steer")
        agent.cancel()
        await soon(exchange.result())
        await soon(agent.run("Go on."))
        texts = [message.text for message in model.requests[-1].messages]
        assert "And mind the gap." in texts
        assert_same_history(agent, log)
    log.assert_clean()


async def test_results_of_a_cancelled_batch_stand_in_call_order() -> None:
    @heald.tool
    async def wait(seconds: float) -> str:
        """Waits."""
        await asyncio.sleep(seconds)
        return f"{seconds}"

    script = [[call("wait", seconds=60), call("wait", seconds=0), call("wait", seconds=50)], "Fine."]
    model = heald.testing.ScriptedModel(script)
    async with Agent(model, tools=[wait]) as agent:
        log = Log(agent)
        exchange = agent.send("Go.")
        await until(lambda: log.has(ToolResult))
        agent.cancel()
        await soon(exchange.result())
        await soon(agent.run("Go on."))
        [results] = [message for message in model.requests[1].messages if message.role == "tool"]
        statuses = [block.status for block in results.content if isinstance(block, ToolResult)]
        assert statuses == ["cancelled", "ok", "cancelled"]
    log.assert_clean()
