"""Group commit: all appends of a node that wait at one moment are one statement, so one commit and one notice.

The statement checks the epoch, the holder and the end of the log of each session, so a writer that was replaced stores
nothing. If the connection breaks during the commit, the end of the log shows whether it was stored. The time of the
last change is in indexes: a row whose indexed columns stay is changed for an eighth of the WAL. So it is written when
work begins or ends, and every ten seconds between. The events of a short append are kept in that row too.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from time import monotonic

import msgspec

from heald.core.envelope import Event
from heald.sessions.event_rows import RowPacker
from heald.sessions.leases import Lease
from heald.sessions.store import EncodedEvents
from heald.sessions.store_errors import Fenced, NoSuchSession, StoreError
from heald.sessions.work import Work
from heald_nodes.postgres.chunks import EncodedChunk
from heald_nodes.postgres.driver import PostgresConnection
from heald_nodes.postgres.driver_errors import LOST, is_lost, translate_error
from heald_nodes.postgres.event_feed import PostgresEventFeed
from heald_nodes.postgres.kept_connection import KeptConnection
from heald_nodes.postgres.log_tails import KeptAppend, LogTails
from heald_nodes.postgres.node_links import NodeLinks, notices_of
from heald_nodes.postgres.notices import NO_NOTICE, PER_NOTICE, Appended, NewsChannel, Notice, NoticeParts
from heald_nodes.postgres.pool import PostgresPool
from heald_nodes.postgres.schema import NOW
from heald_nodes.postgres.sharing import PostgresSharing

GROUP = 256
"""The maximum number of sessions in one commit."""
_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 1.0
TOUCH_SECONDS = 10.0
"""How old the time of the last change of a session that is written may be."""

APPEND = f"""
WITH w AS (
    SELECT * FROM unnest($1::text[], $2::text::bigint[], $3::text[], $4::text::bigint[], $5::text::bigint[],
                         $6::text[], $7::text::int[], $8::bytea[], $9::text::boolean[], $10::text::int[], $11::text[],
                         $12::text::bigint[], $13::bytea[], $14::text::int[], $15::bytea[], $16::text::int[])
        AS w(id, epoch, holder, before, last, work, codec, body, carried, part, channel, after, tail, chunk_codec,
             chunk, tail_bytes)
), h AS (
    UPDATE sessions s SET last_seq = coalesce(w.last, s.last_seq), work = coalesce(w.work, s.work),
        updated = CASE WHEN w.work <> s.work OR abs({NOW} - s.updated) > {TOUCH_SECONDS} THEN {NOW} ELSE s.updated END,
        tail_after = CASE WHEN w.tail IS NULL THEN s.tail_after ELSE w.after END,
        tail = CASE WHEN w.tail IS NOT NULL THEN w.tail || s.tail WHEN w.chunk IS NOT NULL THEN '' ELSE s.tail END
    FROM w WHERE s.id = w.id AND s.epoch = w.epoch AND s.holder = w.holder
        AND (w.before IS NULL OR (s.last_seq = w.before AND length(s.tail) = w.tail_bytes
            AND CASE WHEN length(s.tail) > 0 THEN s.tail_after ELSE s.last_seq END = w.after))
    RETURNING s.key, s.id, s.epoch, s.last_seq, w.before, w.codec, w.body, w.carried, w.part, w.channel, w.after,
        w.chunk_codec, w.chunk
), i AS (
    INSERT INTO chunks (session, last_seq, first_seq, codec, body)
    SELECT key, last_seq, after + 1, chunk_codec, chunk FROM h WHERE chunk IS NOT NULL
)
SELECT id, key FROM h
"""
LOCK_BLOBS = "SELECT pg_advisory_xact_lock_shared(1464157780, hashtext(current_schema()))"
"""Blobs that no session has are deleted under the same lock, exclusively."""


class PendingAppend(msgspec.Struct):
    """An append that waits for its commit."""

    lease: Lease
    before: int | None
    """The end of the log before it; None if it brings no events."""
    last: int | None
    work: Work | None
    chunk: EncodedChunk | None
    blobs: dict[str, bytes]
    done: "asyncio.Future[None]"

    @property
    def json(self) -> EncodedEvents:
        """The JSON of the events."""
        return self.chunk.json if self.chunk is not None else ()


class GroupWriter:
    """Commits the appends of a node, one commit at a time."""

    def __init__(
        self, pool: PostgresPool, news: NewsChannel, feed: PostgresEventFeed, sharing: PostgresSharing
    ) -> None:
        """`sharing` knows what all nodes can read."""
        self._pool = pool
        self._connection = KeptConnection(pool)
        self._news = news
        self._feed = feed
        self._sharing = sharing
        self._packer = RowPacker()
        self._tails = LogTails()
        self._links = NodeLinks(self.publish_late)
        self._waiting: list[PendingAppend] = []
        self._late: set[asyncio.Task[None]] = set()
        self._task: asyncio.Task[None] | None = None
        self.commits = 0
        """How many commits were made."""

    async def append(
        self, lease: Lease, events: Sequence[Event], blobs: Mapping[str, bytes], work: Work | None
    ) -> EncodedEvents:
        pending = self.submit(lease, events, blobs, work)
        await pending.done
        return pending.json

    def submit(
        self, lease: Lease, events: Sequence[Event], blobs: Mapping[str, bytes], work: Work | None
    ) -> "PendingAppend":
        """Queue an append for the next commit."""
        chunk = EncodedChunk(events, self._packer if self._sharing.writes_rows else None) if events else None
        pending = PendingAppend(
            lease,
            events[0].seq - 1 if events else None,
            events[-1].seq if events else None,
            work,
            chunk,
            {**blobs, **(chunk.blobs if chunk is not None else {})},
            asyncio.get_running_loop().create_future(),
        )
        self._waiting.append(pending)
        if self._task is None:
            self._task = asyncio.create_task(self._write(), name="heald-group-commit")
        return pending

    def publish_late(self, appended: Sequence[Appended]) -> None:
        """Send notices of appends that were stored without, by the database."""
        if not appended:
            return
        task = asyncio.create_task(self._publish_late(appended), name="heald-late-notice")
        self._late.add(task)
        task.add_done_callback(self._late.discard)

    async def _publish_late(self, appended: Sequence[Appended]) -> None:
        with suppress(StoreError):  # a reader without a notice reads after some seconds
            for start in range(0, len(appended), PER_NOTICE):
                await self._news.publish(Notice(e=list(appended[start : start + PER_NOTICE])))

    async def close(self) -> None:
        """Commit what waits."""
        await self._links.close()
        tasks = [*self._late, *([self._task] if self._task is not None else [])]
        if tasks:
            await asyncio.wait(tasks)
        with suppress(*LOST):
            await self._connection.release()

    async def _write(self) -> None:
        await asyncio.sleep(0)  # appends of the same moment join the commit
        try:
            while self._waiting:
                await self._write_group(self._next_group())
        finally:
            self._task = None

    def _next_group(self) -> list[PendingAppend]:
        """Choose the appends of the next commit: one of each session, in the same order on all nodes."""
        group: dict[str, PendingAppend] = {}
        later: list[PendingAppend] = []
        for pending in self._waiting:
            if pending.done.done():
                continue
            if pending.lease.session in group or len(group) >= GROUP:
                later.append(pending)
            else:
                group[pending.lease.session] = pending
        self._waiting = later
        return [group[session] for session in sorted(group)]

    async def _write_group(self, group: list[PendingAppend]) -> None:
        until = monotonic() + self._pool.patience
        pause = _FIRST_PAUSE
        while group:
            try:
                async with self._connection as connection:
                    if pause > _FIRST_PAUSE:  # the answer of an earlier try may have been lost
                        group = await _without_stored(connection, group)
                    if group:
                        await self._commit(connection, group)
                return
            except Exception as error:
                for pending in group:  # it may have been stored
                    self._tails.forget(pending.lease.session)
                if not is_lost(error) or monotonic() + pause > until:
                    self._fail(group, translate_error(error, self._pool.name))
                    return
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)

    async def _commit(self, connection: PostgresConnection, group: list[PendingAppend]) -> None:
        parts = self._split(group)
        kept = await self._place(connection, group)
        if any(pending.blobs for pending in group):
            async with connection.transaction():
                await connection.execute(LOCK_BLOBS)
                stored = await self._append(connection, group, parts, kept)
                await _store_blobs(connection, group, stored)
        else:
            stored = await self._append(connection, group, parts, kept)
        self.commits += 1
        refused = [pending for pending in group if pending.lease.session not in stored]
        appended: list[Appended] = []
        direct: dict[str, list[tuple[Appended, int, str | None]]] = {}  # by address
        for number, (pending, place) in enumerate(zip(group, kept, strict=True)):
            session = pending.lease.session
            if pending.last is None or place is None or pending.before is None or session not in stored:
                continue
            self._tails.keep(session, pending.lease.epoch, place, pending.last)
            entry = (session, pending.last, pending.lease.epoch)
            if parts.numbers[number] != NO_NOTICE:
                appended.append(entry)
            elif parts.addresses[number]:
                rows = parts.direct_rows[number]
                text = f"{stored[session]}\n{rows.decode()}" if rows is not None else None
                for address in parts.addresses[number]:
                    direct.setdefault(address, []).append((entry, pending.before + 1, text))
            elif not self._feed.add_unnoticed(entry):
                self.publish_late([entry])
        for address, entries in direct.items():
            if not self._links.send(address, notices_of(entries)):  # it broke meanwhile
                self.publish_late([entry for entry, _, _ in entries])
        await self._news.publish_after_commit(
            appended,
            (
                (p.lease.session, p.last, p.before + 1, f"{stored[p.lease.session]}\n{p.chunk.notice_rows.decode()}")
                for p, carried in zip(group, parts.carried, strict=True)
                if carried and p.chunk is not None and p.last is not None and p.before is not None and p not in refused
            ),
        )
        reasons = [await _why_refused(connection, pending) for pending in refused]
        for pending in group:
            if pending.lease.session in stored and not pending.done.done():
                pending.done.set_result(None)
        for pending, reason in zip(refused, reasons, strict=True):
            self._fail([pending], reason)

    async def _place(self, connection: PostgresConnection, group: list[PendingAppend]) -> list[KeptAppend | None]:
        """Choose how appends are kept; None for those that bring no events."""
        await self._tails.read_missing(
            connection, [(p.lease.session, p.lease.epoch, p.before) for p in group if p.before is not None]
        )
        writes, packs = self._sharing.writes_tails, self._sharing.packs_tails
        return [
            self._tails.place(p.lease.session, p.lease.epoch, p.before, p.chunk, writes_tails=writes, packs_tails=packs)
            if p.chunk is not None and p.before is not None
            else None
            for p in group
        ]

    def _split(self, group: list[PendingAppend]) -> NoticeParts:
        """Choose the notices of appends, and what they carry."""
        parts, writes_rows = NoticeParts(), self._sharing.writes_rows
        for pending in group:
            session, chunk = pending.lease.session, pending.chunk
            route = self._feed.route(session, chunk)
            if writes_rows and not route.is_needed:
                parts.add_silent()
                continue
            if route.addresses and all(self._links.has(address) for address in route.addresses):
                parts.add_direct(route.addresses, chunk.notice_rows if route.carries and chunk is not None else None)
                continue
            carries = route.carries and self._pool.is_utf8 and chunk is not None
            parts.add(session, chunk.notice_rows if carries else None, route.channel)
        return parts

    async def _append(
        self,
        connection: PostgresConnection,
        group: list[PendingAppend],
        parts: NoticeParts,
        kept: Sequence[KeptAppend | None],
    ) -> dict[str, int]:
        """Run the statement. Returns the keys of the sessions that it stored, by id."""
        carried = [
            pending.chunk if is_carried else None for pending, is_carried in zip(group, parts.carried, strict=True)
        ]
        has_notice = any(number != NO_NOTICE for number in parts.numbers)
        rows = await connection.fetch(
            self._news.with_notice(APPEND, self._pool.schema) if has_notice else APPEND,
            [pending.lease.session for pending in group],
            _numbers(pending.lease.epoch for pending in group),
            [pending.lease.holder for pending in group],
            _numbers(pending.before for pending in group),
            _numbers(pending.last for pending in group),
            [pending.work for pending in group],
            _numbers(chunk.codec if chunk is not None else None for chunk in carried),
            [chunk.body if chunk is not None else None for chunk in carried],
            _numbers(parts.carried),
            _numbers(parts.numbers),
            parts.channels,
            _numbers(place.after if place is not None else None for place in kept),
            [place.tail if place is not None else None for place in kept],
            _numbers(place.codec if place is not None else None for place in kept),
            [place.body if place is not None else None for place in kept],
            _numbers(place.tail_bytes if place is not None else None for place in kept),
        )
        return {row[0]: row[1] for row in rows}

    def _fail(self, group: Sequence[PendingAppend], error: Exception) -> None:
        for pending in group:
            self._packer.forget(pending.lease.session)  # its anchor was not stored
            self._tails.forget(pending.lease.session)
            if not pending.done.done():
                pending.done.set_exception(error)


def _numbers(members: Iterable[int | None]) -> str:
    """Return numbers or truth values as PostgreSQL reads a list of them. The driver looks at each member of a list
    whether it is one itself, which takes longer than all else that it does with them."""
    return "{" + ",".join(["NULL" if member is None else str(member) for member in members]) + "}"


async def _store_blobs(
    connection: PostgresConnection, group: Sequence[PendingAppend], stored: Mapping[str, int]
) -> None:
    pairs = [
        (stored[pending.lease.session], digest, data)
        for pending in group
        if pending.lease.session in stored
        for digest, data in pending.blobs.items()
    ]
    await keep_blobs(connection, pairs)


async def keep_blobs(connection: PostgresConnection, blobs: Sequence[tuple[int, str, bytes]]) -> None:
    """Store blobs for sessions, given by their keys. The caller holds the lock of blobs."""
    await connection.executemany(
        "INSERT INTO session_blobs VALUES ($1, $2) ON CONFLICT DO NOTHING", [(key, digest) for key, digest, _ in blobs]
    )
    contents = {digest: data for _, digest, data in blobs}
    await connection.executemany("INSERT INTO blobs VALUES ($1, $2) ON CONFLICT DO NOTHING", sorted(contents.items()))


async def _without_stored(connection: PostgresConnection, group: list[PendingAppend]) -> list[PendingAppend]:
    """Resolve the appends whose commit succeeded though its answer was lost. Returns the others."""
    rows = await connection.fetch(
        "SELECT id, last_seq, epoch, holder FROM sessions WHERE id = ANY($1)",
        [pending.lease.session for pending in group],
    )
    ends = {row[0]: (row[1], row[2], row[3]) for row in rows}
    left: list[PendingAppend] = []
    for pending in group:
        lease = pending.lease
        if pending.last is None or ends.get(lease.session) != (pending.last, lease.epoch, lease.holder):
            left.append(pending)
        elif not pending.done.done():
            pending.done.set_result(None)
    return left


async def _why_refused(connection: PostgresConnection, pending: PendingAppend) -> StoreError:
    lease = pending.lease
    row = await connection.fetchrow("SELECT last_seq, epoch, holder FROM sessions WHERE id = $1", lease.session)
    if row is None:
        return NoSuchSession(lease.session)
    last_seq, epoch, holder = row
    if (epoch, holder) != (lease.epoch, lease.holder):
        return fenced(lease)
    first = (pending.before or 0) + 1
    return StoreError(f"The log of {lease.session!r} continues with {last_seq + 1}, not with {first}; read it again.")


def fenced(lease: Lease) -> Fenced:
    return Fenced(f"The session {lease.session!r} was opened elsewhere; what runs here may write it no more.")
