"""Strategies: parts of the loop that a program adds to an agent."""

from collections.abc import Sequence

import pytest

import heald
from heald.agent.agent import Agent
from heald.agent.strategy import NextRequest, Strategy, Verdict
from heald.core.errors import InvalidRequest
from heald.core.events import FileChanged, UserMessage
from heald.core.messages import ToolCall, user_message
from heald.providers.base import ProviderTurn
from log_support import Log, call, played, scripted
from strategy_support import WriteAnswer

MARKUP = "For example:\n```html\n<div>A box.</div>\n```"
PAGE = "<!doctype html><html><body>Hi</body></html>"


@heald.tool
async def look(place: str) -> str:
    """Look around."""
    return f"Nothing at {place}."


@pytest.mark.parametrize("text", [MARKUP, PAGE, f"```html\n{PAGE}\n```"])
@pytest.mark.parametrize("mode", ["auto", "ask"])
async def test_an_answer_with_markup_calls_no_tool(text: str, mode: heald.Permissions) -> None:
    result, log = await played(text, tools=["files"], permissions=mode)
    assert (result.text, result.files, result.turns) == (text, {}, 1)
    assert log.of(ToolCall) == []
    assert log.of(FileChanged) == []
    assert "approval_requested" not in log.types


class Steps(Strategy):
    """Notes its hooks."""

    def __init__(self) -> None:
        self.steps: list[str] = []

    async def before_turn(self, request: NextRequest) -> None:
        self.steps.append(f"before with {len(self.conversation.messages)} messages")

    def read_text(self, text: str) -> Sequence[ToolCall]:
        self.steps.append(f"read {text}")
        return ()

    def after_turn(self, turn: ProviderTurn) -> Verdict:
        self.steps.append(f"after {turn.text or turn.tool_calls[0].name}")
        return None

    async def after_exchange(self, *, completed: bool) -> None:
        self.steps.append("completed" if completed else "not completed")


async def test_the_order_of_the_hooks() -> None:
    agent = Agent(scripted([call("look", place="home")], "Done."), tools=[look])
    agent.add_strategy(noted := Steps())
    await agent.run("Go.")
    assert noted.steps == [
        *("before with 1 messages", "after look", "before with 3 messages", "after Done."),
        *("read Done.", "completed"),
    ]


async def test_a_failed_exchange_is_reported_to_strategies() -> None:
    agent = Agent(scripted([heald.testing.ScriptedModel.fail(InvalidRequest("No."))]))
    agent.add_strategy(noted := Steps())
    await agent.send("Go.").result()
    assert noted.steps == ["before with 1 messages", "not completed"]


class Faulty(Strategy):
    def __init__(self, hook: str) -> None:
        self._hook = hook

    def _fail(self, hook: str) -> None:
        if hook == self._hook:
            raise ValueError(hook)

    async def before_turn(self, request: NextRequest) -> None:
        self._fail("before_turn")

    def read_text(self, text: str) -> Sequence[ToolCall]:
        self._fail("read_text")
        return ()

    def after_turn(self, turn: ProviderTurn) -> Verdict:
        self._fail("after_turn")
        return None

    async def after_exchange(self, *, completed: bool) -> None:
        self._fail("after_exchange")


@pytest.mark.parametrize("hook", ["before_turn", "read_text", "after_turn", "after_exchange"])
async def test_a_strategy_that_raises_ends_its_exchange_and_no_more(hook: str) -> None:
    result, _ = await played("Fine.", strategies=[lambda: Faulty(hook)])
    assert result.status == ("completed" if hook == "after_exchange" else "failed")


class OnlyReading(Strategy):
    """Offers one tool and adds an instruction."""

    async def before_turn(self, request: NextRequest) -> None:
        request.tools = [tool for tool in request.tools if tool.name == "read_file"]
        request.system += "\nOnly read."


async def test_a_request_is_changed_for_every_turn_alike() -> None:
    model = scripted([call("read_file", path="a")], "Done.", "More.")
    agent = Agent(model, tools=["files"], strategies=[OnlyReading])
    await agent.run("Go.")
    await agent.run("On.")
    assert [[tool.name for tool in request.tools] for request in model.requests] == [["read_file"]] * 3
    assert {request.settings.system.count("Only read.") for request in model.requests} == {1}
    assert "Only read." not in agent.settings.system


class AskTwice(Strategy):
    """Asks for more after the first answer of an exchange."""

    def __init__(self) -> None:
        self._asked: str | None = None

    def after_turn(self, turn: ProviderTurn) -> Verdict:
        if turn.tool_calls or self._asked == self.conversation.exchange:
            return None
        self._asked = self.conversation.exchange
        return user_message("Are you sure?")


async def test_a_message_asks_for_another_turn() -> None:
    agent = Agent(scripted("Yes.", "Very.", "No.", "Not at all."), strategies=[AskTwice])
    log = Log(agent)
    assert [(await agent.run(text)).text for text in ("One?", "Two?")] == ["Very.", "Not at all."]
    assert [payload.message.text for payload in log.of(UserMessage)] == [
        "One?",
        "Are you sure?",
        "Two?",
        "Are you sure?",
    ]
    log.prove()


async def test_no_turn_is_asked_for_beyond_the_budget() -> None:
    result, _ = await played("Yes.", strategies=[AskTwice], budget=heald.Budget(turns=1))
    assert (result.status, result.text) == ("completed", "Yes.")


class EndAfterCalls(Strategy):
    def after_turn(self, turn: ProviderTurn) -> Verdict:
        return "end" if turn.tool_calls else None


async def test_an_exchange_may_end_with_its_calls() -> None:
    result, _ = await played([call("look", place="home")], tools=[look], strategies=[EndAfterCalls])
    assert (result.completed, result.turns, result.messages[-1].role) == (True, 1, "tool")


async def test_calls_in_a_text_run_after_the_answer_and_the_model_does_not_see_them() -> None:
    model = scripted(PAGE, "Fine.")
    agent = Agent(model, tools=["files"], strategies=[WriteAnswer])
    log = Log(agent)
    assert (await agent.run("Make a page.")).files == {"answer.html": PAGE}
    await agent.run("Thanks.")
    assert [message.role for message in model.requests[1].messages] == ["user", "assistant", "user"]
    log.prove()


async def test_permissions_hold_for_calls_in_a_text() -> None:
    result, log = await played(PAGE, tools=["files"], strategies=[WriteAnswer], permissions="read-only")
    assert (result.completed, result.files, log.of(FileChanged)) == (True, {}, [])


async def test_every_conversation_has_its_own_instance() -> None:
    made: list[Steps] = []

    def make() -> Steps:
        made.append(Steps())
        return made[-1]

    helper = Agent(scripted("Report."), strategies=[make])
    agent = Agent(scripted([call("help", prompt="A")], "Done."), tools=[helper.as_tool("help", "Helps.")])
    await agent.run("Go.")
    assert [len(strategy.steps) for strategy in made] == [0, 4]
