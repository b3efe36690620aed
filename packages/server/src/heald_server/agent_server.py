"""`serve`: serves an agent as a whole server."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import Any, TypedDict, Unpack

import msgspec

from heald.agent.agent import Agent
from heald.sessions.store import Store
from heald_server.agent_access import AgentAccess, Auth
from heald_server.agent_context import AgentFactory, agent_context
from heald_server.app import create_app
from heald_server.server_limits import ServerLimits
from heald_server.session_request import MakeDeps
from heald_server.settings import DEFAULT_PORT, ServerSettings, validate_settings


async def serve_async(
    agent: Agent[Any] | AgentFactory,
    *,
    store: Store | str = "memory:",
    host: str = "127.0.0.1",
    port: int = DEFAULT_PORT,
    token: str | None = None,
    auth: Auth = "token",
    origins: Sequence[str] = (),
    public_url: str = "",
    limits: ServerLimits | None = None,
    protocols: Collection[str] | None = None,
    deps: MakeDeps | None = None,
    ready: Callable[[str], object] | None = None,
) -> None:
    """`serve` in a running event loop. `ready` is called with the address instead of printing it.

    `public_url` is the address of the server behind a proxy, with its path.
    """
    from heald_server.http.uvicorn_server import bind, serve_app

    access = AgentAccess(token, auth)
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
    context = agent_context(agent, store, settings, access, deps)
    app = create_app(context, protocols=protocols, authenticate=access.authenticate)
    base_url = settings.public.url if settings.public is not None else settings.address
    address = f"{base_url}/#token={access.token}" if access.token else f"{base_url}/"
    printed_address = address if access.is_generated else f"{base_url}/"  # a token of the operator is not printed
    await serve_app(app, context, bound, lambda: ready(address) if ready else _print_address(printed_address))


def _print_address(address: str) -> None:
    print(f"Heald is at {address}", flush=True)


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
    protocols: Collection[str] | None
    deps: MakeDeps | None


def serve(agent: Agent[Any] | AgentFactory, **options: Unpack[ServeOptions]) -> None:
    """Serve an agent with its page until Ctrl-C, and print the address, with the token to log in if it is generated.

        heald_server.serve(agent, store="sqlite:///app.db")

    `heald_server.App` explains the options. The default store keeps sessions in memory.
    """
    with suppress(KeyboardInterrupt):
        asyncio.run(serve_async(agent, **options))
