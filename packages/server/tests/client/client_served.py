"""The real server on a real socket, in the test's own loop, with scripted models behind it."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from client_bench import QUICK, change, look

import heald
from heald.agent.model_chain import ModelLike
from heald.core.envelope import Event
from heald.sessions.sessions import Sessions
from heald.sessions.settings import SessionSettings
from heald.sessions.sqlite import SqliteStore
from heald.sessions.store import iterate_events
from heald_server.access.tokens import AccessTokens
from heald_server.client.address import parse_address
from heald_server.client.agent import RemoteAgent
from heald_server.client.timing import Timing
from heald_server.context import ServerContext
from heald_server.http.uvicorn_server import running_server
from heald_server.models import ModelView, ProviderView
from heald_server.settings import ServerSettings

S = heald.testing.ScriptedModel
TOKEN = "a-token-of-these-tests"
OTHER = "a-token-of-somebody-else"


@dataclass(frozen=True)
class OneModel:
    """A fresh script for each session that opens."""

    script: Callable[[], ModelLike]
    default: str = "scripted"

    def open(self, name: str) -> ModelLike:
        return self.script()

    def list_models(self) -> Sequence[ModelView]:
        return []

    def list_providers(self) -> Sequence[ProviderView]:
        return []


@dataclass(frozen=True)
class Served:
    """A server that runs."""

    context: ServerContext

    @property
    def url(self) -> str:
        return self.context.settings.address

    @property
    def port(self) -> int:
        return self.context.settings.port

    def client(self, session: str | None = None, **options: Any) -> RemoteAgent:
        return client(self.url, session, **options)

    async def log(self, agent: RemoteAgent) -> list[Event]:
        assert agent.session is not None
        return [event async for event in iterate_events(self.context.sessions.store, agent.session)]


def client(url: str, session: str | None = None, *, timing: Timing = QUICK, **options: Any) -> RemoteAgent:
    address, token = parse_address(url, TOKEN)
    return RemoteAgent(address, token, session=session, timing=timing, **options)


@asynccontextmanager
async def served(
    folder: Path, *turns: Any, settings: ServerSettings | None = None, **script: Any
) -> AsyncGenerator[Served]:
    """Serve sessions that play these turns, on a database in a folder, until the block is left."""
    tools = {"look": look, "change": change}
    context = ServerContext(
        Sessions(SqliteStore(folder / "sessions.db", durable=False)),
        OneModel(lambda: S(turns, **script)),
        settings=settings or ServerSettings(port=0, goodbye_seconds=0.5),
        tokens=AccessTokens({TOKEN: "", OTHER: "other"}),
        defaults=SessionSettings(permissions="auto", tools=[*tools, "files", "ask"]),
        tools=tools,
    )
    async with running_server(context):
        yield Served(context)
