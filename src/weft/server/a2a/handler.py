"""The requests of A2A clients: messages, tasks, subscriptions and cancels, over the sessions of their owner; the card
of the agent; and the endpoints for JSON-RPC and for HTTP with JSON."""

import asyncio
import base64
import mimetypes
from collections.abc import AsyncGenerator
from contextlib import aclosing

from a2a.server.context import ServerCallContext
from a2a.server.events.event_queue import Event as A2AEvent
from a2a.server.request_handlers.request_handler import RequestHandler
from a2a.server.request_handlers.response_helpers import agent_card_to_dict
from a2a.server.routes import create_jsonrpc_routes, create_rest_routes
from a2a.server.routes.common import DefaultServerCallContextBuilder
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    Artifact,
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    ExtendedAgentCardNotConfiguredError,
    GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    HTTPAuthSecurityScheme,
    InvalidParamsError,
    ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse,
    ListTasksRequest,
    ListTasksResponse,
    Message,
    Part,
    PushNotificationNotSupportedError,
    SecurityRequirement,
    SecurityScheme,
    SendMessageRequest,
    StringList,
    SubscribeToTaskRequest,
    Task,
    TaskNotCancelableError,
    TaskNotFoundError,
    TaskPushNotificationConfig,
    TaskState,
    UnsupportedOperationError,
)
from google.protobuf.json_format import MessageToJson
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Router
from starlette.types import Receive, Scope, Send
from typing_extensions import override

from weft import __version__
from weft.core.errors import WeftError
from weft.core.events import ApprovalRequested, ExchangeRequest
from weft.core.messages import File, Image, Text, user_message
from weft.server.a2a.task_fold import TERMINAL, TaskFold
from weft.server.client_conversation import ClientConversation, create_session
from weft.server.context import ServerContext
from weft.server.conversation import cancel_exchange, sniff_image, start_exchange
from weft.server.errors import ApiError
from weft.server.operations import caller_of
from weft.server.sse import follow_exchange
from weft.sessions.store import SessionInfo, iterate_events
from weft.tools.approvals import NotPending

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
        except (ApiError, WeftError) as error:
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
                        session.approve(name, digest=asked.digest)
                    else:
                        session.deny(name, text)
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
        found: list[Artifact] = []
        if not fold.files:
            return found
        async with self._context.open_sessions.use(info) as session:
            for path in list(fold.files)[:_MAX_FILES]:
                try:
                    data = await asyncio.to_thread(session.workspace.read, path, limit=_MAX_FILE, remember=False)
                except WeftError:
                    continue  # it was deleted, or is too large
                kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
                part = Part(raw=data, filename=path, media_type=kind)
                found.append(Artifact(artifact_id=f"file:{path}", name=path, parts=[part]))
        return found

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
        kept = list(task.history)[len(task.history) - history :]
        del task.history[:]
        task.history.extend(kept)
    return task


def _content(message: Message) -> list[Text | Image | File]:
    """Convert the parts of a message. Raises InvalidParamsError for one that cannot be used."""
    found: list[Text | Image | File] = []
    for part in message.parts:
        kind = part.media_type or mimetypes.guess_type(part.filename)[0] or "application/octet-stream"
        match part.WhichOneof("content"):
            case "text":
                found.append(Text(part.text))
            case "data":
                found.append(Text(MessageToJson(part.data)))
            case "url" if part.url.startswith(("https://", "http://")):
                is_picture = kind.startswith("image/")
                found.append(Image(url=part.url) if is_picture else File(media_type=kind, url=part.url))
            case "raw":
                data = base64.b64encode(part.raw).decode()
                try:
                    found.append(Image(media_type=sniff_image(part.raw), data=data))
                except ApiError:
                    if kind.startswith("image/"):
                        raise InvalidParamsError(
                            message="The picture has a format that models do not accept."
                        ) from None
                    found.append(File(media_type=kind, data=data, name=part.filename or None))
            case _:
                raise InvalidParamsError(message="A part of the message is empty, or its url is no web address.")
    if not any(not isinstance(part, Text) or part.text.strip() for part in found):
        raise InvalidParamsError(message="The message is empty; give it a part with text.")
    return found


# --- endpoints -------------------------------------------------------------------------------------------------------


VERSION = "1.0"
_BEARER = "bearer"


class A2AEndpoint:
    """Answers the requests below `/a2a`."""

    def __init__(self, context: ServerContext, path: str) -> None:
        handler = AgentRequestHandler(context)
        builder = _CallContextBuilder()
        self._path = path
        self._needs_token = context.settings.needs_token
        self._router = Router(
            [
                *create_jsonrpc_routes(handler, path, context_builder=builder),
                *create_rest_routes(handler, context_builder=builder, path_prefix=path),
            ]
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._router(scope, receive, send)

    def card(self, request: Request) -> Response:
        """Return the card of the agent, with the address at which the request arrived."""
        address = f"{str(request.base_url).rstrip('/')}{self._path}"
        return JSONResponse(agent_card_to_dict(agent_card(address, needs_token=self._needs_token)))


class _CallContextBuilder(DefaultServerCallContextBuilder):
    @override
    def build(self, request: Request) -> ServerCallContext:
        built = super().build(request)
        built.state[OWNER] = caller_of(request).owner
        return built


def agent_card(address: str, *, needs_token: bool) -> AgentCard:
    """Describe the agent at an address."""
    card = AgentCard(
        name="Weft",
        description="An agent that works with tools and files. A context is a session; a task is one request in it.",
        version=__version__,
        capabilities=AgentCapabilities(streaming=True, push_notifications=False, extended_agent_card=False),
        default_input_modes=["text/plain", "image/png", "image/jpeg", "image/webp", "image/gif", "application/pdf"],
        default_output_modes=["text/plain", "application/octet-stream"],
        supported_interfaces=[
            AgentInterface(url=address, protocol_binding="JSONRPC", protocol_version=VERSION),
            AgentInterface(url=address, protocol_binding="HTTP+JSON", protocol_version=VERSION),
        ],
        skills=[
            AgentSkill(
                id="work",
                name="Work on a request",
                description="Answers, and reads, writes and runs what its tools allow.",
                tags=["agent", "tools", "files"],
                examples=["Write a page for a bakery."],
            )
        ],
    )
    if needs_token:
        scheme = SecurityScheme(http_auth_security_scheme=HTTPAuthSecurityScheme(scheme=_BEARER))
        card.security_schemes[_BEARER].CopyFrom(scheme)
        card.security_requirements.append(SecurityRequirement(schemes={_BEARER: StringList()}))
    return card
