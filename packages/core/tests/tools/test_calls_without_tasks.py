"""Calls of coroutine functions without an `await` are run at once; all others get a task. Both look the same."""

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

import heald
from heald.core.envelope import Event
from heald.core.messages import ToolResult
from heald.testing import ScriptedModel

_TASKS: list["asyncio.Task[Any] | None"] = []


@heald.tool
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    _TASKS.append(asyncio.current_task())
    return a + b


@heald.tool
async def add_slowly(a: int, b: int) -> int:
    """Add two numbers, after others had a turn."""
    _TASKS.append(asyncio.current_task())
    await asyncio.sleep(0)
    return a + b


@heald.tool
async def fail() -> str:
    """Fail."""
    raise ValueError("It is broken.")


@heald.tool
async def cancel_itself() -> str:
    """End as if it was cancelled."""
    raise asyncio.CancelledError


@pytest.mark.parametrize(
    ("tool", "never_waits"),
    [(add, True), (fail, True), (add_slowly, False), (msgspec.structs.replace(add, run=add_slowly.run), False)],
)
def test_a_function_without_await_never_waits(tool: heald.Tool, never_waits: bool) -> None:
    assert tool.never_waits is never_waits


@pytest.mark.parametrize(
    "loop_or_context",
    [
        "async with lock:\n        return 1",
        "async for item in items:\n        return item",
        "return [item async for item in items]",
        "return await items",
        "yield 1",
    ],
)
def test_whatever_can_wait_is_found(loop_or_context: str) -> None:
    scope: dict[str, Any] = {}
    exec(f"async def work() -> int:\n    {loop_or_context}", scope)
    assert not heald.tool(scope["work"]).never_waits


def test_a_plain_function_runs_in_a_thread() -> None:
    def plain() -> int:
        return 1

    assert not heald.tool(plain).never_waits


async def test_calls_that_never_wait_need_no_task() -> None:
    _TASKS.clear()
    result = await _run([ScriptedModel.call("add", a=number, b=1) for number in range(8)])
    assert [block.text for block in _results(result)] == [str(number + 1) for number in range(8)]
    assert len(set(_TASKS)) == 1


async def test_a_call_that_waits_gives_every_call_of_the_message_a_task() -> None:
    _TASKS.clear()
    result = await _run([ScriptedModel.call("add", a=1, b=1), ScriptedModel.call("add_slowly", a=2, b=2)])
    assert [block.text for block in _results(result)] == ["2", "4"]
    assert len(set(_TASKS)) == 2


@pytest.mark.parametrize("name", ["add", "add_slowly"])
async def test_the_events_are_the_same(name: str) -> None:
    types: list[str] = []
    await _run([ScriptedModel.call(name, a=number, b=1) for number in range(2)], lambda event: types.append(event.type))
    calls = [kind for kind in types if kind in ("tool_executing", "tool_completed", "tool_result")]
    executing = ["tool_executing", "tool_completed", "tool_result"] * 2
    assert sorted(calls) == sorted(executing)
    assert calls[0] == "tool_executing"


async def test_a_failed_call_has_a_result() -> None:
    result = await _run(
        [ScriptedModel.call("fail"), ScriptedModel.call("cancel_itself"), ScriptedModel.call("add", a=1, b=1)]
    )
    failed, cancelled, added = _results(result)
    assert failed.is_error
    assert "It is broken." in failed.text
    assert cancelled.is_error
    assert "cancelled itself" in cancelled.text
    assert added.text == "2"


async def test_an_exchange_that_a_call_cancels_ends() -> None:
    """The call is finished, as nothing interrupts it, and the next one is not run."""
    exchanges: list[Any] = []

    @heald.tool
    async def stop() -> str:
        """Cancel the exchange."""
        exchanges[0].cancel("Enough.")
        return "stopped"

    _TASKS.clear()
    model = ScriptedModel([[ScriptedModel.call("stop"), ScriptedModel.call("add", a=1, b=1)], "Done."])
    async with heald.Agent(model, tools=[stop, add]) as agent:
        exchanges.append(agent.send("Stop."))
        result = await exchanges[0].result()
    assert result.status == "cancelled"
    assert [block.status for block in _results(result)] == ["ok", "cancelled"]
    assert _TASKS == []


async def test_a_call_that_must_be_allowed_waits_for_the_answer() -> None:
    async def allow(_: object) -> bool:
        await asyncio.sleep(0)
        return True

    model = ScriptedModel([[ScriptedModel.call("add", a=1, b=1)], "Done."])
    async with heald.Agent(model, tools=[add], permissions="ask", on_approval=allow) as agent:
        result = await agent.run("Add.")
    assert [block.text for block in _results(result)] == ["2"]


async def _run(calls: list[Any], reactor: Callable[[Event], object] | None = None) -> heald.AgentResult:
    model = ScriptedModel([calls, "Done."])
    async with heald.Agent(model, tools=[add, add_slowly, fail, cancel_itself]) as agent:
        if reactor is not None:
            agent.subscribe(reactor)
        return await agent.run("Work.")


def _results(result: heald.AgentResult) -> list[ToolResult]:
    return [block for message in result.messages for block in message.content if isinstance(block, ToolResult)]


async def test_only_a_function_that_asks_for_the_context_gets_one(monkeypatch: pytest.MonkeyPatch) -> None:
    contexts: list[object] = []

    @heald.tool
    async def look(context: heald.ToolContext) -> str:
        """Look at the context."""
        contexts.append(context)
        return context.call.name

    assert add.ignores_context
    assert not look.ignores_context
    made: list[str] = []
    monkeypatch.setattr("heald.tools.call_batch.ToolContext", lambda call, *_, **__: made.append(call.name))
    await _run([ScriptedModel.call("add", a=1, b=1)])
    assert made == []
    monkeypatch.undo()
    agent = heald.Agent(ScriptedModel([ScriptedModel.call("look"), "Done."]), tools=[look])
    await agent.run("Look.")
    assert isinstance(contexts[0], heald.ToolContext)
