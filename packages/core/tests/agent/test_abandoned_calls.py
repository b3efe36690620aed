"""Calls that do not stop when they are cancelled: each has its result, and the exchange does not wait for them."""

import asyncio
import contextlib
from collections.abc import Sequence

import pytest

import heald
from heald.agent.agent import Agent
from heald.core.messages import ToolResult
from heald.tools import call_batch
from log_support import Log, call, scripted


@pytest.fixture(autouse=True)
def short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_batch, "GRACE", 0.05)


class DeafTool:
    """A tool that ignores its cancellation until it is freed."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.free = asyncio.Event()
        self.ended = asyncio.Event()

    async def run(self) -> str:
        self.begun.set()
        while not self.free.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await self.free.wait()
        self.ended.set()
        return "late"

    def tool(self, timeout: float | None = None) -> heald.Tool:
        @heald.tool(timeout=timeout)
        async def deaf() -> str:
            """Does not stop."""
            return await self.run()

        return deaf


def statuses(log: Log) -> list[str]:
    return [result.status for result in log.of(ToolResult)]


@pytest.mark.parametrize("calls", [["deaf"], ["deaf", "quick"]])
async def test_a_cancelled_exchange_ends_without_it(calls: Sequence[str], caplog: pytest.LogCaptureFixture) -> None:
    deaf = DeafTool()

    @heald.tool
    async def quick() -> str:
        """Ends at once."""
        return "done"

    agent = Agent(scripted([call(name) for name in calls], "Fine."), tools=[deaf.tool(), quick])
    log = Log(agent)
    exchange = agent.send("Go.")
    await asyncio.wait_for(deaf.begun.wait(), 60)
    exchange.cancel("Enough.")
    assert (await asyncio.wait_for(exchange.result(), 60)).status == "cancelled"
    assert sorted(statuses(log)) == sorted(["cancelled", *(["ok"] if len(calls) > 1 else [])])
    assert "The tool deaf did not stop and was abandoned." in caplog.text
    assert (await agent.run("Next.")).text == "Fine."
    deaf.free.set()
    await asyncio.wait_for(deaf.ended.wait(), 60)
    assert len(statuses(log)) == len(calls)
    log.prove()


async def test_a_call_beyond_its_time_limit_is_abandoned(caplog: pytest.LogCaptureFixture) -> None:
    deaf = DeafTool()
    agent = Agent(scripted([call("deaf")], "Fine."), tools=[deaf.tool(timeout=0.05)])
    log = Log(agent)
    assert (await asyncio.wait_for(agent.run("Go."), 60)).text == "Fine."
    assert statuses(log) == ["timeout"]
    assert "The tool deaf did not stop and was abandoned." in caplog.text
    deaf.free.set()
    await asyncio.wait_for(deaf.ended.wait(), 60)
    log.prove()


async def test_an_exchange_that_is_cancelled_before_its_first_step_has_its_events() -> None:
    agent = Agent(scripted("Never."))
    log = Log(agent)
    exchange = agent.send("Go.")
    assert agent.current is not None
    assert agent.current.task is not None
    agent.current.task.cancel()
    assert (await exchange.result()).status == "cancelled"
    log.prove()
