"""Nodes, claims, commands, spending and records in PostgreSQL."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from time import monotonic
from typing import TypeVar

import heald
from heald.core.ids import new_id
from heald.sessions.news import News, OnNews
from heald.sessions.shared_store import (
    NODE_SECONDS,
    RETRY_CLAIM_SECONDS,
    NodeInfo,
    NotAnswered,
    NotHeld,
    PostedCommand,
    Spending,
)
from heald.sessions.store_errors import NoSuchSession, StoreError, StoreFull
from heald_nodes.postgres.driver import PostgresConnection
from heald_nodes.postgres.heartbeat import HeartbeatThread
from heald_nodes.postgres.migration import allow_newest
from heald_nodes.postgres.notices import NewsChannel, Notice
from heald_nodes.postgres.pool import PostgresPool
from heald_nodes.postgres.schema import (
    ADVANCE_CLOCK,
    ALL_READ_NEWEST,
    CLAIMABLE,
    CLOCK,
    FREE,
    NEWEST_CODEC,
    NOW,
    PACKED_SCHEMA,
    ROWS_SCHEMA,
    TAIL_SCHEMA,
    alive,
)

_POLL_SECONDS = 0.5
_OPEN_SECONDS = 10.0
"""How long a node has to open a session that it claimed."""
_ADMISSION_LOCK = 0x57454655
DATABASES = "databases"
"""The kind of the records, in the first database of several, that name all of them."""
_CLEAN_SECONDS = 60.0
_KEPT_SPENDING = 40 * 24 * 60
"""Minutes that spending is kept."""
_KEPT_PAYMENTS = 24 * 60
"""Minutes in which a payment is not counted twice."""
_log = logging.getLogger("heald.store")
T = TypeVar("T")


class PostgresSharing:
    """The shared part of a PostgreSQL store."""

    def __init__(self, pool: PostgresPool, news: NewsChannel, node: str, *, control: PostgresPool) -> None:
        self._pool = pool
        self._control = control
        """Connections for heartbeats and claims, which must not wait for readers."""
        self._news = news
        self._node = node or new_id("node")
        self._folders: tuple[str, ...] = ()
        self._is_beating = False
        self.is_part = False
        """Whether the database has a part of the sessions of a store."""
        self._unreleased: dict[str, str] = {}  # holders whose release failed, and their sessions
        self._cleaned = 0.0
        self._refuses_older = self._newest_allowed = False

    @property
    def node(self) -> str:
        return self._node

    # --- nodes -------------------------------------------------------------------------------------------------------

    async def heartbeat(self, *, folders: Sequence[str] = (), room: int = 0) -> None:
        self._folders = tuple(folders)
        if not self._is_beating and not self.is_part:
            check_count(await self.read_records(DATABASES), 1)
        all_read_newest: bool = await self._control.fetchval(
            f"WITH served AS ({ADVANCE_CLOCK})"
            " INSERT INTO nodes (name, expires, folders, room, version, lease, codec)"
            f" VALUES ($1, {NOW} + $2, $3, $4, $5, {CLOCK} + $2, {NEWEST_CODEC}) ON CONFLICT (name) DO UPDATE SET"
            " expires = excluded.expires, folders = $3, room = $4, version = $5, lease = excluded.lease,"
            f" codec = excluded.codec RETURNING {ALL_READ_NEWEST}",
            self._node,
            NODE_SECONDS,
            list(folders),
            room,
            heald.__version__,
        )
        self._is_beating = True
        if all_read_newest and not self.packs_tails:
            await self._allow_newest()
        with suppress(StoreFull):  # the node lives, and its sessions can be read
            await self._release_late()
        now = monotonic()
        if now - self._cleaned > _CLEAN_SECONDS:
            self._cleaned = now
            await self._pool.run(_clean)

    @property
    def writes_rows(self) -> bool:
        """Whether all nodes can read chunks of rows."""
        return self._newest_allowed or self._pool.readable_by >= ROWS_SCHEMA

    @property
    def writes_tails(self) -> bool:
        """Whether all nodes can read the tails of logs."""
        return self._newest_allowed or self._pool.readable_by >= TAIL_SCHEMA

    @property
    def packs_tails(self) -> bool:
        """Whether all nodes can read packed tails."""
        return self._newest_allowed or self._pool.readable_by >= PACKED_SCHEMA

    async def _allow_newest(self) -> None:
        """Write rows, and packed tails, from the next heartbeat on. No older node can start meanwhile."""
        if not self._refuses_older:
            await self._control.run(allow_newest)
            self._refuses_older = True
        else:
            self._newest_allowed = True

    async def _release_late(self) -> None:
        """Release the sessions whose release failed. Nobody claims them as long as this node lives."""
        for holder, session in list(self._unreleased.items()):
            await self._control.execute(
                "UPDATE sessions SET holder = '', node = '', expires = 0 WHERE id = $1 AND holder = $2", session, holder
            )
            self._unreleased.pop(holder, None)

    def support_heartbeat(self, is_alive: Callable[[], bool]) -> Callable[[], None]:
        return HeartbeatThread(self._control.address, self._node, is_alive).stop

    async def list_nodes(self) -> Sequence[NodeInfo]:
        rows = await self._pool.fetch(
            f"SELECT name, folders, room, version FROM nodes AS listed WHERE {alive('listed.name')} ORDER BY name"
        )
        return [NodeInfo(name=row[0], folders=tuple(row[1]), room=row[2], version=row[3]) for row in rows]

    async def end_node(self) -> None:
        self._is_beating = False
        await self._pool.execute("DELETE FROM nodes WHERE name = $1", self._node)
        await self._news.publish(Notice(w=True))

    # --- work --------------------------------------------------------------------------------------------------------

    async def claim_work(self, limit: int) -> Sequence[str]:
        rows = await self._control.fetch(
            f"UPDATE sessions SET node = $2, holder = '', expires = 0, epoch = epoch + 1, not_before = {NOW} + $5"
            " WHERE key IN ("
            f"SELECT s.key FROM sessions s WHERE {CLAIMABLE} AND (s.folder IS NULL OR s.folder = ANY($3))"
            " ORDER BY s.updated LIMIT $4 FOR UPDATE OF s SKIP LOCKED) RETURNING id",
            self._is_beating,
            self._node,
            list(self._folders),
            limit,
            _OPEN_SECONDS,
        )
        return [row[0] for row in rows]

    async def unclaim_work(self, session: str, *, seconds: float = RETRY_CLAIM_SECONDS, forget: bool = False) -> None:
        await self._pool.execute(
            f"UPDATE sessions SET node = '', not_before = {NOW} + $3,"
            " work = CASE WHEN $4 THEN 'idle' ELSE work END WHERE id = $1 AND node IN ($2, '') AND holder = ''",
            session,
            self._node,
            seconds,
            forget,
        )

    async def find_holder(self, session: str) -> str:
        row = await self._pool.fetchrow(
            f"SELECT {FREE}, s.node, s.holder FROM sessions s WHERE s.id = $2", self._is_beating, session
        )
        if row is None:
            raise NoSuchSession(session)
        is_free, node, holder = row
        return "" if is_free else node or holder

    async def count_running(self, owner: str) -> int:
        return await self._pool.fetchval(
            "SELECT count(*) FROM sessions WHERE work <> 'idle' AND NOT draft AND cause IS NULL AND owner = $1", owner
        )

    async def admit_work(self, session: str, owner: str, *, limit: int) -> int:
        async def admit(connection: PostgresConnection) -> int:
            others = await _count_others(connection, owner, session)
            if others < limit:
                await _mark_waiting(connection, session)
            return others

        return await self.run_locked(owner, admit)

    async def run_locked(self, owner: str, action: Callable[[PostgresConnection], Awaitable[T]]) -> T:
        """Run an action while no other node admits work of an owner. It is repeated if the connection breaks."""

        async def run(connection: PostgresConnection) -> T:
            async with connection.transaction():
                await connection.execute("SELECT pg_advisory_xact_lock($1, hashtext($2))", _ADMISSION_LOCK, owner)
                return await action(connection)

        return await self._pool.run(run)

    async def count_others(self, owner: str, session: str) -> int:
        """Count the sessions of an owner with work, without one of them."""
        return await self._pool.run(lambda connection: _count_others(connection, owner, session))

    async def mark_waiting(self, session: str) -> None:
        """Mark a session without work as waiting."""
        await self._pool.run(lambda connection: _mark_waiting(connection, session))

    # --- news and commands -------------------------------------------------------------------------------------------

    def subscribe_news(self, callback: OnNews) -> Callable[[], None]:
        return self._news.subscribe(callback)

    async def post_command(self, session: str, body: bytes, *, seconds: float) -> bytes:
        command = new_id("cmd")
        replied = asyncio.Event()

        def on_news(news: News) -> None:
            if news.topic == "lost" or (news.topic == "replies" and news.name == command):
                replied.set()

        unsubscribe = self.subscribe_news(on_news)
        until = monotonic() + seconds
        try:
            await self._pool.execute(
                f"INSERT INTO commands VALUES ($1, $2, $3, {NOW} + $4) ON CONFLICT DO NOTHING",
                command,
                session,
                body,
                seconds,
            )
            await self._news.publish(Notice(c=[session]))
            while monotonic() < until:
                reply = await self._read_reply(command, session)
                if reply is not None:
                    return reply
                replied.clear()
                try:
                    async with asyncio.timeout(min(_POLL_SECONDS, max(until - monotonic(), 0.01))):
                        await replied.wait()
                except TimeoutError:
                    continue
        finally:
            unsubscribe()
        await self._forget_command(command)
        raise NotAnswered("The node that holds the session did not answer in time; ask again in a moment.")

    async def _read_reply(self, command: str, session: str) -> bytes | None:
        """Return the reply if there is one. Raises NotHeld if there will be none."""
        row = await self._pool.fetchrow(
            f"SELECT c.reply, {FREE} FROM commands c LEFT JOIN sessions s ON s.id = c.session WHERE c.id = $2",
            self._is_beating,
            command,
        )
        if row is None:
            raise NotAnswered("The command expired before it was answered; ask again.")
        reply, is_free = row
        if reply is not None:
            await self._forget_command(command)
            return reply
        if is_free is None:
            await self._forget_command(command)
            raise NoSuchSession(session)
        if is_free and await self._withdraw(command):
            raise NotHeld("Nobody holds the session.")
        return None

    async def _withdraw(self, command: str) -> bool:
        """Delete a command that nobody has accepted, or whose acceptor is dead."""
        deleted = await self._pool.fetchval(
            "DELETE FROM commands c WHERE c.id = $1 AND c.reply IS NULL AND (c.accepted_by IS NULL"
            f" OR NOT {alive('c.accepted_by')}) RETURNING true",
            command,
        )
        return bool(deleted)

    async def _forget_command(self, command: str) -> None:
        await self._pool.execute("DELETE FROM commands WHERE id = $1", command)

    async def read_commands(self) -> Sequence[PostedCommand]:
        rows = await self._pool.fetch(
            "UPDATE commands c SET accepted_by = $1 FROM sessions s WHERE s.id = c.session AND s.node = $1"
            f" AND s.holder <> '' AND c.reply IS NULL AND c.expires > {NOW} AND (c.accepted_by IS NULL"
            f" OR (c.accepted_by <> $1 AND NOT {alive('c.accepted_by')}))"
            " RETURNING c.id, c.session, c.body",
            self._node,
        )
        return [PostedCommand(id=row[0], session=row[1], body=row[2]) for row in rows]

    async def reply_command(self, command: str, reply: bytes) -> None:
        await self._pool.execute("UPDATE commands SET reply = $2 WHERE id = $1", command, reply)
        await self._news.publish(Notice(r=[command]))

    # --- spending and records ----------------------------------------------------------------------------------------

    async def record_spending(self, owner: str, *, tokens: int, usd: float | None, payment: str = "") -> None:
        await self._pool.execute(
            f"WITH p AS (INSERT INTO payments VALUES ($5, ({NOW} / 60)::bigint)"
            " ON CONFLICT DO NOTHING RETURNING minute)"
            " INSERT INTO spent AS s SELECT $1, minute, $2, $3, $4 FROM p ON CONFLICT (owner, minute)"
            " DO UPDATE SET tokens = s.tokens + $2, usd = s.usd + $3, unpriced = s.unpriced OR $4",
            owner,
            tokens,
            usd or 0.0,
            usd is None,
            payment or new_id("pay"),
        )

    async def read_spending(self, owner: str, *, seconds: float) -> Spending:
        row = await self._pool.fetchrow(
            "SELECT coalesce(sum(tokens), 0)::bigint, coalesce(sum(usd), 0), coalesce(bool_or(unpriced), false),"
            f" greatest({NOW} - min(minute) * 60, 0) FROM spent WHERE owner = $1"
            f" AND minute > (({NOW} - $2::float8) / 60)::bigint",
            owner,
            seconds,
        )
        tokens, usd, unpriced, age = row or (0, 0.0, False, None)
        return Spending(tokens=tokens, usd=usd, unpriced=unpriced, age=age or 0.0)

    async def read_records(self, kind: str) -> Mapping[str, bytes]:
        rows = await self._pool.fetch("SELECT name, data FROM records WHERE kind = $1", kind)
        return {row[0]: row[1] for row in rows}

    async def put_record(self, kind: str, name: str, data: bytes, *, only_new: bool = False) -> bytes:
        stored: bytes = await self._pool.fetchval(
            "INSERT INTO records AS r VALUES ($1, $2, $3) ON CONFLICT (kind, name) DO UPDATE"
            " SET data = CASE WHEN $4 THEN r.data ELSE $3 END RETURNING r.data",
            kind,
            name,
            data,
            only_new,
        )
        if stored == data:
            await self._news.publish(Notice(k=[kind]))
        return stored

    async def delete_record(self, kind: str, name: str) -> None:
        await self._pool.execute("DELETE FROM records WHERE kind = $1 AND name = $2", kind, name)
        await self._news.publish(Notice(k=[kind]))


def check_count(numbers: Mapping[str, bytes], count: int) -> None:
    """Raise StoreError if a store has more databases than are named."""
    if len(numbers) > count:
        raise StoreError(f"The store has {len(numbers)} databases, and --store names {count}; name all of them.")


async def _count_others(connection: PostgresConnection, owner: str, session: str) -> int:
    return await connection.fetchval(
        "SELECT count(*) FROM sessions WHERE work <> 'idle' AND NOT draft AND cause IS NULL AND owner = $1"
        " AND id <> $2",
        owner,
        session,
    )


async def _mark_waiting(connection: PostgresConnection, session: str) -> None:
    await connection.execute("UPDATE sessions SET work = 'waiting' WHERE id = $1 AND work = 'idle'", session)


async def _clean(connection: PostgresConnection) -> None:
    """Delete what is over: dead nodes, expired commands, old spending."""
    await connection.execute(f"DELETE FROM nodes WHERE expires < {NOW} - 3600")
    await connection.execute(f"DELETE FROM commands WHERE expires < {NOW} - 60")
    await connection.execute(f"DELETE FROM payments WHERE minute < ({NOW} / 60)::bigint - $1", _KEPT_PAYMENTS)
    await connection.execute(f"DELETE FROM spent WHERE minute < ({NOW} / 60)::bigint - $1", _KEPT_SPENDING)
