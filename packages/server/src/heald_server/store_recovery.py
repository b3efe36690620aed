"""Reopens the sessions whose store failed."""

import asyncio
import logging
from collections.abc import Callable, Iterable
from itertools import chain, repeat

from heald.sessions.session_info import SessionInfo
from heald.sessions.store_errors import DamagedFile, Fenced, NoSuchSession, SessionBusy, StoreError
from heald_server.http.errors import ApiError
from heald_server.open_sessions import OpenSessions

_log = logging.getLogger("heald_server.sessions")
_FIRST_DELAYS = (0.5, 1.0, 2.0, 5.0)

_LATER_DELAY = 15.0
"""Seconds between attempts to reopen a session."""


class StoreRecovery:
    """Reopens sessions whose store failed, until it works.

    Reopening closes what the failure left open and records the reason, so an exchange that a full disk interrupted gets
    its end in the log and on every stream as soon as there is room. Meanwhile `end_streams` ends the session's streams.
    A damaged file does not recover: nothing is reopened then, and `damage` is the error for every further request.
    """

    def __init__(self, sessions: OpenSessions, end_streams: Callable[[str], object]) -> None:
        self._sessions = sessions
        self._end_streams = end_streams
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._reopening: set[str] = set()
        self.damage: DamagedFile | None = None
        sessions.on_open(lambda info, session: session.on_failure(lambda error: self._on_failure(info, error)))

    @property
    def is_failing(self) -> bool:
        """Whether there are sessions that cannot be stored."""
        return bool(self._reopening) or self.damage is not None

    async def close(self) -> None:
        for task in list(self._tasks.values()):
            task.cancel()
            await asyncio.wait([task])

    def _on_failure(self, info: SessionInfo, error: Exception) -> None:
        _log.error("the session cannot be stored: %s", error, extra={"session": info.id})
        if isinstance(error, Fenced):  # another node has it: its streams here follow that one
            self._tasks[info.id] = task = asyncio.create_task(self._sessions.close_session(info.id))
            task.add_done_callback(lambda _: self._on_dropped(info.id))
        elif isinstance(error, NoSuchSession):
            self._end_streams(info.id)
        elif isinstance(error, DamagedFile):
            self.damage = error
            self._end_streams(info.id)
        elif info.id not in self._tasks:
            self._tasks[info.id] = task = asyncio.create_task(self._reopen(info), name=f"heald-reopen-{info.id}")
            task.add_done_callback(lambda _: self._on_reopened(info))

    def _on_dropped(self, session: str) -> None:
        self._tasks.pop(session, None)
        self._sessions.hub(session).invalidate()

    def _on_reopened(self, info: SessionInfo) -> None:
        self._tasks.pop(info.id, None)
        self._reopening.discard(info.id)
        session = self._sessions.find_open(info.id)
        if session is not None and session.error is not None and not self._sessions.closing:
            self._on_failure(info, session.error)  # it failed again before the task ended

    async def _reopen(self, info: SessionInfo) -> None:
        delays: Iterable[float] = chain(_FIRST_DELAYS, repeat(_LATER_DELAY))
        self._reopening.add(info.id)
        for delay in delays:
            self._end_streams(info.id)  # every time, for clients that connected meanwhile
            await asyncio.sleep(delay)
            try:
                async with self._sessions.use(info) as session:
                    if session.error is None:
                        _log.info("can be stored again", extra={"session": info.id})
                        return
            except (NoSuchSession, SessionBusy, ApiError):
                return
            except DamagedFile as error:
                self.damage = error
                self._end_streams(info.id)
                return
            except StoreError:
                continue
            except Exception:
                _log.exception("The session cannot be reopened.", extra={"session": info.id})
                return
