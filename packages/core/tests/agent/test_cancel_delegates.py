"""C07: an agent that works for another one. Cancelling goes down and not up; events are relayed, costs count."""

import asyncio
from pathlib import Path

import pytest
from cancel_support import WIRES, Log, assert_accepted, hanging, model_at, soon, until

import heald
from heald.agent.agent import Agent
from heald.core.events import CancelRequested, ExchangeRequest, ExchangeResponse, TextDelta, ToolExecuting
from heald.core.messages import ToolCall, ToolResult
from heald.core.payload import Payload
from heald.core.turn import Usage
from heald.testing.server import ScriptedServer
from heald.testing.streams import wire_reply

Scripted = heald.testing.ScriptedModel
call = Scripted.call
SAID = "Half of the report"


def of_children(log: Log, kind: type[Payload]) -> list[Payload]:
    return [event.data for event in log.events if event.session != log.session and isinstance(event.data, kind)]


def children(log: Log) -> set[str]:
    return {event.session for event in log.events} - {log.session}


@pytest.mark.parametrize("wire", WIRES)
async def test_cancel_goes_down(wire: str) -> None:
    before = asyncio.all_tasks()
    replies = [
        wire_reply(wire, text="I ask.", calls=[ToolCall(id="c1", name="helper", input={"prompt": "Report."})]),
        hanging(wire, b"Half of", text=[SAID, " and"]),
        wire_reply(wire, text="Done."),
    ]
    async with ScriptedServer(replies) as server:
        helper = Agent(model_at(server, wire), instructions="You help.")
        async with Agent(model_at(server, wire), tools=[helper.as_tool("helper", "Helps.")]) as agent:
            log = Log(agent)
            exchange = agent.send("Go.")
            await until(lambda: of_children(log, TextDelta))
            agent.cancel("Enough.")
            assert (await soon(exchange.result())).status == "cancelled"
            await soon(server.requests[1].closed_early.wait())
            assert [r.status for r in log.of(ToolResult)] == ["cancelled"]
            [response] = of_children(log, ExchangeResponse)
            assert isinstance(response, ExchangeResponse)
            assert response.status == "cancelled"
            assert (await soon(agent.run("Go on."))).text == "Done."
            assert_accepted(wire, server)
        [request] = of_children(log, ExchangeRequest)
        assert isinstance(request, ExchangeRequest)
        assert request.cause == log.of(ToolCall)[0].id
        assert len(children(log)) == 1
        log.assert_clean()
    assert asyncio.all_tasks() <= before


async def test_the_end_of_the_one_below_is_nothing_but_a_result() -> None:
    """A helper that is out of budget, or that fails, ends its call and nothing else."""
    helper = Agent(Scripted([[call("look")], "never"]), tools=[look], budget=heald.Budget(turns=1))
    failing = Agent(Scripted([]))
    model = Scripted([[call("helper", prompt="A"), call("failing", prompt="B")], "Fine."])
    tools = [helper.as_tool("helper", "Helps."), failing.as_tool("failing", "Fails.")]
    async with Agent(model, tools=tools) as agent:
        log = Log(agent)
        result = await soon(agent.run("Go."))
        assert (result.status, result.text) == ("completed", "Fine.")
        assert [r.is_error for r in log.of(ToolResult)] == [True, True]
        assert "budget of 1 turns" in log.of(ToolResult)[0].text + log.of(ToolResult)[1].text
        assert not log.has(CancelRequested)
    log.assert_clean()


async def test_cancelling_the_one_below_is_not_felt_above() -> None:
    started = asyncio.Event()

    @heald.tool
    async def wait() -> str:
        """Waits."""
        started.set()
        await asyncio.sleep(60)
        return ""

    helper = Agent(Scripted([[call("wait")]]), tools=[wait])
    async with Agent(
        Scripted([[call("helper", prompt="A")], "Fine."]), tools=[helper.as_tool("helper", "Helps.")]
    ) as agent:
        log = Log(agent)
        exchange = agent.send("Go.")
        await soon(started.wait())
        [task] = [
            task
            for task in asyncio.all_tasks()
            if task.get_name().startswith("heald-") and task.get_name() != f"heald-{exchange.id}"
        ]
        task.cancel()
        result = await soon(exchange.result())
        assert (result.status, result.text) == ("completed", "Fine.")
        assert [r.status for r in log.of(ToolResult)] == ["cancelled"]
        assert not log.has(CancelRequested)
    log.assert_clean()


@heald.tool
async def look() -> str:
    """Looks."""
    return "seen"


@pytest.mark.parametrize("ticks", range(20))
async def test_at_any_moment_of_its_start(ticks: int) -> None:
    """Also between the call and the first step of the one below: nothing hangs and nothing is left."""
    before = asyncio.all_tasks()
    helper = Agent(Scripted([[call("look")], "Report."]), tools=[look])
    model = Scripted([[call("helper", prompt="A")], "Fine.", "Fine."])
    async with Agent(model, tools=[helper.as_tool("helper", "Helps.")]) as agent:
        log = Log(agent)
        exchange = agent.send("Go.")
        await until(lambda: log.has(ToolExecuting))
        for _ in range(ticks):
            await asyncio.sleep(0)
        agent.cancel()
        await soon(exchange.result())
        assert (await soon(agent.run("Go on."))).text == "Fine."
    log.assert_clean()
    assert asyncio.all_tasks() <= before


async def test_cancelled_as_it_is_called() -> None:
    """A reactor that cancels at tool_executing of the call."""
    before = asyncio.all_tasks()
    helper_model = Scripted(["Report."])
    helper = Agent(helper_model)
    async with Agent(Scripted([[call("helper", prompt="A")]]), tools=[helper.as_tool("helper", "Helps.")]) as agent:
        log = Log(agent)
        agent.subscribe(lambda _: agent.cancel(), types=["tool_executing"])
        assert (await soon(agent.run("Go."))).status == "cancelled"
    assert helper_model.requests == []
    log.assert_clean()
    await asyncio.sleep(0.05)
    assert asyncio.all_tasks() <= before


async def test_what_was_delegated_is_counted_once() -> None:
    """Three agents, each for the next: each one's tokens stand in the bill of the first once."""
    use = Scripted.stop("end_turn", Usage(input=100, output=10))
    lowest = Agent(Scripted([["Lowest.", use]]))
    middle_script = [
        [call("lowest", prompt="A"), Scripted.stop("tool_use", Usage(input=20, output=2))],
        ["Middle.", use],
    ]
    middle = Agent(Scripted(middle_script), tools=[lowest.as_tool("lowest", "Helps.")])
    top_script = [[call("middle", prompt="B"), Scripted.stop("tool_use", Usage(input=3, output=1))], ["Top.", use]]
    async with Agent(Scripted(top_script), tools=[middle.as_tool("middle", "Helps.")]) as agent:
        log = Log(agent)
        result = await soon(agent.run("Go."))
        assert result.usage.total == 3 + 1 + 110
        assert result.delegated is not None
        assert result.delegated.total == (20 + 2 + 110) + 110
    assert len(children(log)) == 2
    log.assert_clean()


async def test_a_cancel_reaches_the_lowest(tmp_path: Path) -> None:
    ended = asyncio.Event()

    @heald.tool
    async def wait() -> str:
        """Waits."""
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()
        return ""

    lowest = Agent(Scripted([[call("wait")]]), tools=[wait])
    middle = Agent(Scripted([[call("lowest", prompt="A")]]), tools=[lowest.as_tool("lowest", "Helps.")])
    async with Agent(Scripted([[call("middle", prompt="B")]]), tools=[middle.as_tool("middle", "Helps.")]) as agent:
        log = Log(agent)
        exchange = agent.send("Go.")
        await until(
            lambda: any(e.type == "tool_executing" and getattr(e.data, "name", "") == "wait" for e in log.events)
        )
        agent.cancel()
        assert (await soon(exchange.result())).status == "cancelled"
        assert ended.is_set()
        assert [r.status for e in log.events if isinstance(r := e.data, ExchangeResponse)] == ["cancelled"] * 3
    log.assert_clean()


async def test_an_approval_of_the_one_below_waits_above_and_ends_with_it() -> None:
    helper = Agent(Scripted([[call("look")], "Report."]), tools=[look], permissions="ask")
    async with Agent(Scripted([[call("helper", prompt="A")]]), tools=[helper.as_tool("helper", "Helps.")]) as agent:
        log = Log(agent)
        exchange = agent.send("Go.")
        await until(lambda: agent.approvals)
        agent.cancel()
        assert (await soon(exchange.result())).status == "cancelled"
        assert agent.approvals == []
    log.assert_clean()
