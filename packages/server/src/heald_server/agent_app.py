"""`App`: serves an agent inside another ASGI program."""

import asyncio
import sys
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import asynccontextmanager
from typing import Any

from starlette.routing import Router
from starlette.types import Receive, Scope, Send

from heald.agent.agent import Agent
from heald.core.arguments import checked
from heald.sessions.store import Store
from heald_server.access.guard import Guard
from heald_server.agent_access import AgentAccess, Auth
from heald_server.agent_context import AgentFactory, agent_context
from heald_server.app import create_app
from heald_server.context import ServerContext
from heald_server.server_limits import ServerLimits
from heald_server.session_request import MakeDeps
from heald_server.settings import ServerSettings, validate_settings


class App:
    """An ASGI application that serves an agent: its API, its page and other protocols, below any path prefix.

        app.mount("/assistant", heald_server.App(agent))

    Every session gets the model, tools, instructions and permissions of `agent`, or of the agent that a factory returns
    for it; clients cannot change them. The application starts with its first request. For a clean stop use
    `async with app:`, or pass `app.lifespan` to the outer program; served alone it starts and stops by itself.

    Access needs a token: `token`, or the environment variable HEALD_TOKEN, or a generated one, which is printed. `auth`
    may be a function that returns the owner of a request's sessions, or None to reject it; owners do not see each
    other's sessions. With `auth="none"` everybody has access who reaches the application under a name of this machine
    or of `origins`. Pages of other origins have access only if `origins` names them.

    `protocols` names the protocols that it speaks, such as `native`, which is the API of the page, and `openai`; the
    default is all that are installed.

    `deps` is a function of a `SessionRequest`, which has the owner of the session and the HTTP connection. What it
    returns is `ToolContext.deps` in the exchange that the request starts.
    """

    @checked
    def __init__(
        self,
        agent: Agent[Any] | AgentFactory,
        *,
        store: Store | str = "memory:",
        token: str | None = None,
        auth: Auth = "token",
        origins: Sequence[str] = (),
        limits: ServerLimits | None = None,
        protocols: Collection[str] | None = None,
        deps: MakeDeps | None = None,
    ) -> None:
        self._access = AgentAccess(token, auth)
        settings = ServerSettings(
            origins=tuple(origins), needs_token=auth != "none", mounted=True, limits=limits or ServerLimits()
        )
        self._settings = validate_settings(settings)
        self._agent = agent
        self._store = store
        self._protocols = protocols
        self._make_deps = deps
        self._context: ServerContext | None = None
        self._guard: Guard | None = None
        self._lock = asyncio.Lock()

    @property
    def token(self) -> str | None:
        """The token that clients send; None where `auth` replaces it."""
        return self._access.token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await Router(lifespan=self.lifespan)(scope, receive, send)
            return
        guard = self._guard or await self._start()
        await guard(scope, receive, send)

    async def __aenter__(self) -> "App":
        await self._start()
        return self

    async def __aexit__(self, *_: object) -> None:
        async with self._lock:
            context, self._context, self._guard = self._context, None, None
        if context is not None:
            await context.stop()

    @asynccontextmanager
    async def lifespan(self, _: object = None) -> AsyncGenerator[None]:
        """A lifespan for Starlette and FastAPI: `FastAPI(lifespan=app.lifespan)`."""
        async with self:
            yield

    async def _start(self) -> Guard:
        async with self._lock:
            if self._guard is None:
                context = agent_context(self._agent, self._store, self._settings, self._access, self._make_deps)
                guard = create_app(context, protocols=self._protocols, authenticate=self._access.authenticate)
                await context.start()
                self._context, self._guard = context, guard
                if self._access.is_generated:
                    print(f"Heald: log in with #token={self.token}", file=sys.stderr, flush=True)
            return self._guard
