"""Endpoints for clients of other protocols: `/api/chat`, `/agui`, `/v1/chat/completions`, `/v1/models`.

These clients keep the conversation and send it with every request. Where a client names its conversation, the session
of that name continues as long as both hold the same messages; otherwise a new session begins with the client's messages
as its history.
"""

import asyncio
import base64
from collections.abc import Mapping, Sequence
from hashlib import sha256
from time import time
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from weft.agent.exchange import Exchange
from weft.agent.loop import parse_messages, system_texts
from weft.agent.result import AgentResult
from weft.core.errors import ConfigurationError, ProviderError
from weft.core.json import JsonObject, as_object, as_objects, encode, loads
from weft.core.messages import File, Image, Message
from weft.dialects.ag_ui import AGUIDialect
from weft.dialects.dialect import Dialect
from weft.dialects.openai import OpenAIDialect, encode_usage
from weft.server.context import ServerContext
from weft.server.conversation import Accepted, sniff_image, start_exchange
from weft.server.errors import ApiError
from weft.server.operations import caller_of, require_json
from weft.server.sse import EventStreamResponse, require_dialect
from weft.sessions.history import read_history
from weft.sessions.settings import SessionSettings
from weft.sessions.store import SessionExists, SessionInfo


class ClientConversation(msgspec.Struct, frozen=True, kw_only=True):
    """The conversation that a client sends with its request."""

    owner: str
    kind: str
    """The protocol of the client."""
    name: str | None = None
    """The client's name for the conversation."""
    history: list[Message] = []
    system: list[str] = []
    model: str = ""


def session_name(conversation: ClientConversation, history: Sequence[Message] | None = None) -> str:
    """The id of the session: the same for the same conversation of an owner, also after a restart."""
    parts = [conversation.owner, conversation.kind, conversation.name or ""]
    if history:
        parts.append(encode(_visible_messages(history)).decode())
    return f"ses_{sha256(encode(parts)).hexdigest()[:32]}"


async def find_or_create_session(context: ServerContext, conversation: ClientConversation) -> SessionInfo:
    """Find the session that continues a conversation, or create one."""
    if conversation.name is None:
        return await _create_session(context, conversation, None)
    name = session_name(conversation)
    for candidate in (name, session_name(conversation, conversation.history)):
        try:
            info = await context.open_sessions.find_info(conversation.owner, candidate)
        except ApiError:
            return await _create_session(context, conversation, candidate)
        if await _has_same_history(context, info, conversation):
            return info
    return await _create_session(context, conversation, None)


async def _has_same_history(context: ServerContext, info: SessionInfo, conversation: ClientConversation) -> bool:
    history = await read_history(context.sessions.store, info.id, SessionSettings.of(info.settings))
    return _visible_messages(history.state.messages) == _visible_messages(conversation.history)


async def _create_session(context: ServerContext, conversation: ClientConversation, name: str | None) -> SessionInfo:
    context.meters.check_new_session(conversation.owner)
    settings = context.merge_settings({"model": conversation.model} if conversation.model else {})
    instructions = "\n\n".join([*([settings.instructions] if settings.instructions else []), *conversation.system])
    settings = msgspec.structs.replace(settings, history=conversation.history, instructions=instructions)
    fields = {field: getattr(settings, field) for field in settings.__struct_fields__}
    try:
        return await context.sessions.create(owner=conversation.owner, session=name, **fields)
    except SessionExists:  # another request of the same conversation was faster
        if name is None:
            raise
        return await context.open_sessions.find_info(conversation.owner, name)


def _visible_messages(messages: Sequence[Message]) -> list[tuple[str, str]]:
    """The texts of both sides, without tool calls and thinking, which not every client stores."""
    texts: list[tuple[str, str]] = []
    for message in messages:
        text = " ".join(message.text.split())
        if message.role == "tool" or not text:
            continue
        if texts and texts[-1][0] == message.role:
            texts[-1] = message.role, f"{texts[-1][1]} {text}"
        else:
            texts.append((message.role, text))
    return texts


def require_model(context: ServerContext, name: str) -> str:
    """Return the model that a client names, if sessions may use it. "weft" stands for the default."""
    if name in ("", "weft"):
        return ""
    try:
        context.models.open(name)
    except ConfigurationError as error:
        raise ApiError("not_found", str(error)) from None
    return name


_FINISH = {"max_tokens": "length", "content_filter": "content_filter", "refusal": "content_filter"}

_DISPLAY_ROLES = ("reasoning", "activity")
"""Roles of AG-UI messages that are only displayed; the session has its own, with all that its provider needs."""


class CompatRoutes:
    def __init__(self, context: ServerContext) -> None:
        self._context = context

    def routes(self) -> list[Route]:
        return [
            Route("/api/chat", self.chat, methods=["POST"]),
            Route("/api/chat/{name}/stream", self.resume_chat, methods=["GET"]),
            Route("/agui", self.agui, methods=["POST"]),
            Route("/v1/chat/completions", self.completions, methods=["POST"]),
            Route("/v1/models", self.models, methods=["GET"]),
        ]

    # --- /api/chat: a page's own loop, or the AI SDK -----------------------------------------------------------------

    async def chat(self, request: Request) -> Response:
        body = await _read_body(request)
        messages = as_objects(body.get("messages"))
        is_ui = any("parts" in message for message in messages)
        dialect = _requested_dialect(request) or ("ai-sdk" if is_ui else "loop")
        require_dialect(dialect, "")  # fails before a session is created
        plain = [_from_ui(message) for message in messages] if is_ui else messages
        conversation, message = self._read_conversation(request, dialect, plain, _text(body, "id"), body)
        is_new = is_ui and body.get("trigger") != "regenerate-message"
        info, accepted, _ = await self._start(conversation, message, _text(messages[-1], "id") if is_new else None)
        return self._stream(request, info, accepted, require_dialect(dialect, info.id))

    async def resume_chat(self, request: Request) -> Response:
        """The stream of a running chat, for a page that was reloaded."""
        caller = caller_of(request)
        conversation = ClientConversation(owner=caller.owner, kind="ai-sdk", name=request.path_params["name"])
        info = await self._context.open_sessions.find_info(caller.owner, session_name(conversation))
        session = self._context.open_sessions.find_open(info.id)
        current = session.engine.current if session is not None else None
        if current is None:
            return Response(status_code=204)
        accepted = Accepted(current.id, "repeated", 0)
        return self._stream(request, info, accepted, require_dialect("ai-sdk", info.id))

    # --- AG-UI -------------------------------------------------------------------------------------------------------

    async def agui(self, request: Request) -> Response:
        body = await _read_body(request)
        shown = [each for each in as_objects(body.get("messages")) if each.get("role") not in _DISPLAY_ROLES]
        messages = [_from_agui(message) for message in shown]
        thread, run = _text(body, "threadId"), _text(body, "runId")
        conversation, message = self._read_conversation(request, "ag-ui", messages, thread, body)
        info, accepted, _ = await self._start(conversation, message, run)
        return self._stream(request, info, accepted, AGUIDialect(info.id, thread=thread, run=run))

    # --- the agent as a model ----------------------------------------------------------------------------------------

    async def completions(self, request: Request) -> Response:
        body = await _read_body(request)
        if body.get("tools") or body.get("functions"):
            raise ApiError("invalid", "Tools of the client are not run here; the agent has its own.")
        conversation, message = self._read_conversation(request, "openai", as_objects(body.get("messages")), None, body)
        info, accepted, exchange = await self._start(conversation, message, None)
        model = conversation.model or "weft"
        if body.get("stream") is True:
            usage = as_object(body.get("stream_options")).get("include_usage") is True
            return self._stream(request, info, accepted, OpenAIDialect(info.id, model=model, usage=usage))
        return await self._completion(info, accepted, exchange, model)

    async def models(self, request: Request) -> Response:
        caller_of(request)
        names = ["weft", *(model.name for model in self._context.models.list_models())]
        data = [{"id": name, "object": "model", "created": 0, "owned_by": "weft"} for name in names]
        return _json({"object": "list", "data": data})

    async def _completion(self, info: SessionInfo, accepted: Accepted, exchange: Exchange, model: str) -> Response:
        result = await asyncio.shield(asyncio.ensure_future(exchange.result()))  # a disconnect does not cancel it
        if exchange.error is not None:
            is_ours = not isinstance(exchange.error, ProviderError)
            texts = {"message": str(exchange.error), "type": exchange.error.code, "code": None}
            return _json({"error": texts}, 500 if is_ours else 502)
        return _json(
            {
                "id": accepted.exchange,
                "object": "chat.completion",
                "created": int(time()),
                "model": model,
                "choices": [
                    {
                        "index": 0,
                        "message": {"role": "assistant", "content": result.text, "refusal": None},
                        "logprobs": None,
                        "finish_reason": _finish_reason(result),
                    }
                ],
                "usage": encode_usage(result.usage, result.cost),
            },
            headers=_id_headers(info, accepted),
        )

    # --- shared -------------------------------------------------------------------------------------------------------

    def _read_conversation(
        self, request: Request, kind: str, messages: list[JsonObject], name: str | None, body: JsonObject
    ) -> tuple[ClientConversation, Message]:
        try:
            *history, message = parse_messages(messages)
            system = system_texts(messages)
        except ConfigurationError as error:
            raise ApiError("invalid", str(error)) from None
        _check_pictures(message)
        if not message.content:
            raise ApiError("invalid", "The last message is empty.")
        owner = caller_of(request).owner
        named = require_model(self._context, _text(body, "model") or "")
        return ClientConversation(
            owner=owner, kind=kind, name=name, history=history, system=system, model=named
        ), message

    async def _start(
        self, conversation: ClientConversation, message: Message, request_id: str | None
    ) -> tuple[SessionInfo, Accepted, Exchange]:
        self._context.meters.check_exchange(conversation.owner)
        if request_id is not None and conversation.name is not None:
            repeated = await self._find_repeated(conversation, request_id)
            if repeated is not None:
                return repeated
        info = await find_or_create_session(self._context, conversation)
        accepted, exchange = await start_exchange(
            self._context, info, message, request_id[:200] if request_id else None
        )
        return info, accepted, exchange

    async def _find_repeated(
        self, conversation: ClientConversation, request_id: str
    ) -> tuple[SessionInfo, Accepted, Exchange] | None:
        """The exchange that an earlier request with the same id started."""
        try:
            info = await self._context.open_sessions.find_info(conversation.owner, session_name(conversation))
        except ApiError:
            return None
        async with self._context.open_sessions.use(info) as session:
            known = session.engine.find(request_id[:200])
            return (info, Accepted(known.id, "repeated", 0), known) if known is not None else None

    def _stream(self, request: Request, info: SessionInfo, accepted: Accepted, dialect: Dialect) -> Response:
        begin = 0 if accepted.state == "repeated" else info.last_seq
        response = EventStreamResponse(
            self._context, caller_of(request), info, dialect, begin, exchange=accepted.exchange
        )
        response.headers.update(_id_headers(info, accepted))
        return response


def _text(body: JsonObject, name: str) -> str | None:
    value = body.get(name)
    return value if isinstance(value, str) and value else None


def _finish_reason(result: AgentResult) -> str:
    return "length" if result.status == "limit" else _FINISH.get(str(result.stop_reason), "stop")


def _id_headers(info: SessionInfo, accepted: Accepted) -> dict[str, str]:
    return {"X-Weft-Session": info.id, "X-Weft-Exchange": accepted.exchange}


async def _read_body(request: Request) -> JsonObject:
    require_json(request)
    data = await request.body()
    try:
        body: Any = loads(data)
        if b"\\u" in data:
            msgspec.json.encode(body)  # an unpaired surrogate can be decoded, but not stored
    except UnicodeEncodeError:
        raise
    except ValueError as error:
        raise ApiError("invalid", f"The body is no JSON: {str(error)[:200]}.") from None
    if not isinstance(body, dict) or not isinstance(body.get("messages"), list):  # pyright: ignore[reportUnknownMemberType]
        raise ApiError("invalid", "The body is an object with a list of messages.")
    if len(as_objects(as_object(body)["messages"])) != len(as_object(body)["messages"]):
        raise ApiError("invalid", "Each message is an object.")
    return as_object(body)


def _requested_dialect(request: Request) -> str | None:
    """The dialect that a client names, in the query or as a parameter of the Accept header."""
    named = request.query_params.get("dialect")
    if named:
        return named
    for part in request.headers.get("accept", "").split(";"):
        key, _, value = part.strip().partition("=")
        if key.lower() == "dialect" and value:
            return value.strip('"')
    return None


def _from_ui(message: JsonObject) -> JsonObject:
    """A UI message of the AI SDK as a chat message."""
    content: list[JsonObject] = []
    for part in as_objects(message.get("parts")):
        url, kind = part.get("url"), part.get("mediaType")
        if part.get("type") == "text" and isinstance(part.get("text"), str):
            content.append({"type": "text", "text": part["text"]})
        elif (
            part.get("type") == "file" and isinstance(url, str) and isinstance(kind, str) and kind.startswith("image/")
        ):
            content.append({"type": "image_url", "image_url": {"url": url}})
    return {"role": message.get("role"), "content": content}


def _from_agui(message: JsonObject) -> JsonObject:
    """An AG-UI message as a chat message."""
    plain: JsonObject = {"role": message.get("role"), "content": message.get("content")}
    content = message.get("content")
    if isinstance(content, list):
        plain["content"] = [_agui_part(part) for part in as_objects(content)]
    if message.get("toolCalls"):
        plain["tool_calls"] = message["toolCalls"]
    if message.get("toolCallId"):
        plain["tool_call_id"] = message["toolCallId"]
    return plain


def _agui_part(part: JsonObject) -> JsonObject:
    kind = part.get("mimeType")
    if part.get("type") == "binary" and isinstance(kind, str) and kind.startswith("image/"):
        url = part.get("url") or f"data:{kind};base64,{part.get('data', '')}"
        return {"type": "image_url", "image_url": {"url": url}}
    source = as_object(part.get("source"))
    if part.get("type") == "image" and source:
        value, kind = source.get("value"), source.get("mimeType") or "image/png"
        url = value if source.get("type") == "url" else f"data:{kind};base64,{value}"
        return {"type": "image_url", "image_url": {"url": url}}
    return part


def _check_pictures(message: Message) -> None:
    for block in message.content:
        if not isinstance(block, Image | File):
            continue
        if block.data is not None and isinstance(block, Image):
            try:
                sniff_image(base64.b64decode(block.data, validate=True))
            except ValueError:
                raise ApiError("invalid", "The data of a picture is not base64.") from None
        if block.url is not None and not block.url.startswith(("https://", "http://")):
            raise ApiError("invalid", "A picture is a data: address, or one that begins with https:// or http://.")


def _json(data: JsonObject, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(encode(data), status, dict(headers or {}), "application/json")
