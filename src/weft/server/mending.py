"""Sessions that can be stored no more: whoever listens is told at once, and each is opened again as soon as it can be.

Opening it closes what was left open, with the reason; so an exchange that a full disk broke off has its end in the log
and on every stream once there is room again, whether anybody asks or not.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from itertools import chain, repeat

from weft.server.open_sessions import OpenSessions
from weft.server.refusal import Refusal
from weft.sessions.errors import Fenced, NoSuchSession, SessionBusy, StoreError
from weft.sessions.session import Session
from weft.sessions.store import SessionInfo

_SOON = (0.5, 1.0, 2.0, 5.0)
_THEN = 15.0
"""Seconds between attempts."""

_log = logging.getLogger("weft.server.sessions")


class Mending:
    """Watches the sessions of a server. `part` ends the streams of a session, saying that it cannot be stored."""

    def __init__(self, sessions: OpenSessions, part: Callable[[str], object]) -> None:
        self._sessions = sessions
        self._part = part
        self._tasks: dict[str, asyncio.Task[None]] = {}
        sessions.on_open(self._watch)

    async def close(self) -> None:
        for task in list(self._tasks.values()):
            task.cancel()
            await asyncio.wait([task])

    def _watch(self, info: SessionInfo, session: Session) -> None:
        session.on_failure(lambda error: self._broke(info, error))

    def _broke(self, info: SessionInfo, error: Exception) -> None:
        _log.error("the session can be stored no more: %s", error, extra={"session": info.id})
        if isinstance(error, Fenced | NoSuchSession):  # somebody else has it, or nobody
            self._part(info.id)
        elif info.id not in self._tasks:
            self._tasks[info.id] = task = asyncio.create_task(self._mend(info), name=f"weft-mending-{info.id}")
            task.add_done_callback(lambda _: self._over(info))

    def _over(self, info: SessionInfo) -> None:
        self._tasks.pop(info.id, None)
        session = self._sessions.opened(info.id)
        if session is not None and session.error is not None and not self._sessions.closing:
            self._broke(info, session.error)  # again, before this was known to be over

    async def _mend(self, info: SessionInfo) -> None:
        delays: Iterable[float] = chain(_SOON, repeat(_THEN))
        for delay in delays:
            self._part(info.id)  # each time: who has come since must not wait for what does not come
            await asyncio.sleep(delay)
            try:
                async with self._sessions.use(info) as session:
                    if session.error is None:
                        _log.info("can be stored again", extra={"session": info.id})
                        return
            except (NoSuchSession, SessionBusy, Refusal):
                return
            except StoreError:
                continue
            except Exception:
                _log.exception("The session cannot be opened again.", extra={"session": info.id})
                return
