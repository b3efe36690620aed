"""A store in memory, for tests and for sessions that end with the process."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from time import time

import msgspec

from heald.core.envelope import Event
from heald.core.json import JsonObject
from heald.sessions.append_checks import check_blobs, check_next
from heald.sessions.event_codec import encode_stored
from heald.sessions.leases import LEASE_SECONDS, Lease, is_abandoned, is_free
from heald.sessions.session_info import SessionInfo, SessionPage, make_page, parse_cursor
from heald.sessions.store import PAGE
from heald.sessions.store_errors import Fenced, NoSuchBlob, NoSuchSession, SessionBusy, SessionExists
from heald.sessions.stores import bad_store_url, refuse_news
from heald.sessions.work import Work


@dataclass(slots=True)
class _StoredSession:
    info: SessionInfo
    events: list[Event] = field(default_factory=list[Event])
    blobs: dict[str, bytes] = field(default_factory=dict[str, bytes])
    draft: bool = False
    holder: str = ""
    expires: float = 0.0


class MemoryStore:
    """Stores sessions in memory."""

    def __init__(self) -> None:
        self._sessions: dict[str, _StoredSession] = {}

    async def create(self, info: SessionInfo, *, draft: bool = False) -> None:
        if info.id in self._sessions:
            raise SessionExists(f"There is a session {info.id!r} already; choose another id.")
        now = time()
        fresh = msgspec.structs.replace(
            info, created=info.created or now, updated=info.updated or now, last_seq=0, work="idle"
        )
        self._sessions[info.id] = _StoredSession(fresh, draft=draft)

    async def finish(self, lease: Lease, *, updated: float | None = None) -> None:
        stored = self._held(lease)
        stored.draft = False
        if updated is not None:
            stored.info = msgspec.structs.replace(stored.info, updated=updated)

    async def abandoned(self) -> Sequence[str]:
        now = time()
        return [
            name
            for name, stored in self._sessions.items()
            if stored.draft and is_abandoned(stored.holder, stored.expires, stored.info.updated, now)
        ]

    async def info(self, session: str) -> SessionInfo:
        stored = self._find(session)
        if stored.draft:
            raise NoSuchSession(session)
        return stored.info

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
        stored = [stored.info for stored in self._sessions.values() if not stored.draft and stored.info.cause is None]
        infos = [info for info in stored if sought in info.title.casefold()]
        if owner is not None:
            infos = [info for info in infos if info.owner == owner]
        if kind is not None:
            infos = [info for info in infos if info.kind == kind]
        infos.sort(key=lambda info: (-info.updated, info.id))
        if after is not None:
            updated, last = parse_cursor(after)
            infos = [info for info in infos if (-info.updated, info.id) > (-updated, last)]
        return make_page(infos[: limit + 1], limit)

    async def delegates(self, session: str) -> Sequence[SessionInfo]:
        children = [stored.info for stored in self._sessions.values() if stored.info.parent == session]
        return sorted((info for info in children if info.cause is not None), key=lambda info: info.created)

    async def rename(self, session: str, title: str, *, only_untitled: bool = False) -> None:
        stored = self._find(session)
        if not only_untitled or not stored.info.title:
            stored.info = msgspec.structs.replace(stored.info, title=title)

    async def configure(self, session: str, settings: JsonObject) -> None:
        stored = self._find(session)
        stored.info = msgspec.structs.replace(stored.info, settings=settings)

    async def delete(self, session: str) -> None:
        self._find(session)
        for delegate in await self.delegates(session):
            await self.delete(delegate.id)
        del self._sessions[session]

    async def acquire(self, session: str, holder: str, *, seconds: float = LEASE_SECONDS, force: bool = False) -> Lease:
        stored, now = self._find(session), time()
        if stored.draft and stored.holder:
            raise NoSuchSession(session)
        if not force and not is_free(stored.holder, stored.expires, now):
            raise SessionBusy(f"The session {session!r} is open elsewhere; close it there, or wait.")
        stored.info = msgspec.structs.replace(stored.info, epoch=stored.info.epoch + 1)
        stored.holder, stored.expires = holder, now + seconds
        return Lease(session=session, epoch=stored.info.epoch, holder=holder, expires=stored.expires)

    async def renew(self, lease: Lease, *, seconds: float = LEASE_SECONDS) -> Lease:
        stored = self._held(lease)
        stored.expires = time() + seconds
        return msgspec.structs.replace(lease, expires=stored.expires)

    async def release(self, lease: Lease) -> None:
        stored = self._sessions.get(lease.session)
        if stored is not None and stored.info.epoch == lease.epoch:
            stored.holder, stored.expires = "", 0.0

    async def append(
        self,
        lease: Lease,
        events: Sequence[Event],
        blobs: Mapping[str, bytes] | None = None,
        *,
        work: Work | None = None,
    ) -> None:
        stored = self._held(lease)
        check_next(lease, stored.info.last_seq, events)
        check_blobs(blobs or {})
        stored.blobs.update(blobs or {})
        stored.events.extend(events)
        last = events[-1].seq if events else stored.info.last_seq
        work = work or stored.info.work
        stored.info = msgspec.structs.replace(stored.info, last_seq=last, updated=time(), work=work)

    async def read(
        self, session: str, *, after: int = 0, upto: int | None = None, limit: int = PAGE
    ) -> Sequence[Event]:
        return self._find(session).events[max(after, 0) : upto][:limit]

    async def put_blob(self, session: str, data: bytes) -> str:
        digest = sha256(data).hexdigest()
        self._find(session).blobs[digest] = data
        return digest

    async def blob(self, session: str, digest: str) -> bytes:
        stored = self._find(session)
        data = stored.blobs.get(digest) or _find_content(stored.events, digest)
        if data is None:
            raise NoSuchBlob(digest)
        return data

    async def list_blobs(self, session: str) -> Sequence[str]:
        return list(self._find(session).blobs)

    async def close(self) -> None:
        pass

    def _find(self, session: str) -> _StoredSession:
        stored = self._sessions.get(session)
        if stored is None:
            raise NoSuchSession(session)
        return stored

    def _held(self, lease: Lease) -> _StoredSession:
        stored = self._find(lease.session)
        if (stored.info.epoch, stored.holder) != (lease.epoch, lease.holder):
            raise Fenced(f"The session {lease.session!r} was opened elsewhere; what runs here may write it no more.")
        return stored


def _find_content(events: Sequence[Event], digest: str) -> bytes | None:
    """Find a large content by its hash. Events stay whole in memory, so this is searched only when it is requested."""
    return next((content for event in events if (content := encode_stored(event).blobs.get(digest)) is not None), None)


def open_memory(url: str, *, node: str = "", news: str = "") -> MemoryStore:  # noqa: ARG001
    """Open `memory:`, a new store that ends with the process."""
    refuse_news(news)
    if url.partition(":")[2] not in ("", "//"):
        raise bad_store_url(url, "memory:")
    return MemoryStore()
