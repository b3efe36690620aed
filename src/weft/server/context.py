"""The state that all routes of one server share."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from functools import partial
from typing import Any

import msgspec

from weft.core.errors import ConfigurationError
from weft.core.json import JsonObject
from weft.server.access_tokens import AccessTokens
from weft.server.event_stream import EventStream
from weft.server.guard import Caller
from weft.server.limits import UsageMeters
from weft.server.models import ModelSource
from weft.server.open_sessions import OpenSessions, StoreRecovery
from weft.server.settings import ServerSettings
from weft.sessions.memory import MemoryStore
from weft.sessions.session import Session
from weft.sessions.sessions import Sessions
from weft.sessions.settings import SessionSettings
from weft.sessions.store import SessionInfo
from weft.tools.builtin import builtin_tool_names, named_tools
from weft.tools.function_tools import ToolLike
from weft.tools.permissions import Permissions
from weft.tools.shell.sandbox import Sandbox

WatchProject = Callable[[Caller, str], AsyncGenerator[JsonObject]]
"""Yields a project now and after every change."""
SessionTools = Callable[[SessionInfo], Mapping[str, ToolLike]]
OwnToolSource = Callable[[], Mapping[str, ToolLike]]
"""Returns the tools of the program that runs the server, by name, as they are now."""
AgentOptions = Callable[[SessionInfo], Awaitable[dict[str, Any]]]
"""Returns the options of `weft.Agent` that a session is opened with."""

_log = logging.getLogger("weft.server.sessions")
_SWEEP_SECONDS = 15.0


class ServerContext:
    """One server: its sessions, models, tools, folders, limits and access tokens.

    With `agent_options` the program defines the agent of every session, and clients cannot change its settings.
    """

    def __init__(
        self,
        sessions: Sessions,
        models: ModelSource,
        *,
        settings: ServerSettings,
        tokens: AccessTokens,
        defaults: SessionSettings | None = None,
        workspaces: Mapping[str, str] | None = None,
        tools: Mapping[str, ToolLike] | OwnToolSource | None = None,
        session_tools: SessionTools | None = None,
        sandbox: Sandbox | None = None,
        agent_options: AgentOptions | None = None,
    ) -> None:
        self.settings = settings
        self.tokens = tokens
        self.models = models
        self.defaults = defaults or SessionSettings(permissions="ask")
        self.workspaces = dict(workspaces or {})
        """Folders that sessions may use, by name."""
        self.sandbox = sandbox or Sandbox()
        self._own_tools: OwnToolSource = tools if callable(tools) else partial(dict[str, ToolLike], tools or {})
        self.session_tools: SessionTools = session_tools or (lambda _: {})
        """Tools that are made for one session, by name."""
        self.agent_options = agent_options
        self.meters = UsageMeters(settings.limits)
        self.open_sessions = OpenSessions(sessions, self._session_options)
        self.open_sessions.on_open(self._subscribe_meters)
        self._store_recovery = StoreRecovery(self.open_sessions, self._end_streams_of)
        self._in_memory: ServerContext | None = None
        self.watch_project: WatchProject | None = None
        """Set by the studio: subscribes to a project."""
        self._streams: set[EventStream] = set()
        self._on_stop: list[Callable[[], Awaitable[None]]] = []
        self._continuing: asyncio.Task[None] | None = None
        self._sweeper: asyncio.Task[None] | None = None

    @property
    def own_tools(self) -> Mapping[str, ToolLike]:
        """Tools of the program that runs the server, by name."""
        return self._own_tools()

    @property
    def sessions(self) -> Sessions:
        return self.open_sessions.sessions

    def in_memory(self) -> "ServerContext":
        """The same server over a store in memory, for requests that keep no session."""
        if self._in_memory is None:
            self._in_memory = other = copy(self)
            other.open_sessions = OpenSessions(Sessions(MemoryStore()), self._session_options)
            other.open_sessions.on_open(self._subscribe_meters)
            self.on_stop(lambda: other.open_sessions.close(0.0))
        return self._in_memory

    async def start(self) -> None:
        """Recover the sessions of a crashed process, and continue its requests in the background."""
        unfinished: list[str] = []
        for session in await self.sessions.recover(unfinished):
            _log.info("recovered", extra={"session": session})
        self._continuing = asyncio.create_task(self._continue_exchanges(unfinished), name="weft-continue-exchanges")
        self._sweeper = asyncio.create_task(self._sweep(), name="weft-sweeper")

    async def stop(self) -> None:
        """End the streams, give exchanges time to finish, then close the sessions and the store."""
        self.end_streams()
        for task in (self._continuing, self._sweeper):
            if task is not None:
                task.cancel()
                await asyncio.wait([task])
        await self._store_recovery.close()
        await self.open_sessions.close(self.settings.goodbye_seconds)
        for call in self._on_stop:
            await call()
        await self.sessions.store.close()

    def on_stop(self, call: Callable[[], Awaitable[None]]) -> None:
        """Call back after the last exchange has ended and before the store closes."""
        self._on_stop.append(call)

    def end_streams(self) -> None:
        """End all streams with a goodbye frame that holds their cursor."""
        self.open_sessions.closing = True
        for stream in list(self._streams):
            stream.stop("shutdown")

    def _end_streams_of(self, session: str) -> None:
        """End the streams of a session whose events cannot be stored."""
        for stream in list(self._streams):
            if stream.session == session:
                stream.stop("store")

    @contextmanager
    def streaming(self, caller: Caller, *streams: EventStream) -> Generator[None]:
        """Count the streams of a connection, and end them with their token or with the server."""
        end = self.meters.open_stream(caller.owner)
        self._streams.update(streams)
        if self.open_sessions.closing:
            self.end_streams()
        try:
            with self.watch_token(caller, lambda: [each.stop("token") for each in streams]):
                yield
        finally:
            self._streams.difference_update(streams)
            end()

    @contextmanager
    def watch_token(self, caller: Caller, end: Callable[[], object]) -> Generator[None]:
        """Call back when the caller's token is revoked."""
        unwatch = self.tokens.on_revoked(caller.token_id, end) if caller.token_id is not None else None
        try:
            yield
        finally:
            if unwatch is not None:
                unwatch()

    # --- settings of sessions -----------------------------------------------------------------------------------------

    def merge_settings(self, wanted: JsonObject, stored: SessionSettings | None = None) -> SessionSettings:
        """A client's settings over those of a stored session, or over the defaults.

        Raises `ConfigurationError` for settings that the client may not have.
        """
        base = SessionSettings.of(self.defaults.data() | stored.data()) if stored is not None else self.defaults
        settings = SessionSettings.of(base.data() | wanted)
        if self.agent_options is not None and any(getattr(settings, name) != getattr(base, name) for name in wanted):
            raise ConfigurationError("The program that runs this server defines the agent; its settings are fixed.")
        if settings.workspace is not None and settings.workspace not in self.workspaces:
            offered = ", ".join(self.workspaces) or "none"
            raise ConfigurationError(f"There is no folder {settings.workspace[:80]!r} here; offered: {offered}.")
        Permissions(settings.permissions, settings.rules)
        known = stored.tools if stored is not None else []
        self._resolve_tools(msgspec.structs.replace(settings, tools=[n for n in settings.tools if n not in known]))
        if settings.model:
            self.models.open(settings.model)
        return settings

    async def _session_options(self, info: SessionInfo, settings: SessionSettings) -> dict[str, Any]:
        if self.agent_options is not None and not info.kind:
            return await self.agent_options(info)
        of_session = self.session_tools(info)
        options: dict[str, Any] = {
            "model": self.models.open(settings.model or self.models.default),
            "tools": self._resolve_tools(self._without_missing(settings, of_session), of_session),
            "client_tool_timeout": self.settings.client_tool_timeout,
        }
        if settings.workspace is not None:
            folder = self.workspaces.get(settings.workspace)
            if folder is None:
                raise ConfigurationError(f"The folder {settings.workspace!r} is no longer offered by this server.")
            options["workspace"] = folder
        return options

    def _without_missing(self, settings: SessionSettings, of_session: Mapping[str, ToolLike]) -> SessionSettings:
        """Drop names of tools that this server had when the settings were stored, and has no longer."""
        known = {*self.own_tools, *of_session, *builtin_tool_names()}
        for name in settings.tools:
            if name not in known:
                _log.warning("The tool %s of a session is no longer offered; the session works without it.", name)
        return msgspec.structs.replace(settings, tools=[name for name in settings.tools if name in known])

    def _resolve_tools(
        self, settings: SessionSettings, of_session: Mapping[str, ToolLike] | None = None
    ) -> list[ToolLike]:
        known = {**self.own_tools, **(of_session or {})}
        own = [known[name] for name in settings.tools if name in known]
        return [*named_tools([name for name in settings.tools if name not in known], self.sandbox), *own]

    def _subscribe_meters(self, info: SessionInfo, session: Session) -> None:
        session.subscribe(self.meters.usage_reactor(info.owner, info.id), types=["exchange_response"])

    async def _continue_exchanges(self, sessions: Sequence[str]) -> None:
        """Continue requests that were accepted before a crash."""
        for session in sessions:
            try:
                async with self.open_sessions.use(await self.sessions.store.info(session)):
                    _log.info("continues the requests of an earlier process", extra={"session": session})
            except Exception:
                _log.exception("The requests of a session could not be continued.", extra={"session": session})

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(_SWEEP_SECONDS)
            try:
                await self.open_sessions.close_idle(self.settings.idle_seconds)
            except Exception:
                _log.exception("Idle sessions could not be closed.")
