"""A2A 1.0 with the official client of `a2a-sdk`: turns, tools, approvals, cancel, a cut connection, a restart."""

import base64
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

import httpx
import pytest
from a2a.client import A2ACardResolver, Client, ClientConfig, ClientFactory
from a2a.types import (
    CancelTaskRequest,
    GetTaskRequest,
    ListTasksRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
    StreamResponse,
    SubscribeToTaskRequest,
    Task,
    TaskNotCancelableError,
    TaskNotFoundError,
    TaskState,
    UnsupportedOperationError,
)

from heald.sessions.settings import SessionSettings
from heald.sessions.sqlite import SqliteStore
from scripted_agents import PIXEL, S, launch, model, slow, weather
from serving_parts import OTHER, TOKEN, Served, context_on, serving

BINDINGS = pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON"])


@asynccontextmanager
async def served(folder: Path, script: Any, tools: Any = None, mode: Any = "ask") -> AsyncGenerator[Served]:
    defaults = SessionSettings(permissions=mode, tools=[*(tools or {}), "files"])
    store = SqliteStore(folder / "sessions.db", durable=False)
    context = context_on(store, {"scripted": script}, tools=tools, defaults=defaults)
    async with serving(context, TOKEN) as running:
        yield running


@asynccontextmanager
async def connected(
    server: Served, binding: str = "JSONRPC", token: str = TOKEN, *, streaming: bool = True
) -> AsyncGenerator[Client]:
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as http:
        card = await A2ACardResolver(http, server.url).get_agent_card()
        config = ClientConfig(httpx_client=http, streaming=streaming, supported_protocol_bindings=[binding])
        yield ClientFactory(config).create(card)


def request(text: str, *more: Part, context: str = "", task: str = "") -> SendMessageRequest:
    message = Message(message_id=uuid4().hex, role=Role.ROLE_USER, parts=[Part(text=text), *more])
    message.context_id, message.task_id = context, task
    return SendMessageRequest(message=message)


async def exchange(client: Client, asked: SendMessageRequest) -> list[StreamResponse]:
    return [update async for update in client.send_message(asked)]


def state_of(updates: list[StreamResponse]) -> str:
    last = [update for update in updates if update.HasField("status_update") or update.HasField("task")][-1]
    status = last.status_update.status if last.HasField("status_update") else last.task.status
    return TaskState.Name(status.state).removeprefix("TASK_STATE_")


def text_of(task: Task) -> str:
    answers = [artifact for artifact in task.artifacts if artifact.name == "answer"]
    return "".join(part.text for part in answers[-1].parts)


def streamed(updates: list[StreamResponse]) -> str:
    """The text of the artifacts as a client joins them."""
    texts: dict[str, str] = {}
    for update in updates:
        if update.HasField("artifact_update"):
            piece = update.artifact_update
            before = texts.get(piece.artifact.artifact_id, "") if piece.append else ""
            texts[piece.artifact.artifact_id] = before + "".join(part.text for part in piece.artifact.parts)
    return "|".join(texts.values())


def task_of(updates: list[StreamResponse]) -> Task:
    return updates[0].task


@BINDINGS
async def test_turns_in_one_context_with_a_tool(tmp_path: Path, binding: str) -> None:
    async with (
        served(tmp_path, model, {"weather": weather}, "auto") as server,
        connected(server, binding) as client,
    ):
        updates = await exchange(client, request("The weather?"))
        assert state_of(updates) == "COMPLETED"
        assert streamed(updates) == "Let me see.|Done: ok Oslo: 3 °C, snow"
        assert sum(update.HasField("artifact_update") for update in updates) > 3
        context = task_of(updates).context_id
        updates = await exchange(client, request("Thanks", context=context))
        task = await client.get_task(GetTaskRequest(id=task_of(updates).id))
        assert text_of(task) == "Answer 2 to “Thanks”."
        assert [message.role for message in task.history] == [Role.ROLE_USER, Role.ROLE_AGENT]
        listed = await client.list_tasks(ListTasksRequest(context_id=context))
        assert listed.total_size == 2


@BINDINGS
async def test_without_streaming_the_task_is_returned(tmp_path: Path, binding: str) -> None:
    async with served(tmp_path, model) as server, connected(server, binding, streaming=False) as client:
        (answer,) = await exchange(client, request("Hello"))
        assert text_of(answer.task) == "Answer 1 to “Hello”."
        asked = request("Hello")
        asked.configuration.return_immediately = True
        (answer,) = await exchange(client, asked)
        assert state_of([answer]) in ("SUBMITTED", "WORKING")


@BINDINGS
@pytest.mark.parametrize(("word", "outcome"), [("Yes.", "ok rocket launched"), ("no, too early", "denied")])
async def test_approval_yes_and_no(tmp_path: Path, binding: str, word: str, outcome: str) -> None:
    async with served(tmp_path, model, {"launch": launch}) as server, connected(server, binding) as client:
        updates = await exchange(client, request("launch it"))
        assert state_of(updates) == "INPUT_REQUIRED"
        asked = updates[-1].status_update.status.message.parts[0].text
        assert "launch" in asked
        assert "rocket" in asked
        task = task_of(updates)
        updates = await exchange(client, request(word, context=task.context_id, task=task.id))
        assert state_of(updates) == "COMPLETED"
        assert outcome in text_of(await client.get_task(GetTaskRequest(id=task.id)))
        with pytest.raises(UnsupportedOperationError):
            await exchange(client, request("Yes", context=task.context_id, task=task.id))


@BINDINGS
async def test_cancel(tmp_path: Path, binding: str) -> None:
    async with served(tmp_path, slow) as server, connected(server, binding) as client:
        stream = client.send_message(request("a long one"))
        first = await anext(stream)
        cancelled = await client.cancel_task(CancelTaskRequest(id=first.task.id))
        assert TaskState.Name(cancelled.status.state) == "TASK_STATE_CANCELED"
        assert state_of([update async for update in stream]) == "CANCELED"
        with pytest.raises(TaskNotCancelableError):
            await client.cancel_task(CancelTaskRequest(id=first.task.id))


@BINDINGS
async def test_a_cut_connection_is_resumed(tmp_path: Path, binding: str) -> None:
    async with served(tmp_path, slow) as server, connected(server, binding) as client:
        stream = client.send_message(request("a long one"))
        first = await anext(stream)
        async for update in stream:
            if update.HasField("artifact_update"):
                break
        await cast(Any, stream).aclose()
        rest = [update async for update in client.subscribe(SubscribeToTaskRequest(id=first.task.id))]
        assert state_of(rest) == "COMPLETED"
        begun = "".join(part.text for artifact in rest[0].task.artifacts for part in artifact.parts)
        pieces = [update.artifact_update.artifact for update in rest[1:] if update.HasField("artifact_update")]
        later = "".join(part.text for piece in pieces for part in piece.parts)
        assert begun + later == "Word after word. " * 200
        with pytest.raises(UnsupportedOperationError):
            _ = [update async for update in client.subscribe(SubscribeToTaskRequest(id=first.task.id))]


@BINDINGS
async def test_tasks_survive_a_restart(tmp_path: Path, binding: str) -> None:
    async with served(tmp_path, model) as server, connected(server, binding) as client:
        task = task_of(await exchange(client, request("Hello")))
    async with served(tmp_path, model) as server, connected(server, binding) as client:
        again = await client.get_task(GetTaskRequest(id=task.id))
        assert text_of(again) == "Answer 1 to “Hello”."
        updates = await exchange(client, request("More", context=task.context_id))
        assert "Answer 2" in streamed(updates)


@BINDINGS
async def test_a_failure_a_picture_and_files(tmp_path: Path, binding: str) -> None:
    async with served(tmp_path, model) as server, connected(server, binding) as client:
        failed = await exchange(client, request("fail please"))
        assert state_of(failed) == "FAILED"
        assert "out of order" in failed[-1].status_update.status.message.parts[0].text
        assert "Half a" not in streamed(failed)
        picture = Part(raw=base64.b64decode(PIXEL), media_type="image/png")
        assert "image/png" in streamed(await exchange(client, request("What is seen?", picture)))


async def test_changed_files_are_artifacts(tmp_path: Path) -> None:
    write = S([[S.call("create_file", path="a.txt", content="words")], "written"])
    async with served(tmp_path, lambda: write, mode="auto") as server, connected(server) as client:
        task = task_of(await exchange(client, request("Write.")))
        task = await client.get_task(GetTaskRequest(id=task.id))
        (file,) = [artifact for artifact in task.artifacts if artifact.name == "a.txt"]
        assert (file.parts[0].raw, file.parts[0].filename) == (b"words", "a.txt")


async def test_owners_and_strangers(tmp_path: Path) -> None:
    async with served(tmp_path, model) as server:
        async with connected(server) as client:
            task = task_of(await exchange(client, request("Hello")))
        async with connected(server, token=OTHER) as other:
            for name in (task.id, "ses_nothing.exc_x", "nothing"):
                with pytest.raises(TaskNotFoundError):
                    await other.get_task(GetTaskRequest(id=name))
            with pytest.raises(TaskNotFoundError):
                await other.cancel_task(CancelTaskRequest(id=task.id))
            assert (await other.list_tasks(ListTasksRequest())).total_size == 0
        async with httpx.AsyncClient() as stranger:
            card = (await stranger.get(f"{server.url}/.well-known/agent-card.json")).json()
            assert card["supportedInterfaces"][0]["url"] == f"{server.url}/a2a"
            assert (await stranger.post(f"{server.url}/a2a", json={})).status_code == 401
            assert (await stranger.get(f"{server.url}/a2a/tasks/{task.id}")).status_code == 401
