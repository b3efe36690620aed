"""`/v1/chat/completions` and `/v1/models`: the agent served as a model.

A client that brings tools of its own gets calls of these only, unless it asks for the agent's too. A call ends the
response with `tool_calls`; the exchange waits, and the request that brings the results continues it. A request
continues a session that the client names, and else begins anew from the messages that it holds. A request without an
earlier one, a stream or tools is answered without a session, unless files are written in it. A client that closes its
connection cancels.
"""

import asyncio
from functools import partial
from time import time

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from heald.agent.interface import ExchangeInterface
from heald.core.errors import ModelNotFound, ProviderError
from heald.core.json import JsonObject, as_list, as_object, as_objects
from heald.core.message_forms import system_texts
from heald.core.messages import Message, ToolResult
from heald.providers.model_lookup import look_up_model
from heald.sessions.session_info import SessionInfo
from heald_server.context import ServerContext
from heald_server.dialects.dialect import Dialect
from heald_server.http.errors import ApiError
from heald_server.http.operations import caller_of, json_response
from heald_server.http.route_description import RouteDescription
from heald_server.protocols.openai.dialect import OpenAIDialect
from heald_server.protocols.openai.provider_calls import ProviderCalls, failed_response
from heald_server.protocols.openai.request import (
    COMPLETION_PARAMETERS,
    CompletionRequest,
    read_completion_request,
)
from heald_server.protocols.openai.shapes import Completion, CompletionBody, CompletionChunk, V1Model, V1Models
from heald_server.protocols.shared.client_answers import ClientAnswers, ClientResult
from heald_server.protocols.shared.client_bodies import read_body, read_conversation_messages, text_field
from heald_server.protocols.shared.client_call_ids import find_answered_calls, parse_call_id
from heald_server.protocols.shared.client_conversation import ClientConversation
from heald_server.protocols.shared.conversation_answers import continue_exchange
from heald_server.protocols.shared.conversation_names import SESSION_HEADER, find_conversation_name
from heald_server.protocols.shared.conversation_sessions import find_ending_with
from heald_server.protocols.shared.conversation_start import (
    choose_precedence,
    require_model,
    start_in_conversation,
)
from heald_server.protocols.shared.conversation_texts import exchanged_texts, is_same_conversation
from heald_server.protocols.shared.parameter_table import name_dropped
from heald_server.protocols.shared.shapes import V1ErrorBody
from heald_server.protocols.shared.v1_sessions import (
    V1Sessions as OpenAISessions,
)
from heald_server.protocols.shared.v1_sessions import (
    cancel_unwatched,
    configure_session,
)
from heald_server.streams.exchange_frames import ExchangeFrames, ExchangePart
from heald_server.streams.exchange_stream import ExchangeStreamResponse, collect_frames

KIND = "openai"
_describe = partial(RouteDescription, tag="v1", error_body=V1ErrorBody)
_DESCRIPTIONS = (
    _describe(
        "POST",
        "/v1/chat/completions",
        "A chat completion, whole or as a stream.",
        response=Completion,
        body=CompletionBody,
        events=(CompletionChunk,),
        errors=("not_found", "busy", "conflict", "too_many", "budget"),
    ),
    _describe("GET", "/v1/models", "The models.", response=V1Models),
    _describe(
        "GET",
        "/v1/models/{name}",
        "A model of the list, or one that its provider lists.",
        response=V1Model,
        errors=("not_found",),
    ),
)


class OpenAIRoutes:
    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self._sessions = OpenAISessions(context)
        self._calls = ProviderCalls(context)

    def routes(self) -> list[BaseRoute | RouteDescription]:
        return [
            Route("/v1/chat/completions", self.completions, methods=["POST"]),
            Route("/v1/models", self.models, methods=["GET"]),
            Route("/v1/models/{name:path}", self.model, methods=["GET"]),
            *_DESCRIPTIONS,
        ]

    # --- models ------------------------------------------------------------------------------------------------------

    async def models(self, _: Request) -> Response:
        return json_response({"object": "list", "data": [_model(name) for name in self._names()]})

    async def model(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name in self._names():
            return json_response(_model(name))
        missing = f"There is no model {name[:80]!r}; GET /v1/models lists them."
        if "/" not in name or self._context.agent_options is not None:
            raise ApiError("not_found", missing, param="model")
        try:
            listed = await look_up_model(self._calls.open_model(name))
        except ModelNotFound:
            raise ApiError("not_found", missing, param="model") from None
        except ProviderError as error:
            return failed_response(error)
        return json_response(_model(name) | {"created": listed.created, "owned_by": listed.owner})

    def _names(self) -> list[str]:
        return ["heald", *(model.name for model in self._context.models.list_models())]

    # --- completions -------------------------------------------------------------------------------------------------

    async def completions(self, request: Request) -> Response:
        body = await read_body(request)
        model = require_model(self._context, text_field(body, "model") or "")
        parameters = read_completion_request(body, self._sessions.open_model(model))
        COMPLETION_PARAMETERS.note(parameters.dropped)
        return name_dropped(await self._complete(request, body, model, parameters), parameters.dropped)

    async def _complete(
        self, request: Request, body: JsonObject, model: str, parameters: CompletionRequest
    ) -> Response:
        plain = as_objects(body["messages"])
        *history, message = read_conversation_messages(plain)
        name = find_conversation_name(request, body, "chat_id")
        conversation = ClientConversation(
            owner=caller_of(request).owner,
            kind=KIND,
            name=name.value if name is not None else None,
            history=history,
            system=system_texts(plain),
            model=model,
            tools=parameters.tools,
            precedence=choose_precedence(self._context, parameters.agent_tools),
            hidden_tools=("ask",),
        )
        is_small = not history and not parameters.streams and not parameters.tools and parameters.store is not True
        is_side_request = is_small and (name is None or name.has_side_requests)
        if not is_side_request and parameters.store is not False:
            return await self._answer(request, self._context, conversation, message, parameters)
        await self._sessions.delete_ended()
        unkept = msgspec.structs.replace(conversation, is_kept=False, name=None)
        return await self._answer(request, self._context.in_memory(), unkept, message, parameters)

    async def _answer(
        self,
        request: Request,
        context: ServerContext,
        conversation: ClientConversation,
        message: Message,
        parameters: CompletionRequest,
    ) -> Response:
        if message.role == "tool":
            continued = await self._continue(context, conversation, message, parameters)
            if continued is not None:
                return await self._respond(request, context, parameters, *continued)
        shape = await asyncio.to_thread(parameters.output_shape)
        info, accepted, exchange = await start_in_conversation(
            context,
            conversation,
            message,
            info=await _find_by_id(request, context, conversation) if message.role == "user" else None,
            output=shape,
            configure=lambda session: configure_session(session, parameters.settings),
        )
        if not conversation.is_kept:
            self._sessions.delete_later(exchange, info)
        part = ExchangePart(accepted.exchange, info.last_seq, pause_from=0)
        frames = ExchangeFrames(self._dialect(info, parameters, conversation.model), part)
        return await self._respond(request, context, parameters, info, frames, exchange)

    def _dialect(self, info: SessionInfo, parameters: CompletionRequest, model: str) -> OpenAIDialect:
        show = parameters.show_tools if parameters.show_tools is not None else self._context.settings.show_tools
        return OpenAIDialect(
            info.id,
            model=model or "heald",
            usage=parameters.usage or not parameters.streams,
            show_tools=show,
            final_only=parameters.output is not None,
            resumable=False,
            unattended=True,
        )

    async def _continue(
        self, context: ServerContext, conversation: ClientConversation, message: Message, parameters: CompletionRequest
    ) -> tuple[SessionInfo, ExchangeFrames, ExchangeInterface] | None:
        """Give the results of the client's tools to the exchange that waits for them."""
        results = {block.id: ClientResult(block.content) for block in message.content if isinstance(block, ToolResult)}
        calls = await find_answered_calls(context, conversation.owner, results)
        if calls is None:
            return None
        answers = ClientAnswers(results={calls.ids[name]: result for name, result in results.items()})
        async with context.open_sessions.use(calls.info, moves_waiting=True) as session:
            current = session.current
            theirs = exchanged_texts(conversation.history)
            if current is None or not is_same_conversation(theirs, exchanged_texts(session.messages)):
                return None
            dialect = self._dialect(calls.info, parameters, conversation.model)
            await configure_session(session, parameters.settings)
            part = await continue_exchange(context, calls.info, answers, dialect)
        return (calls.info, ExchangeFrames(dialect, part), current) if part is not None else None

    # --- responses ---------------------------------------------------------------------------------------------------

    async def _respond(
        self,
        request: Request,
        context: ServerContext,
        parameters: CompletionRequest,
        info: SessionInfo,
        frames: ExchangeFrames,
        exchange: ExchangeInterface,
    ) -> Response:
        def finish() -> None:
            dialect = frames.dialect
            if isinstance(dialect, OpenAIDialect) and dialect.refused is not None:
                exchange.cancel(dialect.refused)

        if parameters.streams:
            return ExchangeStreamResponse(
                context,
                caller_of(request),
                info,
                frames,
                on_disconnect=lambda: cancel_unwatched(context, info, exchange),
                on_end=finish,
                failure=lambda headers: _failed(frames.dialect, headers),
            )
        try:
            collected = await collect_frames(request, context, caller_of(request), info, frames)
        finally:
            finish()
        if collected is None:
            cancel_unwatched(context, info, exchange)
            return Response(status_code=499)
        headers = {"X-Heald-Exchange": frames.part.exchange}
        may_keep = parameters.store is not False
        if context is self._context or (may_keep and await self._sessions.keep_files(exchange, info)):
            headers["X-Heald-Session"] = info.id
        failed = _failed(frames.dialect, headers)
        return failed or _completion([as_object(frame.data) for frame in collected], headers)


async def _find_by_id(request: Request, context: ServerContext, conversation: ClientConversation) -> SessionInfo | None:
    """The session that the client names by an id of ours: in a header, or that of a call in its messages."""
    calls = (call.id for earlier in reversed(conversation.history) for call in reversed(earlier.tool_calls))
    places = (place for name in calls if (place := parse_call_id(name)) is not None)
    session_id = request.headers.get(SESSION_HEADER) or next((session for session, _ in places), None)
    if session_id is None or not conversation.history:
        return None
    return await find_ending_with(context, conversation.owner, session_id, conversation.history)


def _failed(dialect: Dialect, headers: dict[str, str]) -> Response | None:
    """The response for an exchange that failed; None for one that did not."""
    assert isinstance(dialect, OpenAIDialect)
    return dialect.failure.response(headers) if dialect.failure is not None else None


def _completion(chunks: list[JsonObject], headers: dict[str, str]) -> Response:
    """Fold the chunks of a stream into one completion."""
    message: JsonObject = {"role": "assistant", "content": None, "refusal": None}
    calls: list[JsonObject] = []
    finish, usage, head = "stop", None, as_object(chunks[0] if chunks else {})
    for chunk in chunks:
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
            "model": head.get("model", "heald"),
            "choices": [choice],
            "usage": usage,
        },
        headers=headers,
    )


def _model(name: str) -> JsonObject:
    return {"id": name, "object": "model", "created": 0, "owned_by": "heald"}
