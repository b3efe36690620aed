"""Every conformance case through an agent, over real sockets: the log is right, and no tool runs that must not."""

from collections import Counter
from collections.abc import Sequence

import pytest
from conformance.batches import batches, running
from conformance.case import Case, all_cases
from conformance.endpoint import CONTENT_TYPES, model_of
from conformance.matching import match

import heald
from heald.agent.agent import Agent
from heald.core.errors import ConfigurationError
from heald.core.events import ExchangeResponse, MessageDiscarded, MessageStart, ToolExecuting
from heald.core.json import JsonObject
from heald.core.messages import Message, ToolCall, ToolDefinition, ToolResult, user_message
from heald.core.turn import EXECUTABLE
from heald.testing.server import EVENT_STREAM, Reply, ScriptedServer
from heald.testing.streams import wire_reply
from heald.tools.context import ToolContext
from heald.tools.definitions import Tool
from log_support import Log

CASES = all_cases()
STREAMS = [name for name, case in CASES.items() if case.stream is not None]
REQUESTS = [name for name, case in CASES.items() if case.expect_request is not None]

BROKEN = {
    "responses/T21-final-wins": "I25: the final arguments are other than the deltas that were shown",
}


class Bodies:
    """Tools of a case whose bodies do nothing but be counted."""

    def __init__(self, case: Case, *, also_called: bool) -> None:
        self.ran: list[tuple[str, str, JsonObject]] = []
        definitions = {definition.name: definition for definition in case.tools}
        if also_called and case.expect is not None:
            for expected_call in case.expect.calls:
                definitions.setdefault(expected_call.name, ToolDefinition(name=expected_call.name))
        self.tools = [tool for definition in definitions.values() if (tool := self._tool(definition)) is not None]

    def _tool(self, definition: ToolDefinition) -> Tool | None:
        async def run(arguments: JsonObject, context: ToolContext) -> str:
            self.ran.append((context.call.id, context.call.name, arguments))
            return "done"

        try:
            return Tool(definition=definition, run=run)
        except ConfigurationError:  # a model may call what cannot be the name of a tool
            return None


def agent_for(
    case: Case, server: ScriptedServer, tools: Sequence[Tool], retry: heald.Retry | None
) -> tuple[Agent, Message]:
    """An agent with the history of a case, and the message that asks for its stream."""
    history = case.history
    asked = history[-1] if history and history[-1].role == "user" else None
    agent = Agent(
        model_of(server, case.wire, case.model, quirks=case.quirks),
        tools=tools,
        default_instructions=False,
        history=history if asked is None else history[:-1],
        settings=case.settings,
        retry=retry or heald.Retry(attempts=1),
    )
    return agent, asked or user_message("Go on.")


def reply_of(case: Case) -> Reply:
    return Reply(case.pieces(), content_type=case.content_type or CONTENT_TYPES.get(case.wire, EVENT_STREAM))


def check_bodies(bodies: Bodies, log: Log, case: Case) -> None:
    """A body ran for each valid call of a finished message whose tool is there, once, and for nothing else."""
    tool_names = {tool.name for tool in bodies.tools}
    assert case.expect is not None
    may_run: list[str] = []
    if case.expect.outcome == "stopped" and case.expect.stop_reason in EXECUTABLE:
        valid = [expected_call for expected_call in case.expect.calls if expected_call.invalid is None]
        may_run = [expected_call.name for expected_call in valid if expected_call.name in tool_names]
    fitting = {result.id for result in log.of(ToolResult) if result.status == "ok"}
    assert {call_id for call_id, _, _ in bodies.ran} == fitting == {call_made.id for call_made in log.of(ToolExecuting)}
    assert Counter(name for _, name, _ in bodies.ran) == Counter(may_run)
    calls = {made.id: made for made in log.of(ToolCall)}
    assert len(calls) == len(log.of(ToolResult))
    for call_id, _, _ in bodies.ran:
        assert calls[call_id].invalid is None


async def hold(
    case: Case, replies: list[Reply], bodies: Bodies, retry: heald.Retry | None = None
) -> tuple[Log, ScriptedServer]:
    async with ScriptedServer([*replies, *[wire_reply(case.wire, text="Next.")] * 3]) as server:
        agent, asked = agent_for(case, server, bodies.tools, retry)
        log = Log(agent)
        await agent.send(asked).result()
        log.prove(secrets=["sk-test"])
        assert len(log.of(ExchangeResponse)) == 1
        await agent.close()
        return log, server


@pytest.mark.parametrize("names", batches(STREAMS, BROKEN))
async def test_stream(names: list[str]) -> None:
    for name in names:
        with running(name):
            await stream(CASES[name])


async def stream(case: Case) -> None:
    """Hold the log of a stream, and the bodies that ran, against what the case expects."""
    expected = case.expect
    assert expected is not None
    bodies = Bodies(case, also_called=True)
    log, server = await hold(case, [reply_of(case)], bodies)
    (response,) = log.of(ExchangeResponse)
    check_bodies(bodies, log, case)
    if expected.outcome == "discarded":
        assert (response.status, len(server.requests)) == ("failed", 1)
        assert response.error is not None
        assert expected.error is not None
        assert response.error.code == expected.error.code
        assert (log.of(ToolCall), log.agent.messages[len(log.before) + 1 :]) == ([], [])
        return
    assert response.status == "completed"
    made = log.agent.messages[len(log.before) + 1]
    assert [call_made.name for call_made in made.tool_calls] == [expected_call.name for expected_call in expected.calls]
    goes_on = bool(expected.calls) and expected.stop_reason not in ("refusal", "content_filter")
    goes_on = goes_on or expected.stop_reason == "pause_turn"
    assert len(server.requests) == (2 if goes_on else 1)


@pytest.mark.parametrize("names", batches(STREAMS, BROKEN))
async def test_stream_where_no_tool_is_there(names: list[str]) -> None:
    """Whatever a model calls, nothing runs and every call has the reason as its result."""
    for name in names:
        case = CASES[name]
        with running(name):
            bodies = Bodies(case, also_called=False)
            bodies.tools = []
            log, _ = await hold(case, [reply_of(case)], bodies)
            assert (bodies.ran, log.of(ToolExecuting)) == ([], [])
            assert {result.status for result in log.of(ToolResult)} <= {"unknown_tool", "invalid_input"}


RETRIED = [
    name for name in STREAMS if (e := CASES[name].expect) is not None and e.error is not None and e.error.retryable
]


@pytest.mark.parametrize("names", batches(RETRIED))
async def test_a_stream_that_failed_is_retried(names: list[str]) -> None:
    """The text and calls of a failed attempt are in no other message."""
    for name in names:
        case = CASES[name]
        with running(name):
            bodies = Bodies(case, also_called=True)
            log, server = await hold(case, [reply_of(case)], bodies, retry=heald.Retry(attempts=3, base=0))
            (response,) = log.of(ExchangeResponse)
            assert (response.status, bodies.ran, len(server.requests)) == ("completed", [], 2)
            assert log.agent.messages[-1].text == "Next."
            assert [start.attempt for start in log.of(MessageStart)] == [1, 2]
            assert len(log.of(MessageDiscarded)) == 1


@pytest.mark.parametrize("names", batches(REQUESTS))
async def test_request(names: list[str]) -> None:
    """A history of any kind can be gone on with, and what an agent sends is what a session would."""
    for name in names:
        case = CASES[name]
        with running(name):
            bodies = Bodies(case, also_called=False)
            log, server = await hold(case, [], bodies)
            (response,) = log.of(ExchangeResponse)
            assert (response.status, log.agent.messages[-1].text) == ("completed", "Next.")
            if case.history and case.history[-1].role == "user" and len(bodies.tools) == len(case.tools):
                match(case.expect_request, server.requests[0].body)


def test_all_of_them_are_here() -> None:
    assert len(STREAMS) + len(REQUESTS) == len(CASES) >= 555
    assert {CASES[name].wire for name in STREAMS} == {"chat", "responses", "messages", "gemini", "ollama"}
    assert len(RETRIED) > 20
