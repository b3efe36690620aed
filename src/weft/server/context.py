"""The state that all routes of one server share."""

import asyncio
import logging
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from copy import copy
from functools import partial
from typing import Any

import msgspec

from weft.agent.agent import FolderExtras
from weft.agent.reactors import Reactor
from weft.core.errors import ConfigurationError
from weft.core.json import JsonObject
from weft.server.access_tokens import TOKENS, AccessTokens, Users
from weft.server.event_stream import EventStream
from weft.server.guard import Caller
from weft.server.limits import UsageMeters
from weft.server.metrics import ServerMetrics
from weft.server.models import ModelSource
from weft.server.node import ServerNode
from weft.server.open_sessions import OpenSessions, StoreRecovery
from weft.server.placement import open_placement
from weft.server.settings import ServerSettings
from weft.server.shares import SHARES, ProjectShares
from weft.sessions.memory import MemoryStore
from weft.sessions.resumption import open_stored_files
from weft.sessions.session import Session
from weft.sessions.sessions import Sessions
from weft.sessions.settings import FindExtras, SessionSettings
from weft.sessions.store import NoSuchSession, SessionInfo
from weft.tools.builtin import builtin_tool_names, named_tools
from weft.tools.definitions import Tool
from weft.tools.function_tools import ToolLike
from weft.tools.permissions import Permissions
from weft.tools.shell.sandbox import Sandbox
from weft.tools.workspace.base import Workspace

WatchProject = Callable[[Caller, str], AsyncGenerator[JsonObject]]
"""Yields a project now and after every change."""
SessionTools = Callable[[SessionInfo], Mapping[str, ToolLike]]
OwnToolSource = Callable[[], Mapping[str, ToolLike]]
"""Returns the tools of the program that runs the server, by name, as they are now."""
AgentOptions = Callable[[SessionInfo], Awaitable[dict[str, Any]]]
"""Returns the options of `weft.Agent` that a session is opened with."""

_log = logging.getLogger("weft.server.sessions")
_SWEEP_SECONDS = 15.0


class _NamedTools:
    """The tools of the program that a session names, as they are now: an MCP server may change its own."""

    def __init__(self, names: Sequence[str], source: OwnToolSource) -> None:
        self._names = names
        self._source = source

    @property
    def tools(self) -> list[Tool]:
        known = self._source()
        return [tool for name in self._names if isinstance(tool := known.get(name), Tool)]

    @property
    def version(self) -> int:
        return hash(tuple(map(id, self.tools)))


class ServerContext:
    """One server: its sessions, models, tools, folders, limits and access tokens.

    With `agent_options` the program defines the agent of every session, and clients cannot change its settings.
    `find_extras` finds what the folder of a session adds to it.
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
        users: Users | None = None,
        find_extras: FindExtras | None = None,
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
        self._find_extras = find_extras
        self._extras: dict[str, tuple[FolderExtras, object]] = {}  # of sessions that are being opened, with the model
        self.meters = UsageMeters(settings.limits, store=sessions.store, users=users)
        self.shares = ProjectShares(sessions.store)
        self.metrics = ServerMetrics()
        self._reactors: list[Reactor] = [self.metrics]
        self.open_sessions = OpenSessions(
            sessions, self._session_options, after_crash=settings.after_crash, node=sessions.store.node
        )
        self.open_sessions.on_open(self._complete_session)
        self.open_sessions.on_open(self._subscribe_meters)
        self._store_recovery = StoreRecovery(self.open_sessions, self._end_streams_of)
        self.node = ServerNode(
            sessions.store,
            self.open_sessions,
            folders=list(self.workspaces),
            settings=settings,
            placement=open_placement(settings.placement),
        )
        """This server among the others that share its store."""
        self._reloading: set[asyncio.Task[None]] = set()
        self._in_memory: ServerContext | None = None
        self.studio: Any = None
        """The studio of this server, if it has one."""
        self.watch_project: WatchProject | None = None
        """Set by the studio: subscribes to a project."""
        self.preview_key = secrets.token_bytes(32)
        """The key of the tickets of previews, which all nodes of the store share."""
        self._streams: set[EventStream] = set()
        self._on_stop: list[Callable[[], Awaitable[None]]] = []
        self._sweeper: asyncio.Task[None] | None = None

    @property
    def own_tools(self) -> Mapping[str, ToolLike]:
        """Tools of the program that runs the server, by name."""
        return self._own_tools()

    @property
    def sessions(self) -> Sessions:
        return self.open_sessions.sessions

    @property
    def can_store(self) -> bool:
        """Whether the store works, as far as it was used lately."""
        return self.node.is_ready and not self._store_recovery.is_failing

    def in_memory(self) -> "ServerContext":
        """The same server over a store in memory, for requests that keep no session."""
        if self._in_memory is None:
            self._in_memory = other = copy(self)
            other.open_sessions = OpenSessions(Sessions(MemoryStore()), self._session_options)
            other.open_sessions.closing = self.open_sessions.closing
            other.open_sessions.on_open(self._complete_session)
            other.open_sessions.on_open(self._subscribe_meters)
            self.on_stop(lambda: other.open_sessions.close(0.0))
        return self._in_memory

    def subscribe(self, reactor: Reactor) -> None:
        """Subscribe a reactor to every session that is opened from now on."""
        self._reactors.append(reactor)

    def render_metrics(self) -> str:
        """The metrics of this server, for Prometheus."""
        return self.metrics.render(
            {
                "weft_sessions_open": ("Sessions that are open here.", self.open_sessions.count),
                "weft_exchanges_running": ("Exchanges that run here.", self.open_sessions.busy),
                "weft_streams_open": ("Event streams that are read.", len(self._streams)),
            }
        )

    async def start(self) -> None:
        """Join the nodes of the store, which continue the exchanges and requests that dead ones left."""
        for draft in await self.sessions.store.abandoned():
            with suppress(NoSuchSession):
                await self.sessions.store.delete(draft)
        self.preview_key = await self.sessions.store.put_record("secret", "previews", self.preview_key, only_new=True)
        self.node.on_records(self._on_records)
        await self.tokens.attach(self.sessions.store)
        await self.shares.reload()
        await self.node.start()
        self._sweeper = asyncio.create_task(self._sweep(), name="weft-sweeper")

    def _on_records(self, kind: str) -> None:
        """Read the tokens and shares that another server, or a command, has changed."""
        for reload, of in ((self.tokens.reload, TOKENS), (self.shares.reload, SHARES)):
            if kind in ("", of):
                self._reloading.add(task := asyncio.create_task(reload(), name=f"weft-reload-{of}"))
                task.add_done_callback(self._reloading.discard)

    async def stop(self) -> None:
        """End the streams, give exchanges time to finish, then close the sessions and the store."""
        self.end_streams()
        if self._sweeper is not None:
            self._sweeper.cancel()
            await asyncio.wait([self._sweeper])
        await self._store_recovery.close()
        await self.open_sessions.close(self.settings.goodbye_seconds)
        await self.meters.close()
        await self.node.stop()
        for call in self._on_stop:
            await call()
        await self.sessions.store.close()

    def list_stacks(self) -> list[str]:
        """The names of the studio's stacks; none without a studio."""
        return list(self.studio.stacks()) if self.studio is not None else []

    def on_stop(self, call: Callable[[], Awaitable[None]]) -> None:
        """Call back after the last exchange has ended and before the store closes."""
        self._on_stop.append(call)

    def end_streams(self) -> None:
        """End all streams with a goodbye frame that holds their cursor. Responses that are being sent have as much time
        as their exchanges; no further request is accepted."""
        self.open_sessions.closing = True
        if self._in_memory is not None:
            self._in_memory.open_sessions.closing = True
        self.node.drain()
        for stream in list(self._streams):
            if stream.is_response:
                asyncio.get_running_loop().call_later(self.settings.goodbye_seconds, stream.stop, "shutdown")
            else:
                stream.stop("shutdown")

    @property
    def is_responding(self) -> bool:
        """Whether a response with the events of an exchange is being sent."""
        return any(stream.is_response for stream in self._streams)

    def _end_streams_of(self, session: str) -> None:
        """End the streams of a session whose events cannot be stored."""
        for stream in list(self._streams):
            if stream.session == session:
                stream.stop("store")

    @contextmanager
    def streaming(self, caller: Caller, *streams: EventStream) -> Generator[None]:
        """Count the streams of a connection, and end them with their token or with the server."""
        end = self.meters.open_stream(caller.owner)
        try:
            with self.ending(*streams), self.watch_token(caller, lambda: [each.stop("token") for each in streams]):
                yield
        finally:
            end()

    @contextmanager
    def ending(self, *streams: EventStream) -> Generator[None]:
        """End the streams with the server."""
        self._streams.update(streams)
        if self.open_sessions.closing:
            self.end_streams()
        try:
            yield
        finally:
            self._streams.difference_update(streams)

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
        if self._find_extras is not None and not info.kind:
            extras = await asyncio.to_thread(self._find_extras, options.get("workspace"), settings)
            self._extras[info.id] = extras, options["model"]
            options["tools"] += extras.tools
            if extras.instructions:
                options["instructions"] = list(extras.instructions)
            options["middleware"] = list(extras.middleware)
        return options

    def _complete_session(self, info: SessionInfo, session: Session) -> None:
        """Add to an opened session what it gets from its folder and from the user."""
        extras, model = self._extras.pop(info.id, (None, None))
        if extras is not None:
            extras.complete(session, model)

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
        program, of_session = self.own_tools, of_session or {}
        builtin = [name for name in settings.tools if name not in program and name not in of_session]
        made = [of_session[name] for name in settings.tools if name in of_session]
        named = [name for name in settings.tools if name in program and name not in of_session]
        if not all(isinstance(program[name], Tool) for name in named):
            return [*named_tools(builtin, self.sandbox), *made, *(program[name] for name in named)]
        return [*named_tools(builtin, self.sandbox), *made, *([_NamedTools(named, self._own_tools)] if named else [])]

    @asynccontextmanager
    async def open_files(self, info: SessionInfo) -> AsyncGenerator[Workspace]:
        """The files of a session, for reading. A session that is not open here is not opened: another process may write
        it."""
        session = self.open_sessions.find_open(info.id)
        if session is not None and session.error is None:
            yield session.workspace
            return
        if self.agent_options is not None and not info.kind:  # only the program knows where the files are
            async with self.open_sessions.use(info) as session:
                yield session.workspace
            return
        wanted = SessionSettings.of(info.settings).workspace
        folder = self.workspaces.get(wanted) if wanted is not None else None
        if wanted is not None and folder is None:
            raise ConfigurationError(f"The folder {wanted!r} is no longer offered by this server.")
        workspace = await open_stored_files(self.sessions.store, info, folder)
        try:
            yield workspace
        finally:
            workspace.close()

    def _subscribe_meters(self, info: SessionInfo, session: Session) -> None:
        for reactor in self._reactors:
            session.subscribe(reactor)
        session.subscribe(self.meters.usage_reactor(info.owner, info.id), types=["exchange_response"])
        for exchange in session.resumed:
            self.meters.track_exchange(info.owner, exchange)

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(_SWEEP_SECONDS)
            try:
                await self.open_sessions.close_idle(self.settings.idle_seconds)
            except Exception:
                _log.exception("Idle sessions could not be closed.")
