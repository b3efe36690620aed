"""Agents that work for others: their events, their costs, and their failures."""

import asyncio
from typing import cast

import pytest

import heald
from heald.agent.agent import Agent
from heald.core.errors import Overloaded
from heald.core.events import ApprovalRequested, ExchangeRequest, ExchangeResponse
from heald.core.messages import ToolCall
from heald.core.turn import Cost, Usage
from heald.providers.scripted import ScriptedSession
from heald.tools.definitions import Access
from log_support import Log, call, fail, results_of, scripted, stop, until


class Priced(heald.testing.ScriptedModel):
    """A dollar a token of output."""

    def open_session(self, **asked: object) -> ScriptedSession:  # pyright: ignore[reportIncompatibleMethodOverride]
        session = cast("ScriptedSession", super().open_session(**asked))  # pyright: ignore[reportArgumentType]
        session.cost = lambda usage: Cost(usd=float(usage.output or 0))
        return session


def used(output: int) -> Usage:
    return Usage(output=output)


def helper(*turns: object, **options: object) -> Agent:
    return Agent(Priced(turns, name="scripted/helper"), **options)  # pyright: ignore[reportArgumentType]


async def test_its_answer_is_the_result_and_its_events_are_received() -> None:
    child = helper(["I found it.", stop("end_turn", used(5))])
    parent = Agent(
        Priced([[call("search", prompt="Find it."), stop("tool_use", used(2))], ["Done.", stop("end_turn", used(3))]]),
        tools=[child.as_tool("search", "Searches.")],
    )
    log = Log(parent)
    result = await parent.run("Go.")
    (tool_result,) = results_of(result.messages)
    assert (tool_result.status, tool_result.text) == ("ok", "I found it.")
    assert (result.usage, result.delegated, result.cost_usd) == (used(5), used(5), 10.0)
    others = [event for event in log.events if event.session != parent.session]
    assert others[0].type == "exchange_request"
    assert isinstance(others[0].data, ExchangeRequest)
    assert others[0].data.cause == log.of(ToolCall)[0].id
    assert others[0].data.model == "scripted/helper"
    assert others[-1].type == "exchange_response"
    assert "text_delta" in {event.type for event in others}
    log.prove()


async def test_its_events_are_in_the_stream() -> None:
    child = helper("I found it.")
    parent = Agent(scripted([call("search", prompt="Find it.")], "Done."), tools=[child.as_tool("search", "Searches.")])
    sessions = [event.session async for event in parent.stream("Go.")]
    assert len(set(sessions)) == 2
    assert sessions[0] == sessions[-1] == parent.session


async def test_nested_twice_counts_each_once() -> None:
    grandchild = helper(["Deep.", stop("end_turn", used(100))])
    child = helper(
        [call("dig", prompt="Deeper."), stop("tool_use", used(10))],
        ["Dug.", stop("end_turn", used(10))],
        tools=[grandchild.as_tool("dig", "Digs.")],
    )
    parent = Agent(
        Priced([[call("search", prompt="Find it."), stop("tool_use", used(1))], ["Done.", stop("end_turn", used(1))]]),
        tools=[child.as_tool("search", "Searches.")],
    )
    log = Log(parent)
    result = await parent.run("Go.")
    assert len({event.session for event in log.events}) == 3
    log.prove()
    assert result.usage == used(2)
    assert result.delegated == used(120)
    assert result.cost_usd == 122.0


async def test_two_at_once() -> None:
    child = helper("One.", "Two.")
    parent = Agent(
        scripted([call("search", prompt="A"), call("search", prompt="B")], "Done."),
        tools=[child.as_tool("search", "Searches.")],
    )
    log = Log(parent)
    result = await parent.run("Go.")
    assert sorted(tool_result.text for tool_result in results_of(result.messages)) == ["One.", "Two."]
    assert len({event.session for event in log.events}) == 3
    log.prove()


async def test_each_call_is_a_conversation_of_its_own() -> None:
    model = scripted("One.", "Two.")
    parent = Agent(
        scripted([call("search", prompt="A")], [call("search", prompt="B")], "Done."),
        tools=[Agent(model).as_tool("search", "Searches.")],
    )
    await parent.run("Go.")
    assert [[message.text for message in request.messages] for request in model.requests] == [["A"], ["B"]]


async def test_one_that_fails_is_a_failed_call_and_no_more() -> None:
    child = helper([fail(Overloaded("The helper is busy."))])
    parent = Agent(scripted([call("search", prompt="A")], "Without it, then."), tools=[child.as_tool("search", "S.")])
    log = Log(parent)
    result = await parent.run("Go.")
    (tool_result,) = results_of(result.messages)
    assert (result.text, tool_result.status) == ("Without it, then.", "error")
    assert "The helper is busy." in tool_result.text
    log.prove()


async def test_one_that_reaches_its_budget_reports_it() -> None:
    @heald.tool
    async def look() -> str:
        """Looks."""
        return "seen"

    child = helper(["First.", call("look")], ["Second.", call("look")], tools=[look], budget=heald.Budget(turns=1))
    parent = Agent(scripted([call("search", prompt="A")], "Done."), tools=[child.as_tool("search", "S.")])
    log = Log(parent)
    (tool_result,) = results_of((await parent.run("Go.")).messages)
    assert tool_result.status == "error"
    assert tool_result.text == "First.\n\n(The exchange reached its budget of 1 turns.)"
    log.prove()


async def test_what_it_uses_counts_for_the_budget_of_its_principal() -> None:
    child = helper(*[["Found.", stop("end_turn", used(100))] for _ in range(3)])
    parent = Agent(
        Priced([[call("search", prompt="A"), stop("tool_use", used(1))] for _ in range(3)]),
        tools=[child.as_tool("search", "S.")],
        budget=heald.Budget(tokens=150),
    )
    result = await parent.run("Go.")
    assert (result.status, result.limit, result.turns) == ("limit", "tokens", 2)


async def test_it_works_in_the_same_files() -> None:
    child = helper([call("create_file", path="a.txt", content="from the child")], "Written.", tools=["files"])
    parent = Agent(
        scripted(
            [call("write", prompt="A")], [call("edit_file", path="a.txt", old_text="child", new_text="parent")], "Done."
        ),
        tools=["files", child.as_tool("write", "Writes.")],
    )
    log = Log(parent)
    result = await parent.run("Go.")
    assert result.files == {"a.txt": "from the parent"}
    log.prove()


async def test_two_at_once_never_hold_the_same_thing() -> None:
    inside: list[int] = []
    most: list[int] = []

    @heald.tool(access=lambda _: [Access(resource="thing:one")])
    async def use() -> str:
        """Uses the thing."""
        inside.append(1)
        most.append(len(inside))
        await asyncio.sleep(0.01)
        inside.pop()
        return "used"

    child = helper(*[[call("use")]] * 2, "Done.", "Done.", tools=[use])
    parent = Agent(
        scripted([call("search", prompt="A"), call("search", prompt="B"), call("use")], "Done."),
        tools=[use, child.as_tool("search", "S.")],
    )
    log = Log(parent)
    await parent.run("Go.")
    assert most == [1, 1, 1]
    log.prove()


async def test_ending_the_call_ends_it() -> None:
    @heald.tool
    async def wait_long() -> str:
        """Waits."""
        await asyncio.sleep(60)
        return "never"

    child = helper([call("wait_long")], tools=[wait_long])
    parent = Agent(scripted([call("search", prompt="A")], "Fine."), tools=[child.as_tool("search", "S.")])
    log = Log(parent)
    exchange = parent.send("Go.")
    await until(lambda: sum(event.type == "tool_executing" for event in log.events) == 2)
    parent.cancel()
    assert (await exchange.result()).status == "cancelled"
    responses = [event.data for event in log.events if isinstance(event.data, ExchangeResponse)]
    assert [response.status for response in responses] == ["cancelled", "cancelled"]
    assert (await parent.run("Go on.")).text == "Fine."
    log.prove()


async def test_its_calls_are_approved_where_those_of_its_principal_are() -> None:
    @heald.tool
    async def danger() -> str:
        """Dangerous."""
        return "done"

    asked: list[str] = []

    async def decide(request: ApprovalRequested) -> bool:
        asked.append(request.name)
        return request.name != "danger"

    child = helper([call("danger")], "I may not.", tools=[danger], permissions="ask")
    parent = Agent(
        scripted([call("search", prompt="A")], "Done."),
        tools=[child.as_tool("search", "S.")],
        permissions="auto",
        on_approval=decide,
    )
    log = Log(parent)
    (tool_result,) = results_of((await asyncio.wait_for(parent.run("Go."), 60)).messages)
    assert (asked, tool_result.text) == (["danger"], "I may not.")
    log.prove()


async def test_a_prompt_that_is_missing_never_starts_it() -> None:
    model = scripted("Never.")
    parent = Agent(scripted([call("search")], "Done."), tools=[Agent(model).as_tool("search", "S.")])
    (tool_result,) = results_of((await parent.run("Go.")).messages)
    assert tool_result.status == "invalid_input"
    assert model.requests == []


@pytest.mark.parametrize("depth", [3, 4])
async def test_deeper_still(depth: int) -> None:
    agent = helper(["Bottom.", stop("end_turn", used(1))])
    for _ in range(depth):
        agent = helper(
            [call("down", prompt="Go."), stop("tool_use", used(1))],
            ["Up.", stop("end_turn", used(1))],
            tools=[agent.as_tool("down", "Deeper.")],
        )
    log = Log(agent)
    result = await agent.run("Go.")
    log.prove()
    assert len({event.session for event in log.events}) == depth + 1
    assert result.delegated == used(2 * (depth - 1) + 1)
