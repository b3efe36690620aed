"""Answers the requests of A2A clients: messages, tasks, subscriptions and cancels, over the sessions of their owner."""

import asyncio
import base64
import mimetypes
from collections.abc import AsyncGenerator
from contextlib import aclosing

from a2a.server.context import ServerCallContext
from a2a.server.events.event_queue import Event as A2AEvent
from a2a.server.request_handlers.request_handler import RequestHandler
from a2a.types import (
    AgentCard,
    Artifact,
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    ExtendedAgentCardNotConfiguredError,
    GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    InvalidParamsError,
    ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse,
    ListTasksRequest,
    ListTasksResponse,
    Message,
    Part,
    PushNotificationNotSupportedError,
    SendMessageRequest,
    SubscribeToTaskRequest,
    Task,
    TaskNotCancelableError,
    TaskNotFoundError,
    TaskPushNotificationConfig,
    TaskState,
    UnsupportedOperationError,
)
from google.protobuf.json_format import MessageToJson
from typing_extensions import override

from heald.core.errors import HealdError
from heald.core.events import ApprovalRequested, ExchangeRequest
from heald.core.messages import File, Image, Text, user_message
from heald.sessions.session_info import SessionInfo
from heald.sessions.store import iterate_events
from heald.tools.approvals import NotPending
from heald_server.access.caller import Caller
from heald_server.context import ServerContext
from heald_server.http.errors import ApiError
from heald_server.protocols.a2a.task_fold import TERMINAL, TaskFold
from heald_server.protocols.shared.client_conversation import ClientConversation
from heald_server.protocols.shared.conversation_sessions import create_session
from heald_server.routes.client_media import sniff_image
from heald_server.start_exchange import cancel_exchange, start_exchange
from heald_server.streams.exchange_stream import follow_exchange

OWNER = "owner"
"""The key of the owner in the state of a call."""
_YES = frozenset({"y", "yes", "ok", "allow", "allowed", "approve", "approved", "true"})
_MAX_FILES, _MAX_FILE = 20, 256 * 1024
_MAX_PAGE = 100
_MAX_HISTORY_SESSIONS = 200


class AgentRequestHandler(RequestHandler):
    """Answers A2A requests."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context

    # --- messages -----------------------------------------------------------------------------------------------------

    @override
    async def on_message_send(self, params: SendMessageRequest, context: ServerCallContext) -> Task | Message:
        fold, info = await self._begin(params, _owner(context))
        if not params.configuration.return_immediately:
            async for _ in self._follow(info, fold):
                pass
        return _shortened(fold.task, params.configuration.history_length or None)

    @override
    async def on_message_send_stream(
        self, params: SendMessageRequest, context: ServerCallContext
    ) -> AsyncGenerator[A2AEvent]:
        fold, info = await self._begin(params, _owner(context))
        first = Task()
        first.CopyFrom(fold.task)
        yield first
        async with aclosing(self._follow(info, fold)) as updates:
            async for update in updates:
                yield update

    @override
    async def on_subscribe_to_task(
        self, params: SubscribeToTaskRequest, context: ServerCallContext
    ) -> AsyncGenerator[A2AEvent]:
        fold, info = await self._load(params.id, _owner(context))
        if fold.is_over:
            raise UnsupportedOperationError(message="The task is over; tasks/get returns it.")
        first = Task()
        first.CopyFrom(fold.task)
        yield first
        async with aclosing(self._follow(info, fold)) as updates:
            async for update in updates:
                yield update

    async def _begin(self, params: SendMessageRequest, owner: str) -> tuple[TaskFold, SessionInfo]:
        """Start an exchange with a message, or give a waiting one the answer."""
        message = params.message
        if message.task_id:
            return await self._continue(message, owner)
        content = _content(message)
        try:
            self._context.meters.check_exchange(owner)
            if message.context_id:
                info = await self._context.open_sessions.find_info(owner, message.context_id)
            else:
                info = await create_session(self._context, ClientConversation(owner=owner, kind="a2a"))
            begin = (await self._context.sessions.store.info(info.id)).last_seq
            request_id = message.message_id[:200] or None
            _, exchange = await start_exchange(self._context, info, user_message(*content), request_id)
        except (ApiError, HealdError) as error:
            raise InvalidParamsError(message=str(error)) from None
        fold = TaskFold(info.id, exchange.id)
        fold.seq = begin
        return fold, info

    async def _continue(self, message: Message, owner: str) -> tuple[TaskFold, SessionInfo]:
        fold, info = await self._load(message.task_id, owner)
        if fold.state != TaskState.TASK_STATE_INPUT_REQUIRED:
            raise UnsupportedOperationError(
                message="The task does not wait for input; send a message to its context instead."
            )
        text = " ".join(part.text for part in message.parts if part.text).strip()
        async with self._context.open_sessions.use(info) as session:
            for name, asked in list(fold.waiting.items()):
                try:
                    if not isinstance(asked, ApprovalRequested):
                        session.answer(name, text)
                    elif text.lower().rstrip(".!") in _YES:
                        session.approve(name, digest=asked.digest, by=Caller(owner).name)
                    else:
                        session.deny(name, text, by=Caller(owner).name)
                except NotPending:
                    continue
            await session.flush()
        return fold, info

    async def _follow(self, info: SessionInfo, fold: TaskFold) -> AsyncGenerator[A2AEvent]:
        """Yield the updates of a task until it is over or waits for the client."""
        events = follow_exchange(self._context, info, fold.exchange, fold.seq)
        async with aclosing(events):
            async for event in events:
                updates = fold.feed(event)
                if fold.is_over:
                    for artifact in await self._files(info, fold):
                        yield fold.add_artifact(artifact)
                for update in updates:
                    yield update
                if fold.state == TaskState.TASK_STATE_INPUT_REQUIRED:
                    return

    async def _files(self, info: SessionInfo, fold: TaskFold) -> list[Artifact]:
        """The files that the exchange changed, as they are now."""
        artifacts: list[Artifact] = []
        if not fold.files:
            return artifacts
        async with self._context.open_sessions.use(info) as session:
            for path in list(fold.files)[:_MAX_FILES]:
                try:
                    data = await asyncio.to_thread(session.workspace.read, path, limit=_MAX_FILE, remember=False)
                except HealdError:
                    continue  # it was deleted, or is too large
                kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
                part = Part(raw=data, filename=path, media_type=kind)
                artifacts.append(Artifact(artifact_id=f"file:{path}", name=path, parts=[part]))
        return artifacts

    # --- tasks --------------------------------------------------------------------------------------------------------

    @override
    async def on_get_task(self, params: GetTaskRequest, context: ServerCallContext) -> Task | None:
        fold, info = await self._load(params.id, _owner(context))
        if fold.is_over:
            for artifact in await self._files(info, fold):
                fold.add_artifact(artifact)
        return _shortened(fold.task, params.history_length if params.HasField("history_length") else None)

    @override
    async def on_list_tasks(self, params: ListTasksRequest, context: ServerCallContext) -> ListTasksResponse:
        owner, tasks = _owner(context), list[Task]()
        store = self._context.sessions.store
        if params.context_id:
            infos = [await self._find(owner, params.context_id)]
        else:
            infos = list((await store.list(owner=owner, kind="", limit=_MAX_HISTORY_SESSIONS)).sessions)
        for info in infos:
            folds: dict[str, TaskFold] = {}
            async for event in iterate_events(store, info.id):
                if isinstance(event.data, ExchangeRequest) and event.exchange is not None:
                    folds[event.exchange] = TaskFold(info.id, event.exchange)
                if event.exchange in folds:
                    folds[event.exchange].feed(event)
            tasks += [fold.task for fold in reversed(folds.values())]
        if params.status:
            tasks = [task for task in tasks if task.status.state == params.status]
        if params.HasField("status_timestamp_after"):
            since = params.status_timestamp_after.ToNanoseconds()
            tasks = [task for task in tasks if task.status.timestamp.ToNanoseconds() >= since]
        if params.page_token and not params.page_token.isdecimal():
            raise InvalidParamsError(message="The page token is not one of this server.")
        start = int(params.page_token or 0)
        size = min(params.page_size or 50, _MAX_PAGE)
        page = [_shortened(task, params.history_length or 0) for task in tasks[start : start + size]]
        following = str(start + size) if start + size < len(tasks) else ""
        return ListTasksResponse(tasks=page, next_page_token=following, page_size=len(page), total_size=len(tasks))

    @override
    async def on_cancel_task(self, params: CancelTaskRequest, context: ServerCallContext) -> Task | None:
        fold, info = await self._load(params.id, _owner(context))
        if fold.is_over:
            raise TaskNotCancelableError(message="The task is over.")
        await cancel_exchange(self._context, info, fold.exchange, "The A2A client cancelled it.")
        events = follow_exchange(self._context, info, fold.exchange, fold.seq)
        async with aclosing(events):
            async for event in events:
                fold.feed(event)
                if fold.state in TERMINAL:
                    break
        return fold.task

    async def _find(self, owner: str, session: str) -> SessionInfo:
        try:
            return await self._context.open_sessions.find_info(owner, session)
        except ApiError:
            raise TaskNotFoundError(message="There is no such task.") from None

    async def _load(self, name: str, owner: str) -> tuple[TaskFold, SessionInfo]:
        """Read a task of the owner from the log of its session."""
        session, _, exchange = name.partition(".")
        info = await self._find(owner, session)
        fold = TaskFold(info.id, exchange)
        if (opened := self._context.open_sessions.find_open(info.id)) is not None:
            await opened.flush()
        async for event in iterate_events(self._context.sessions.store, info.id):
            fold.feed(event)
        if not fold.is_known:
            raise TaskNotFoundError(message="There is no such task.")
        return fold, info

    # --- not offered --------------------------------------------------------------------------------------------------

    @override
    async def on_create_task_push_notification_config(
        self, params: TaskPushNotificationConfig, context: ServerCallContext
    ) -> TaskPushNotificationConfig:
        raise PushNotificationNotSupportedError

    @override
    async def on_get_task_push_notification_config(
        self, params: GetTaskPushNotificationConfigRequest, context: ServerCallContext
    ) -> TaskPushNotificationConfig:
        raise PushNotificationNotSupportedError

    @override
    async def on_list_task_push_notification_configs(
        self, params: ListTaskPushNotificationConfigsRequest, context: ServerCallContext
    ) -> ListTaskPushNotificationConfigsResponse:
        raise PushNotificationNotSupportedError

    @override
    async def on_delete_task_push_notification_config(
        self, params: DeleteTaskPushNotificationConfigRequest, context: ServerCallContext
    ) -> None:
        raise PushNotificationNotSupportedError

    @override
    async def on_get_extended_agent_card(
        self, params: GetExtendedAgentCardRequest, context: ServerCallContext
    ) -> AgentCard:
        raise ExtendedAgentCardNotConfiguredError


def _owner(context: ServerCallContext) -> str:
    return str(context.state[OWNER])


def _shortened(task: Task, history: int | None) -> Task:
    """Return the task with at most so many messages of its history."""
    if history is not None and history < len(task.history):
        newest = list(task.history)[len(task.history) - history :]
        del task.history[:]
        task.history.extend(newest)
    return task


def _content(message: Message) -> list[Text | Image | File]:
    """Convert the parts of a message. Raises InvalidParamsError for one that cannot be used."""
    blocks: list[Text | Image | File] = []
    for part in message.parts:
        kind = part.media_type or mimetypes.guess_type(part.filename)[0] or "application/octet-stream"
        match part.WhichOneof("content"):
            case "text":
                blocks.append(Text(part.text))
            case "data":
                blocks.append(Text(MessageToJson(part.data)))
            case "url" if part.url.startswith(("https://", "http://")):
                is_picture = kind.startswith("image/")
                blocks.append(Image(url=part.url) if is_picture else File(media_type=kind, url=part.url))
            case "raw":
                data = base64.b64encode(part.raw).decode()
                try:
                    blocks.append(Image(media_type=sniff_image(part.raw), data=data))
                except ApiError:
                    if kind.startswith("image/"):
                        raise InvalidParamsError(
                            message="The picture has a format that models do not accept."
                        ) from None
                    blocks.append(File(media_type=kind, data=data, name=part.filename or None))
            case _:
                raise InvalidParamsError(message="A part of the message is empty, or its url is not a web address.")
    if not any(not isinstance(part, Text) or part.text.strip() for part in blocks):
        raise InvalidParamsError(message="The message is empty; give it a part with text.")
    return blocks
