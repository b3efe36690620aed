"""Runs operations on the node that holds their session: request and reply travel through the store."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from time import monotonic
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from heald.core.json import encode, loads
from heald.sessions.shared_store import NotAnswered, NotHeld, SharedStore
from heald_server.access.caller import Caller
from heald_server.held_elsewhere import HeldElsewhere
from heald_server.http.errors import ApiError, ErrorBody, api_error_of

FORWARD_SECONDS = 10.0
"""How long a client waits for the node that holds its session."""

Answer = Callable[[Request], Awaitable[Response]]

_log = logging.getLogger("heald_server.cluster.forwarding")


class ForwardedCall(msgspec.Struct, frozen=True, kw_only=True, tag="call"):
    """A request for an operation, after its caller was authenticated."""

    operation: str
    """The method and the path of the operation."""
    session: str
    owner: str
    token_id: bytes | None = None
    link: str = ""
    root_path: str = ""
    path: dict[str, str] = {}
    query: bytes = b""
    content_type: str = ""
    body: bytes = b""


class ReleaseRequest(msgspec.Struct, frozen=True, tag="release"):
    """Asks for an idle session, or for one whose exchange only waits."""

    waiting: bool = False


NodeCommand = ForwardedCall | ReleaseRequest


class ForwardedReply(msgspec.Struct, frozen=True, kw_only=True):
    status: int
    headers: dict[str, str] = {}
    body: bytes = b""
    moved: bool = False
    """The session is held by another node now, or was released as requested."""


_commands: "msgspec.json.Decoder[NodeCommand]" = msgspec.json.Decoder(NodeCommand)
_replies = msgspec.json.Decoder(ForwardedReply)
_errors = msgspec.json.Decoder(ErrorBody)


def decode_command(body: bytes) -> NodeCommand:
    return _commands.decode(body)


class Forwarder:
    """Sends operations to the holder of their session, and runs those that other nodes send."""

    def __init__(self, store: SharedStore) -> None:
        self._store = store
        self._answers: dict[str, Answer] = {}

    def at_holder(self, operation: str, answer: Answer) -> Answer:
        """Return a handler that runs on the node that holds the session of a request. Nodes know it by `operation`."""
        self._answers[operation] = answer
        return partial(self._run, operation, answer)

    async def _run(self, operation: str, answer: Answer, request: Request) -> Response:
        caller: Caller = request.scope["state"]["caller"]
        until = monotonic() + FORWARD_SECONDS
        while True:
            try:
                return await answer(request)
            except HeldElsewhere as held:
                call = ForwardedCall(
                    operation=operation,
                    session=held.session,
                    owner=caller.owner,
                    token_id=caller.token_id,
                    link=caller.link,
                    root_path=caller.root_path,
                    path={name: str(value) for name, value in request.path_params.items()},
                    query=request.scope.get("query_string", b""),
                    content_type=request.headers.get("content-type", ""),
                    body=await request.body(),
                )
                reply = await self.send(call, until)
            if reply is not None:
                return Response(reply.body, reply.status, reply.headers)

    async def send(self, call: ForwardedCall, until: float) -> ForwardedReply | None:
        """Return the reply of the holder; None if the session is free or has moved, so that it is worth another try."""
        seconds = until - monotonic()
        if seconds <= 0:
            raise HeldElsewhere(call.session)
        try:
            reply = _replies.decode(await self._store.post_command(call.session, encode(call), seconds=seconds))
        except NotHeld:
            return None
        except NotAnswered as error:
            raise ApiError("unavailable", str(error), headers={"Retry-After": "2"}) from None
        return None if reply.moved else reply

    async def deliver(self, call: ForwardedCall) -> ForwardedReply:
        """Run an operation here, or by the node that holds its session."""
        until = monotonic() + FORWARD_SECONDS
        while True:
            reply = await self.answer(call)
            if not reply.moved:
                return reply
            sent = await self.send(call, until)
            if sent is not None:
                return sent

    async def ask_release(self, session: str, waiting: bool) -> bool:
        """Ask the holder of a session for it: an idle one or, with `waiting`, one whose exchange only waits. Returns
        whether it may be free now."""
        try:
            reply = await self._store.post_command(
                session, encode(ReleaseRequest(waiting)), seconds=FORWARD_SECONDS / 2
            )
        except NotHeld:
            return True
        except NotAnswered:
            return False
        return _replies.decode(reply).moved

    async def answer(self, call: ForwardedCall) -> ForwardedReply:
        """Run an operation that another node sent."""
        answer = self._answers.get(call.operation)
        if answer is None:
            return error_reply(ApiError("unavailable", "The node that holds the session does not know this operation."))
        try:
            response = await answer(_request_of(call))
        except HeldElsewhere:
            return ForwardedReply(status=503, moved=True)
        except Exception as error:
            api_error = api_error_of(error)
            if api_error is None:
                _log.exception("A forwarded operation failed.", extra={"session": call.session})
                api_error = ApiError("internal", "The server failed; its log has the details.")
            return error_reply(api_error)
        headers = {name: value for name, value in response.headers.items() if name != "content-length"}
        return ForwardedReply(status=response.status_code, headers=headers, body=bytes(response.body))


def read_reply(reply: ForwardedReply) -> object:
    """Return the result of an operation that another node ran. Raises its error."""
    if reply.status < 400:
        return loads(reply.body) if reply.body else {}
    error = _errors.decode(reply.body).error
    raise ApiError(error.code, error.message, headers=reply.headers)


def error_reply(error: ApiError) -> ForwardedReply:
    headers = {**error.headers, "content-type": "application/json"}
    return ForwardedReply(status=error.status, headers=headers, body=encode(error.data()))


def _request_of(call: ForwardedCall) -> Request:
    """Build the request as the other node got it. Its caller was authenticated there."""
    method, _, _ = call.operation.partition(" ")
    scope: dict[str, Any] = {
        "type": "http",
        "method": method,
        "path": "/",
        "root_path": call.root_path,
        "query_string": call.query,
        "headers": [(b"content-type", call.content_type.encode("latin-1", "replace"))],
        "path_params": call.path,
        "state": {"caller": Caller(call.owner, call.token_id, call.root_path, call.link)},
    }

    async def receive() -> Mapping[str, Any]:
        return {"type": "http.request", "body": call.body, "more_body": False}

    return Request(scope, receive)  # pyright: ignore[reportArgumentType]
