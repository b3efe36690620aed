"""Whoever decides and answers for people: too late, not at all, or never again. Nothing waits for ever."""

import asyncio
from typing import Any

import pytest
from cancel_support import Log, soon, until

import heald
from heald.agent.agent import Agent
from heald.core.messages import ToolResult
from heald.tools.ask_user import ask_user

SAID = "Half of it"
call = heald.testing.ScriptedModel.call


def slow(*more: Any) -> heald.testing.ScriptedModel:
    """A model that takes its time with the first answer."""
    return heald.testing.ScriptedModel(["one two three four five six " * 50, *more], piece=4, pause=0.01)


async def test_an_agent_that_answers_for_people_ends_its_tasks() -> None:
    before = asyncio.all_tasks()

    async def allow(_: Any) -> bool:
        return True

    @heald.tool
    async def look() -> str:
        """Looks."""
        return "seen"

    async with Agent(
        heald.testing.ScriptedModel([[call("look")], "Done."]), tools=[look], permissions="ask", on_approval=allow
    ) as agent:
        assert (await soon(agent.run("Go."))).text == "Done."
    assert asyncio.all_tasks() <= before


async def test_a_decision_that_comes_too_late_is_no_fault(caplog: pytest.LogCaptureFixture) -> None:
    decide = asyncio.Event()

    async def allow(_: Any) -> bool:
        await decide.wait()
        return True

    @heald.tool
    async def look() -> str:
        """Looks."""
        return "seen"

    async with Agent(
        heald.testing.ScriptedModel([[call("look")], "Fine."]), tools=[look], permissions="ask", on_approval=allow
    ) as agent:
        log = Log(agent)
        exchange = agent.send("Go.")
        await until(lambda: "approval_requested" in log.types)
        agent.cancel()
        await soon(exchange.result())
        decide.set()
        await asyncio.sleep(0.05)
        assert (await soon(agent.run("Go on."))).text == "Fine."
    assert "A reactor failed" not in caplog.text
    assert "tool_executing" not in log.types


async def test_a_decision_that_fails_is_a_denial() -> None:
    """Nobody else would ever decide: the call must not wait for ever."""

    async def fail(_: Any) -> bool:
        raise ValueError("the dialog crashed")

    @heald.tool
    async def look() -> str:
        """Looks."""
        return "seen"

    model = heald.testing.ScriptedModel([[call("look")], "Fine."])
    async with Agent(model, tools=[look], permissions="ask", on_approval=fail) as agent:
        log = Log(agent)
        assert (await soon(agent.run("Go."))).text == "Fine."
        assert [r.status for r in log.of(ToolResult)] == ["denied"]
    log.assert_clean()


async def test_an_answer_that_fails_does_not_hang() -> None:
    async def fail(_: Any) -> str:
        raise ValueError("the dialog crashed")

    model = heald.testing.ScriptedModel([[call("ask_user", question="Which?", suggestions=["a", "b"])], "Fine."])
    async with Agent(model, tools=[ask_user], on_question=fail) as agent:
        log = Log(agent)
        assert (await soon(agent.run("Go."))).text == "Fine."
    log.assert_clean()
