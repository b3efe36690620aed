"""Who cancels: the caller, the agent, the loop, a person at the keyboard. Each exchange ends once."""

import asyncio
import signal
import sys
import textwrap
from collections.abc import AsyncIterator
from typing import Any

import pytest
from cancel_support import HANGS, WIRES, Log, assert_accepted, assert_same_history, hanging, model_at, soon, until

import heald
from heald.agent.agent import Agent
from heald.core.envelope import Event
from heald.core.events import (
    CancelRequested,
    ConversationInterrupted,
    ExchangeResponse,
    TextDelta,
    ToolExecuting,
)
from heald.testing.server import Hang, Reply, ScriptedServer
from heald.testing.streams import wire_reply

SAID = "Half of it"
call = heald.testing.ScriptedModel.call


def slow(*more: Any) -> heald.testing.ScriptedModel:
    """A model that takes its time with the first answer."""
    return heald.testing.ScriptedModel(["one two three four five six " * 50, *more], piece=4, pause=0.01)


# --- C04: twice, after the end, before the start ---------------------------------------------------------------------


async def test_cancelling_twice_is_once() -> None:
    async with Agent(slow("Fine.")) as agent:
        log = Log(agent)
        exchange = agent.send("Go.")
        await until(lambda: log.has(TextDelta))
        assert agent.cancel("First.")
        assert not agent.cancel("Second.")
        assert not exchange.cancel("Third.")
        assert (await soon(exchange.result())).status == "cancelled"
        assert [c.reason for c in log.of(CancelRequested)] == ["First."]
        assert [i.reason for i in log.of(ConversationInterrupted)] == ["First."]
    log.assert_clean()


async def test_cancelling_what_is_over_changes_nothing() -> None:
    async with Agent(heald.testing.ScriptedModel(["Done."])) as agent:
        log = Log(agent)
        exchange = agent.send("Go.")
        result = await soon(exchange.result())
        seen = len(log.events)
        assert not agent.cancel()
        assert not exchange.cancel()
        assert await soon(exchange.result()) is result
        assert result.status == "completed"
        assert len(log.events) == seen
    log.assert_clean()


async def test_cancelling_an_idle_agent_changes_nothing() -> None:
    async with Agent(heald.testing.ScriptedModel(["Done."])) as agent:
        log = Log(agent)
        assert not agent.cancel()
        assert (await soon(agent.run("Go."))).text == "Done."
    log.assert_clean()


async def test_cancelling_before_the_first_step() -> None:
    """Between asking and the loop's next turn: it ends as cancelled, and the model is never asked."""
    model = heald.testing.ScriptedModel(["Done."])
    async with Agent(model) as agent:
        log = Log(agent)
        exchange = agent.send("Go.")
        assert agent.cancel("Never mind.")
        assert (await soon(exchange.result())).status == "cancelled"
        assert model.requests == []
        assert [r.status for r in log.of(ExchangeResponse)] == ["cancelled"]
        assert (await soon(agent.run("Go on."))).text == "Done."
    log.assert_clean()


async def test_closing_before_the_first_step() -> None:
    agent = Agent(heald.testing.ScriptedModel(["Done."]))
    log = Log(agent)
    exchange = agent.send("Go.")
    async with asyncio.timeout(60):
        await agent.close()
    assert (await soon(exchange.result())).status == "cancelled"
    log.assert_clean()


async def test_interrupting_before_the_first_step() -> None:
    async with Agent(heald.testing.ScriptedModel(["Done."])) as agent:
        log = Log(agent)
        first = agent.send("Go.")
        second = agent.send("No, this.", when_busy="interrupt")
        assert (await soon(second.result())).text == "Done."
        assert (await soon(first.result())).status == "cancelled"
    log.assert_clean()


# --- C05: the caller's own cancellation ------------------------------------------------------------------------------


async def test_the_callers_cancellation_is_raised_and_ends_the_exchange() -> None:
    async with Agent(slow("Fine.")) as agent:
        log = Log(agent)
        caller = asyncio.create_task(agent.run("Go."))
        await until(lambda: log.has(TextDelta))
        caller.cancel()
        with pytest.raises(asyncio.CancelledError):
            await soon(caller)
        assert caller.cancelled()
        assert [r.status for r in log.of(ExchangeResponse)] == ["cancelled"]
        assert (await soon(agent.run("Go on."))).text == "Fine."
    log.assert_clean()


@pytest.mark.parametrize("ticks", range(12))
@pytest.mark.parametrize("external_first", [True, False])
async def test_an_external_cancel_wins_the_race_with_our_own(ticks: int, external_first: bool) -> None:
    async with Agent(slow("Fine.")) as agent:
        log = Log(agent)
        caller = asyncio.create_task(agent.run("Go."))
        await until(lambda: log.has(TextDelta))
        steps = [caller.cancel, agent.cancel] if external_first else [agent.cancel, caller.cancel]
        steps[0]()
        for _ in range(ticks):
            if caller.done():
                break
            await asyncio.sleep(0)
        late = caller.done()
        steps[1]()
        outcome = (await soon(asyncio.gather(caller, return_exceptions=True)))[0]
        if late and not external_first:
            assert isinstance(outcome, heald.AgentResult)
            assert outcome.status == "cancelled"
        else:
            assert isinstance(outcome, asyncio.CancelledError)
        assert [r.status for r in log.of(ExchangeResponse)] == ["cancelled"]
        assert len(log.of(CancelRequested)) == 1
        assert (await soon(agent.run("Go on."))).text == "Fine."
    log.assert_clean()


async def test_our_own_cancel_keeps_no_mark_on_the_caller() -> None:
    async with Agent(slow("Fine.")) as agent:
        asyncio.get_running_loop().call_later(0.05, agent.cancel)
        result = await agent.run("Go.")
        assert result.status == "cancelled"
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0
        await asyncio.sleep(0.01)
        async with asyncio.timeout(60):
            assert (await agent.run("Go on.")).text == "Fine."


async def test_a_callers_deadline_is_reported_as_a_timeout() -> None:
    async with ScriptedServer([hanging("chat", b"Half", text=[SAID, " more"])]) as server:
        async with Agent(model_at(server)) as agent:
            log = Log(agent)
            deadline = asyncio.timeout(HANGS)
            agent.subscribe(lambda _: deadline.expired() or deadline.reschedule(0), types=["text_delta"])
            with pytest.raises(TimeoutError):
                async with deadline:
                    await agent.run("Go.")
            await soon(server.requests[0].closed_early.wait())
            assert [r.status for r in log.of(ExchangeResponse)] == ["cancelled"]
        log.assert_clean()


async def test_a_task_group_that_fails_ends_the_exchange() -> None:
    async def fail() -> None:
        await asyncio.sleep(0.05)
        raise ValueError("elsewhere")

    async with Agent(slow()) as agent:
        log = Log(agent)

        async def together() -> None:
            async with asyncio.TaskGroup() as group:
                group.create_task(agent.run("Go."))
                group.create_task(fail())

        with pytest.raises(ExceptionGroup):
            await together()
        assert [r.status for r in log.of(ExchangeResponse)] == ["cancelled"]
    log.assert_clean()


async def test_cancelling_the_callers_task_twice_does_not_lose_the_log() -> None:
    @heald.tool
    async def tidy() -> str:
        """Takes a moment to end."""
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.1)
        return ""

    async with Agent(heald.testing.ScriptedModel([[call("tidy")], "Fine."]), tools=[tidy]) as agent:
        log = Log(agent)
        caller = asyncio.create_task(agent.run("Go."))
        await until(lambda: log.has(ToolExecuting))
        caller.cancel()
        await asyncio.sleep(0.01)
        caller.cancel()
        with pytest.raises(asyncio.CancelledError):
            await soon(caller)
        assert (await soon(agent.run("Go on."))).text == "Fine."
        assert [r.status for r in log.of(ExchangeResponse)] == ["cancelled", "completed"]
    log.assert_clean()


async def test_the_task_of_an_exchange_cancelled_from_outside() -> None:
    """What `asyncio.run` does to every task when it ends."""
    async with Agent(slow("Fine.")) as agent:
        log = Log(agent)
        exchange = agent.send("Go.")
        await until(lambda: log.has(TextDelta))
        assert agent.current is not None
        assert agent.current.task is not None
        agent.current.task.cancel()
        assert (await soon(exchange.result())).status == "cancelled"
        assert (await soon(agent.run("Go on."))).text == "Fine."
    log.assert_clean()


# --- leaving, closing ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wire", WIRES)
async def test_disconnecting_the_loop_over_events_cancels(wire: str) -> None:
    replies = [hanging(wire, b"Half", text=[SAID, " more"]), wire_reply(wire, text="Done.")]
    async with ScriptedServer(replies) as server, Agent(model_at(server, wire)) as agent:
        log = Log(agent)
        events: AsyncIterator[Event] = agent.stream("Go.")
        async for event in events:
            if isinstance(event.data, TextDelta):
                break
        await events.aclose()  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        await soon(server.requests[0].closed_early.wait())
        assert [r.status for r in log.of(ExchangeResponse)] == ["cancelled"]
        assert (await soon(agent.run("Go on."))).text == "Done."
        assert SAID in server.requests[-1].content.decode()
        assert_accepted(wire, server)
        assert_same_history(agent, log)
    log.assert_clean()


async def test_a_loop_that_is_left_and_forgotten_cancels_too() -> None:
    async with Agent(slow("Fine.")) as agent:
        log = Log(agent)
        async for event in agent.stream("Go."):
            if isinstance(event.data, TextDelta):
                break
        await until(lambda: log.has(ExchangeResponse))
        assert [r.status for r in log.of(ExchangeResponse)] == ["cancelled"]
        assert (await soon(agent.run("Go on."))).text == "Fine."
    log.assert_clean()


async def test_a_stream_receives_its_own_cancel_to_the_end() -> None:
    async with Agent(slow()) as agent:
        seen: list[str] = []
        async for event in agent.stream("Go."):
            seen.append(event.type)
            if event.type == "text_delta":
                agent.cancel()
        assert seen[-1] == "exchange_response"
        assert seen.count("cancel_requested") == 1


async def test_closing_ends_what_runs_and_what_waits() -> None:
    before = asyncio.all_tasks()
    agent = Agent(slow())
    log = Log(agent)
    running, *waiting = [agent.send(f"Request {number}.") for number in range(4)]
    await until(lambda: log.has(TextDelta))
    await soon(agent.close())
    assert [(await soon(exchange.result())).status for exchange in (running, *waiting)] == ["cancelled"] * 4
    assert [r.status for r in log.of(ExchangeResponse)] == ["cancelled"] * 4
    assert running.is_over
    assert all(exchange.is_over for exchange in waiting)
    await soon(agent.close())
    log.assert_clean()
    assert asyncio.all_tasks() <= before


@pytest.mark.parametrize("how", ["asyncio.run(agent.run('Go.'))", "agent.run_sync('Go.')"])
async def test_the_keyboard_ends_it(how: str) -> None:
    """SIGINT to a program: it ends by KeyboardInterrupt, and the server sees the connection close."""
    async with ScriptedServer([hanging("chat", b"Half", text=[SAID, " more"])]) as server:
        program = textwrap.dedent(f"""
            import asyncio, signal, heald
            signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background is born deaf to it
            model = heald.Model("m", wire="chat", base_url="{server.url}/v1", api_key="no-real-key-1234")
            agent = heald.Agent(model)
            agent.subscribe(lambda event: print(event.type, flush=True), types=["text_delta", "exchange_response"])
            {how}
        """)
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        try:
            assert child.stdout is not None
            assert (await soon(child.stdout.readline())).strip() == b"text_delta"
            child.send_signal(signal.SIGINT)
            out, err = await soon(child.communicate())
        finally:
            if child.returncode is None:
                child.kill()
                await child.wait()
        await soon(server.requests[0].closed_early.wait())
        assert err.decode().strip().splitlines()[-1] == "KeyboardInterrupt"
        assert b"exchange_response" in out
        assert b"never" not in err


async def test_a_reply_that_hangs_does_not_hold_a_closed_agent() -> None:
    async with ScriptedServer([Reply([Hang()])]) as server:
        agent = Agent(model_at(server))
        exchange = agent.send("Go.")
        await until(lambda: server.requests)
        await soon(agent.close())
        assert (await soon(exchange.result())).status == "cancelled"
        await soon(server.requests[0].closed_early.wait())
