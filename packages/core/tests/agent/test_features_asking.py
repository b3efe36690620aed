"""A person in between: approvals, changed arguments, rules that grow, questions."""

import asyncio
from typing import Any

import pytest

import heald
from heald.agent.agent import Agent
from heald.core.events import ApprovalRequested, ApprovalResolved, QuestionAnswered, QuestionAsked, ToolExecuting
from heald.core.messages import ToolResult
from heald.tools.approvals import NotPending
from log_support import Log, call, played, results_of, scripted, until


def recorder() -> tuple[list[str], heald.Tool]:
    ran: list[str] = []

    @heald.tool(effect="write")
    async def change(what: str) -> str:
        """Changes."""
        ran.append(what)
        return f"changed {what}"

    return ran, change


async def decided(decision: bool | heald.Approval, **options: Any) -> tuple[list[str], ToolResult, Log]:
    ran, change = recorder()

    async def decide(_: ApprovalRequested) -> bool | heald.Approval:
        return decision

    settings: dict[str, Any] = {"permissions": "ask"} | options
    result, log = await played([call("change", what="a")], "Done.", tools=[change], on_approval=decide, **settings)
    (tool_result,) = results_of(result.messages)
    return ran, tool_result, log


@pytest.mark.parametrize("permissions", ["auto", "ask"])
async def test_the_time_limit_counts_from_the_first_wait_of_the_tool(permissions: str) -> None:
    """A single call runs in the task of its exchange: its limit is set when it waits, or starts after an approval."""

    @heald.tool(effect="write", timeout=0.05)
    async def wait() -> str:
        """Waits."""
        await asyncio.sleep(30)
        return "waited"

    async def allow(_: ApprovalRequested) -> bool:
        await asyncio.sleep(0.1)  # the time of the person does not count
        return True

    options: dict[str, Any] = {"permissions": permissions, "on_approval": allow}
    result, _ = await played([call("wait")], "Done.", tools=[wait], **options)
    (tool_result,) = results_of(result.messages)
    assert tool_result.status == "timeout"


async def test_allowed() -> None:
    ran, tool_result, log = await decided(True)
    assert (ran, tool_result.status) == (["a"], "ok")
    assert log.of(ApprovalResolved)[0].decision == "allowed"


@pytest.mark.parametrize("decision", [False, heald.Approval(False, "Not on Sundays.")])
async def test_denied(decision: bool | heald.Approval) -> None:
    ran, tool_result, log = await decided(decision)
    assert (ran, tool_result.status, log.of(ToolExecuting)) == ([], "denied", [])
    assert "did not allow" in tool_result.text
    if isinstance(decision, heald.Approval):
        assert "Not on Sundays." in tool_result.text


async def test_allowed_with_other_arguments() -> None:
    ran, tool_result, log = await decided(heald.Approval(True, arguments={"what": "b"}))
    assert (ran, tool_result.status) == (["b"], "ok")
    assert 'changed the arguments to {"what":"b"}' in tool_result.text
    assert log.of(ApprovalResolved)[0].input == {"what": "b"}


async def test_other_arguments_are_checked_like_the_first() -> None:
    ran, tool_result, _ = await decided(heald.Approval(True, arguments={"what": [3]}))
    assert (ran, tool_result.status) == ([], "invalid_input")
    rules = heald.Permissions("ask", ["deny change(what=secret)"])
    ran, tool_result, _ = await decided(heald.Approval(True, arguments={"what": "secret"}), permissions=rules)
    assert (ran, tool_result.status) == ([], "denied")


async def test_always_is_for_the_very_same_and_nothing_wider() -> None:
    ran, change = recorder()
    asked: list[str] = []

    async def decide(request: ApprovalRequested) -> heald.Approval:
        asked.append(request.summary)
        return heald.Approval(True, always=True)

    turns = [[call("change", what=what)] for what in ("a*", "a*", "ab", "a*")]
    await played(*turns, "Done.", tools=[change], permissions="ask", on_approval=decide)
    assert ran == ["a*", "a*", "ab", "a*"]
    assert len(asked) == 2


async def test_harmless_tools_are_not_asked_about() -> None:
    @heald.tool(effect="read")
    async def look() -> str:
        """Looks."""
        return "seen"

    result, log = await played([call("look")], "Done.", tools=[look], permissions="ask")
    assert results_of(result.messages)[0].status == "ok"
    assert log.of(ApprovalRequested) == []


async def test_read_only_denies_by_itself() -> None:
    ran, change = recorder()
    result, log = await played([call("change", what="a")], "Done.", tools=[change], permissions="read-only")
    assert (ran, results_of(result.messages)[0].status) == ([], "denied")
    assert log.of(ApprovalRequested) == []


async def test_deciding_by_hand_once_and_only_for_what_was_shown() -> None:
    ran, change = recorder()
    agent = Agent(
        scripted([call("change", what="a"), call("change", what="b")], "Done."), tools=[change], permissions="ask"
    )
    log = Log(agent)
    exchange = agent.send("Go.")
    await until(lambda: len(log.of(ApprovalRequested)) == 2)
    first, second = log.of(ApprovalRequested)
    assert first.digest != second.digest
    with pytest.raises(NotPending, match="another call"):
        agent.approve(first.approval, digest=second.digest)
    assert ran == []
    agent.approve(first.approval, digest=first.digest)
    with pytest.raises(NotPending, match="resolved before"):
        agent.approve(first.approval)
    agent.deny(second.approval, "No.")
    await exchange.result()
    with pytest.raises(NotPending):
        agent.deny(second.approval)
    assert ran == ["a"]
    log.prove()


async def test_one_that_waits_holds_no_other_up() -> None:
    ran, change = recorder()

    @heald.tool(effect="read")
    async def look() -> str:
        """Looks."""
        ran.append("looked")
        return "seen"

    agent = Agent(scripted([call("change", what="a"), call("look")], "Done."), tools=[change, look], permissions="ask")
    log = Log(agent)
    exchange = agent.send("Go.")
    await until(lambda: ran == ["looked"] and log.of(ApprovalRequested))
    agent.approve(log.of(ApprovalRequested)[0].approval)
    result = await exchange.result()
    assert [tool_result.text for tool_result in results_of(result.messages)] == ["changed a", "seen"]
    log.prove()


async def test_a_decision_that_fails_is_a_no() -> None:
    ran, change = recorder()

    async def fails(_: ApprovalRequested) -> bool:
        raise RuntimeError("no dialog")

    result, _ = await played([call("change", what="a")], "Done.", tools=[change], permissions="ask", on_approval=fails)
    assert (ran, [tool_result.status for tool_result in results_of(result.messages)]) == ([], ["denied"])


async def test_a_decision_that_comes_too_late_changes_nothing() -> None:
    ran, change = recorder()
    late = asyncio.Event()

    async def decide(_: ApprovalRequested) -> bool:
        await late.wait()
        return True

    turns = [[call("change", what=what)] for what in "ab"]
    agent = Agent(scripted(*turns, "Done."), tools=[change], permissions="ask", on_approval=decide)
    log = Log(agent)
    exchange = agent.send("Go.")
    await until(lambda: log.of(ApprovalRequested))
    agent.deny(log.of(ApprovalRequested)[0].approval, "By hand.")
    await until(lambda: len(log.of(ApprovalRequested)) == 2)
    late.set()
    result = await asyncio.wait_for(exchange.result(), 60)
    assert [tool_result.status for tool_result in results_of(result.messages)] == ["denied", "ok"]
    assert ran == ["b"]
    log.prove()


async def test_a_dialog_that_stays_open_after_a_cancel_holds_no_later_one_up() -> None:
    ran, change = recorder()
    asked: list[str] = []

    async def decide(request: ApprovalRequested) -> bool:
        asked.append(request.call_id)
        if len(asked) == 1:
            await asyncio.Event().wait()
        return True

    turns = [[call("change", what=what)] for what in "ab"]
    agent = Agent(scripted(*turns, "Done."), tools=[change], permissions="ask", on_approval=decide)
    log = Log(agent)
    exchange = agent.send("Go.")
    await until(lambda: asked)
    agent.cancel()
    await exchange.result()
    result = await asyncio.wait_for(agent.run("Again."), 60)
    assert (result.text, ran) == ("Done.", ["b"])
    log.prove()


# --- questions -------------------------------------------------------------------------------------------------------

QUESTION = call("ask_user", question="Which colour?", suggestions=["red", "blue"])


async def test_a_question_is_answered() -> None:
    async def answer(question: QuestionAsked) -> str:
        assert (question.text, question.suggestions) == ("Which colour?", ["red", "blue"])
        return "green"

    result, log = await played([QUESTION], "Done.", tools=["ask"], on_question=answer)
    assert results_of(result.messages)[0].text == "green"
    assert log.of(QuestionAnswered)[0].answer == "green"


async def test_an_answer_that_fails_does_not_escape_the_question_open() -> None:
    async def fails(_: QuestionAsked) -> str:
        raise RuntimeError("no dialog")

    result, _ = await played([QUESTION], "Done.", tools=["ask"], on_question=fails)
    assert "could not answer" in results_of(result.messages)[0].text


async def test_a_question_is_answered_by_hand_and_once() -> None:
    agent = Agent(scripted([QUESTION], "Done."), tools=["ask"])
    log = Log(agent)
    exchange = agent.send("Go.")
    await until(lambda: log.of(QuestionAsked))
    (asked,) = log.of(QuestionAsked)
    agent.answer(asked.question, "blue")
    with pytest.raises(NotPending, match="answered before"):
        agent.answer(asked.question, "red")
    assert results_of((await exchange.result()).messages)[0].text == "blue"
    with pytest.raises(NotPending):
        agent.answer(asked.question, "red")
    log.prove()


async def test_two_questions_come_one_after_the_other() -> None:
    answers = iter(["one", "two"])
    open_at_once: list[int] = []

    async def answer(_: QuestionAsked) -> str:
        open_at_once.append(len(agent.questions))
        return next(answers)

    agent = Agent(scripted([QUESTION, QUESTION], "Done."), tools=["ask"], on_question=answer)
    log = Log(agent)
    result = await agent.run("Go.")
    assert [tool_result.text for tool_result in results_of(result.messages)] == ["one", "two"]
    assert open_at_once == [1, 1]
    log.prove()


async def test_a_tool_of_ones_own_may_ask() -> None:
    @heald.tool
    async def order(ctx: heald.ToolContext) -> str:
        """Orders."""
        return f"{await ctx.ask('How many?')} ordered"

    async def answer(_: QuestionAsked) -> str:
        return "three"

    result, _ = await played([call("order")], "Done.", tools=[order], on_question=answer)
    assert results_of(result.messages)[0].text == "three ordered"
