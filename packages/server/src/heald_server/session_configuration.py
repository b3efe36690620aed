"""The settings that a session may have, and the options of its agent that follow from them."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import msgspec

from heald.agent.agent_files import AgentFiles, AgentSetup
from heald.agent.folder_extras import FolderExtras
from heald.core.errors import ConfigurationError
from heald.core.json import JsonObject
from heald.sessions.session import Session
from heald.sessions.session_info import SessionInfo
from heald.sessions.settings import FindAgents, FindExtras, SessionSettings
from heald.tools.definitions import Tool
from heald.tools.families import named_tools, tool_names
from heald.tools.permissions import Permissions
from heald.tools.registry import ToolLike
from heald.tools.shell.sandbox import Sandbox
from heald_server.models import ModelSource
from heald_server.program_tools import ProgramTools, ProgramToolSource

SessionTools = Callable[[SessionInfo], Mapping[str, ToolLike]]
AgentOptions = Callable[[SessionInfo], Awaitable[dict[str, Any]]]
"""Returns the options of `heald.Agent` that a session is opened with."""

_OF_AGENT = frozenset({"model", "tools"})
"""Settings that a session gets from its agent."""

_log = logging.getLogger("heald_server.sessions")


class SessionConfiguration:
    """Merges the settings of clients with those of the server, and resolves their models, tools and folders."""

    def __init__(
        self,
        models: ModelSource,
        *,
        defaults: SessionSettings,
        workspaces: Mapping[str, str],
        sandbox: Sandbox,
        program_tools: ProgramToolSource,
        session_tools: SessionTools,
        agent_options: AgentOptions | None,
        find_extras: FindExtras | None,
        find_agents: FindAgents | None,
        client_tool_timeout: float,
    ) -> None:
        self._models = models
        self.defaults = defaults
        self._workspaces = workspaces
        self._sandbox = sandbox
        self._program_tools = program_tools
        self._session_tools = session_tools
        self._agent_options = agent_options
        self._find_extras = find_extras
        self._find_agents = find_agents
        self._client_tool_timeout = client_tool_timeout
        self._extras: dict[str, tuple[FolderExtras, object]] = {}  # of sessions that are being opened, with the model

    def merge(self, changes: JsonObject, stored: SessionSettings | None = None) -> SessionSettings:
        """A client's settings over those of a stored session, or over the defaults.

        Raises `ConfigurationError` for settings that the client may not have.
        """
        base = SessionSettings.of(self.defaults.data() | stored.data()) if stored is not None else self.defaults
        settings = SessionSettings.of(base.data() | changes)
        if settings.agent and (stored is None or settings.agent != stored.agent or "workspace" in changes):
            settings = self._apply_agent(settings, changes)
        elif stored is not None and settings.agent != stored.agent:
            defaults = {name: value for name, value in self.defaults.data().items() if name in _OF_AGENT - set(changes)}
            settings = SessionSettings.of(settings.data() | defaults)
        if self._agent_options is not None and any(getattr(settings, name) != getattr(base, name) for name in changes):
            raise ConfigurationError("The program that runs this server defines the agent; its settings are fixed.")
        if settings.workspace is not None and settings.workspace not in self._workspaces:
            offered = ", ".join(self._workspaces) or "none"
            raise ConfigurationError(f"There is no folder {settings.workspace[:80]!r} here; offered: {offered}.")
        Permissions(settings.mode(), settings.rules)
        stored_tools = stored.tools if stored is not None else []
        new_tools = [name for name in settings.tools if name not in stored_tools]
        self._resolve_tools(msgspec.structs.replace(settings, tools=new_tools))
        if settings.model:
            self._models.open(settings.model)
        return settings

    def find_agents(self, workspace: str | None) -> AgentFiles:
        """Return the agents of files that a session may have in one of the server's folders, or in none."""
        if self._find_agents is None:
            return AgentFiles()
        return self._find_agents(self._workspaces.get(workspace) if workspace is not None else None)

    def _apply_agent(self, settings: SessionSettings, changes: JsonObject) -> SessionSettings:
        """Return the settings with the model and the tools of their agent, unless the client chose others. Raises
        ConfigurationError if there is no such agent."""
        file = self.find_agents(settings.workspace).find(settings.agent)
        if file.model and "model" not in changes:
            settings = msgspec.structs.replace(settings, model=file.model)
        if file.tools is not None and "tools" not in changes:
            settings = msgspec.structs.replace(settings, tools=list(file.tools))
        return settings

    async def open_options(self, info: SessionInfo, settings: SessionSettings) -> dict[str, Any]:
        if self._agent_options is not None and not info.kind:
            return await self._agent_options(info)
        of_session = self._session_tools(info)
        options: dict[str, Any] = {
            "model": self._models.open(settings.model or self._models.default),
            "tools": self._resolve_tools(self._without_missing(settings, of_session), of_session),
            "client_tool_timeout": self._client_tool_timeout,
        }
        if settings.workspace is not None:
            folder = self._workspaces.get(settings.workspace)
            if folder is None:
                raise ConfigurationError(f"The folder {settings.workspace!r} is no longer offered by this server.")
            options["workspace"] = folder
        if self._find_extras is not None and not info.kind:
            extras = await asyncio.to_thread(self._find_extras, options.get("workspace"), settings, info.owner)
            self._extras[info.id] = extras, options["model"]
            options["tools"] += extras.tools
            if extras.instructions:
                options["instructions"] = list(extras.instructions)
            options["middleware"] = list(extras.middleware)
        if settings.agent and not info.kind:
            extras, _ = self._extras.get(info.id, (FolderExtras(), None))
            options |= await asyncio.to_thread(self._agent_options_of, settings, options, extras.tools)
        return options

    def _agent_options_of(
        self, settings: SessionSettings, options: Mapping[str, Any], folder_tools: Sequence[ToolLike]
    ) -> dict[str, Any]:
        """Return the options of the agent that the settings name, within those of the session."""
        session_tools: Sequence[ToolLike] = options["tools"]

        def find_tools(names: Sequence[str] | None) -> Sequence[ToolLike]:
            if names is None:
                return session_tools
            return [*self._resolve_tools(msgspec.structs.replace(settings, tools=list(names))), *folder_tools]

        setup = AgentSetup(
            model=options["model"],
            is_model_fixed=True,  # it was chosen when the agent was
            open_model=self._models.open,
            find_tools=find_tools,
            instructions=options.get("instructions") or [settings.instructions],
            permissions=Permissions(settings.mode(), settings.rules),
            budget=settings.budget,
        )
        agent = self.find_agents(settings.workspace).agent_options(settings.agent, setup)
        return agent | {"tools": session_tools}

    def complete(self, info: SessionInfo, session: Session) -> None:
        """Add to an opened session what it gets from its folder and from the user."""
        extras, model = self._extras.pop(info.id, (None, None))
        if extras is not None:
            extras.complete(session, model)

    def _without_missing(self, settings: SessionSettings, of_session: Mapping[str, ToolLike]) -> SessionSettings:
        """Drop names of tools that this server had when the settings were stored, and has no longer."""
        if not settings.tools:
            return settings
        offered = {*self._program_tools(), *of_session, *tool_names()}
        for name in settings.tools:
            if name not in offered:
                _log.warning("The tool %s of a session is no longer offered; the session works without it.", name)
        return msgspec.structs.replace(settings, tools=[name for name in settings.tools if name in offered])

    def _resolve_tools(
        self, settings: SessionSettings, of_session: Mapping[str, ToolLike] | None = None
    ) -> list[ToolLike]:
        program, of_session = self._program_tools(), of_session or {}
        builtin = [name for name in settings.tools if name not in program and name not in of_session]
        made = [of_session[name] for name in settings.tools if name in of_session]
        named = [name for name in settings.tools if name in program and name not in of_session]
        if not all(isinstance(program[name], Tool) for name in named):
            return [*named_tools(builtin, self._sandbox), *made, *(program[name] for name in named)]
        return [
            *named_tools(builtin, self._sandbox),
            *made,
            *([ProgramTools(named, self._program_tools)] if named else []),
        ]
