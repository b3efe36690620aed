"""The PostgreSQL store: sessions, leases, the log in chunks, and blobs."""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from typing import Any

from heald.core.envelope import Event
from heald.core.json import JsonObject, encode
from heald.sessions.append_checks import check_blobs, check_next
from heald.sessions.leases import LEASE_SECONDS, Lease, is_free, is_marked_dead
from heald.sessions.news import News, OnNews
from heald.sessions.session_info import INFO_COLUMNS, SessionInfo, SessionPage, make_page, parse_cursor, read_info
from heald.sessions.store import PAGE, EncodedEvents, OnAppended, Store
from heald.sessions.store_errors import NoSuchBlob, NoSuchSession, SessionBusy, SessionExists, StoreError
from heald.sessions.store_url import is_postgres, split_urls
from heald.sessions.stores import bad_store_url
from heald.sessions.work import Work
from heald_nodes.postgres.address import PostgresAddress
from heald_nodes.postgres.driver import PostgresConnection
from heald_nodes.postgres.event_feed import PostgresEventFeed
from heald_nodes.postgres.log import LogReader
from heald_nodes.postgres.nats_news import NatsNews
from heald_nodes.postgres.notices import LONGEST_ID, PER_NOTICE, NewsChannel, Notice
from heald_nodes.postgres.pool import PostgresPool
from heald_nodes.postgres.postgres_news import PostgresNews
from heald_nodes.postgres.schema import FREE, NOW
from heald_nodes.postgres.sharing import PostgresSharing
from heald_nodes.postgres.thinning import thin_sessions
from heald_nodes.postgres.writer import LOCK_BLOBS, GroupWriter, PendingAppend, fenced, keep_blobs

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_ENDLESS = float("inf")
_LAST_EPOCH = 2**31
"""The epoch in the news of a deleted session: nobody writes it any more."""


class PostgresStore(PostgresSharing):
    """Stores sessions in a PostgreSQL database, for any number of nodes. The schema is migrated on the first use.

    `url` is as in libpq: `postgresql://user@host/database`. Its password may come from `HEALD_STORE_PASSWORD`,
    `HEALD_STORE_PASSWORD_FILE`, `PGPASSWORD` or `PGPASSFILE`. `node` is the name of this process among the nodes;
    `news_url` is the address of a NATS server that carries the news between them, or a direct address of the same
    database if `url` is that of a connection pooler.
    """

    def __init__(self, url: str, *, node: str = "", news_url: str = "", patience: float = 30.0) -> None:
        address = PostgresAddress(url)
        pool = PostgresPool(address, patience=patience)
        channel = _open_news(pool, news_url)
        super().__init__(pool, channel, node, control=PostgresPool(address, size=2, patience=patience, plans_once=True))
        self._commit_pool = PostgresPool(address, size=1, patience=patience)
        self._log = LogReader(pool)
        self._feed = PostgresEventFeed(self._log.anchors)
        self._feeds = False
        self._writer = GroupWriter(self._commit_pool, channel, self._feed, self)

    @property
    def commits(self) -> int:
        """How many commits have stored events, since the store was opened."""
        return self._writer.commits

    @property
    def name(self) -> str:
        """The address of the database, without its password."""
        return self._pool.name

    async def read_service(self) -> str:
        """Return the name of the service that the tables belong to: each database has another one."""
        await self._pool.open()
        return self._pool.service

    async def has_session(self, session: str) -> bool:
        """Whether the session is in this database, also as a draft."""
        return bool(await self._pool.fetchval("SELECT true FROM sessions WHERE id = $1", _storable(session)))

    # --- sessions ----------------------------------------------------------------------------------------------------

    async def create(self, info: SessionInfo, *, draft: bool = False) -> None:
        if _UNSTORABLE.search(info.id):
            raise SessionExists("The id of a session has no NUL and no half of a character; choose another id.")
        title = _storable(info.title)

        async def insert(connection: PostgresConnection) -> object:
            return await connection.fetchval(
                "INSERT INTO sessions (id, owner, kind, title, title_key, created, updated, epoch, parent, parent_seq,"
                f" cause, settings, folder, draft) VALUES ($1, $2, $3, $4, $5, coalesce($6, {NOW}),"
                f" coalesce($7, {NOW}), $8, $9, $10, $11, $12, $13, $14) ON CONFLICT (id) DO NOTHING RETURNING key",
                info.id,
                _storable(info.owner),
                _storable(info.kind),
                title,
                title.casefold(),
                info.created or None,
                info.updated or None,
                info.epoch,
                info.parent,
                info.parent_seq,
                info.cause,
                encode(info.settings),
                _folder_of(info.settings),
                draft,
            )

        if await self._pool.run(insert) is None:
            raise SessionExists(f"There is a session {info.id!r} already; choose another id.")

    async def finish(self, lease: Lease, *, updated: float | None = None) -> None:
        await self._change_held(lease, "draft = false, updated = coalesce($4, updated)", updated)

    async def abandoned(self) -> Sequence[str]:
        rows = await self._pool.fetch(
            f"SELECT s.id FROM sessions s WHERE s.draft AND CASE WHEN s.holder = '' THEN s.updated <= {NOW} - $2"
            f" ELSE {FREE} END",
            self._is_beating,
            LEASE_SECONDS,
        )
        return [row[0] for row in rows]

    async def info(self, session: str) -> SessionInfo:
        row = await self._find_row(f"SELECT {INFO_COLUMNS} FROM sessions WHERE id = $1 AND NOT draft", session)
        return read_info(row)

    async def list(
        self,
        *,
        search: str = "",
        limit: int = 50,
        after: str | None = None,
        owner: str | None = None,
        kind: str | None = None,
    ) -> SessionPage:
        updated, last = parse_cursor(after) if after is not None else (_ENDLESS, "")
        limit = max(limit, 1)
        rows = await self._pool.fetch(
            f"SELECT {INFO_COLUMNS} FROM sessions WHERE (updated < $1 OR (updated = $1 AND id > $2))"
            " AND position($3 IN title_key) > 0 AND NOT draft AND cause IS NULL"
            " AND ($5::text IS NULL OR owner = $5) AND ($6::text IS NULL OR kind = $6)"
            " ORDER BY updated DESC, id LIMIT $4",
            updated,
            _storable(last),
            _storable(search.casefold()),
            limit + 1,
            owner,
            kind,
        )
        return make_page([read_info(row, is_listed=True) for row in rows], limit)

    async def delegates(self, session: str) -> Sequence[SessionInfo]:
        rows = await self._pool.fetch(
            f"SELECT {INFO_COLUMNS} FROM sessions WHERE parent = $1 AND cause IS NOT NULL ORDER BY created, key",
            _storable(session),
        )
        return [read_info(row) for row in rows]

    async def rename(self, session: str, title: str, *, only_untitled: bool = False) -> None:
        title = _storable(title)
        await self._find_row(
            "UPDATE sessions SET title = CASE WHEN title = '' OR NOT $4 THEN $2 ELSE title END,"
            " title_key = CASE WHEN title = '' OR NOT $4 THEN $3 ELSE title_key END WHERE id = $1 RETURNING key",
            session,
            title,
            title.casefold(),
            only_untitled,
        )

    async def configure(self, session: str, settings: JsonObject) -> None:
        await self._find_row(
            "UPDATE sessions SET settings = $2, folder = $3 WHERE id = $1 RETURNING key",
            session,
            encode(settings),
            _folder_of(settings),
        )

    async def delete(self, session: str) -> None:
        async def delete_all(connection: PostgresConnection) -> None:
            async with connection.transaction():
                await connection.execute(LOCK_BLOBS.replace("_shared", ""))
                rows = await connection.fetch(
                    "WITH RECURSIVE tree AS (SELECT key, id FROM sessions WHERE id = $1 UNION"
                    " SELECT s.key, s.id FROM sessions s JOIN tree ON s.parent = tree.id WHERE s.cause IS NOT NULL)"
                    " SELECT key FROM tree",
                    session,
                )
                keys = [row[0] for row in rows]
                digests = await connection.fetch("SELECT digest FROM session_blobs WHERE session = ANY($1)", keys)
                await connection.execute("DELETE FROM sessions WHERE key = ANY($1)", keys)
                await connection.execute("DELETE FROM chunks WHERE session = ANY($1)", keys)
                await connection.execute(
                    "DELETE FROM blobs b WHERE digest = ANY($1)"
                    " AND NOT EXISTS (SELECT 1 FROM session_blobs s WHERE s.digest = b.digest)",
                    [row[0] for row in digests],
                )

        await self._find_row("SELECT key FROM sessions WHERE id = $1", session)
        await self._pool.run(delete_all)
        await self._news.publish(Notice(e=[(session, 0, _LAST_EPOCH)]))

    # --- leases ------------------------------------------------------------------------------------------------------

    async def acquire(self, session: str, holder: str, *, seconds: float = LEASE_SECONDS, force: bool = False) -> Lease:
        node, until = (self.node, _ENDLESS) if self._is_beating and seconds > 0 else ("", seconds)

        async def change(connection: PostgresConnection) -> Sequence[Any]:
            async with connection.transaction():
                row = await connection.fetchrow(
                    f"SELECT s.key, s.holder, s.node, {FREE} FROM sessions s WHERE s.id = $2"
                    " AND NOT (s.draft AND s.holder <> '') FOR UPDATE OF s",
                    self._is_beating,
                    session,
                )
                if row is None:
                    raise NoSuchSession(session)
                key, held_by, held_at, free = row
                if not (force or free or held_by == holder or _has_ended(held_by, held_at)):
                    raise SessionBusy(f"The session {session!r} is open elsewhere; close it there, or wait.")
                changed = await connection.fetchrow(
                    f"UPDATE sessions SET epoch = epoch + 1, holder = $2, node = $3, expires = {NOW} + $4,"
                    " not_before = 0 WHERE key = $1 RETURNING epoch, expires, last_seq",
                    key,
                    holder,
                    node,
                    until,
                )
                assert changed is not None
                return changed

        if _UNSTORABLE.search(session):
            raise NoSuchSession(session)
        try:
            epoch, expires, last_seq = await self._pool.run(change)
            if epoch > 1:
                await self._news.publish(Notice(e=[(session, last_seq, epoch)]))
        except (SessionBusy, NoSuchSession):
            raise
        except StoreError:
            self._unreleased[holder] = session  # the answer or the notice may have been lost, and not the change
            raise
        return Lease(session=session, epoch=epoch, holder=holder, expires=expires)

    async def renew(self, lease: Lease, *, seconds: float = LEASE_SECONDS) -> Lease:
        """Extend a lease. One that lives with its node needs no query: a replaced writer is refused by the append."""
        if self._is_beating and lease.expires == _ENDLESS:
            return lease
        expires = await self._change_held(lease, f"expires = {NOW} + $4", seconds)
        return Lease(session=lease.session, epoch=lease.epoch, holder=lease.holder, expires=expires)

    async def release(self, lease: Lease) -> None:
        try:
            work = await self._pool.fetchval(
                "UPDATE sessions SET holder = '', node = '', expires = 0"
                " WHERE id = $1 AND epoch = $2 AND holder = $3 RETURNING work",
                lease.session,
                lease.epoch,
                lease.holder,
            )
        except StoreError:  # a full disk refuses this change too
            self._unreleased[lease.holder] = lease.session
            raise
        if work not in (None, "idle"):
            await self._news.publish(Notice(w=True))

    async def _change_held(self, lease: Lease, change: str, *values: object) -> float:
        """Change the row of a held session. Returns when its lease expires. Raises Fenced if it is not held."""
        row = await self._pool.fetchrow(
            f"UPDATE sessions SET {change} WHERE id = $1 AND epoch = $2 AND holder = $3 RETURNING expires",
            lease.session,
            lease.epoch,
            lease.holder,
            *values,
        )
        if row is None:
            await self._find_row("SELECT key FROM sessions WHERE id = $1", lease.session)
            raise fenced(lease)
        return row[0]

    # --- the log -----------------------------------------------------------------------------------------------------

    async def append(
        self,
        lease: Lease,
        events: Sequence[Event],
        blobs: Mapping[str, bytes] | None = None,
        *,
        work: Work | None = None,
    ) -> EncodedEvents:
        check_next(lease, events[0].seq - 1 if events else 0, events)
        check_blobs(blobs or {})
        return await self._writer.append(lease, events, blobs or {}, work)

    def submit_events(
        self,
        lease: Lease,
        events: Sequence[Event],
        on_done: OnAppended,
        *,
        blobs: Mapping[str, bytes] | None = None,
        work: Work | None = None,
        title: str = "",
    ) -> None:
        """Append events, and call back when they are stored."""
        try:
            check_next(lease, events[0].seq - 1, events)
            check_blobs(blobs or {})
            pending = self._writer.submit(lease, events, blobs or {}, work)
        except Exception as error:
            asyncio.get_running_loop().call_soon(on_done, None, error)
            return
        stored: asyncio.Future[Any] = pending.done
        if title:
            stored = asyncio.gather(pending.done, self.rename(lease.session, title, only_untitled=True))
        stored.add_done_callback(partial(_end_append, pending, on_done))

    async def read(
        self, session: str, *, after: int = 0, upto: int | None = None, limit: int = PAGE
    ) -> Sequence[Event]:
        key, end = await self._find_row("SELECT key, last_seq FROM sessions WHERE id = $1", session)
        if end <= after:
            return ()
        return await self._log.read(key, end, after=after, upto=upto, limit=limit)

    async def read_many(self, cursors: Mapping[str, int]) -> Mapping[str, Sequence[Event]]:
        return await self._log.read_many(cursors)

    # --- readers on other nodes --------------------------------------------------------------------------------------

    def subscribe_news(self, callback: OnNews) -> Callable[[], None]:
        if not self._feeds:
            self._feeds = True
            self._news.subscribe(self._on_readers)
        return self._news.subscribe(callback)

    def _on_readers(self, news: News) -> None:
        if news.topic == "lost" and not news.address:
            self._feed.expect_readers()
        elif news.topic == "readers" and news.name != self.node:
            appended = self._feed.add_readers(news.session, news.channel, news.address)
            if appended is not None:
                self._writer.publish_late([appended])

    async def announce_readers(self, sessions: Sequence[str]) -> None:
        names = [session for session in sessions if len(session) <= LONGEST_ID]
        channel, address = self._news.own_channel, self._news.link_address
        for start in range(0, len(names), PER_NOTICE):
            await self._news.publish(Notice(i=names[start : start + PER_NOTICE], n=self.node, o=channel, p=address))

    def is_read_elsewhere(self, session: str) -> bool:
        return self._feed.has_readers(session)

    def decode_news(self, news: News) -> Sequence[Event] | None:
        return self._feed.decode(news)

    async def thin_out(self, *, seconds: float, limit: int = 20) -> int:
        return await thin_sessions(self._pool, self._log, seconds=seconds, limit=limit)

    # --- blobs -------------------------------------------------------------------------------------------------------

    async def put_blob(self, session: str, data: bytes) -> str:
        digest = sha256(data).hexdigest()
        key = (await self._find_row("SELECT key FROM sessions WHERE id = $1", session))[0]

        async def keep(connection: PostgresConnection) -> None:
            async with connection.transaction():
                await connection.execute(LOCK_BLOBS)
                await keep_blobs(connection, [(key, digest, data)])

        await self._pool.run(keep)
        return digest

    async def blob(self, session: str, digest: str) -> bytes:
        row = await self._find_row(
            "SELECT s.key, b.data FROM sessions s LEFT JOIN session_blobs k ON k.session = s.key AND k.digest = $2"
            " LEFT JOIN blobs b ON b.digest = k.digest WHERE s.id = $1",
            session,
            _storable(digest),
        )
        if row[1] is None:
            raise NoSuchBlob(digest)
        return row[1]

    async def list_blobs(self, session: str) -> Sequence[str]:
        key = (await self._find_row("SELECT key FROM sessions WHERE id = $1", session))[0]
        rows = await self._pool.fetch("SELECT digest FROM session_blobs WHERE session = $1 ORDER BY digest", key)
        return [row[0] for row in rows]

    async def close(self) -> None:
        """Commit what waits and close the connections."""
        await self._writer.close()
        await self._news.close()
        for pool in (self._commit_pool, self._control, self._pool):
            await pool.close()

    async def _find_row(self, query: str, session: str, *values: object) -> Sequence[Any]:
        """Run a query about one session. Raises NoSuchSession if it returns nothing."""
        row = None
        if not _UNSTORABLE.search(session):
            row = await self._pool.fetchrow(query, session, *values)
        if row is None:
            raise NoSuchSession(session)
        return row


def _open_news(pool: PostgresPool, url: str) -> NewsChannel:
    if not url:
        return PostgresNews(pool)
    return PostgresNews(pool, PostgresAddress(url)) if is_postgres(url) else NatsNews(pool, url)


def _end_append(pending: PendingAppend, on_done: OnAppended, done: "asyncio.Future[Any]") -> None:
    if done.cancelled():
        on_done(None, StoreError("The store is closed; open it again."))
        return
    error = done.exception()
    on_done(None if error is not None else pending.json, error if isinstance(error, Exception) else None)


def _has_ended(holder: str, node: str) -> bool:
    """Whether a writer has ended, as far as this process can see."""
    return is_marked_dead(holder) or (not node and is_free(holder, _ENDLESS, 0.0))


def _folder_of(settings: JsonObject) -> str | None:
    """Return the name of the folder that a session works in, if it works in one."""
    folder = settings.get("workspace")
    return folder if isinstance(folder, str) else None


def _storable(text: str) -> str:
    """Return a text without the characters that PostgreSQL does not store."""
    return _UNSTORABLE.sub("\ufffd", text)


def open_postgres(url: str, *, node: str = "", news: str = "") -> Store:
    """Open `postgresql://user@host/database`, or a list of such addresses with commas between them. `news` is the URL
    of a NATS server, if one carries the news, or the direct address of each database, if `url` is that of a pooler."""
    urls = split_urls(url)
    if any(not part.partition(":")[2].startswith("//") for part in urls):
        raise bad_store_url(url, "postgresql://user@host/database")
    if len(urls) == 1:
        return PostgresStore(url, node=node, news_url=news)
    from heald_nodes.postgres.routed_store import open_routed  # it is made of the stores of this module

    return open_routed(urls, node=node, news=news)
