"""Calls as MCP tasks: our client and our server, over HTTP, with restarts, cancelling, questions and notifications."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client, MCPError
from mcp.client.extension import ClientExtension, NotificationBinding
from test_mcp_server import connected, events_of, first_session, served, text_of

import heald
from heald.core.events import ExchangeResponse, QuestionAsked, ToolOutputDelta
from heald.core.messages import ToolResult
from heald.tools.mcp import connection
from heald.tools.mcp.tasks import CancelTask, CreatedTask, GetTask, TaskExtension, TaskParams, TaskState
from heald_server.protocols.mcp.tasks import TaskBoard
from scripted_agents import S, answers, launch, model, slow, weather
from serving_parts import OTHER, TOKEN, Served


@asynccontextmanager
async def polling(server: Served, token: str = TOKEN, **options: Any) -> AsyncGenerator[Client]:
    async with connected(server, token=token, extensions=[TaskExtension()], **options) as client:
        yield client


async def begin(client: Client, prompt: str) -> CreatedTask:
    result = await client.session.call_tool("run_agent", {"prompt": prompt}, allow_claimed=True)
    assert isinstance(result, CreatedTask)
    return result


async def state_of(client: Client, task: str) -> TaskState:
    return await client.session.send_request(GetTask(params=TaskParams(task_id=task)), TaskState)


async def wait_for(client: Client, task: str, *statuses: str) -> TaskState:
    for _ in range(1200):
        state = await state_of(client, task)
        if state.status in statuses:
            return state
        await asyncio.sleep(0.05)
    raise AssertionError(f"the task is not {' or '.join(statuses)}")


def configured(server: Served) -> heald.McpServer:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    return heald.McpServer(name="other", url=f"{server.url}/mcp", headers=headers)


async def test_an_agent_polls_the_task_of_another_server(tmp_path: Path) -> None:
    caller = S([[S.call("other__run_agent", prompt="The weather?")], "Thanks."])
    async with (
        served(tmp_path, model, {"weather": weather}, mode="auto") as server,
        heald.McpServers([configured(server)]) as servers,
        heald.Agent(caller, tools=[servers], permissions="auto") as agent,
    ):
        events = [event async for event in agent.stream("Ask the other agent.")]
    results = [event.data for event in events if isinstance(event.data, ToolResult)]
    assert "Oslo: 3 °C, snow" in results[0].text
    assert results[0].status == "ok"
    lines = [event.data.text for event in events if isinstance(event.data, ToolOutputDelta)]
    assert any("Done: ok Oslo" in line or line.startswith("weather") for line in lines)


async def test_questions_of_a_task_reach_the_user(tmp_path: Path) -> None:
    asked: list[str] = []

    async def allow(question: QuestionAsked) -> str:
        asked.append(question.text)
        return "Fill in" if len(asked) == 1 else "yes"

    caller = S([[S.call("other__run_agent", prompt="launch it")], "Thanks."])
    async with (
        served(tmp_path, model, {"launch": launch}) as server,
        heald.McpServers([configured(server)]) as servers,
        heald.Agent(caller, tools=[servers], permissions="auto", on_question=allow) as agent,
    ):
        events = [event async for event in agent.stream("Ask the other agent.")]
        calls = await events_of(server, await first_session(server), "approval_requested")
    (result,) = [event.data for event in events if isinstance(event.data, ToolResult)]
    assert "rocket launched" in result.text
    assert len(calls) == 1
    assert "launch" in asked[0]


@pytest.mark.parametrize("is_named", [True, False], ids=["named", "not yet named"])
async def test_cancelling_the_caller_cancels_the_task(
    tmp_path: Path, is_named: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    cancelled, begin_task = asyncio.Event(), TaskBoard.begin
    if is_named:
        cancelled.set()

    async def begin_slowly(board: TaskBoard, tool: Any, call: Any) -> Any:
        handle = await begin_task(board, tool, call)
        await cancelled.wait()
        return handle

    monkeypatch.setattr(TaskBoard, "begin", begin_slowly)
    monkeypatch.setattr(connection, "_LAST_ANSWER_SECONDS", 60.0)
    caller = S([[S.call("other__run_agent", prompt="a long one")], "Thanks."])
    async with (
        served(tmp_path, lambda: S([answers] * 9, piece=6, pause=0.2)) as server,
        heald.McpServers([configured(server)]) as servers,
        heald.Agent(caller, tools=[servers], permissions="auto") as agent,
    ):
        exchange = agent.send("Ask the other agent.")
        session = await first_session(server)
        await events_of(server, session, "text_delta")
        exchange.cancel()
        assert (await exchange.result()).status == "cancelled"
        cancelled.set()
        (ended,) = await events_of(server, session, "exchange_response")
    assert isinstance(ended.data, ExchangeResponse)
    assert ended.data.status == "cancelled"


async def test_a_task_survives_a_restart_of_the_server(tmp_path: Path) -> None:
    async with served(tmp_path, slow) as server, polling(server) as client:
        task = (await begin(client, "a long one")).task_id
        await events_of(server, await first_session(server), "text_delta")
    async with served(tmp_path, model) as server, polling(server) as client:
        state = await wait_for(client, task, "completed", "failed", "cancelled")
        assert state.status == "completed"
        result = types.CallToolResult.model_validate(state.result)
        assert "Word after word." in text_of(result)
        assert not result.is_error


async def test_a_task_is_cancelled_by_its_id_alone(tmp_path: Path) -> None:
    async with served(tmp_path, slow) as server:
        async with polling(server) as client:
            task = (await begin(client, "a long one")).task_id
            session = await first_session(server)
            await events_of(server, session, "text_delta")
        async with polling(server) as client:
            await client.session.send_request(CancelTask(params=TaskParams(task_id=task)), types.EmptyResult)
            assert (await wait_for(client, task, "cancelled", "completed")).status == "cancelled"
        (ended,) = await events_of(server, session, "exchange_response")
        assert isinstance(ended.data, ExchangeResponse)
        assert ended.data.status == "cancelled"


async def test_tasks_belong_to_their_owner_and_are_checked(tmp_path: Path) -> None:
    async with served(tmp_path, model) as server, polling(server) as client:
        task = (await begin(client, "Hello")).task_id
        await wait_for(client, task, "completed")
        tool, created, session, exchange, begun, seq = task.split(".")
        forged = [
            ".".join((tool, created, session, "exc_0", begun, seq)),
            ".".join((tool, created, session, exchange, begun)),
            ".".join(("list_sessions", created, session, exchange, begun, seq)),
            "nothing",
        ]
        for name in forged:
            with pytest.raises(MCPError) as refused:
                await state_of(client, name)
            assert refused.value.error.code == types.INVALID_PARAMS
        async with polling(server, OTHER) as other:
            with pytest.raises(MCPError) as refused:
                await state_of(other, task)
            assert refused.value.error.code == types.INVALID_PARAMS
        async with connected(server) as plain:
            with pytest.raises(MCPError) as refused:
                await state_of(plain, task)
            assert refused.value.error.code == types.MISSING_REQUIRED_CLIENT_CAPABILITY
            result = await plain.call_tool("run_agent", {"prompt": "Hello"})
            assert isinstance(result, types.CallToolResult)


class _Notifications(TaskExtension):
    """Collects the notifications of tasks."""

    def __init__(self) -> None:
        self.states: list[TaskState] = []
        self.completed = asyncio.Event()

    def notifications(self) -> Any:
        async def on_state(state: TaskState) -> None:
            self.states.append(state)
            if state.status == "completed":
                self.completed.set()

        return [NotificationBinding(method="notifications/tasks", params_type=TaskState, handler=on_state)]


async def test_a_client_may_listen_instead_of_polling(tmp_path: Path) -> None:
    heard = _Notifications()
    extensions: list[ClientExtension] = [heard]
    async with served(tmp_path, slow) as server, connected(server, extensions=extensions) as client:
        task = (await begin(client, "a long one")).task_id
        subscription = types.SubscriptionFilter.model_validate({"taskIds": [task]})
        request = types.SubscriptionsListenRequest(
            params=types.SubscriptionsListenRequestParams(notifications=subscription)
        )
        listening = asyncio.create_task(
            client.session.send_request(request, types.SubscriptionsListenResult, request_read_timeout_seconds=60)
        )
        async with asyncio.timeout(60):
            await heard.completed.wait()
        listening.cancel()
        await asyncio.wait([listening])
    assert {state.task_id for state in heard.states} == {task}
