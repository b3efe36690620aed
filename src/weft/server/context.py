"""What all routes of one server share."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from weft.core.errors import ConfigurationError
from weft.core.json import JsonObject
from weft.server.guard import Caller
from weft.server.limits import Meters
from weft.server.mending import Mending
from weft.server.models import Models
from weft.server.open_sessions import OpenSessions
from weft.server.settings import ServerSettings
from weft.server.telling import Telling
from weft.server.tokens import Tokens
from weft.sessions.session import Session
from weft.sessions.sessions import Sessions
from weft.sessions.settings import SessionSettings
from weft.sessions.store import SessionInfo
from weft.tools.builtin import named_tools
from weft.tools.permissions import Permissions
from weft.tools.registry import ToolLike
from weft.tools.shell.sandbox import Sandbox

WatchProject = Callable[[Caller, str], AsyncGenerator[JsonObject]]
"""What a client is told of a project, again whenever it changes."""
SessionTools = Callable[[SessionInfo], Mapping[str, ToolLike]]

_log = logging.getLogger("weft.server.sessions")
_SWEEP = 15.0


class ServerContext:
    """One server: its sessions, models, tools, folders, limits, and who may come in."""

    def __init__(
        self,
        sessions: Sessions,
        models: Models,
        *,
        settings: ServerSettings,
        tokens: Tokens,
        defaults: SessionSettings | None = None,
        workspaces: Mapping[str, str] | None = None,
        tools: Mapping[str, ToolLike] | None = None,
        session_tools: SessionTools | None = None,
        sandbox: Sandbox | None = None,
    ) -> None:
        self.settings = settings
        self.tokens = tokens
        self.models = models
        self.defaults = defaults or SessionSettings(permissions="ask")
        self.workspaces = dict(workspaces or {})
        """Folders that the operator offers, by name."""
        self.sandbox = sandbox or Sandbox()
        self.own_tools = dict(tools or {})
        """Tools of the program that the server is part of, by name."""
        self.session_tools: SessionTools = session_tools or (lambda _: {})
        """Tools that are made for one session, by name."""
        self.meters = Meters(settings.limits)
        self.open = OpenSessions(sessions, self._options)
        self.open.on_open(self._count)
        self._mending = Mending(self.open, self._cannot_store)
        self.watch_project: WatchProject | None = None
        """How a project of the studio is followed, where there is a studio."""
        self._streams: set[Telling] = set()
        self._on_stop: list[Callable[[], Awaitable[None]]] = []
        self._taking_up: asyncio.Task[None] | None = None
        self._sweeper: asyncio.Task[None] | None = None

    @property
    def sessions(self) -> Sessions:
        return self.open.sessions

    async def start(self) -> None:
        left: list[str] = []
        recovered = await self.sessions.recover(left)
        for session in recovered:
            _log.info("closed what an earlier process left open", extra={"session": session})
        self._taking_up = asyncio.create_task(self._take_up(left), name="weft-taking-up")
        self._sweeper = asyncio.create_task(self._sweep(), name="weft-sweeper")

    async def stop(self) -> None:
        """Streams say goodbye, exchanges get a moment to end, then all is closed."""
        self.leave()
        for task in (self._taking_up, self._sweeper):
            if task is not None:
                task.cancel()
                await asyncio.wait([task])
        await self._mending.close()
        await self.open.close(self.settings.goodbye_seconds)
        for call in self._on_stop:
            await call()
        await self.sessions.store.close()

    def on_stop(self, call: Callable[[], Awaitable[None]]) -> None:
        """Tell whoever has work of its own, after the last exchange and before the store closes."""
        self._on_stop.append(call)

    def leave(self) -> None:
        """Streams end, saying where to go on."""
        self.open.closing = True
        for telling in list(self._streams):
            telling.stop("shutdown")

    def _cannot_store(self, session: str) -> None:
        """Streams of a session end: what happens in it can be stored no more, so nobody would hear of it."""
        for telling in list(self._streams):
            if telling.session == session:
                telling.stop("store")

    @contextmanager
    def streaming(self, caller: Caller, *tellings: Telling) -> Generator[None]:
        """Count a stream, and end it with its token or with the server."""
        end = self.meters.open_stream(caller.owner)
        self._streams.update(tellings)
        if self.open.closing:
            self.leave()
        try:
            with self.admitted(caller, lambda: [each.stop("token") for each in tellings]):
                yield
        finally:
            self._streams.difference_update(tellings)
            end()

    @contextmanager
    def admitted(self, caller: Caller, end: Callable[[], object]) -> Generator[None]:
        """Call back when the caller's token is revoked meanwhile, or was already."""
        unwatch = self.tokens.watch(caller.holder, end) if caller.holder is not None else None
        try:
            yield
        finally:
            if unwatch is not None:
                unwatch()

    # --- how sessions are set up -------------------------------------------------------------------------------------

    def settled(self, wishes: JsonObject) -> SessionSettings:
        """A client's wishes over the defaults, if they can be granted."""
        settings = SessionSettings.of(self.defaults.data() | wishes)
        if settings.workspace is not None and settings.workspace not in self.workspaces:
            offered = ", ".join(self.workspaces) or "none"
            raise ConfigurationError(f"There is no folder {settings.workspace[:80]!r} here; offered: {offered}.")
        Permissions(settings.permissions, settings.rules)
        self._tools(settings)
        if settings.model:
            self.models.open(settings.model)
        return settings

    def _options(self, info: SessionInfo, settings: SessionSettings) -> dict[str, Any]:
        options: dict[str, Any] = {
            "model": self.models.open(settings.model or self.models.default),
            "tools": self._tools(settings, self.session_tools(info)),
        }
        if settings.workspace is not None:
            folder = self.workspaces.get(settings.workspace)
            if folder is None:
                raise ConfigurationError(f"The folder {settings.workspace!r} is no longer offered by this server.")
            options["workspace"] = folder
        return options

    def _tools(self, settings: SessionSettings, of_session: Mapping[str, ToolLike] | None = None) -> list[ToolLike]:
        known = self.own_tools | dict(of_session or {})
        own = [known[name] for name in settings.tools if name in known]
        return [*named_tools([name for name in settings.tools if name not in known], self.sandbox), *own]

    def _count(self, info: SessionInfo, session: Session) -> None:
        session.subscribe(self.meters.watch(info.owner, info.id), types=["exchange_response"])

    async def _take_up(self, sessions: Sequence[str]) -> None:
        """Requests that were accepted before a crash are answered now, whether anybody asks again or not."""
        for session in sessions:
            try:
                async with self.open.use(await self.sessions.store.info(session)):
                    _log.info("goes on from where an earlier process was", extra={"session": session})
            except Exception:
                _log.exception("A session could not be taken up again.", extra={"session": session})

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(_SWEEP)
            try:
                await self.open.close_idle(self.settings.idle_seconds)
            except Exception:
                _log.exception("Sessions could not be tidied up.")
