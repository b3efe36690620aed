"""The context of a server whose sessions work like the agent of a program."""

import inspect
import os
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast

from heald.agent.agent import Agent
from heald.agent.model_chain import ModelLike
from heald.core.errors import ConfigurationError
from heald.sessions.session_info import SessionInfo
from heald.sessions.sessions import Sessions
from heald.sessions.settings import SessionSettings
from heald.sessions.store import Store
from heald.sessions.stores import open_store
from heald.tools.workspace.base import Workspace
from heald_server.agent_access import AgentAccess
from heald_server.context import ServerContext
from heald_server.models import KnownModels, ModelView, ProviderView
from heald_server.session_request import MakeDeps, deps_of
from heald_server.settings import ServerSettings

AgentFactory = (
    Callable[[SessionInfo], Agent[Any] | Awaitable[Agent[Any]]] | Callable[[], Agent[Any] | Awaitable[Agent[Any]]]
)
"""Returns the agent of a session. It may accept the session's info: its id, owner and title."""


class _AgentModels:
    """The model of an agent, as the only one that sessions may use."""

    def __init__(self, agent: Agent[Any]) -> None:
        self.default = agent.model_name
        self._model: ModelLike = agent.options["model"]

    def open(self, name: str) -> ModelLike:
        if name != self.default:
            raise ConfigurationError(f"There is no model {name[:80]!r} here; there is {self.default}.")
        return self._model

    def list_models(self) -> list[ModelView]:
        return [ModelView(self.default, self.default.partition("/")[0])]

    def list_providers(self) -> list[ProviderView]:
        return []


def agent_context(
    agent: Agent[Any] | AgentFactory,
    store: Store | str,
    settings: ServerSettings,
    access: AgentAccess,
    make_deps: MakeDeps | None = None,
) -> ServerContext:
    """Return the context of a server for an agent. `make_deps` makes the `deps` of its tools for each request."""

    async def agent_options(info: SessionInfo) -> dict[str, Any]:
        options = _session_options(single_agent or await _call_factory(cast("AgentFactory", agent), info), info)
        if info.work != "idle":
            options["deps"] = await deps_of(make_deps, info, is_continued=True)
        return options

    single_agent = cast("Agent[Any]", agent) if isinstance(agent, Agent) else None
    server_tools = [tool for tool in single_agent.tools if not tool.on_client] if single_agent is not None else []
    defaults = SessionSettings()
    if single_agent is not None:
        names = [tool.name for tool in server_tools]
        defaults = SessionSettings(
            model=single_agent.model_name, tools=names, permissions=single_agent.permissions.mode
        )
    return ServerContext(
        Sessions(open_store(store) if isinstance(store, str) else store),
        _AgentModels(single_agent) if single_agent is not None else KnownModels(),
        settings=settings,
        tokens=access.tokens,
        defaults=defaults,
        tools={tool.name: tool for tool in server_tools},
        agent_options=agent_options,
        make_deps=make_deps,
    )


def _session_options(agent: Agent[Any], info: SessionInfo) -> dict[str, Any]:
    """The options that a session is opened with, so that it works like the agent."""
    options = dict(agent.options)
    if extra := SessionSettings.of(info.settings).instructions:  # system messages of OpenAI and AG-UI clients
        instructions: Any = options["instructions"]
        parts: Sequence[Any] = [instructions] if isinstance(instructions, str | os.PathLike) else instructions or ()
        options["instructions"] = [*parts, extra]
    workspace: Workspace | str | os.PathLike[str] | None = options["workspace"]
    if workspace is not None and not isinstance(workspace, str | os.PathLike):
        options["workspace"] = workspace.root or None  # sessions share a folder, but not files in memory
    return options


async def _call_factory(factory: AgentFactory, info: SessionInfo) -> Agent[Any]:
    arguments = (info,) if inspect.signature(factory).parameters else ()
    made: Any = factory(*arguments)  # pyright: ignore[reportCallIssue]
    agent = await made if inspect.isawaitable(made) else made
    if not isinstance(agent, Agent):
        raise ConfigurationError(f"The factory returned {type(agent).__name__}, not an Agent.")
    return cast("Agent[Any]", agent)
