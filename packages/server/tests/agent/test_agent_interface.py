"""The agent interface: a local agent, a stored session and a remote agent behave alike."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

import heald
from heald.agent.interface import AgentInterface
from heald.core.envelope import Event
from heald.core.errors import HealdError
from heald.core.events import ApprovalRequested, ExchangeResponse
from heald.core.messages import Message, Text, ToolCall, ToolResult
from heald.sessions.opening_session import open_session
from heald.sessions.sessions import Sessions
from heald.sessions.settings import SessionSettings
from heald.sessions.sqlite import SqliteStore
from heald.tools.approvals import NotPending
from heald_server.access.tokens import AccessTokens
from heald_server.client.agent import connect
from heald_server.context import ServerContext
from heald_server.http.uvicorn_server import running_server
from heald_server.settings import ServerSettings

S = heald.testing.ScriptedModel
TOKEN = "token-of-the-interface-test"
CHANGE = S.call("change", what="a")
ASK = S.call("ask_user", question="Which?", suggestions=["red", "blue"])

Made = AbstractAsyncContextManager[AgentInterface]
Make = Callable[..., Made]


class Point(msgspec.Struct):
    x: int
    y: int


@heald.tool(effect="write")
async def change(what: str) -> str:
    """Change something."""
    return f"changed {what}"


class _Scripts:
    default = "scripted"

    def __init__(self, *turns: Any) -> None:
        self._turns = turns

    def open(self, name: str) -> heald.testing.ScriptedModel:
        return S(self._turns)

    def list_models(self) -> list[Any]:
        return []

    def list_providers(self) -> list[Any]:
        return []


@asynccontextmanager
async def _local(_: Path, *turns: Any) -> AsyncGenerator[AgentInterface]:
    async with heald.Agent(S(turns), tools=[change, "ask"], permissions="ask") as agent:
        yield agent


@asynccontextmanager
async def _stored(folder: Path, *turns: Any) -> AsyncGenerator[AgentInterface]:
    agent = heald.Agent(S(turns), tools=[change, "ask"], permissions="ask")
    async with open_session("one", agent, store=f"sqlite:///{folder}/app.db") as session:
        yield session


@asynccontextmanager
async def _remote(folder: Path, *turns: Any) -> AsyncGenerator[AgentInterface]:
    context = ServerContext(
        Sessions(SqliteStore(folder / "server.db", durable=False)),
        _Scripts(*turns),
        settings=ServerSettings(port=0, goodbye_seconds=0.5),
        tokens=AccessTokens({TOKEN: ""}),
        defaults=SessionSettings(permissions="ask", tools=["change", "ask"]),
        tools={"change": change},
    )
    async with running_server(context), connect(context.settings.address, TOKEN) as agent:
        yield agent


@pytest.fixture(params=[_local, _stored, _remote], ids=["local", "stored", "remote"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    return lambda *turns: request.param(tmp_path, *turns)


async def _until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_run_returns_the_result(make: Make) -> None:
    async with make("Hello.", "Again.") as agent:
        assert isinstance(agent, AgentInterface)
        result = await agent.run("Hi.")
        assert (result.text, result.status, result.turns) == ("Hello.", "completed", 1)
        assert [message.role for message in agent.messages] == ["user", "assistant"]
        assert isinstance(agent.session, str)
        assert (await agent.run(Message(role="user", content=[Text("Hi.")]))).text == "Again."


async def test_stream_ends_with_the_response(make: Make) -> None:
    async with make("Hello.") as agent:
        events = [event async for event in agent.stream("Hi.")]
        assert events[0].type == "exchange_request"
        assert isinstance(events[-1].data, ExchangeResponse)
        assert "".join(getattr(event.data, "text", "") for event in events if event.type == "text_delta") == "Hello."


async def test_run_sync_from_another_thread(make: Make) -> None:
    async with make("Hello.") as agent:
        assert (await asyncio.to_thread(agent.run_sync, "Hi.")).text == "Hello."


async def test_typed_output_is_corrected_and_converted(make: Make) -> None:
    async with make("no JSON", '{"x": 1}', '```json\n{"x": 1, "y": 2}\n```') as agent:
        result = await agent.run("Where?", output=Point)
        assert result.output == Point(1, 2)
        assert result.turns == 3


async def test_output_that_stays_wrong_is_an_error(make: Make) -> None:
    async with make("no", "no", "no") as agent:
        with pytest.raises(HealdError, match="not of the type"):
            await agent.run("Where?", output=Point)


async def test_send_current_and_cancel(make: Make) -> None:
    async with make([ASK], "Done.") as agent:
        assert agent.cancel() is False
        exchange = agent.send("Go.")
        await _until(lambda: agent.questions)
        assert agent.current is not None
        assert agent.current.id == exchange.id
        assert agent.cancel("enough") is True
        result = await exchange.result()
        assert (result.status, exchange.is_over, agent.questions) == ("cancelled", True, [])


async def test_steer_and_queue(make: Make) -> None:
    async with make([ASK], "First.", "Second.") as agent:
        first = agent.send("1")
        await _until(lambda: agent.questions)
        assert first.steer("1b") is True
        second = agent.send("2", when_busy="queue", client_request_id="req-2")
        agent.answer(agent.questions[0].question, "go on")
        assert (await first.result()).text == "First."
        assert (await second.result()).text == "Second."
        assert first.steer("late") is False


async def test_decisions_return_nothing_and_count_once(make: Make) -> None:
    async with make([CHANGE], [CHANGE], "Done.") as agent:
        exchange = agent.send("Go.")
        await _until(lambda: agent.approvals)
        (request,) = agent.approvals
        with pytest.raises(NotPending, match="another call"):
            agent.approve(request.approval, digest="0" * 64)
        assert agent.approve(request.approval) is None
        with pytest.raises(NotPending, match="No approval"):
            agent.approve(request.approval)
        await _until(lambda: agent.approvals)
        assert agent.deny(agent.approvals[0].approval, "Not today.") is None
        with pytest.raises(NotPending):
            agent.answer("q_none", "?")
        result = await exchange.result()
        assert result.text == "Done."
        assert "changed a" in str(result.messages)
        assert "Not today." in str(result.messages)


async def test_a_client_runs_a_tool(make: Make) -> None:
    async with make([S.call("where_am_i"), S.call("where_am_i")], "In Oslo.") as agent:
        await agent.set_client_tools([{"name": "where_am_i", "description": "Where the user is."}])
        exchange = agent.send("Where am I?")
        await _until(lambda: len(agent.client_calls) == 2)
        first, second = agent.client_calls
        with pytest.raises(HealdError, match="may have 1,000,000"):
            agent.send_tool_result(first.id, "x" * 1_000_001)
        with pytest.raises(NotPending):
            agent.send_tool_result("call_none", "Oslo")
        assert agent.send_tool_result(second.id, {"type": "execution-denied", "reason": "Not twice."}) is None
        with pytest.raises(NotPending):
            agent.send_tool_result(second.id, "Oslo")
        agent.send_tool_result(first.id, {"city": "Oslo"})
        result = await exchange.result()
        assert (result.text, agent.client_calls) == ("In Oslo.", [])
        blocks = [block for message in result.messages for block in message.content]
        results = [(block.status, block.text) for block in blocks if isinstance(block, ToolResult)]
        assert results == [("ok", '{"city":"Oslo"}'), ("denied", "The client did not run this call. Not twice.")]


async def test_a_reactor_runs_a_tool_at_tool_call(make: Make) -> None:
    async with make([S.call("where_am_i")], "In Oslo.") as agent:

        def run_here(event: Event) -> None:
            assert isinstance(event.data, ToolCall)
            agent.send_tool_result(event.data.id, "Oslo")

        await agent.set_client_tools([{"name": "where_am_i"}])
        subscription = agent.subscribe(run_here, types=["tool_call"])
        assert "Oslo" in str((await agent.run("Where am I?")).messages[2])
        subscription.close()


async def test_client_tools_that_cannot_be_used_are_refused(make: Make) -> None:
    async with make("Hello.") as agent:
        with pytest.raises(HealdError, match="has a tool named 'change' of its own"):
            await agent.set_client_tools([{"name": "change"}])
        with pytest.raises(HealdError, match="two client tools"):
            await agent.set_client_tools([{"name": "a"}, {"name": "a"}])
        assert (await agent.run("Hi.")).text == "Hello."


async def test_subscribers_get_events_of_their_types(make: Make) -> None:
    async with make([CHANGE], "Done.") as agent:
        asked: list[str] = []

        def on_event(event: Event) -> None:
            assert isinstance(event.data, ApprovalRequested)
            asked.append(event.data.name)
            agent.approve(event.data.approval)

        subscription = agent.subscribe(on_event, types=["approval_requested"])
        assert (await agent.run("Go.")).text == "Done."
        subscription.close()
        assert asked == ["change"]


async def test_as_tool_runs_each_call_as_a_conversation_of_its_own(make: Make) -> None:
    async with make("Inner.", "Inner.") as agent:
        outer = S([[S.call("expert", prompt="one"), S.call("expert", prompt="two")], "Done."])
        async with heald.Agent(outer, tools=[agent.as_tool("expert", "Knows it.")]) as caller:
            result = await caller.run("Go.")
        blocks = [block for message in result.messages for block in message.content]
        texts = [block.text for block in blocks if isinstance(block, ToolResult)]
        assert texts == ["Inner.", "Inner."]
        assert agent.messages == []


async def test_approvals_of_a_tool_agent_appear_in_the_caller(make: Make) -> None:
    async with make([CHANGE], "Inner.") as agent:
        outer = S([[S.call("expert", prompt="one")], "Done."])
        async with heald.Agent(outer, tools=[agent.as_tool("expert", "Knows it.")]) as caller:
            exchange = caller.send("Go.")
            await _until(lambda: caller.approvals)
            caller.approve(caller.approvals[0].approval)
            assert (await exchange.result()).text == "Done."
