"""Where other systems' clients look: `/api/chat`, `/agui`, `/v1/chat/completions`, `/v1/models`."""

import asyncio
import base64
from collections.abc import Mapping
from time import time
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from weft.agent.exchange import Exchange
from weft.agent.loop import conversation_of, system_of
from weft.agent.result import AgentResult
from weft.core.content import File, Image
from weft.core.errors import ConfigurationError, ProviderError
from weft.core.json import JsonObject, as_object, as_objects, encode, loads
from weft.core.messages import Message
from weft.dialects.ag_ui import AGUIDialect
from weft.dialects.dialect import Dialect
from weft.dialects.openai import OpenAIDialect, usage_of
from weft.server.context import ServerContext
from weft.server.conversing import Accepted, ask
from weft.server.guests import Guest, checked_model, session_for, session_name
from weft.server.operations import caller_of
from weft.server.parts import picture_type
from weft.server.refusal import Refusal
from weft.server.sse import EventStreamResponse, dialect_of
from weft.sessions.store import SessionInfo

_FINISH = {"max_tokens": "length", "content_filter": "content_filter", "refusal": "content_filter"}

_NOT_SAID = ("reasoning", "activity")
"""Messages of AG-UI that were only shown: the session has its own, with all that its provider needs."""


class GuestRoutes:
    """The endpoints of other systems, on one server."""

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
        body = await _body(request)
        messages = as_objects(body.get("messages"))
        is_ui = any("parts" in message for message in messages)
        dialect = _wanted(request) or ("ai-sdk" if is_ui else "loop")
        dialect_of(dialect, "")  # before anything is begun
        plain = [_from_ui(message) for message in messages] if is_ui else messages
        guest, message = self._guest(request, dialect, plain, _text(body, "id"), body)
        is_new = is_ui and body.get("trigger") != "regenerate-message"
        info, accepted, _ = await self._ask(guest, message, _text(messages[-1], "id") if is_new else None)
        return self._stream(request, info, accepted, dialect_of(dialect, info.id))

    async def resume_chat(self, request: Request) -> Response:
        """The stream of a chat that still runs, for a page that was reloaded."""
        caller = caller_of(request)
        guest = Guest(owner=caller.owner, kind="ai-sdk", name=request.path_params["name"])
        info = await self._context.open.info(caller.owner, session_name(guest))
        session = self._context.open.opened(info.id)
        current = session.engine.current if session is not None else None
        if current is None:
            return Response(status_code=204)
        accepted = Accepted(current.id, "repeated", 0)
        return self._stream(request, info, accepted, dialect_of("ai-sdk", info.id))

    # --- AG-UI -------------------------------------------------------------------------------------------------------

    async def agui(self, request: Request) -> Response:
        body = await _body(request)
        kept = [each for each in as_objects(body.get("messages")) if each.get("role") not in _NOT_SAID]
        messages = [_from_agui(message) for message in kept]
        thread, run = _text(body, "threadId"), _text(body, "runId")
        guest, message = self._guest(request, "ag-ui", messages, thread, body)
        info, accepted, _ = await self._ask(guest, message, run)
        return self._stream(request, info, accepted, AGUIDialect(info.id, thread=thread, run=run))

    # --- the agent as a model ----------------------------------------------------------------------------------------

    async def completions(self, request: Request) -> Response:
        body = await _body(request)
        if body.get("tools") or body.get("functions"):
            raise Refusal("invalid", "Tools of the client are not run here; the agent has its own.")
        guest, message = self._guest(request, "openai", as_objects(body.get("messages")), None, body)
        info, accepted, exchange = await self._ask(guest, message, None)
        model = guest.model or "weft"
        if body.get("stream") is True:
            usage = as_object(body.get("stream_options")).get("include_usage") is True
            return self._stream(request, info, accepted, OpenAIDialect(info.id, model=model, usage=usage))
        return await self._completion(info, accepted, exchange, model)

    async def models(self, request: Request) -> Response:
        caller_of(request)
        names = ["weft", *(model.name for model in self._context.models.listed())]
        data = [{"id": name, "object": "model", "created": 0, "owned_by": "weft"} for name in names]
        return _json({"object": "list", "data": data})

    async def _completion(self, info: SessionInfo, accepted: Accepted, exchange: Exchange, model: str) -> Response:
        result = await asyncio.shield(asyncio.ensure_future(exchange.result()))  # leaving is not cancelling
        if exchange.error is not None:
            is_ours = not isinstance(exchange.error, ProviderError)
            told = {"message": str(exchange.error), "type": exchange.error.code, "code": None}
            return _json({"error": told}, 500 if is_ours else 502)
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
                        "finish_reason": _finish(result),
                    }
                ],
                "usage": usage_of(result.usage, result.cost),
            },
            headers=_names(info, accepted),
        )

    # --- what they share ---------------------------------------------------------------------------------------------

    def _guest(
        self, request: Request, kind: str, messages: list[JsonObject], name: str | None, body: JsonObject
    ) -> tuple[Guest, Message]:
        try:
            *history, message = conversation_of(messages)
            system = system_of(messages)
        except ConfigurationError as error:
            raise Refusal("invalid", str(error)) from None
        _check_pictures(message)
        if not message.content:
            raise Refusal("invalid", "The last message is empty.")
        owner = caller_of(request).owner
        named = checked_model(self._context, _text(body, "model") or "")
        return Guest(owner=owner, kind=kind, name=name, history=history, system=system, model=named), message

    async def _ask(
        self, guest: Guest, message: Message, request_id: str | None
    ) -> tuple[SessionInfo, Accepted, Exchange]:
        self._context.meters.check_exchange(guest.owner)
        if request_id is not None and guest.name is not None:
            again = await self._repeated(guest, request_id)
            if again is not None:
                return again
        info = await session_for(self._context, guest)
        accepted, exchange = await ask(self._context, info, message, request_id[:200] if request_id else None)
        return info, accepted, exchange

    async def _repeated(self, guest: Guest, request_id: str) -> tuple[SessionInfo, Accepted, Exchange] | None:
        """The exchange that the same request began before."""
        try:
            info = await self._context.open.info(guest.owner, session_name(guest))
        except Refusal:
            return None
        async with self._context.open.use(info) as session:
            known = session.engine.find(request_id[:200])
            return (info, Accepted(known.id, "repeated", 0), known) if known is not None else None

    def _stream(self, request: Request, info: SessionInfo, accepted: Accepted, dialect: Dialect) -> Response:
        begin = 0 if accepted.state == "repeated" else info.last_seq
        response = EventStreamResponse(
            self._context, caller_of(request), info, dialect, begin, exchange=accepted.exchange
        )
        response.headers.update(_names(info, accepted))
        return response


def _text(body: JsonObject, name: str) -> str | None:
    value = body.get(name)
    return value if isinstance(value, str) and value else None


def _finish(result: AgentResult) -> str:
    return "length" if result.status == "limit" else _FINISH.get(str(result.stop_reason), "stop")


def _names(info: SessionInfo, accepted: Accepted) -> dict[str, str]:
    """Under what it can be found again."""
    return {"X-Weft-Session": info.id, "X-Weft-Exchange": accepted.exchange}


async def _body(request: Request) -> JsonObject:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Refusal("unsupported_media_type", "Send the body as application/json.")
    data = await request.body()
    try:
        body: Any = loads(data)
        if b"\\u" in data:
            msgspec.json.encode(body)  # half a surrogate pair can be read, and not be kept
    except UnicodeEncodeError:
        raise
    except ValueError as error:
        raise Refusal("invalid", f"The body is no JSON: {str(error)[:200]}.") from None
    if not isinstance(body, dict) or not isinstance(body.get("messages"), list):  # pyright: ignore[reportUnknownMemberType]
        raise Refusal("invalid", "The body is an object with a list of messages.")
    if len(as_objects(as_object(body)["messages"])) != len(as_object(body)["messages"]):
        raise Refusal("invalid", "Each message is an object.")
    return as_object(body)


def _wanted(request: Request) -> str | None:
    """The dialect that a client names: in the address, or as a parameter of what it accepts."""
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
                picture_type(base64.b64decode(block.data, validate=True))
            except ValueError:
                raise Refusal("invalid", "The data of a picture is not base64.") from None
        if block.url is not None and not block.url.startswith(("https://", "http://")):
            raise Refusal("invalid", "A picture is a data: address, or one that begins with https:// or http://.")


def _json(data: JsonObject, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(encode(data), status, dict(headers or {}), "application/json")
