"""The sessions that are open in this server: each once, whoever asks for it, closed again when nobody needs it.

One function, `info`, finds a session and checks whose it is, for every way in.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from weft.agent.exchange import Exchange
from weft.core.errors import WeftError
from weft.server.hub import Hub
from weft.server.refusal import Refusal
from weft.sessions.errors import NoSuchSession
from weft.sessions.session import Session
from weft.sessions.sessions import Sessions
from weft.sessions.settings import SessionSettings
from weft.sessions.store import SessionInfo

Options = Callable[[SessionInfo, SessionSettings], dict[str, Any]]
"""What a session is opened with beside its settings."""

_log = logging.getLogger("weft.server.sessions")


@dataclass(slots=True)
class _Open:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    session: Session | None = None
    error: Exception | None = None
    """What broke the session that was open here before."""
    used: float = field(default_factory=monotonic)
    users: int = 0


class OpenSessions:
    """Opens sessions of a store when they are needed."""

    def __init__(self, sessions: Sessions, options: Options) -> None:
        self.sessions = sessions
        self._options = options
        self._open: dict[str, _Open] = {}
        self._hubs: dict[str, Hub] = {}
        self._on_open: list[Callable[[SessionInfo, Session], object]] = []
        self.closing = False

    def on_open(self, call: Callable[[SessionInfo, Session], object]) -> None:
        """Tell whoever must hear every session from its first event on."""
        self._on_open.append(call)

    async def info(self, owner: str, session: str) -> SessionInfo:
        """The session, if it is this owner's. Another's is not there at all."""
        if not is_text(session):
            raise Refusal("not_found", "There is no session of that name; list the sessions to see which there are.")
        try:
            info = await self.sessions.store.info(session)
        except NoSuchSession as error:
            raise Refusal("not_found", str(error)) from None
        if info.owner != owner:
            raise Refusal("not_found", str(NoSuchSession(session)))
        return info

    def hub(self, session: str) -> Hub:
        """Where its readers meet. It is there whether the session is open or not."""
        hub = self._hubs.get(session)
        if hub is None:
            hub = self._hubs[session] = Hub(session)
        return hub

    def opened(self, session: str) -> Session | None:
        """The session if it is open now."""
        found = self._open.get(session)
        return found.session if found is not None else None

    @asynccontextmanager
    async def use(self, info: SessionInfo) -> AsyncGenerator[Session]:
        """The session, open for as long as this lasts and a while longer."""
        if self.closing:
            raise Refusal("unavailable", "The server is stopping; ask again in a moment.", headers={"Retry-After": "2"})
        entry = self._open.setdefault(info.id, _Open())
        entry.users += 1
        try:
            async with entry.lock:
                if entry.session is None or entry.session.error is not None:
                    await self._close(info.id, entry)
                    entry.session = await self._open_now(info, entry.error)
                    entry.error = None
            yield entry.session
        finally:
            entry.users -= 1
            entry.used = monotonic()
            if entry.session is None and entry.error is None and not entry.users:
                self._open.pop(info.id, None)

    async def close_one(self, session: str) -> None:
        """Close it now, ending what runs: it is about to be deleted, or set up anew."""
        entry = self._open.get(session)
        if entry is not None:
            async with entry.lock:
                await self._close(session, entry)
            if not entry.users:
                self._open.pop(session, None)

    async def close_idle(self, seconds: float) -> None:
        """Close those that nobody has used for a while."""
        for name, entry in list(self._open.items()):
            session = entry.session
            is_idle = monotonic() - entry.used > seconds and not entry.users
            if session is None and is_idle:
                self._open.pop(name, None)
            if session is None or not is_idle or session.engine.current is not None or entry.lock.locked():
                continue
            async with entry.lock:
                await self._close(name, entry)
            if not entry.users:
                self._open.pop(name, None)
        for name, hub in list(self._hubs.items()):
            if not hub.readers and self.opened(name) is None:
                del self._hubs[name]

    async def close(self, patience: float) -> None:
        """Let exchanges end for a while, then close all."""
        self.closing = True
        running = [exchange for entry in self._open.values() if (exchange := _running(entry)) is not None]
        if running:
            await asyncio.wait([asyncio.ensure_future(_over(exchange)) for exchange in running], timeout=patience)
        await asyncio.gather(*(self._close(name, entry, suspend=True) for name, entry in list(self._open.items())))

    @property
    def busy(self) -> int:
        """How many exchanges run."""
        return sum(_running(entry) is not None for entry in self._open.values())

    async def _open_now(self, info: SessionInfo, broken_by: Exception | None) -> Session:
        info = await self.sessions.store.info(info.id)
        settings = SessionSettings.of(info.settings)
        session = await self.sessions.open(info.id, broken_by=broken_by, **self._options(info, settings))
        hub = self.hub(info.id)
        session.subscribe(hub.take)
        for call in self._on_open:
            call(info, session)
        hub.skip()  # what recovery wrote
        _log.info("opened", extra={"session": info.id, "epoch": session.epoch})
        return session

    async def _close(self, name: str, entry: _Open, *, suspend: bool = False) -> None:
        session, entry.session = entry.session, None
        if session is None:
            return
        entry.error = session.error
        try:
            await (session.suspend() if suspend else session.close())
        except WeftError as error:
            _log.warning("could not be closed cleanly: %s", error, extra={"session": name})
        _log.info("closed", extra={"session": name})


def is_text(name: str) -> bool:
    """Whether a store can look for it: half a surrogate pair is no text."""
    try:
        return len(name.encode()) <= 1000
    except UnicodeEncodeError:
        return False


def _running(entry: _Open) -> Exchange | None:
    return entry.session.engine.current if entry.session is not None else None


async def _over(exchange: Exchange) -> None:
    ended = asyncio.Event()
    exchange.on_end(ended.set)
    await ended.wait()
