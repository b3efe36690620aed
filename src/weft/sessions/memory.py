"""A store in memory, for tests and for sessions that need not last."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from time import time

import msgspec

from weft.core.envelope import Event
from weft.core.json import JsonObject
from weft.sessions.checks import check_blobs, check_next, cursor_of, page_of
from weft.sessions.errors import Fenced, NoSuchBlob, NoSuchSession, SessionBusy, SessionExists
from weft.sessions.lease import SECONDS, Lease, is_abandoned, is_free
from weft.sessions.store import PAGE, SessionInfo, SessionPage


@dataclass(slots=True)
class _Kept:
    info: SessionInfo
    events: list[Event] = field(default_factory=list[Event])
    blobs: dict[str, bytes] = field(default_factory=dict[str, bytes])
    draft: bool = False
    holder: str = ""
    expires: float = 0.0


class MemoryStore:
    """Keeps everything until it is dropped."""

    def __init__(self) -> None:
        self._kept: dict[str, _Kept] = {}

    async def create(self, info: SessionInfo, *, draft: bool = False) -> None:
        if info.id in self._kept:
            raise SessionExists(f"There is a session {info.id!r} already; choose another id.")
        now = time()
        fresh = msgspec.structs.replace(info, created=info.created or now, updated=info.updated or now, last_seq=0)
        self._kept[info.id] = _Kept(fresh, draft=draft)

    async def finish(self, lease: Lease) -> None:
        self._held(lease).draft = False

    async def abandoned(self) -> Sequence[str]:
        now = time()
        return [
            name
            for name, kept in self._kept.items()
            if kept.draft and is_abandoned(kept.holder, kept.expires, kept.info.updated, now)
        ]

    async def info(self, session: str) -> SessionInfo:
        kept = self._of(session)
        if kept.draft:
            raise NoSuchSession(session)
        return kept.info

    async def list(
        self,
        *,
        search: str = "",
        limit: int = 50,
        after: str | None = None,
        owner: str | None = None,
        kind: str | None = None,
    ) -> SessionPage:
        sought, limit = search.casefold(), max(limit, 1)
        kept = [kept.info for kept in self._kept.values() if not kept.draft and kept.info.cause is None]
        found = [info for info in kept if sought in info.title.casefold()]
        if owner is not None:
            found = [info for info in found if info.owner == owner]
        if kind is not None:
            found = [info for info in found if info.kind == kind]
        found.sort(key=lambda info: (-info.updated, info.id))
        if after is not None:
            updated, last = cursor_of(after)
            found = [info for info in found if (-info.updated, info.id) > (-updated, last)]
        return page_of(found[: limit + 1], limit)

    async def delegates(self, session: str) -> Sequence[SessionInfo]:
        found = [kept.info for kept in self._kept.values() if kept.info.parent == session]
        return sorted((info for info in found if info.cause is not None), key=lambda info: info.created)

    async def rename(self, session: str, title: str, *, only_untitled: bool = False) -> None:
        kept = self._of(session)
        if not only_untitled or not kept.info.title:
            kept.info = msgspec.structs.replace(kept.info, title=title)

    async def configure(self, session: str, settings: JsonObject) -> None:
        kept = self._of(session)
        kept.info = msgspec.structs.replace(kept.info, settings=settings)

    async def delete(self, session: str) -> None:
        self._of(session)
        for delegate in await self.delegates(session):
            await self.delete(delegate.id)
        del self._kept[session]

    async def acquire(self, session: str, holder: str, *, seconds: float = SECONDS, force: bool = False) -> Lease:
        kept, now = self._of(session), time()
        if kept.draft and kept.holder:
            raise NoSuchSession(session)
        if not force and not is_free(kept.holder, kept.expires, now):
            raise SessionBusy(f"The session {session!r} is open elsewhere; close it there, or wait.")
        kept.info = msgspec.structs.replace(kept.info, epoch=kept.info.epoch + 1)
        kept.holder, kept.expires = holder, now + seconds
        return Lease(session=session, epoch=kept.info.epoch, holder=holder, expires=kept.expires)

    async def renew(self, lease: Lease, *, seconds: float = SECONDS) -> Lease:
        kept = self._held(lease)
        kept.expires = time() + seconds
        return msgspec.structs.replace(lease, expires=kept.expires)

    async def release(self, lease: Lease) -> None:
        kept = self._kept.get(lease.session)
        if kept is not None and kept.info.epoch == lease.epoch:
            kept.holder, kept.expires = "", 0.0

    async def append(self, lease: Lease, events: Sequence[Event], blobs: Mapping[str, bytes] | None = None) -> None:
        kept = self._held(lease)
        check_next(lease, kept.info.last_seq, events)
        check_blobs(blobs or {})
        kept.blobs.update(blobs or {})
        kept.events.extend(events)
        last = events[-1].seq if events else kept.info.last_seq
        kept.info = msgspec.structs.replace(kept.info, last_seq=last, updated=time())

    async def read(
        self, session: str, *, after: int = 0, upto: int | None = None, limit: int = PAGE
    ) -> Sequence[Event]:
        return self._of(session).events[max(after, 0) : upto][:limit]

    async def put_blob(self, session: str, data: bytes) -> str:
        digest = sha256(data).hexdigest()
        self._of(session).blobs[digest] = data
        return digest

    async def blob(self, session: str, digest: str) -> bytes:
        data = self._of(session).blobs.get(digest)
        if data is None:
            raise NoSuchBlob(digest)
        return data

    async def close(self) -> None:
        pass

    def _of(self, session: str) -> _Kept:
        kept = self._kept.get(session)
        if kept is None:
            raise NoSuchSession(session)
        return kept

    def _held(self, lease: Lease) -> _Kept:
        kept = self._of(lease.session)
        if (kept.info.epoch, kept.holder) != (lease.epoch, lease.holder):
            raise Fenced(f"The session {lease.session!r} was opened elsewhere; what runs here may write it no more.")
        return kept
