"""Operations: each API call is declared once; its route, its input checks and its description are made from that.

A handler receives an `ApiCall` with its decoded parameters and body, and returns a value of the declared type or a
response.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import Route

from heald.core.json import JsonObject, encode
from heald.sessions.session_info import SessionInfo
from heald_server.access.caller import Caller
from heald_server.http.errors import ApiError, ErrorCode
from heald_server.http.json_body import parse_json, require_json
from heald_server.http.parameters import check_parameters, check_text

if TYPE_CHECKING:
    from heald_server.context import ServerContext


@dataclass(frozen=True, slots=True)
class ApiCall:
    """One request for an operation."""

    context: "ServerContext"
    request: Request
    owner: str
    path: dict[str, str]
    body: Any = None
    query: Any = None

    async def session(self) -> SessionInfo:
        """The session that the path names. Raises if it is not the caller's."""
        return await self.context.open_sessions.find_info(self.owner, self.path["session"])


Handler = Callable[[ApiCall], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Operation:
    """A method on a path."""

    method: str
    path: str
    """In OpenAPI's notation. `{path}` may contain slashes."""
    handler: Handler
    summary: str
    response: Any = None
    """The type of a JSON response; None for one without a body or of another media type."""
    body: Any = None
    """The type of a JSON body; `bytes` for a body that is not decoded."""
    query: type[msgspec.Struct] | None = None
    status: int = 200
    media_type: str = "application/json"
    """Of the response."""
    errors: Sequence[ErrorCode] = ()
    """Errors beside those that every operation has."""
    tag: str = "sessions"
    body_optional: bool = False
    decoder: "msgspec.json.Decoder[Any] | None" = field(init=False, default=None)

    def __post_init__(self) -> None:
        if self.body is not None and self.body is not bytes:
            object.__setattr__(self, "decoder", msgspec.json.Decoder(self.body))


def caller_of(connection: HTTPConnection) -> Caller:
    """The client that a request or a WebSocket comes from. Raises `ApiError` where the request has no token."""
    caller = connection.scope["state"]["caller"]
    if caller is None:
        raise ApiError("unauthorized", "A token is needed; send it as 'Authorization: Bearer …'.")
    return caller


def is_operator(call: "ApiCall") -> bool:
    """Whether the person who runs the server asks: no other user of it, no guest with a link, no user of a program."""
    return not (call.owner or caller_of(call.request).is_guest or call.context.agent_options is not None)


def json_response(data: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(encode(data), status, dict(headers or {}), "application/json")


def build_route(operation: Operation, context: "ServerContext") -> Route:
    async def answer(request: Request) -> Response:
        call = ApiCall(
            context,
            request,
            caller_of(request).owner,
            {name: check_text(name, str(value)) for name, value in request.path_params.items()},
            await _read_body(operation, request),
            _read_query(operation, request),
        )
        if operation.method == "POST":
            context.check_store()
            await context.meters.refresh(call.owner)
        result = await operation.handler(call)
        if isinstance(result, Response):
            return result
        content = b"" if operation.status == 204 else encode(result)
        return Response(content, operation.status, media_type="application/json" if content else None)

    name = f"{operation.method} {operation.path}"
    path = operation.path.replace("{path}", "{path:path}")
    return Route(path, context.node.forwarder.at_holder(name, answer), methods=[operation.method], name=name)


async def _read_body(operation: Operation, request: Request) -> Any:
    if operation.body is None:
        return None
    data = await request.body()
    if operation.body is bytes:
        return data
    assert operation.decoder is not None
    if not data and operation.body_optional:
        return operation.decoder.decode(b"{}")
    require_json(request)
    return parse_json(operation.decoder, data)


def _read_query(operation: Operation, request: Request) -> Any:
    values: JsonObject = {}
    for name, value in request.query_params.multi_items():
        if name in values:
            raise ApiError("invalid", f"The parameter {name[:40]!r} is given twice.")
        values[name] = check_text(name[:40], value)
    kind = operation.query
    check_parameters(request, kind.__struct_fields__ if kind is not None else ())
    if kind is None:
        return None
    try:
        return msgspec.convert(values, kind, strict=False)
    except (msgspec.ValidationError, ValueError) as error:
        raise ApiError("invalid", f"A parameter cannot be read: {str(error)[:200]}.") from None
