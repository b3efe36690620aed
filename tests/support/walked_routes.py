"""The application's own route table, walked: every way in, as requests that can be sent.

Nothing is listed by hand but what is public, and what stands for the names in paths: a route with a name that is not
known here cannot be walked, and says so.
"""

import asyncio
import base64
import re
import socket
import string
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

import msgspec
from multidict import CIMultiDict
from starlette.applications import Starlette
from starlette.routing import BaseRoute, Route, WebSocketRoute

import heald
from heald.sessions.memory import MemoryStore
from heald.sessions.sqlite import SqliteStore
from heald_server.app import create_app
from heald_server.context import ServerContext
from heald_server.settings import ServerSettings
from serving_parts import S, Served, context_on, serving

PUBLIC = {
    ("GET", "/"),
    ("GET", "/favicon.ico"),
    ("GET", "/assets/{name}"),
    ("GET", "/app-frame"),
    ("GET", "/health"),
    ("GET", "/ready"),
    ("POST", "/login"),
    ("DELETE", "/login"),
    ("GET", "/.well-known/agent-card.json"),
}
"""Ways in that need no token. Whoever adds one says so here."""
PREVIEWS = {("GET", "/preview/{ticket}/{path}")}
"""Ways in whose address is a secret of its own."""

NAMES = {
    "session": "ses_00000000000000000000000000000000",
    "project": "ses_00000000000000000000000000000001",
    "version": "v1",
    "variant": "0",
    "number": "1",
    "approval": "appr_1",
    "other": "ses_other",
    "question": "q_1",
    "path": "a/b.txt",
    "digest": "0" * 64,
    "blob": "0" * 64,
    "name": "name",
    "provider": "openai",
    "share": "share_1",
    "repository": "site",
    "fact": "f1",
    "change": "chg_1",
    "lock": "lck_1",
    "system": "dsy_00000000000000000000",
    "response_id": "resp_00000000000000000000000000000000_1",
    "rest": "tasks",
    "id": "task_1",
    "push_id": "push_1",
    "webhook": "whk_1",
    "delivery": "msg_1",
    "ticket": base64.urlsafe_b64encode(b"nobody gave this one away").decode(),
}


class RouteMethod(msgspec.Struct, frozen=True):
    """One method on one path."""

    method: str
    """`WS` for a socket."""
    template: str

    @property
    def is_socket(self) -> bool:
        return self.method == "WS"

    @property
    def is_public(self) -> bool:
        return (self.method, self.template) in PUBLIC

    @property
    def is_preview(self) -> bool:
        return (self.method, self.template) in PREVIEWS

    @property
    def is_guarded(self) -> bool:
        return not self.is_public and not self.is_preview

    def path(self, **names: str) -> str:
        return re.sub(r"{(\w+)}", lambda match: (NAMES | names)[match[1]], self.template)


def list_route_methods(routes: Sequence[BaseRoute]) -> list[RouteMethod]:
    route_methods: list[RouteMethod] = []
    for route in routes:
        if isinstance(route, WebSocketRoute):
            methods = {"WS"}
        else:
            assert isinstance(route, Route), f"{route} cannot be walked; teach `ways_of` about it"
            methods = (route.methods or set()) - {"HEAD"}
        template = re.sub(r":\w+}", "}", route.path)
        unknown = set(re.findall(r"{(\w+)}", template)) - set(NAMES)
        assert not unknown, f"{template} has names that no test stands for: {unknown}"
        route_methods += [RouteMethod(method, template) for method in sorted(methods)]
    return route_methods


def routes_of(context: ServerContext) -> Sequence[BaseRoute]:
    return cast(Starlette, create_app(context).app).routes


WAYS = list_route_methods(routes_of(context_on(MemoryStore(), {"scripted": lambda: S(["Hello."])})))
GUARDED = [way for way in WAYS if way.is_guarded]


class Answered(msgspec.Struct, frozen=True):
    status: int
    headers: Mapping[str, str]
    body: bytes


async def ask(
    server: Served,
    way: RouteMethod,
    headers: Mapping[str, str] | Sequence[tuple[str, str]] = (),
    *,
    token: str | None = None,
    data: bytes | None = None,
    query: str = "",
    names: Mapping[str, str] | None = None,
) -> Answered:
    """Send a request this way, as bytes: tests send thousands. A socket that is let in is left at once, with status
    101; of a stream the beginning is read."""
    port = server.context.settings.port
    sent = [*(headers.items() if isinstance(headers, Mapping) else headers)]
    if token is not None:
        sent.append(("Authorization", f"Bearer {token}"))
    named = {name.lower() for name, _ in sent}
    if "host" not in named:
        sent.append(("Host", f"127.0.0.1:{port}"))
    if way.is_socket:
        sent += [("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13")]
        sent.append(("Sec-WebSocket-Key", "MTIzNDU2Nzg5MDEyMzQ1Ng=="))
    else:
        sent += [("Connection", "close"), ("Accept", "*/*")]
        if data is not None and "content-type" not in named:
            sent.append(("Content-Type", "application/json"))
        if data is not None or way.method not in ("GET", "HEAD", "OPTIONS", "TRACE"):
            sent.append(("Content-Length", str(len(data or b""))))
    path = quote(way.path(**(names or {})), safe=string.punctuation)
    line = f"{'GET' if way.is_socket else way.method} {path}{query} HTTP/1.1"
    lines = [line, *(f"{name}: {value}" for name, value in sent), "", ""]
    async with asyncio.timeout(60):
        return await _exchange(port, "\r\n".join(lines).encode() + (data or b""))


async def _exchange(port: int, request: bytes) -> Answered:
    """Send bytes over a connection of their own and read the answer."""
    loop = asyncio.get_running_loop()
    with socket.socket() as connection:
        connection.setblocking(False)
        await loop.sock_connect(connection, ("127.0.0.1", port))
        await loop.sock_sendall(connection, request)
        head, body, received, end = b"", b"", b"", b""
        while not end:
            piece = await loop.sock_recv(connection, 1 << 16)
            assert piece, received
            received += piece
            head, end, body = received.partition(b"\r\n\r\n")
        first, *fields = head.decode().split("\r\n")
        status = int(first.split()[1])
        if status == 101:
            return Answered(101, {}, b"")
        headers = CIMultiDict((name, value.strip()) for name, _, value in (field.partition(":") for field in fields))
        is_stream = headers.get("Content-Type", "").startswith("text/event-stream")
        while not (is_stream and body) and (piece := await loop.sock_recv(connection, 1 << 16)):
            body += piece
    is_chunked = headers.get("Transfer-Encoding") == "chunked"
    return Answered(status, headers, b"".join(_chunks(body)) if is_chunked else body)


def _chunks(body: bytes) -> Iterator[bytes]:
    """Yield the content of a body in chunks."""
    while body:
        size, _, body = body.partition(b"\r\n")
        yield body[: int(size, 16)]
        body = body[int(size, 16) + 2 :]


@asynccontextmanager
async def whole_server(
    folder: Path, settings: ServerSettings | None = None, model: Any = None, **options: Any
) -> AsyncGenerator[Served]:
    """A server with everything, the studio too."""
    store = SqliteStore(folder / "s.db", durable=False)
    scripts = {"scripted": model or (lambda: heald.testing.ScriptedModel(["Hello."] * 50))}
    context = context_on(store, scripts, settings=settings, **options)
    async with serving(context) as server:
        yield server
