"""What tests of the client share: a small server around real agents, whose socket does what a test tells it to."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import msgspec
from aiohttp import WSMsgType, web

import heald
from heald.agent.agent import Agent
from heald.agent.interface import ExchangeInterface
from heald.core.envelope import Event
from heald.core.errors import HealdError
from heald.core.events import FileChanged
from heald.core.json import encode, encode_text
from heald.core.messages import Message
from heald_server.client.address import parse_address
from heald_server.client.agent import RemoteAgent
from heald_server.client.timing import Timing

TOKEN = "tok_CANARY_0123456789"
QUICK = Timing(patience=20, first=0.01, longest=0.05, dial=5, silence=5, stable=0.5, goodbye=2)

call = heald.testing.ScriptedModel.call

Disturb = Callable[[int, str], list[str] | None]
"""Of the number of a frame and its text: what goes out instead; None cuts the connection."""


@heald.tool(effect="read")
async def look(n: int) -> str:
    """Look at something."""
    return f"saw {n}"


@heald.tool(effect="write")
async def change(what: str) -> str:
    """Change something."""
    return f"changed {what}"


@dataclass
class Kept:
    """A session of the server: an agent, and the log of what it said."""

    agent: Agent
    log: list[Event] = field(default_factory=list[Event])
    told: list[Event] = field(default_factory=list[Event])
    """With the events of agents that work for it."""
    more: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.agent.subscribe(self.on_event)

    def on_event(self, event: Event) -> None:
        self.told.append(event)
        if event.session == self.agent.session:
            self.log.append(event)
        self.more.set()
        self.more = asyncio.Event()


class Server:
    """Speaks the API. `disturb` is asked for every frame it sends."""

    def __init__(self, model: Callable[[], Any], **options: Any) -> None:
        self.model, self.options = model, options
        self.sessions: dict[str, Kept] = {}
        self.disturb: Disturb = lambda _, text: [text]
        self.resets: deque[dict[str, Any]] = deque()
        """Sent instead of what a subscription asks for."""
        self.close_with: int | None = None
        """What the next sockets are closed with, right after they opened."""
        self.frames = self.sockets = 0
        self.requests: list[str] = []
        self.subscriptions: list[dict[str, Any]] = []
        self.refuse: web.Response | Callable[[web.Request], web.StreamResponse | None] | None = None
        self.is_mute = False
        self.url = ""
        self._runner: web.AppRunner | None = None
        self._open: set[web.WebSocketResponse] = set()

    @property
    def only(self) -> Kept:
        (session,) = self.sessions.values()
        return session

    def client(self, session: str | None = None, *, timing: Timing = QUICK, **options: Any) -> RemoteAgent:
        address, token = parse_address(self.url, TOKEN)
        return RemoteAgent(address, token, session=session, timing=timing, **options)

    async def start(self, port: int = 0) -> None:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_route("*", "/{rest:.*}", self._route)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", port)
        await site.start()
        assert site._server is not None  # pyright: ignore[reportPrivateUsage]
        self.url = f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}"  # pyright: ignore

    async def stop(self) -> None:
        for socket in list(self._open):
            self.cut(socket)
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def close(self) -> None:
        for session in self.sessions.values():
            await session.agent.close()
        await self.stop()

    def cut(self, socket: web.WebSocketResponse) -> None:
        self._open.discard(socket)
        transport = socket._req.transport if socket._req is not None else None  # pyright: ignore
        if transport is not None:
            transport.abort()

    def cut_all(self) -> None:
        for socket in list(self._open):
            self.cut(socket)

    # --- HTTP --------------------------------------------------------------------------------------------------------

    async def _route(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(f"{request.method} {request.path_qs}")
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return refusal(401, "unauthorized", "A token is needed.")
        refused = self.refuse(request) if callable(self.refuse) else self.refuse
        if refused is not None:
            return refused
        parts = request.path.strip("/").split("/")
        if request.path == "/ws":
            return await self._socket(request)
        if parts[0] != "sessions":
            return refusal(404, "not_found", "There is nothing here.")
        if len(parts) == 1:
            session = Kept(Agent(self.model(), **self.options | await request.json()))
            self.sessions[session.agent.session] = session
            return answer(self._view(session), 201)
        if parts[1] not in self.sessions:
            return refusal(404, "not_found", "There is no such session.")
        return await self._session(request, self.sessions[parts[1]], parts[2:])

    async def _session(self, request: web.Request, stored: Kept, rest: list[str]) -> web.StreamResponse:
        agent = stored.agent
        match (request.method, *rest):
            case ("GET",):
                return answer(self._view(stored))
            case ("GET", "messages"):
                return answer({"messages": agent.messages, "seq": len(stored.log)})
            case ("POST", "messages"):
                return answer(self._send(stored, await request.json()), 202)
            case ("GET", "log"):
                after, limit = int(request.query["after"]), min(int(request.query["limit"]), 50)
                return answer({"events": stored.log[after : after + limit], "last_seq": len(stored.log)})
            case ("GET", "files"):
                revisions = {e.data.path: e.data.revision for e in stored.log if isinstance(e.data, FileChanged)}
                return answer({"files": [{"path": path, "revision": n} for path, n in revisions.items()]})
            case ("GET", "files", *path):
                content = agent.workspace.content_at("/".join(path), int(request.query["revision"]))
                return web.Response(body=content) if content is not None else refusal(404, "not_found", "No file.")
            case _:
                return refusal(405, "method_not_allowed", "No.")

    def _view(self, stored: Kept) -> dict[str, Any]:
        current = stored.agent.current
        return {
            "id": stored.agent.session,
            "title": "",
            "last_seq": len(stored.log),
            "exchange": current.id if current is not None else None,
        }

    def _send(self, stored: Kept, body: dict[str, Any]) -> dict[str, Any]:
        agent, request = stored.agent, body["client_request_id"]
        earlier = agent.find_request(request)
        if earlier is not None:
            return {"exchange": earlier.id, "state": "repeated", "seq": len(stored.log)}
        if agent.current is not None and "refuse" in body.values():
            raise Refused("busy", "An exchange runs.")
        message = msgspec.convert({"role": "user", "content": body["content"]}, Message)
        was: ExchangeInterface | None = agent.current
        exchange = stored.agent.send(message, when_busy=body["when_busy"], client_request_id=request)
        state = "steered" if exchange is was else "started" if agent.current is exchange else "queued"
        return {"exchange": exchange.id, "state": state, "seq": len(stored.log)}

    # --- WebSocket ---------------------------------------------------------------------------------------------------

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse(timeout=0.1)
        await socket.prepare(request)
        self.sockets += 1
        if self.close_with is not None:
            await socket.close(code=self.close_with)
            return socket
        self._open.add(socket)
        tails: list[asyncio.Task[None]] = []
        try:
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    await self._command(socket, msgspec.json.decode(message.data), tails)
        except ConnectionError:
            pass
        finally:
            self._open.discard(socket)
            for tail in tails:
                tail.cancel()
            if tails:
                await asyncio.wait(tails)
        return socket

    async def _command(self, socket: web.WebSocketResponse, frame: dict[str, Any], tails: list[Any]) -> None:
        stored = self.sessions.get(frame["session"])
        identifier = frame.get("id")
        if stored is None:
            error = {"code": "not_found", "message": "There is no such session."}
            await self._send_value(socket, {"type": "error", "id": identifier, "error": error})
            return
        if frame["type"] == "subscribe":
            self.subscriptions.append(frame)
            tails.append(asyncio.create_task(self._send_events(socket, stored, frame["resume"])))
            return
        try:
            result = await self._do(stored, frame)
        except (HealdError, Refused) as error:
            code = error.code if isinstance(error, Refused) else "conflict"
            said = {"code": code, "message": str(error)}
            await self._send_value(socket, {"type": "error", "id": identifier, "error": said})
            return
        await self._send_value(socket, {"type": "reply", "id": identifier, "result": result})

    async def _do(self, stored: Kept, frame: dict[str, Any]) -> dict[str, Any]:
        agent = stored.agent
        match frame["type"]:
            case "send":
                return self._send(stored, frame)
            case "cancel":
                exchange = agent.find_exchange(frame["exchange"])
                return {"cancelled": exchange.cancel(frame["reason"]) if exchange is not None else False}
            case "approve":
                decision = {name: frame[name] for name in ("digest", "arguments", "always") if name in frame}
                agent.approve(frame["approval"], **decision)
            case "deny":
                agent.deny(frame["approval"], frame["reason"])
            case _:
                agent.answer(frame["question"], frame["text"])
        return {}

    async def _send_events(self, socket: web.WebSocketResponse, stored: Kept, after: int) -> None:
        if self.resets:
            reset = self.resets.popleft()
            await self._send_value(socket, reset)
            after = reset["seq"]
        else:
            await self._send_value(
                socket, {"type": "subscribed", "session": stored.agent.session, "seq": len(stored.log)}, quiet=True
            )
        place = next((n for n, event in enumerate(stored.told) if event.seq > after), len(stored.told))
        with suppress(ConnectionError):
            while True:
                more = stored.more
                while place < len(stored.told):
                    event = stored.told[place]
                    place += 1
                    if event.session == stored.agent.session and event.seq <= after:
                        continue
                    await self._send_value(socket, event)
                    await asyncio.sleep(0)
                await more.wait()

    async def _send_value(self, socket: web.WebSocketResponse, value: object, *, quiet: bool = False) -> None:
        if self.is_mute or socket not in self._open:
            return
        text = encode_text(value)
        texts: list[str] | None = [text]
        if not quiet:
            self.frames += 1
            texts = self.disturb(self.frames, text)
        if texts is None:
            self.cut(socket)
            raise ConnectionResetError
        with suppress(ConnectionError):
            for frame in texts:
                await socket.send_str(frame)


class Refused(Exception):
    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def answer(value: object, status: int = 200) -> web.Response:
    return web.Response(body=encode(value), status=status, content_type="application/json")


def refusal(status: int, code: str, message: str) -> web.Response:
    return answer({"error": {"code": code, "message": message}}, status)


@asynccontextmanager
async def serving(*turns: object, **options: Any) -> AsyncGenerator[Server]:
    """A server whose every session plays these turns."""
    server = Server(lambda: heald.testing.ScriptedModel(turns, piece=3), **options)  # pyright: ignore[reportArgumentType]
    await server.start()
    try:
        yield server
    finally:
        await server.close()


async def until(condition: Callable[[], object], seconds: float = 120) -> None:
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.005)


async def gathered(events: AsyncIterator[Event]) -> list[Event]:
    return [event async for event in events]
