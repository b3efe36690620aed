"""The servers that `benchmarks.server` and `benchmarks.fan_out` listen to: Heald's, and a bare loop beside it.

    python -m benchmarks.server_worker heald|bare|live FOLDER_OR_ADDRESS [PROVIDER [WORKERS]]

It prints one line of JSON, `{"port": 8000}`, when it listens. The bare one sends bytes that were made beforehand: no
log, no resuming, no guard, no slow readers. It is what sending alone costs. `live` is Heald's with models of the mock
provider at an address; its sessions are in a folder, or in PostgreSQL at an address.
"""

import asyncio
import json
import logging
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from time import time

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

import heald
from heald.agent.model_chain import ModelLike
from heald.sessions.sessions import Sessions
from heald.sessions.settings import SessionSettings
from heald.sessions.sqlite import SqliteStore
from heald.sessions.store import Store
from heald_cli.workers import Worker, WorkerSupervisor
from heald_server.access.tokens import AccessTokens
from heald_server.app import create_app
from heald_server.context import ServerContext
from heald_server.http.uvicorn_server import bind, serve_app
from heald_server.models import ModelView, ProviderView
from heald_server.server_limits import ServerLimits
from heald_server.settings import ServerSettings

TOKEN = "benchmarks-need-no-secret-token"
PIECE = 12

_EVENT = (
    '{"seq":%d,"id":"ses_0123456789abcdef0123-1-%d","session":"ses_0123456789abcdef0123","exchange":'
    '"ex_0123456789abcdef0123","type":"%s","layer":"stream","time":%.6f,"epoch":1,"data":{"index":0,'
    '"text":"0123456789ab","block":"msg_0123456789abcdef0123.0"}}'
)


class PacedModels:
    """A model's name says how many deltas it sends, and how many a second: `paced/500@50`, or `@0` for all at once."""

    default = "paced/10@0"

    def open(self, name: str) -> ModelLike:
        count, _, rate = name.removeprefix("paced/").partition("@")
        text = "".join(f"{number:>{PIECE}}" for number in range(int(count)))
        return heald.testing.ScriptedModel([text] * 100, piece=PIECE, pause=1 / float(rate) if float(rate) else 0.0)

    def list_models(self) -> list[ModelView]:
        return []

    def list_providers(self) -> list[ProviderView]:
        return []


class MockModels(PacedModels):
    """The models of the mock provider at an address."""

    def __init__(self, provider: str) -> None:
        self._provider = provider

    def open(self, name: str) -> ModelLike:
        if name == self.default:
            return super().open(name)
        return heald.Model(name, wire="chat", base_url=f"{self._provider}/v1", api_key="none", provider="mock")


def open_store(place: str) -> Store:
    """Sessions in a folder, or in PostgreSQL at an address."""
    if not place.startswith("postgresql:"):
        return SqliteStore(Path(place) / "sessions.db")
    from heald_nodes.postgres.store import PostgresStore

    return PostgresStore(place)


def serve_workers(place: str, models: PacedModels, count: int) -> None:
    """Serve with several processes on one port."""
    with bind(_settings()) as probe:
        port = probe.getsockname()[1]
    listeners = [bind(_settings(port), shares_port=True) for _ in range(count)]
    worker = WorkerSupervisor(listeners, lambda _: print(json.dumps({"port": port}), flush=True)).run()
    if not isinstance(worker, int):
        asyncio.run(serve_heald(place, models, worker))


def _settings(port: int = 0) -> ServerSettings:
    limits = ServerLimits(exchanges=4096, streams=8192, sessions_per_minute=100_000)
    return ServerSettings(port=port, limits=limits)


async def serve_heald(place: str, models: PacedModels, worker: Worker | None = None) -> None:
    bound = worker.listener if worker is not None else bind(_settings())
    settings = _settings(bound.getsockname()[1])

    def on_ready() -> None:
        if worker is None:
            print(json.dumps({"port": settings.port}), flush=True)
        else:
            worker.report_ready("")

    if worker is not None:
        worker.end_with_parent()
    context = ServerContext(
        Sessions(open_store(place)),
        models,
        settings=settings,
        tokens=AccessTokens({TOKEN: ""}),
        defaults=SessionSettings(permissions="auto", tools=[]),
    )
    await serve_app(create_app(context), context, bound, on_ready)


class Bare:
    """Everyone who listens gets every event, in the order of sending, as bytes."""

    def __init__(self) -> None:
        self._listeners: set[asyncio.Queue[bytes]] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def listen(self, _: Request) -> StreamingResponse:
        return StreamingResponse(self._stream(), media_type="text/event-stream")

    async def _stream(self) -> AsyncGenerator[bytes]:
        queue: asyncio.Queue[bytes] = asyncio.Queue()
        self._listeners.add(queue)
        try:
            yield b"retry: 1000\n\n"
            while True:
                yield await queue.get()
        finally:
            self._listeners.discard(queue)

    async def start(self, request: Request) -> JSONResponse:
        """Send so many events a second, one to all listeners, or to each its own, until they are gone."""
        rate = float(request.query_params["rate"])
        groups = (
            [self._listeners] if request.query_params["shared"] == "1" else [{listener} for listener in self._listeners]
        )
        for number, group in enumerate(groups):
            task = asyncio.create_task(self._stream_to(group, rate, number / len(groups) / rate))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return JSONResponse({})

    async def _stream_to(self, group: set[asyncio.Queue[bytes]], rate: float, delay: float) -> None:
        await asyncio.sleep(delay)
        number = 0
        while self._listeners & group:
            number += 1
            event = _EVENT % (number, number, "text_delta", time())
            body = f"id: {number}\nevent: text_delta\ndata: {event}\n\n".encode()
            for queue in group:
                queue.put_nowait(body)
            await asyncio.sleep(1 / rate)


async def serve_bare() -> None:
    bare = Bare()
    await serve_plain(Starlette(routes=[Route("/events", bare.listen), Route("/start", bare.start, methods=["POST"])]))


async def serve_plain(app: ASGIApp) -> None:
    bound = bind(ServerSettings(port=0))
    bound.listen(2048)
    print(json.dumps({"port": bound.getsockname()[1]}), flush=True)
    config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=1)
    await uvicorn.Server(config).serve([bound])


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    match sys.argv[1:]:
        case ["heald", folder]:
            asyncio.run(serve_heald(folder, PacedModels()))
        case ["live", place, provider]:
            asyncio.run(serve_heald(place, MockModels(provider)))
        case ["live", place, provider, workers]:
            serve_workers(place, MockModels(provider), int(workers))
        case _:
            asyncio.run(serve_bare())
