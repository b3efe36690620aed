"""Operations: each API call is declared once; its route, its input checks and its description are made from that.

A handler receives an `ApiCall` with its decoded parameters and body, and returns a value of the declared type or a
response.
"""

from codecs import BOM_UTF8
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import Route

from weft.core.json import JsonObject, decode, encode
from weft.server.errors import ApiError, ErrorCode
from weft.server.guard import Caller
from weft.sessions.store import SessionInfo

if TYPE_CHECKING:
    from weft.server.context import ServerContext

T = TypeVar("T")


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
            {name: _check_text(name, str(value)) for name, value in request.path_params.items()},
            await _read_body(operation, request),
            _read_query(operation, request),
        )
        if operation.method == "POST":
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


def require_json(request: Request) -> None:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise ApiError("unsupported_media_type", "Send the body as application/json.")


def parse_json(decoder: "msgspec.json.Decoder[T]", data: bytes | str, what: str = "body") -> T:
    """Decode JSON of a client. The error for invalid data says where it is invalid.

    Editors and shells of Windows write a byte order mark, which a parser may ignore (RFC 8259, section 8.1).
    """
    try:
        return decode(decoder, data.removeprefix(BOM_UTF8) if isinstance(data, bytes) else data)
    except (ValueError, RecursionError) as error:
        detail = str(error)[:300] or "it is nested too deeply"
        raise ApiError("invalid", f"The {what} cannot be read: {detail}.") from None


def check_parameters(request: Request, known: Sequence[str]) -> None:
    """Raise for a query parameter that does not exist."""
    unknown = next((name for name in request.query_params if name not in known), None)
    if unknown is not None:
        names = f"there are {', '.join(known)}" if known else "there are none"
        raise ApiError("invalid", f"There is no parameter {unknown[:40]!r} here; {names}.")


def _read_query(operation: Operation, request: Request) -> Any:
    values: JsonObject = {}
    for name, value in request.query_params.multi_items():
        if name in values:
            raise ApiError("invalid", f"The parameter {name[:40]!r} is given twice.")
        values[name] = _check_text(name[:40], value)
    kind = operation.query
    check_parameters(request, kind.__struct_fields__ if kind is not None else ())
    if kind is None:
        return None
    try:
        return msgspec.convert(values, kind, strict=False)
    except (msgspec.ValidationError, ValueError) as error:
        raise ApiError("invalid", f"A parameter cannot be read: {str(error)[:200]}.") from None


def _check_text(name: str, value: str) -> str:
    """Text that can be stored and compared has no NUL and no unpaired surrogate."""
    if "\0" in value or (not value.isprintable() and any("\ud800" <= letter <= "\udfff" for letter in value)):
        raise ApiError("invalid", f"The parameter {name[:40]!r} holds characters that no text has.")
    return value
