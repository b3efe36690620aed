"""Opens the sessions of a server on demand, and closes idle ones."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from collections.abc import Set as AbstractSet
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import msgspec

from heald.agent.interface import ExchangeInterface
from heald.core.errors import HealdError
from heald.sessions.acquired_log import acquire_log, release_lease
from heald.sessions.one_node import as_shared
from heald.sessions.resumption import DEFAULT_AFTER_CRASH, AfterCrash
from heald.sessions.session import Session, open_acquired
from heald.sessions.session_info import SessionInfo
from heald.sessions.sessions import Sessions
from heald.sessions.settings import SessionSettings
from heald.sessions.store_errors import NoSuchSession, SessionBusy
from heald_server.held_elsewhere import HeldElsewhere
from heald_server.http.errors import ApiError
from heald_server.streams.event_hub import EventHub, HubMemory

SessionOptions = Callable[[SessionInfo, SessionSettings], Awaitable[dict[str, Any]]]
"""Returns the options that a session is opened with, beside its settings."""

_OPEN_ATTEMPTS = 3
_LEAVING_SECONDS = 4.0
"""For requests that have sent their answer and are about to end; less than the other node waits."""

_log = logging.getLogger("heald_server.sessions")


@dataclass(slots=True)
class _OpenSession:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    session: Session | None = None
    error: Exception | None = None
    """The error that broke the session that was open before."""
    used: float = field(default_factory=monotonic)
    users: int = 0


class OpenSessions:
    """The open sessions of a server: each is open once, for all of its users."""

    def __init__(
        self,
        sessions: Sessions,
        options: SessionOptions,
        *,
        after_crash: AfterCrash = DEFAULT_AFTER_CRASH,
        node: str = "",
    ) -> None:
        self.store = as_shared(sessions.store)
        """The store of the sessions, as that of a node."""
        self.sessions = Sessions(self.store)
        self._after_crash: AfterCrash = after_crash
        self._node = node
        self._options = options
        self._open: dict[str, _OpenSession] = {}
        self._running: dict[Session, asyncio.Task[None]] = {}  # the task of the exchange that runs in a session
        self._hubs: dict[str, EventHub] = {}
        self._memory = HubMemory()
        self._on_open: list[Callable[[SessionInfo, Session], object]] = []
        self.closing = False
        self.on_first_reader: Callable[[str], object] = _ignore_reader
        """Called with a session that has a reader here and had none."""
        self.ask_release: Callable[[str, bool], Awaitable[bool]] = _cannot_ask
        """Asks the node that holds a session to release it, if it is idle or, with True, if its exchange only waits.
        Returns whether it may be free now."""

    def on_open(self, call: Callable[[SessionInfo, Session], object]) -> None:
        """Call back for every session that is opened, before its first event."""
        self._on_open.append(call)

    async def find_info(self, owner: str, session: str) -> SessionInfo:
        """Look up a session of an owner. Raises `ApiError` if it does not exist or has another owner."""
        if not is_text(session):
            raise ApiError("not_found", "There is no session of that name; list the sessions to see which there are.")
        try:
            info = await self.sessions.store.info(session)
        except NoSuchSession as error:
            raise ApiError("not_found", str(error)) from None
        if info.owner != owner:
            raise ApiError("not_found", str(NoSuchSession(session)))
        return info

    def hub(self, session: str) -> EventHub:
        """The event hub of a session. It exists whether the session is open or not."""
        hub = self._hubs.get(session)
        if hub is None:
            hub = self._hubs[session] = EventHub(session, self._memory, lambda name: self.on_first_reader(name))
        return hub

    def find_open(self, session: str) -> Session | None:
        """Return the session if it is open now."""
        entry = self._open.get(session)
        return entry.session if entry is not None else None

    def find_waiting(self, calls: AbstractSet[str]) -> list[Session]:
        """The open sessions in which one of these calls waits for its client."""
        opened = [entry.session for entry in self._open.values() if entry.session is not None]
        return [session for session in opened if any(call.id in calls for call in session.client_calls)]

    @asynccontextmanager
    async def use(self, info: SessionInfo, *, moves_waiting: bool = False) -> AsyncGenerator[Session]:
        """Open the session if it is closed, and keep it open for the duration of the block.

        With `moves_waiting` a session of another node moves here also if its exchange waits for a person or a client.
        """
        if self.closing:
            raise ApiError(
                "unavailable", "The server is stopping; ask again in a moment.", headers={"Retry-After": "2"}
            )
        entry = self._open.setdefault(info.id, _OpenSession())
        entry.users += 1
        try:
            async with entry.lock:
                if entry.session is None or entry.session.error is not None:
                    await self._close(info.id, entry)
                    entry.session = await self._open_or_ask(info, entry.error, moves_waiting)
                    entry.error = None
                    self.count_running(entry.session)
            yield entry.session
        finally:
            entry.users -= 1
            entry.used = monotonic()
            if entry.session is not None:
                self.count_running(entry.session)
            if entry.session is None and entry.error is None and not entry.users:
                self._open.pop(info.id, None)

    @asynccontextmanager
    async def use_running(self, info: SessionInfo) -> AsyncGenerator[Session | None]:
        """Use a session if an exchange is open in it or requests wait. Yields None otherwise, without opening it."""
        if self.find_open(info.id) is None:
            info = await self.sessions.store.info(info.id)
            if info.work == "idle":
                yield None
                return
        async with self.use(info) as session:
            yield session

    async def release_idle(self, session: str, waiting: bool = False) -> bool:
        """Close a session for another node, unless it is used or an exchange runs; with `waiting` also if that exchange
        only waits. Returns whether it is free."""
        entry = self._open.get(session)
        if entry is None:
            return True
        until = monotonic() + _LEAVING_SECONDS
        while waiting and (entry.users or entry.lock.locked()) and monotonic() < until:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        if entry.users or entry.lock.locked():
            return False
        if entry.session is None or not _is_busy(entry.session):
            await self.close_session(session)
            return True
        return waiting and self._after_crash == "continue" and await self._hand_over(session, entry)

    async def _hand_over(self, session: str, entry: _OpenSession) -> bool:
        """Release a session whose exchange only waits. The next process waits on, under the same ids."""
        async with entry.lock:  # nobody decides meanwhile
            if entry.session is None or not await entry.session.only_waits():
                return False
            await self._close(session, entry, suspend=True)
        return True

    def watched(self) -> list[str]:
        """The sessions that are read here, and are not open here."""
        return [name for name, hub in self._hubs.items() if hub.readers and self.find_open(name) is None]

    def list_read(self) -> list[str]:
        """The sessions that are read here, open or not."""
        return [name for name, hub in self._hubs.items() if hub.readers]

    def is_watched(self, session: str) -> bool:
        hub = self._hubs.get(session)
        return hub is not None and hub.readers > 0

    async def close_session(self, session: str) -> None:
        """Close a session now, cancelling what runs, before it is deleted or changed."""
        entry = self._open.get(session)
        if entry is not None:
            async with entry.lock:
                await self._close(session, entry)
            if not entry.users:
                self._open.pop(session, None)

    async def free_session(self, session: str) -> None:
        """Close a session wherever it is open. Raises HeldElsewhere if another node works in it."""
        await self.close_session(session)
        holder = await self.store.find_holder(session)
        if holder and holder != self.store.node and not await self.ask_release(session, False):
            raise HeldElsewhere(session)

    async def close_idle(self, seconds: float) -> None:
        """Close the sessions that were not used for `seconds`."""
        for name, entry in list(self._open.items()):
            session = entry.session
            is_idle = monotonic() - entry.used > seconds and not entry.users
            if session is None and is_idle:
                self._open.pop(name, None)
            if session is None or not is_idle or session.current is not None or entry.lock.locked():
                continue
            async with entry.lock:
                await self._close(name, entry)
            if not entry.users:
                self._open.pop(name, None)
        for name, hub in list(self._hubs.items()):
            if not hub.readers and self.find_open(name) is None:
                del self._hubs[name]

    async def close(self, patience: float) -> None:
        """Wait for running exchanges, for at most `patience` seconds, then close all sessions. Exchanges that still run
        are left open if another process may continue them, else cancelled."""
        self.closing = True
        running = [exchange for entry in self._open.values() if (exchange := _running(entry)) is not None]
        if running:
            await asyncio.wait(
                [asyncio.ensure_future(_wait_for_end(exchange)) for exchange in running], timeout=patience
            )
        await asyncio.gather(*(self._close(name, entry, suspend=True) for name, entry in list(self._open.items())))

    @property
    def count(self) -> int:
        """The number of open sessions."""
        return sum(entry.session is not None for entry in self._open.values())

    @property
    def busy(self) -> int:
        """The number of running exchanges."""
        return len(self._running)

    def count_running(self, session: Session) -> None:
        """Count a session as busy from now on if an exchange runs in it, until none does. A request that starts one
        is counted so at once; others are when their use of the session ends."""
        exchange = session.current
        task = exchange.task if exchange is not None else None
        if task is None:
            self._running.pop(session, None)
        elif self._running.get(session) is not task:
            self._running[session] = task
            task.add_done_callback(lambda _: self.count_running(session))  # after the agent has started the next one

    async def _open_or_ask(self, info: SessionInfo, broken_by: Exception | None, moves_waiting: bool) -> Session:
        """Open a session. An idle one that another node holds is released by that node first."""
        for _ in range(_OPEN_ATTEMPTS):
            try:
                return await self._open_now(info, broken_by)
            except SessionBusy:
                if not await self.ask_release(info.id, moves_waiting):
                    break
        raise HeldElsewhere(info.id)

    async def _open_now(self, info: SessionInfo, broken_by: Exception | None) -> Session:
        info, options = await self._find_options(info)
        acquired = await acquire_log(self.store, info.id)
        if msgspec.structs.replace(acquired.info, epoch=info.epoch) != info:  # it was changed since it was read
            info = acquired.info
            try:
                options = await self._options(info, SessionSettings.of(info.settings))
            except BaseException:
                await release_lease(self.store, acquired.lease)
                raise
        session = await open_acquired(
            self.store, acquired, broken_by=broken_by, after_crash=self._after_crash, node=self._node, **options
        )
        hub = self.hub(info.id)
        session.on_stored(hub.collect, is_watched=hub.is_watched, on_batch=hub.wake_readers)
        for call in self._on_open:
            call(info, session)
        if session.last_seq:
            hub.invalidate()  # recovery may have written events
        _log.info("opened", extra={"session": info.id, "epoch": session.epoch})
        return session

    async def _find_options(self, info: SessionInfo) -> tuple[SessionInfo, dict[str, Any]]:
        """Return a session and the options to open it with, as a caller has read it. If that fails and it was changed
        since, as it is now."""
        try:
            return info, await self._options(info, SessionSettings.of(info.settings))
        except Exception:
            stored = await self.store.info(info.id)
            if stored == info:
                raise
            return stored, await self._options(stored, SessionSettings.of(stored.settings))

    async def _close(self, name: str, entry: _OpenSession, *, suspend: bool = False) -> None:
        session, entry.session = entry.session, None
        if session is None:
            return
        entry.error = session.error
        try:
            if suspend and self._after_crash == "continue":
                await session.hand_over()
            else:
                await (session.suspend() if suspend else session.close())
        except HealdError as error:
            _log.warning("could not be closed cleanly: %s", error, extra={"session": name})
        _log.info("closed", extra={"session": name})


async def _cannot_ask(_: str, __: bool) -> bool:
    return False


def _ignore_reader(_: str) -> None: ...


def is_text(name: str) -> bool:
    """Whether a store can look up the name: it has no unpaired surrogate and is not too long."""
    try:
        return len(name.encode()) <= 1000
    except UnicodeEncodeError:
        return False


def _is_busy(session: Session) -> bool:
    return session.current is not None or session.queued > 0


def _running(entry: _OpenSession) -> ExchangeInterface | None:
    return entry.session.current if entry.session is not None else None


async def _wait_for_end(exchange: ExchangeInterface) -> None:
    ended = asyncio.Event()
    exchange.on_end(ended.set)
    await ended.wait()
