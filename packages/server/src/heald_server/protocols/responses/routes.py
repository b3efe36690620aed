"""`/v1/responses`: the agent served as a model with the Responses API.

A response is an exchange of a session, or a part of it: a call of the client's own tools, or an approval that the
client gives, ends a response, and the request that brings the results begins the next one in the same exchange.
`previous_response_id` continues the session of the earlier response, or a fork of it. A client that closes its
connection cancels, unless the response runs in the background.
"""

from functools import partial
from typing import TypeVar

import msgspec
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket

from heald.core.json import JsonObject, as_object
from heald_server.context import ServerContext
from heald_server.dialects.dialect import Dialect
from heald_server.http.errors import ApiError
from heald_server.http.operations import caller_of, json_response
from heald_server.http.parameters import check_parameters
from heald_server.http.route_description import RouteDescription
from heald_server.protocols.responses.compaction import ResponseCompactor
from heald_server.protocols.responses.connection_responses import ConnectionResponses
from heald_server.protocols.responses.dialect import ResponsesDialect
from heald_server.protocols.responses.input_items import list_items, listed_item
from heald_server.protocols.responses.log import (
    LaterFrames,
    StoredResponse,
    find_response,
    open_frames,
    other_requests,
    read_input_items,
    read_response,
)
from heald_server.protocols.responses.request import RESPONSE_PARAMETERS, ResponseRequest, read_response_request
from heald_server.protocols.responses.response_socket import ResponseSocket
from heald_server.protocols.responses.shapes import (
    CompactBody,
    CompactedResponse,
    DeletedResponse,
    InputItems,
    InputItemsQuery,
    ResponseBody,
    ResponseCreate,
    ResponseEvent,
    ResponseSocketError,
    ResponseView,
    RetrieveQuery,
)
from heald_server.protocols.responses.start import ResponseStarter, StartedResponse
from heald_server.protocols.shared.client_bodies import read_json, text_field
from heald_server.protocols.shared.conversation_names import (
    SESSION_HEADER,
    find_conversation_name,
    key_name,
    read_request_key,
)
from heald_server.protocols.shared.conversation_start import require_model
from heald_server.protocols.shared.parameter_table import name_dropped
from heald_server.protocols.shared.shapes import V1ErrorBody
from heald_server.protocols.shared.v1_sessions import V1Sessions as OpenAISessions
from heald_server.streams.exchange_stream import ExchangeStreamResponse, collect_frames

T = TypeVar("T", bound=msgspec.Struct)
_CANCELLED = "The client cancelled the response."
_RESPONSE = "/v1/responses/{response_id}"
_describe = partial(RouteDescription, tag="v1", error_body=V1ErrorBody)
_DESCRIPTIONS = (
    _describe(
        "POST",
        "/v1/responses",
        "A response, whole, as a stream or in the background.",
        response=ResponseView,
        body=ResponseBody,
        events=(ResponseEvent,),
        errors=("not_found", "conflict", "too_many", "budget"),
    ),
    _describe(
        "WS",
        "/v1/responses",
        "Responses over a WebSocket, one after the other.",
        body=ResponseCreate,
        events=(ResponseEvent, ResponseSocketError),
    ),
    _describe(
        "POST",
        "/v1/responses/compact",
        "Replace a conversation by one item with a summary.",
        response=CompactedResponse,
        body=CompactBody,
        errors=("not_found", "conflict", "too_many", "budget"),
    ),
    _describe(
        "GET",
        _RESPONSE,
        "A stored response, or its events after `starting_after`.",
        response=ResponseView,
        query=RetrieveQuery,
        events=(ResponseEvent,),
        errors=("not_found", "too_many"),
    ),
    _describe("DELETE", _RESPONSE, "Delete.", response=DeletedResponse, errors=("not_found",)),
    _describe("POST", f"{_RESPONSE}/cancel", "Cancel.", response=ResponseView, errors=("not_found",)),
    _describe(
        "GET",
        f"{_RESPONSE}/input_items",
        "The input of a response, page by page.",
        response=InputItems,
        query=InputItemsQuery,
        errors=("not_found",),
    ),
)


class ResponseRoutes:
    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self._sessions = OpenAISessions(context)
        self._starter = ResponseStarter(context, self._sessions)
        self._compactor = ResponseCompactor(context, self._sessions, self._starter)

    def routes(self) -> list[BaseRoute | RouteDescription]:
        at_holder = self._context.node.forwarder.at_holder
        delete = at_holder("DELETE /v1/responses", self.delete)
        cancel = at_holder("cancel /v1/responses", self.cancel)
        return [
            Route("/v1/responses", self.create, methods=["POST"]),
            WebSocketRoute("/v1/responses", self.socket),
            Route("/v1/responses/compact", self._compactor.compact, methods=["POST"]),
            Route(_RESPONSE, self.retrieve, methods=["GET"]),
            Route(_RESPONSE, delete, methods=["DELETE"]),
            Route(f"{_RESPONSE}/cancel", cancel, methods=["POST"]),
            Route(f"{_RESPONSE}/input_items", self.input_items, methods=["GET"]),
            *_DESCRIPTIONS,
        ]

    # --- create ------------------------------------------------------------------------------------------------------

    async def create(self, request: Request) -> Response:
        body = await read_json(request)
        if not isinstance(body, dict):
            raise ApiError("invalid", "The body is an object with an input.")
        parameters, started = await self._start(request, as_object(body))
        response = await self._respond(request, started, parameters.streams, parameters.in_background)
        return name_dropped(response, parameters.dropped)

    async def socket(self, websocket: WebSocket) -> None:
        await ResponseSocket(self._context, caller_of(websocket), websocket, self._start_on_socket).run()

    async def _start_on_socket(
        self, websocket: WebSocket, fields: JsonObject, connection: ConnectionResponses
    ) -> StartedResponse:
        return (await self._start(websocket, fields, connection))[1]

    async def _start(
        self, request: HTTPConnection, fields: JsonObject, connection: ConnectionResponses | None = None
    ) -> tuple[ResponseRequest, StartedResponse]:
        model = require_model(self._context, text_field(fields, "model") or "")
        parameters = read_response_request(fields, self._sessions.open_model(model))
        RESPONSE_PARAMETERS.note(parameters.dropped)
        items = list_items(fields.get("input"))
        await self._sessions.delete_ended()
        name = find_conversation_name(request, {"conversation": parameters.conversation}, "conversation")
        key = read_request_key(request) if connection is None else None  # a socket has many requests
        if name is None and key is not None:
            name = key_name(key)  # a repeated request must find its session
        started = await self._starter.start(
            caller_of(request).owner,
            model,
            parameters,
            items,
            name.value if name is not None else None,
            request.headers.get(SESSION_HEADER),
            connection,
            key,
        )
        return parameters, started

    async def _respond(
        self, request: Request, started: StartedResponse, streams: bool, in_background: bool
    ) -> Response:
        context, response = started.context, started.response
        caller = caller_of(request)
        if in_background and not streams:
            return json_response(response.dialect().response, headers=_headers(started))
        frames = await open_frames(context, response)
        if streams:
            return ExchangeStreamResponse(
                context,
                caller,
                response.info,
                frames,
                on_disconnect=None if in_background else started.disconnect,
                failure=None if in_background else lambda headers: _failed(frames.dialect, headers),
            )
        if await collect_frames(request, context, caller, response.info, frames) is None:
            started.disconnect()
            return Response(status_code=499)
        return _finished(frames.dialect, _headers(started))

    # --- stored responses --------------------------------------------------------------------------------------------

    async def retrieve(self, request: Request) -> Response:
        caller = caller_of(request)
        query = _read_query(request, RetrieveQuery)
        response = await find_response(self._context, caller.owner, request.path_params["response_id"])
        if query.starting_after is not None and not query.stream:
            raise ApiError("invalid", "starting_after is for streams; add stream=true.", param="starting_after")
        read = await read_response(self._context, response)
        if not query.stream:
            return json_response(read.dialect.response)
        frames = await open_frames(self._context, response)
        if query.starting_after is not None:
            frames = LaterFrames(frames, query.starting_after)
        return ExchangeStreamResponse(self._context, caller, response.info, frames)

    async def cancel(self, request: Request) -> Response:
        response = await self._find(request)
        read = await read_response(self._context, response)
        if read.end is None:
            await self._cancel(response)
            read = await read_response(self._context, response)
        return json_response(read.dialect.response)

    async def _cancel(self, response: StoredResponse) -> None:
        async with self._context.open_sessions.use(response.info) as session:
            exchange = session.find_exchange(response.request.exchange)
            if exchange is not None:
                exchange.cancel(_CANCELLED)
                await exchange.result()
            await session.flush()

    async def delete(self, request: Request) -> Response:
        response = await self._find(request)
        if (await read_response(self._context, response)).end is None:
            await self._cancel(response)
        opened = self._context.open_sessions
        if await other_requests(self._context, response):
            async with opened.use(response.info) as session:
                deleted = session.stored_settings.deleted_responses
                await session.configure(deleted_responses=[*deleted, response.seq])
        else:
            await opened.close_session(response.info.id)
            await self._context.sessions.delete(response.info.id)
            opened.hub(response.info.id).invalidate()  # its readers learn that it is deleted
        return json_response({"id": response.id, "object": "response", "deleted": True})

    async def input_items(self, request: Request) -> Response:
        query = _read_query(request, InputItemsQuery)
        response = await self._find(request)
        items = await read_input_items(self._context, response)
        listed = [listed_item(item, response.id, number) for number, item in enumerate(items)]
        if query.order == "desc":
            listed.reverse()
        first = 0
        if query.after is not None:
            first = next((number for number, item in enumerate(listed, 1) if item["id"] == query.after), -1)
            if first < 0:
                raise ApiError("not_found", f"There is no input item {query.after[:100]!r}.", param="after")
        page = listed[first : first + query.limit]
        return json_response(
            {
                "object": "list",
                "data": page,
                "first_id": page[0]["id"] if page else "",
                "last_id": page[-1]["id"] if page else "",
                "has_more": first + query.limit < len(listed),
            }
        )

    async def _find(self, request: Request) -> StoredResponse:
        return await find_response(self._context, caller_of(request).owner, request.path_params["response_id"])


def _headers(started: StartedResponse) -> dict[str, str]:
    headers = {"X-Heald-Exchange": started.response.request.exchange}
    return headers | ({"X-Heald-Session": started.response.info.id} if started.is_stored else {})


def _finished(dialect: Dialect, headers: dict[str, str]) -> Response:
    assert isinstance(dialect, ResponsesDialect)
    return _failed(dialect, headers) or json_response(dialect.response, headers=headers)


def _failed(dialect: Dialect, headers: dict[str, str]) -> Response | None:
    """The response for an exchange that failed; None for one that did not."""
    assert isinstance(dialect, ResponsesDialect)
    return dialect.failure.response(headers) if dialect.failure is not None else None


def _read_query(request: Request, kind: type[T]) -> T:
    check_parameters(request, [*kind.__struct_fields__, "include", "include[]"])
    values: JsonObject = {
        name: value for name, value in request.query_params.items() if not name.startswith("include[")
    }
    if "include" in request.query_params or "include[]" in request.query_params:
        raise ApiError("invalid", "There is nothing to include here; leave include out.", param="include")
    try:
        return msgspec.convert(values, kind, strict=False)
    except (msgspec.ValidationError, ValueError) as error:
        raise ApiError("invalid", f"The parameters cannot be read: {str(error)[:200]}.") from None
