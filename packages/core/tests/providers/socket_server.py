"""A scripted server of Responses over a WebSocket. It holds the last answer of a connection, as the real one does."""

import json
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, Self

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.http11 import Request, Response

from heald.core.json import JsonObject
from heald.testing.streams import wire_stream

HANG_UP = "hang up"
"""A step that breaks the connection."""
Script = list[JsonObject | str]
"""Events of one answer, and `HANG_UP`."""


def answer(**content: Any) -> Script:
    """The events of one answer of a model."""
    pieces = wire_stream("responses", **content)
    return [json.loads(piece.partition(b"data: ")[2]) for piece in pieces]


def error(status: int | None, code: str, message: str = "refused") -> Script:
    event: JsonObject = {"type": "error", "error": {"type": "invalid_request_error", "code": code, "message": message}}
    return [event | ({"status": status} if status is not None else {})]


class SocketServer:
    """Answers each `response.create` with the next script. Requests are checked as the API checks them."""

    def __init__(self, scripts: Sequence[Script], *, status: HTTPStatus | None = None, location: str = "") -> None:
        self.scripts = list(scripts)
        self.requests: list[JsonObject] = []
        self.connections = 0
        self.headers: list[dict[str, str]] = []
        self.open: list[ServerConnection] = []
        self._status = status
        self._location = location
        self._server: Server | None = None

    @property
    def url(self) -> str:
        assert self._server is not None
        port = next(iter(self._server.sockets)).getsockname()[1]
        return f"http://127.0.0.1:{port}"

    async def __aenter__(self) -> Self:
        self._server = await serve(self._serve, "127.0.0.1", 0, process_request=self._handshake)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        await self._server.wait_closed()

    def _handshake(self, connection: ServerConnection, request: Request) -> Response | None:
        self.headers.append({name.lower(): value for name, value in request.headers.raw_items()})
        if self._status is None:
            return None
        response = connection.respond(self._status, "refused")
        if self._location:
            response.headers["location"] = self._location
        return response

    async def _serve(self, connection: ServerConnection) -> None:
        self.connections += 1
        self.open.append(connection)
        held: str | None = None
        async for text in connection:
            request = json.loads(text)
            self.requests.append(request)
            assert request["type"] == "response.create"
            assert "stream" not in request
            previous = request.get("previous_response_id")
            script = self.scripts.pop(0)
            if previous is not None and previous != held:
                script = error(400, "previous_response_not_found")
            for event in script:
                if event == HANG_UP:
                    connection.transport.abort()
                    return
                assert isinstance(event, dict)
                if event["type"] == "response.completed":
                    held = f"resp_{len(self.requests)}"
                    event["response"]["id"] = held
                await connection.send(json.dumps(event))
