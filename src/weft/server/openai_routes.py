"""`/v1/chat/completions` and `/v1/models`: the agent served as a model.

The client's own tools are offered beside the agent's. A call of one ends the response with `tool_calls`; the exchange
waits, and the request that brings the results continues it. A request without an earlier one, a stream or tools is
answered without a session. A client that closes its connection cancels.
"""

import asyncio
from collections import OrderedDict, deque
from contextlib import aclosing, suppress
from hashlib import sha256
from time import monotonic, time

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from weft.agent.engine import ModelLike
from weft.agent.exchange import Exchange
from weft.core.errors import WeftError
from weft.core.json import JsonObject, as_list, as_object, as_objects, encode
from weft.core.message_forms import system_texts
from weft.core.messages import Message, ToolResult
from weft.dialects.dialect import CUT_SHORT, NOT_STORED
from weft.dialects.openai import OpenAIDialect
from weft.dialects.ui_messages import ClientAnswers, ClientResult
from weft.server.client_bodies import json_response, read_body, read_conversation_messages, text_field
from weft.server.client_conversation import (
    ClientConversation,
    continue_exchange,
    exchanged_texts,
    is_same_conversation,
    require_model,
    start_in_conversation,
)
from weft.server.context import ServerContext
from weft.server.errors import ApiError
from weft.server.event_stream import EventStream
from weft.server.exchange_stream import ExchangeFrames, ExchangePart, ExchangeStreamResponse
from weft.server.openai_request import CompletionRequest, read_completion_request
from weft.server.operations import caller_of
from weft.sessions.session import Session
from weft.sessions.store import NoSuchSession, SessionInfo

KIND = "openai"
_KNOWN = 10_000
"""Conversations whose session is remembered."""
_READ_SECONDS = 60.0
"""Time in which a client reads an answer that is not kept."""
_GONE = "The client closed the connection."


class OpenAIRoutes:
    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self._ended: deque[tuple[float, str]] = deque()  # sessions in memory, with the time of their end
        self._sessions: OrderedDict[bytes, str] = OrderedDict()  # by owner and the requests of the conversation

    def routes(self) -> list[Route]:
        return [
            Route("/v1/chat/completions", self.completions, methods=["POST"]),
            Route("/v1/models", self.models, methods=["GET"]),
            Route("/v1/models/{name:path}", self.model, methods=["GET"]),
        ]

    # --- models ------------------------------------------------------------------------------------------------------

    async def models(self, request: Request) -> Response:
        caller_of(request)
        return json_response({"object": "list", "data": [_model(name) for name in self._names()]})

    async def model(self, request: Request) -> Response:
        caller_of(request)
        name = request.path_params["name"]
        if name not in self._names():
            raise ApiError("not_found", f"There is no model {name[:80]!r}; GET /v1/models lists them.", param="model")
        return json_response(_model(name))

    def _names(self) -> list[str]:
        return ["weft", *(model.name for model in self._context.models.list_models())]

    # --- completions -------------------------------------------------------------------------------------------------

    async def completions(self, request: Request) -> Response:
        body = await read_body(request)
        model = require_model(self._context, text_field(body, "model") or "")
        wanted = read_completion_request(body, self._open_model(model))
        plain = as_objects(body["messages"])
        *history, message = read_conversation_messages(plain)
        conversation = ClientConversation(
            owner=caller_of(request).owner,
            kind=KIND,
            history=history,
            system=system_texts(plain),
            model=model,
            tools=wanted.tools,
            hidden_tools=("ask",),
        )
        is_small = not history and not wanted.streams and not wanted.tools and wanted.store is not True
        if not is_small and wanted.store is not False:
            return await self._answer(request, self._context, conversation, message, wanted)
        await self._forget_ended()
        unkept = msgspec.structs.replace(conversation, is_kept=False)
        return await self._answer(request, self._context.in_memory(), unkept, message, wanted)

    def _open_model(self, name: str) -> ModelLike | None:
        with suppress(WeftError):
            return self._context.models.open(name or self._context.models.default)
        return None

    async def _answer(
        self,
        request: Request,
        context: ServerContext,
        conversation: ClientConversation,
        message: Message,
        wanted: CompletionRequest,
    ) -> Response:
        if message.role == "tool":
            found = await self._continue(context, conversation, message, wanted)
            if found is not None:
                return await self._respond(request, context, wanted, *found)
        shape = await asyncio.to_thread(wanted.output_shape)
        info, accepted, exchange = await start_in_conversation(
            context,
            conversation,
            message,
            info=await self._find_session(context, conversation) if message.role == "user" else None,
            output=shape,
            configure=lambda session: _configure(session, wanted),
        )
        if conversation.is_kept:
            self._remember(conversation, message, info)
        else:
            exchange.on_end(lambda: self._ended.append((monotonic(), info.id)))
        part = ExchangePart(accepted.exchange, info.last_seq, pause_from=0)
        frames = ExchangeFrames(self._dialect(info, wanted, conversation.model), part)
        return await self._respond(request, context, wanted, info, frames, exchange)

    def _dialect(self, info: SessionInfo, wanted: CompletionRequest, model: str) -> OpenAIDialect:
        show = wanted.show_tools if wanted.show_tools is not None else self._context.settings.show_tools
        return OpenAIDialect(
            info.id,
            model=model or "weft",
            usage=wanted.usage or not wanted.streams,
            show_tools=show,
            final_only=wanted.output is not None,
            resumable=False,
            unattended=True,
        )

    async def _continue(
        self, context: ServerContext, conversation: ClientConversation, message: Message, wanted: CompletionRequest
    ) -> tuple[SessionInfo, ExchangeFrames, Exchange] | None:
        """Give the results of the client's tools to the exchange that waits for them."""
        results = {block.id: block for block in message.content if isinstance(block, ToolResult)}
        answers = ClientAnswers(results={name: ClientResult(each.content) for name, each in results.items()})
        theirs = exchanged_texts(conversation.history)
        for session in context.open_sessions.find_waiting(set(results)):
            info = await context.sessions.store.info(session.session)
            current = session.engine.current
            if info.owner != conversation.owner or current is None:
                continue
            if not is_same_conversation(theirs, exchanged_texts(session.engine.messages)):
                continue
            dialect = self._dialect(info, wanted, conversation.model)
            _configure(session, wanted)
            part = await continue_exchange(context, info, answers, dialect)
            if part is not None:
                return info, ExchangeFrames(dialect, part), current
        return None

    # --- the session of a conversation -------------------------------------------------------------------------------

    async def _find_session(self, context: ServerContext, conversation: ClientConversation) -> SessionInfo | None:
        known = self._sessions.get(_key(conversation, conversation.history))
        if known is not None and conversation.history and context is self._context:
            with suppress(ApiError):
                info = await context.open_sessions.find_info(conversation.owner, known)
                async with context.open_sessions.use(info) as session:
                    theirs = exchanged_texts(conversation.history)
                    is_free = session.engine.current is None or bool(session.client_calls)
                    if is_free and is_same_conversation(theirs, exchanged_texts(session.engine.messages)):
                        return await context.sessions.store.info(known)
        return None

    def _remember(self, conversation: ClientConversation, message: Message, info: SessionInfo) -> None:
        self._sessions[_key(conversation, [*conversation.history, message])] = info.id
        if len(self._sessions) > _KNOWN:
            self._sessions.popitem(last=False)

    async def _forget_ended(self) -> None:
        """Delete the sessions of requests that were answered without keeping one."""
        memory = self._context.in_memory()
        while self._ended and self._ended[0][0] < monotonic() - _READ_SECONDS:
            _, session = self._ended.popleft()
            await memory.open_sessions.close_session(session)
            with suppress(NoSuchSession):
                await memory.sessions.store.delete(session)

    # --- responses ---------------------------------------------------------------------------------------------------

    async def _respond(
        self,
        request: Request,
        context: ServerContext,
        wanted: CompletionRequest,
        info: SessionInfo,
        frames: ExchangeFrames,
        exchange: Exchange,
    ) -> Response:
        def finish() -> None:
            dialect = frames.dialect
            if isinstance(dialect, OpenAIDialect) and dialect.refused is not None:
                exchange.cancel(dialect.refused)

        if wanted.streams:
            return ExchangeStreamResponse(
                context,
                caller_of(request),
                info,
                frames,
                on_disconnect=lambda: exchange.cancel(_GONE),
                on_end=finish,
            )
        try:
            chunks = await self._collect(request, context, info, frames, exchange)
        finally:
            finish()
        headers = {"X-Weft-Exchange": frames.part.exchange}
        if context is self._context:
            headers["X-Weft-Session"] = info.id
        return _completion(chunks, headers)

    async def _collect(
        self,
        request: Request,
        context: ServerContext,
        info: SessionInfo,
        frames: ExchangeFrames,
        exchange: Exchange,
    ) -> list[JsonObject] | None:
        """Read all chunks of a completion. Returns None if the client closed the connection, which cancels."""
        stream = EventStream(context.sessions.store, context.open_sessions.hub, info.id, frames.part.begin)
        watching = asyncio.create_task(_wait_for_disconnect(request, stream))
        chunks = [as_object(frame.data) for frame in frames.begin()]
        try:
            with context.streaming(caller_of(request), stream):
                async with aclosing(stream.batches(context.settings.heartbeat_seconds)) as batches:
                    async for entries in batches:
                        chunks += [as_object(frame.data) for frame in frames.feed(entries)]
                        if frames.is_done:
                            break
        finally:
            watching.cancel()
            await asyncio.wait([watching])
        if frames.is_done:
            return chunks
        if stream.end_reason is None:
            exchange.cancel(_GONE)
            return None
        why = NOT_STORED if stream.end_reason == "store" else CUT_SHORT
        raise ApiError("unavailable", why, headers={"Retry-After": "5"})


def _key(conversation: ClientConversation, history: list[Message]) -> bytes:
    asked = [asked for asked, _ in exchanged_texts(history)]
    return sha256(encode([conversation.owner, conversation.model, conversation.system, asked])).digest()


def _configure(session: Session, wanted: CompletionRequest) -> None:
    """Apply the parameters of a request from the next turn on."""
    engine = session.engine
    given = dict(wanted.settings)
    if "extra" in given:
        given["extra"] = {**session.settings.extra, **given["extra"]}
    engine.settings = msgspec.structs.replace(session.settings, **given)
    if engine.current is not None:
        opened = engine.session
        opened.settings = msgspec.structs.replace(engine.settings, output_schema=opened.settings.output_schema)


async def _wait_for_disconnect(request: Request, stream: EventStream) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    stream.stop()


def _completion(chunks: list[JsonObject] | None, headers: dict[str, str]) -> Response:
    """Fold the chunks of a stream into one completion."""
    if chunks is None:
        return Response(status_code=499)
    message: JsonObject = {"role": "assistant", "content": None, "refusal": None}
    calls: list[JsonObject] = []
    finish, usage, head = "stop", None, as_object(chunks[0] if chunks else {})
    for chunk in chunks:
        if "error" in chunk:
            return _failure(as_object(chunk["error"]), headers)
        usage = chunk.get("usage") or usage
        for choice in as_objects(chunk.get("choices")):
            delta = as_object(choice.get("delta"))
            for name in ("content", "refusal", "reasoning_content"):
                if delta.get(name):
                    message[name] = (message.get(name) or "") + delta[name]
            calls += [
                {key: call[key] for key in ("id", "type", "function")} for call in as_list(delta.get("tool_calls"))
            ]
            finish = choice.get("finish_reason") or finish
    if calls:
        message["tool_calls"] = calls
    elif message["content"] is None and message["refusal"] is None:
        message["content"] = ""
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
    return json_response(
        {
            "id": head.get("id", ""),
            "object": "chat.completion",
            "created": head.get("created", int(time())),
            "model": head.get("model", "weft"),
            "choices": [choice],
            "usage": usage,
        },
        headers=headers,
    )


def _failure(error: JsonObject, headers: dict[str, str]) -> Response:
    """The response for a request that failed: by our fault, by the provider's, or for lack of somebody to ask."""
    if error.get("type") == "permission_error":
        return json_response({"error": error}, 403, headers)
    code = error.get("code")
    return json_response({"error": error | {"type": code}}, 500 if code == "internal" else 502, headers)


def _model(name: str) -> JsonObject:
    return {"id": name, "object": "model", "created": 0, "owned_by": "weft"}
