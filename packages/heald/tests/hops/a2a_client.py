"""The client of A2A: the official package, over JSON-RPC."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import httpx
from a2a.client import A2ACardResolver, Client, ClientConfig, ClientFactory
from a2a.client.errors import A2AClientError
from a2a.types import (
    GetTaskRequest,
    ListTasksRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
    StreamResponse,
    SubscribeToTaskRequest,
    Task,
    TaskState,
    TaskStatus,
    UnsupportedOperationError,
)
from crash_parts import TOKEN
from exchange_view import ExchangeView
from hop_client import SILENCE, HopClient

_ENDS = {TaskState.TASK_STATE_COMPLETED: "completed", TaskState.TASK_STATE_CANCELED: "cancelled"}


class A2AHopClient(HopClient):
    """Another agent, which subscribes to the task anew whenever it comes back."""

    name = "A2A"

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self._texts: dict[str, str] = {}
        self._state = TaskState.TASK_STATE_SUBMITTED

    @asynccontextmanager
    async def _client(self) -> AsyncGenerator[Client]:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        try:
            async with httpx.AsyncClient(headers=headers, timeout=SILENCE) as http:
                card = await A2ACardResolver(http, self.url).get_agent_card()
                config = ClientConfig(httpx_client=http, supported_protocol_bindings=["JSONRPC"])
                yield ClientFactory(config).create(card)
        except (httpx.HTTPError, A2AClientError) as error:
            raise ConnectionError(str(error)) from error

    async def begin(self, text: str, request: str) -> None:
        message = Message(message_id=request, role=Role.ROLE_USER, parts=[Part(text=text)])
        message.context_id = self.session
        async with self._client() as client:
            async for update in client.send_message(SendMessageRequest(message=message)):
                self.session = self.session or update.task.context_id
                assert update.task.context_id == self.session
                return

    async def watch(self, most: int) -> None:
        async with self._client() as client:
            listed = await client.list_tasks(ListTasksRequest(context_id=self.session, page_size=1))
            taken = 0
            try:
                async for update in client.subscribe(SubscribeToTaskRequest(id=listed.tasks[0].id)):
                    self._feed(update)
                    taken += 1
                    if taken >= most or self.approval is not None:
                        return
            except UnsupportedOperationError:  # it is over
                self._feed_task(await client.get_task(GetTaskRequest(id=listed.tasks[0].id)))

    async def approve(self) -> None:
        task = self.approval
        message = Message(message_id=f"yes-{task}", role=Role.ROLE_USER, parts=[Part(text="yes")], task_id=task or "")
        async with self._client() as client:
            try:
                async for _ in client.send_message(SendMessageRequest(message=message)):
                    return
            except UnsupportedOperationError:
                return  # another client was faster

    async def view(self, exchange: str) -> ExchangeView:
        async with self._client() as client:
            self._feed_task(await client.get_task(GetTaskRequest(id=f"{self.session}.{exchange}")))
        return ExchangeView([text for text in self._texts.values() if text], None, _ENDS.get(self._state))

    def _feed(self, update: StreamResponse) -> None:
        if update.HasField("task"):
            self._feed_task(update.task)
        elif update.HasField("status_update"):
            self._move(update.status_update.task_id, update.status_update.status)
        elif update.HasField("artifact_update"):
            piece = update.artifact_update
            before = self._texts.get(piece.artifact.artifact_id, "") if piece.append else ""
            self._texts[piece.artifact.artifact_id] = before + "".join(part.text for part in piece.artifact.parts)

    def _feed_task(self, task: Task) -> None:
        self._texts = {
            artifact.artifact_id: "".join(part.text for part in artifact.parts)
            for artifact in task.artifacts
            if artifact.name == "answer"
        }
        self._move(task.id, task.status)

    def _move(self, task: str, status: TaskStatus) -> None:
        self._state = status.state
        self.approval = task if status.state == TaskState.TASK_STATE_INPUT_REQUIRED else None
        self.has_ended = status.state in _ENDS
