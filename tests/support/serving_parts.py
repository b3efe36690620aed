"""A real server on a real socket, in the test's own loop, with scripted models behind it."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import aiohttp

import heald
from heald.agent.model_chain import ModelLike
from heald.core.envelope import Event, decode_event
from heald.core.errors import ConfigurationError
from heald.sessions.sessions import Sessions
from heald.sessions.settings import SessionSettings
from heald.sessions.sqlite import SqliteStore
from heald.sessions.store import Store, iterate_events
from heald.tools.registry import ToolLike
from heald_server.access.tokens import AccessTokens
from heald_server.app import Extension
from heald_server.context import ServerContext
from heald_server.http.uvicorn_server import running_server
from heald_server.models import ModelView, ProviderView
from heald_server.settings import ServerSettings

S = heald.testing.ScriptedModel
TOKEN = "a-token-of-the-tests"
OTHER = "a-token-of-somebody-else"

Script = Callable[[], ModelLike]


def _hello() -> ModelLike:
    return S(["Hello."])


class ScriptedModels:
    """Models by name, a fresh one for each session that opens."""

    def __init__(self, scripts: Mapping[str, Script]) -> None:
        self.scripts = dict(scripts)

    @property
    def default(self) -> str:
        return next(iter(self.scripts), "")

    def open(self, name: str) -> ModelLike:
        if name not in self.scripts:
            raise ConfigurationError(f"There is no model {name!r}.")
        return self.scripts[name]()

    def list_models(self) -> Sequence[ModelView]:
        return [ModelView(name, "scripted") for name in self.scripts]

    def list_providers(self) -> Sequence[ProviderView]:
        return []


class Served:
    """A server that runs, and a client for it."""

    def __init__(
        self, context: ServerContext, client: aiohttp.ClientSession, stranger: aiohttp.ClientSession | None = None
    ) -> None:
        self.context = context
        self.client = client
        self.stranger = stranger or client
        """A client without a token, which keeps no cookie."""
        self.url = context.settings.address

    @property
    def store(self) -> Store:
        return self.context.sessions.store

    async def session(self, **body: Any) -> str:
        async with self.client.post("/sessions", json=body) as answer:
            assert answer.status == 201, await answer.text()
            return (await answer.json())["id"]

    async def send(self, session: str, text: str = "Go on.", **body: Any) -> dict[str, Any]:
        async with self.client.post(f"/sessions/{session}/messages", json={"text": text, **body}) as answer:
            assert answer.status == 202, await answer.text()
            return await answer.json()

    async def log(self, session: str) -> list[Event]:
        return [event async for event in iterate_events(self.store, session)]

    async def wait_idle(self) -> None:
        """Wait until no exchange runs and the log has the end of each, which is stored a moment later."""
        async with asyncio.timeout(60):
            while self.context.open_sessions.busy:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            for info in (await self.context.sessions.list(limit=1000)).sessions:
                session = self.context.open_sessions.find_open(info.id)
                if session is not None:
                    await session.flush()

    async def ended(self, session: str, exchange: str) -> Event:
        """Wait for the end of an exchange."""
        async with self.client.get(f"/sessions/{session}/events") as answer:
            async for event in native_events(answer):
                if event.exchange == exchange and event.type == "exchange_response":
                    return event
        raise AssertionError("the stream ended first")


async def native_events(answer: aiohttp.ClientResponse) -> AsyncGenerator[Event]:
    """The events of a stream of server-sent events, in the native dialect."""
    async for line in answer.content:
        if line.startswith(b"data: ") and b'"seq":' in line and b'"layer":' in line:
            yield decode_event(line[6:])


def context_on(
    store: Store,
    scripts: Mapping[str, Script],
    *,
    settings: ServerSettings | None = None,
    tools: Mapping[str, ToolLike] | None = None,
    defaults: SessionSettings | None = None,
    workspaces: Mapping[str, str] | None = None,
    owners: Mapping[str, str] | None = None,
) -> ServerContext:
    return ServerContext(
        Sessions(store),
        ScriptedModels(scripts),
        settings=settings or ServerSettings(port=0),
        tokens=AccessTokens(owners or {TOKEN: "", OTHER: "other"}),
        defaults=defaults or SessionSettings(permissions="auto", tools=[*(tools or {}), "files", "ask"]),
        tools=tools,
        workspaces=workspaces,
    )


@asynccontextmanager
async def serving(
    context: ServerContext, token: str | None = TOKEN, extensions: Sequence[Extension] = ()
) -> AsyncGenerator[Served]:
    """Serve until the block is left. The port is one that is free."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    connector = aiohttp.TCPConnector(limit=0)
    async with (
        running_server(context, extensions) as address,
        aiohttp.ClientSession(address, headers=headers, connector=connector) as client,
        aiohttp.ClientSession(address, cookie_jar=aiohttp.DummyCookieJar()) as stranger,
    ):
        yield Served(context, client, stranger)


@asynccontextmanager
async def served(
    folder: Path, scripts: Mapping[str, Script] | Script | None = None, token: str | None = TOKEN, **options: Any
) -> AsyncGenerator[Served]:
    """A server on a database in a folder."""
    named_scripts = cast(
        "Mapping[str, Script]", scripts if isinstance(scripts, Mapping) else {"scripted": scripts or _hello}
    )
    store = SqliteStore(folder / "sessions.db", durable=False)
    async with serving(context_on(store, named_scripts, **options), token) as running:
        yield running
