"""Serves an agent of a program: `App` inside another ASGI program, `serve` as a whole server."""

import asyncio
import inspect
import os
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, Literal, TypedDict, Unpack

import msgspec
from starlette.routing import Router
from starlette.types import Receive, Scope, Send

from weft.agent.agent import Agent
from weft.agent.engine import ModelLike
from weft.core.errors import ConfigurationError
from weft.server.access_tokens import AccessTokens, new_token
from weft.server.app import Extension, create_app
from weft.server.context import ServerContext
from weft.server.guard import Authenticate, Guard
from weft.server.models import KnownModels, ModelView, ProviderView
from weft.server.settings import DEFAULT_PORT, ServerLimits, ServerSettings, validate_settings
from weft.sessions.open import open_store
from weft.sessions.sessions import Sessions
from weft.sessions.settings import SessionSettings
from weft.sessions.store import SessionInfo, Store
from weft.tools.workspace.base import Workspace

AgentFactory = Callable[[SessionInfo], Agent | Awaitable[Agent]] | Callable[[], Agent | Awaitable[Agent]]
"""Returns the agent of a session. It may accept the session's info: its id, owner and title."""
Auth = Literal["token", "none"] | Authenticate


class App:
    """An ASGI application that serves an agent: its API, its page and the studio, below any path prefix.

        app.mount("/assistant", weft.server.App(agent))

    Every session gets the model, tools, instructions and permissions of `agent`, or of the agent that a factory returns
    for it; clients cannot change them. The application starts with its first request. For a clean stop use
    `async with app:`, or pass `app.lifespan` to the outer program; served alone it starts and stops by itself.

    Access needs a token: `token`, or the environment variable WEFT_TOKEN, or a generated one, which is printed. `auth`
    may be a function that returns the owner of a request's sessions, or None to reject it; owners do not see each
    other's sessions. With `auth="none"` everybody has access who reaches the application under a name of this machine
    or of `origins`. Pages of other origins have access only if `origins` names them.
    """

    def __init__(
        self,
        agent: Agent | AgentFactory,
        *,
        store: Store | str = "memory:",
        token: str | None = None,
        auth: Auth = "token",
        origins: Sequence[str] = (),
        limits: ServerLimits | None = None,
        studio: bool = True,
    ) -> None:
        self._access = _Access(token, auth)
        settings = ServerSettings(
            origins=tuple(origins), needs_token=auth != "none", mounted=True, limits=limits or ServerLimits()
        )
        self._settings = validate_settings(settings)
        self._agent = agent
        self._store = store
        self._studio = studio
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
                context = _build_context(self._agent, self._store, self._settings, self._access)
                await context.start()
                self._context = context
                self._guard = create_app(context, _extensions(self._studio), authenticate=self._access.authenticate)
                if self._access.is_generated:
                    print(f"Weft: log in with #token={self.token}", file=sys.stderr, flush=True)
            return self._guard


async def serve_async(
    agent: Agent | AgentFactory,
    *,
    store: Store | str = "memory:",
    host: str = "127.0.0.1",
    port: int = DEFAULT_PORT,
    token: str | None = None,
    auth: Auth = "token",
    origins: Sequence[str] = (),
    public_url: str = "",
    limits: ServerLimits | None = None,
    studio: bool = True,
    ready: Callable[[str], object] | None = None,
) -> None:
    """`serve` in a running event loop. `ready` is called with the address instead of printing it.

    `public_url` is the address of the server behind a proxy, with its path.
    """
    from weft.server.uvicorn_server import bind, serve_app

    access = _Access(token, auth)
    settings = ServerSettings(
        host=host,
        port=port,
        origins=tuple(origins),
        public_url=public_url,
        needs_token=auth != "none",
        limits=limits or ServerLimits(),
    )
    bound = bind(validate_settings(settings))
    settings = msgspec.structs.replace(settings, port=bound.getsockname()[1])
    context = _build_context(agent, store, settings, access)
    app = create_app(context, _extensions(studio), authenticate=access.authenticate)
    shown = settings.public.url if settings.public is not None else settings.address
    address = f"{shown}/#token={access.token}" if access.token else f"{shown}/"
    await serve_app(app, context, bound, lambda: (ready or _print_address)(address))


def _print_address(address: str) -> None:
    print(f"Weft is at {address}", flush=True)


class ServeOptions(TypedDict, total=False):
    """The options of `serve`."""

    store: Store | str
    host: str
    port: int
    token: str | None
    auth: Auth
    origins: Sequence[str]
    public_url: str
    limits: ServerLimits | None
    studio: bool


def serve(agent: Agent | AgentFactory, **options: Unpack[ServeOptions]) -> None:
    """Serve an agent with its page until Ctrl-C, and print the address with the token to log in.

        weft.serve(agent, store="sqlite:///app.db")

    `weft.server.App` explains the options. The default store keeps sessions in memory.
    """
    with suppress(KeyboardInterrupt):
        asyncio.run(serve_async(agent, **options))


class _Access:
    """The token or the function that gives access."""

    def __init__(self, token: str | None, auth: Auth) -> None:
        if token is not None and auth != "token":
            raise ConfigurationError('A token goes with auth="token" only.')
        self.authenticate = None if isinstance(auth, str) else auth
        given = token or os.environ.get("WEFT_TOKEN")
        self.is_generated = auth == "token" and not given
        self.token = (given or new_token()) if auth == "token" else None
        self.tokens = AccessTokens({self.token: ""} if self.token else {})


class _AgentModels:
    """The model of an agent, as the only one that sessions may use."""

    def __init__(self, agent: Agent) -> None:
        self.default = agent.engine.models.name
        self._model: ModelLike = agent.options["model"]

    def open(self, name: str) -> ModelLike:
        if name != self.default:
            raise ConfigurationError(f"There is no model {name[:80]!r} here; there is {self.default}.")
        return self._model

    def list_models(self) -> list[ModelView]:
        return [ModelView(self.default, self.default.partition("/")[0])]

    def list_providers(self) -> list[ProviderView]:
        return []


def _build_context(
    agent: Agent | AgentFactory, store: Store | str, settings: ServerSettings, access: _Access
) -> ServerContext:
    async def agent_options(info: SessionInfo) -> dict[str, Any]:
        return _session_options(agent if isinstance(agent, Agent) else await _call_factory(agent, info), info)

    own = [tool for tool in agent.runtime.registry if not tool.on_client] if isinstance(agent, Agent) else []
    defaults = SessionSettings()
    if isinstance(agent, Agent):
        names = [tool.name for tool in own]
        defaults = SessionSettings(
            model=agent.engine.models.name, tools=names, permissions=agent.runtime.permissions.mode
        )
    return ServerContext(
        Sessions(open_store(store) if isinstance(store, str) else store),
        _AgentModels(agent) if isinstance(agent, Agent) else KnownModels(),
        settings=settings,
        tokens=access.tokens,
        defaults=defaults,
        tools={tool.name: tool for tool in own},
        agent_options=agent_options,
    )


def _session_options(agent: Agent, info: SessionInfo) -> dict[str, Any]:
    """The options that a session is opened with, so that it works like the agent."""
    options = dict(agent.options)
    if extra := SessionSettings.of(info.settings).instructions:  # system messages of OpenAI and AG-UI clients
        own: Any = options["instructions"]
        options["instructions"] = [*([own] if isinstance(own, str | os.PathLike) else own or ()), extra]
    workspace: Workspace | str | os.PathLike[str] | None = options["workspace"]
    if workspace is not None and not isinstance(workspace, str | os.PathLike):
        options["workspace"] = workspace.root or None  # sessions share a folder, but not files in memory
    return options


async def _call_factory(factory: AgentFactory, info: SessionInfo) -> Agent:
    arguments = (info,) if inspect.signature(factory).parameters else ()
    made: Any = factory(*arguments)  # pyright: ignore[reportCallIssue]
    agent = await made if inspect.isawaitable(made) else made
    if not isinstance(agent, Agent):
        raise ConfigurationError(f"The factory returned {type(agent).__name__}, not an Agent.")
    return agent


def _extensions(studio: bool) -> list[Extension]:
    """The studio, if its dependencies are installed."""
    if not studio:
        return []
    try:
        from weft.server.project_routes import studio_routes
    except ImportError:
        return []
    return [studio_routes]
