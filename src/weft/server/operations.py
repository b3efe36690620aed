"""Operations: what the API can do, declared once. Routes, checks of what comes in, and the OpenAPI document follow.

A handler gets a `Call` with everything decoded, and gives a value of the declared type, or a response of its own.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from weft.core.json import JsonObject, decode, encode
from weft.server.guard import Caller
from weft.server.refusal import Code, Refusal
from weft.sessions.store import SessionInfo

if TYPE_CHECKING:
    from weft.server.context import ServerContext

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Call:
    """One request for an operation."""

    context: "ServerContext"
    request: Request
    owner: str
    path: dict[str, str]
    body: Any = None
    query: Any = None

    async def session(self) -> SessionInfo:
        """The session that the path names, if it is the caller's."""
        return await self.context.open.info(self.owner, self.path["session"])


Handler = Callable[[Call], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Operation:
    """A method on a path."""

    method: str
    path: str
    """As OpenAPI writes it. `{path}` may hold slashes."""
    handler: Handler
    summary: str
    body: Any = None
    """The type of a JSON body; `bytes` for one that is taken as it is."""
    query: type[msgspec.Struct] | None = None
    answer: Any = None
    status: int = 200
    media: str = "application/json"
    """Of the answer."""
    refusals: Sequence[Code] = ()
    """Beside those that any operation has."""
    tag: str = "sessions"
    body_optional: bool = False
    decoder: "msgspec.json.Decoder[Any] | None" = field(init=False, default=None)

    def __post_init__(self) -> None:
        if self.body is not None and self.body is not bytes:
            object.__setattr__(self, "decoder", msgspec.json.Decoder(self.body))


def caller_of(request: Request) -> Caller:
    caller = request.scope["state"]["caller"]
    if caller is None:
        raise Refusal("unauthorized", "A token is needed; send it as 'Authorization: Bearer …'.")
    return caller


def route_of(operation: Operation, context: "ServerContext") -> Route:
    """The route that answers with an operation."""

    async def answer(request: Request) -> Response:
        call = Call(
            context,
            request,
            caller_of(request).owner,
            {name: _plain(name, str(value)) for name, value in request.path_params.items()},
            await _body(operation, request),
            _query(operation, request),
        )
        given = await operation.handler(call)
        if isinstance(given, Response):
            return given
        content = b"" if operation.status == 204 else encode(given)
        return Response(content, operation.status, media_type="application/json" if content else None)

    path = operation.path.replace("{path}", "{path:path}")
    return Route(path, answer, methods=[operation.method], name=f"{operation.method} {operation.path}")


async def _body(operation: Operation, request: Request) -> Any:
    if operation.body is None:
        return None
    data = await request.body()
    if operation.body is bytes:
        return data
    assert operation.decoder is not None
    if not data and operation.body_optional:
        return operation.decoder.decode(b"{}")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refusal("unsupported_media_type", "Send the body as application/json.")
    return read_json(operation.decoder, data)


def read_json(decoder: "msgspec.json.Decoder[T]", data: bytes | str) -> T:
    """A typed body. What is wrong with it is said with its place."""
    try:
        return decode(decoder, data)
    except (ValueError, RecursionError) as error:
        raise Refusal("invalid", f"The body cannot be read: {str(error)[:300] or 'it is nested too deeply'}.") from None


def _query(operation: Operation, request: Request) -> Any:
    given: JsonObject = {}
    for name, value in request.query_params.multi_items():
        if name in given:
            raise Refusal("invalid", f"The parameter {name[:40]!r} is given twice.")
        given[name] = _plain(name[:40], value)
    kind = operation.query
    known = kind.__struct_fields__ if kind is not None else ()
    strange = next((name for name in given if name not in known), None)
    if strange is not None:
        names = f"there are {', '.join(known)}" if known else "there are none"
        raise Refusal("invalid", f"There is no parameter {strange[:40]!r} here; {names}.")
    if kind is None:
        return None
    try:
        return msgspec.convert(given, kind, strict=False)
    except (msgspec.ValidationError, ValueError) as error:
        raise Refusal("invalid", f"A parameter cannot be read: {str(error)[:200]}.") from None


def _plain(name: str, value: str) -> str:
    """Text that can be stored and compared: no NUL and no half of a surrogate pair."""
    if "\0" in value or (not value.isprintable() and any("\ud800" <= letter <= "\udfff" for letter in value)):
        raise Refusal("invalid", f"The parameter {name[:40]!r} holds what no text has.")
    return value
