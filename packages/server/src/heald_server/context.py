"""The state that all routes of one server share."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.types import Scope

from heald.agent.reactors import Reactor
from heald.core.errors import ConfigurationError
from heald.core.json import JsonObject
from heald.sessions.memory import MemoryStore
from heald.sessions.one_node import as_shared
from heald.sessions.session import Session
from heald.sessions.session_files import open_stored_files
from heald.sessions.session_info import SessionInfo
from heald.sessions.sessions import Sessions
from heald.sessions.settings import FindAgents, FindExtras, FindMemory, SessionSettings
from heald.sessions.store_errors import NoSuchSession, StoreError
from heald.tools.registry import ToolLike
from heald.tools.shell.sandbox import Sandbox
from heald.tools.workspace.base import Workspace
from heald_server.access.caller import AdmitCaller, Caller, WatchCaller
from heald_server.access.tokens import TOKENS, AccessTokens
from heald_server.access.usage_meters import UsageMeters
from heald_server.access.users import Users
from heald_server.cluster.node import ServerNode
from heald_server.cluster.placement import open_placement
from heald_server.http.errors import ApiError
from heald_server.http.metrics import ServerMetrics
from heald_server.models import ModelSource
from heald_server.open_sessions import OpenSessions
from heald_server.program_tools import ProgramToolSource
from heald_server.session_configuration import AgentOptions, SessionConfiguration, SessionTools
from heald_server.session_request import MakeDeps
from heald_server.settings import ServerSettings
from heald_server.store_recovery import StoreRecovery
from heald_server.streams.event_stream import EventStream
from heald_server.streams.open_streams import OpenStreams

if TYPE_CHECKING:
    from heald_server.protocols.mcp.prompt import OfferedPrompt
    from heald_server.protocols.mcp.resource_source import ResourceSource
    from heald_server.protocols.mcp.tool import McpTool

Feed = Callable[[Caller, str], AsyncGenerator[JsonObject]]
"""Yields messages for the WebSocket of a caller: the state of something by its name, now and after every change."""
Call = Callable[[], Coroutine[Any, Any, None]]

_log = logging.getLogger("heald_server.sessions")
_SWEEP_SECONDS = 15.0


class ServerContext:
    """One server: its sessions, models, tools, folders, limits and access tokens.

    With `agent_options` the program defines the agent of every session, and clients cannot change its settings.
    `find_extras` finds what the folder of a session adds to it, `find_agents` the agents of files that it may have.
    `protocol_options` are keywords for the routes of protocols, by the names of the protocols.
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
        tools: Mapping[str, ToolLike] | ProgramToolSource | None = None,
        session_tools: SessionTools | None = None,
        sandbox: Sandbox | None = None,
        agent_options: AgentOptions | None = None,
        users: Users | None = None,
        find_extras: FindExtras | None = None,
        find_agents: FindAgents | None = None,
        find_memory: FindMemory | None = None,
        protocol_options: Mapping[str, Mapping[str, Any]] | None = None,
        make_deps: MakeDeps | None = None,
    ) -> None:
        self.settings = settings
        self.find_memory = find_memory
        """Finds the facts that the sessions of an owner note about a folder."""
        self.make_deps = make_deps
        """Makes the `deps` of the tools for each request that starts an exchange."""
        self.tokens = tokens
        self.models = models
        self.workspaces = dict(workspaces or {})
        """Folders that sessions may use, by name."""
        self.sandbox = sandbox or Sandbox()
        self._program_tools: ProgramToolSource = tools if callable(tools) else partial(dict[str, ToolLike], tools or {})
        self.session_tools: SessionTools = session_tools or (lambda _: {})
        """Tools that are made for one session, by name."""
        self.agent_options = agent_options
        self.configuration = SessionConfiguration(
            models,
            defaults=defaults or SessionSettings(permissions="ask"),
            workspaces=self.workspaces,
            sandbox=self.sandbox,
            program_tools=self._program_tools,
            session_tools=lambda info: self.session_tools(info),
            agent_options=agent_options,
            find_extras=find_extras,
            find_agents=find_agents,
            client_tool_timeout=settings.client_tool_timeout,
        )
        store = as_shared(sessions.store)
        self.meters = UsageMeters(settings.limits, store=store, users=users)
        self.metrics = ServerMetrics()
        self._reactors: list[Reactor] = [self.metrics]
        self.open_sessions = OpenSessions(
            Sessions(store), self.configuration.open_options, after_crash=settings.after_crash, node=store.node
        )
        self.open_sessions.on_open(self.configuration.complete)
        self.open_sessions.on_open(self._subscribe_meters)
        self._streams = OpenStreams()
        self._store_recovery = StoreRecovery(self.open_sessions, self._streams.end_unstorable)
        self.node = ServerNode(
            store,
            self.open_sessions,
            folders=list(self.workspaces),
            settings=settings,
            placement=open_placement(settings.placement),
        )
        """This server among the others that share its store."""
        self._reloading: set[asyncio.Task[None]] = set()
        self._in_memory: ServerContext | None = None
        self.protocol_options = dict(protocol_options or {})
        self.protocol_state: dict[str, Any] = {}
        """What the routes of a protocol hold for others, by the name of the protocol."""
        self.feeds: dict[str, Feed] = {}
        """Feeds of protocols that a WebSocket may subscribe to, by the field of the command that names one."""
        self.mcp_tools: list[Callable[[], McpTool]] = []
        """Functions that return further tools of the MCP server. They are called when its first client connects."""
        self.mcp_prompts: list[Callable[[], OfferedPrompt]] = []
        """Functions that return prompts of the MCP server."""
        self.mcp_resources: list[Callable[[], ResourceSource]] = []
        """Functions that return further resources of the MCP server."""
        self._admissions: list[AdmitCaller] = []
        self._watches: list[WatchCaller] = [self._watch_token]
        self._on_start: list[Call] = []
        self._reloads: dict[str, Call] = {TOKENS: tokens.reload}
        self._on_stop: list[Call] = []
        self._sweeper: asyncio.Task[None] | None = None

    @property
    def defaults(self) -> SessionSettings:
        """The settings of a session whose client sets none."""
        return self.configuration.defaults

    @defaults.setter
    def defaults(self, defaults: SessionSettings) -> None:
        self.configuration.defaults = defaults

    @property
    def program_tools(self) -> Mapping[str, ToolLike]:
        """Tools of the program that runs the server, by name."""
        return self._program_tools()

    @property
    def sessions(self) -> Sessions:
        return self.open_sessions.sessions

    @property
    def can_store(self) -> bool:
        """Whether the store works, as far as it was used lately."""
        return self.node.is_ready and not self._store_recovery.is_failing

    def check_store(self, info: SessionInfo | None = None) -> None:
        """Raise `unavailable` if the store is damaged, so that an exchange could never end. A session without work can
        still be read."""
        damage = self._store_recovery.damage
        if damage is not None and (info is None or info.work != "idle"):
            raise ApiError("unavailable", str(damage))

    def in_memory(self) -> "ServerContext":
        """The same server over a store in memory, for requests that keep no session."""
        if self._in_memory is None:
            self._in_memory = other = copy(self)
            other.open_sessions = OpenSessions(Sessions(MemoryStore()), self.configuration.open_options)
            other.open_sessions.closing = self.open_sessions.closing
            other.open_sessions.on_open(self.configuration.complete)
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
                "heald_sessions_open": ("Sessions that are open here.", self.open_sessions.count),
                "heald_exchanges_running": ("Exchanges that run here.", self.open_sessions.busy),
                "heald_streams_open": ("Event streams that are read.", len(self._streams)),
            }
        )

    async def start(self) -> None:
        """Join the nodes of the store, which continue the exchanges and requests that dead ones left."""
        for draft in await self.sessions.store.abandoned():
            with suppress(NoSuchSession):
                await self.sessions.store.delete(draft)
        self.node.on_records(self._on_records)
        await self.tokens.attach(self.open_sessions.store)
        for call in self._on_start:
            await call()
        await self.node.start()
        self._sweeper = asyncio.create_task(self._sweep(), name="heald-sweeper")

    def _on_records(self, kind: str) -> None:
        """Read the tokens, and the records of protocols, that another server, or a command, has changed."""
        for record_kind, reload in self._reloads.items():
            if kind in ("", record_kind):
                task = asyncio.create_task(_reload(record_kind, reload), name=f"heald-reload-{record_kind}")
                self._reloading.add(task)
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

    def on_start(self, call: Call) -> None:
        """Call back when the server starts, once its store can be used and before it accepts requests."""
        self._on_start.append(call)

    def on_records(self, kind: str, reload: Call) -> None:
        """Call back when another server on the same store has changed records of a kind."""
        self._reloads[kind] = reload

    def on_admission(self, admit: AdmitCaller, watch: WatchCaller) -> None:
        """Let a function decide as whom the request of an identified caller is answered. `watch` calls back when that
        ends, so that the streams of the caller end too."""
        self._admissions.append(admit)
        self._watches.append(watch)

    async def admit_caller(self, caller: Caller, scope: Scope, path: str) -> Caller:
        """Return the caller as whom a request is answered. Raises `ApiError` if it is rejected."""
        for admit in self._admissions:
            caller = await admit(caller, scope, path)
        return caller

    def on_stop(self, call: Call) -> None:
        """Call back after the last exchange has ended and before the store closes."""
        self._on_stop.append(call)

    def end_streams(self) -> None:
        """End all streams with a goodbye frame that holds their cursor. Responses that are being sent have as much time
        as their exchanges; no further request is accepted."""
        self.open_sessions.closing = True
        if self._in_memory is not None:
            self._in_memory.open_sessions.closing = True
        self.node.drain()
        self._streams.end(self.settings.goodbye_seconds)

    @property
    def is_responding(self) -> bool:
        """Whether a response with the events of an exchange is being sent."""
        return self._streams.is_responding

    @contextmanager
    def streaming(self, caller: Caller, *streams: EventStream) -> Generator[None]:
        """Count the streams of a connection, and end them with the caller's access or with the server."""
        end = self.meters.open_stream(caller.owner)
        try:
            with self.ending(*streams), self.watch_access(caller, lambda: [stream.stop("token") for stream in streams]):
                yield
        finally:
            end()

    @contextmanager
    def ending(self, *streams: EventStream) -> Generator[None]:
        """End the streams with the server."""
        with self._streams.reading(streams):
            if self.open_sessions.closing:
                self.end_streams()
            yield

    @contextmanager
    def watch_access(self, caller: Caller, end: Callable[[], object]) -> Generator[None]:
        """Call back when the caller's token is revoked or expires, or the link that it came by is deleted."""
        unwatches = [watch(caller, end) for watch in self._watches]
        try:
            yield
        finally:
            for unwatch in unwatches:
                unwatch()

    def _watch_token(self, caller: Caller, end: Callable[[], object]) -> Callable[[], object]:
        return self.tokens.on_revoked(caller.token_id, end) if caller.token_id is not None else lambda: None

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
        workspace_name = SessionSettings.of(info.settings).workspace
        folder = self.workspaces.get(workspace_name) if workspace_name is not None else None
        if workspace_name is not None and folder is None:
            raise ConfigurationError(f"The folder {workspace_name!r} is no longer offered by this server.")
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
            self._on_records("")  # what was revoked elsewhere ends here, even if the news of it were lost
            try:
                await self.open_sessions.close_idle(self.settings.idle_seconds)
            except Exception:
                _log.exception("Idle sessions could not be closed.")


async def _reload(kind: str, reload: Call) -> None:
    try:
        await reload()
    except StoreError as error:
        _log.warning("the records of kind %s cannot be read: %s", kind, error)
    except Exception:
        _log.exception(
            "The records of kind %s could not be read; they are read again within %d s.", kind, _SWEEP_SECONDS
        )
