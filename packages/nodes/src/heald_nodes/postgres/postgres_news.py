"""Notices between nodes by LISTEN and NOTIFY, on a connection of its own.

A notice is part of the commit that it is about. When the connection was away, notices may be missing: every subscriber
gets `lost` and reads what it needs. LISTEN needs a session of the database, which a connection pooler does not give: it
needs a direct address then; without one, this node polls.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache
from hashlib import sha256

import msgspec

from heald.core.ids import new_id
from heald.core.json import encode
from heald.sessions.news import News, NewsCallbacks, OnNews
from heald_nodes.postgres.address import PostgresAddress
from heald_nodes.postgres.chunks import PACKED, ROWS
from heald_nodes.postgres.driver import PostgresConnection, asyncpg
from heald_nodes.postgres.news_poll import POLL_SECONDS, NewsPoll
from heald_nodes.postgres.node_links import LinkPort, open_port
from heald_nodes.postgres.notices import LONGEST_ID, NO_NOTICE, Appended, CarriedRows, Notice, decode_notice
from heald_nodes.postgres.pool import PostgresPool

CHECK_SECONDS = 5.0
"""Seconds between two checks that the connection is alive."""
_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 1.0
_log = logging.getLogger("heald.store")


@cache
def _channel_of(schema: str) -> str:
    return f"heald_{sha256(schema.encode()).hexdigest()[:16]}"


@cache
def _with_notice(statement: str, channel: str) -> str:
    """Add to the statement that stores appends one notice for each part of them."""
    head, _, rest = statement.rpartition("SELECT id, key FROM h")
    return f"""{head.rstrip()}, n AS (
    SELECT pg_notify(CASE channel WHEN '' THEN '{channel}' ELSE channel END, json_build_object(
               'e', json_agg(json_build_array(id, last_seq, epoch)),
               'd', coalesce(json_agg(json_build_array(id, last_seq, before + 1, rows)) FILTER (WHERE carried), '[]')
           )::text)
    FROM (SELECT CASE WHEN length(id) <= {LONGEST_ID} THEN id ELSE '' END AS id, last_seq, epoch, before, carried, part,
                 channel,
                 CASE WHEN carried THEN key || E'\\n' || CASE WHEN codec = {ROWS} THEN convert_from(body, 'UTF8')
                     ELSE '{PACKED}' || translate(encode(body, 'base64'), E'\\n', '') END END AS rows
          FROM h WHERE before IS NOT NULL AND part <> {NO_NOTICE}) AS appended
    GROUP BY part, channel
)
SELECT id, key, (SELECT count(*) FROM n) FROM h{rest}"""


class _UnusableAddress(Exception):
    """The direct address does not lead to a session of the database of the store."""


class PostgresNews:
    """Notices by LISTEN and NOTIFY. `direct` is the address for LISTEN, if the address of the store has a pooler."""

    def __init__(self, pool: PostgresPool, direct: PostgresAddress | None = None) -> None:
        self._pool = pool
        self._direct = direct
        self._callbacks = NewsCallbacks()
        self._task: asyncio.Task[None] | None = None
        self._pause = _FIRST_PAUSE
        self._is_warned = False
        self._own_channel = f"heald_{new_id('node')}"
        self._hears_own = False
        self._port: LinkPort | None = None
        self._trial = ""
        """The notice that shows whether LISTEN works through a pooler."""
        self._on_trial = asyncio.Event()

    @property
    def _channel(self) -> str:
        return _channel_of(self._pool.schema)

    @property
    def own_channel(self) -> str:
        return self._own_channel if self._hears_own else ""

    @property
    def link_address(self) -> str:
        return self._port.address if self._port is not None else ""

    def with_notice(self, statement: str, schema: str) -> str:
        return _with_notice(statement, _channel_of(schema))

    async def publish_after_commit(self, appended: Sequence[Appended], carried: Iterable[CarriedRows]) -> None:
        """Do nothing: the statement has sent the notice."""

    async def publish(self, notice: Notice) -> None:
        text = encode(notice).decode()
        await self._pool.open()  # the name of the channel is known then
        await self._pool.execute("SELECT pg_notify($1, $2)", self._channel, text)

    def subscribe(self, callback: OnNews) -> Callable[[], None]:
        if self._task is None:
            self._task = asyncio.create_task(self._listen(), name="heald-news")
        return self._callbacks.add(callback)

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
            self._task = None

    async def _listen(self) -> None:
        while True:
            try:
                await self._pool.open()
                if self._direct is None and self._pool.address.is_pooled:
                    await self._poll()
                await self._listen_on(self._direct or self._pool.address)
            except asyncio.CancelledError:
                raise
            except _UnusableAddress as error:
                assert self._direct is not None
                _log.error("%s, named with --news, %s", self._direct.name, error)
                self._direct = None
            except Exception as error:
                _log.warning("news of other nodes are interrupted (%s)", type(error).__name__)
            await asyncio.sleep(self._pause)
            self._pause = min(self._pause * 2, _LONGEST_PAUSE)

    async def _poll(self) -> None:
        """Publish what is found in the database, until it cannot be read."""
        if not self._is_warned:
            self._is_warned = True
            _log.warning(
                "%s is a connection pooler: statements are not prepared, and news of other nodes are polled every %g s;"
                " name a direct address with --news postgresql://…",
                self._pool.name,
                POLL_SECONDS,
            )
        self._callbacks.publish(News(topic="lost"))
        await NewsPoll(self._pool, self._callbacks).run()

    async def _listen_on(self, address: PostgresAddress) -> None:
        """Publish the notices that come on a connection, until it breaks."""
        connection = await address.connect()
        port = LinkPort(self._on_line, self._on_link_lost)
        try:
            if address is self._direct:
                await self._check_database(connection)
            await connection.add_listener(self._channel, self._on_notice)
            await connection.add_listener(self._own_channel, self._on_notice)
            if address.is_pooled:
                await self._check_session()
            await open_port(connection, port)
            self._hears_own, self._port = True, port
            self._callbacks.publish(News(topic="lost"))
            self._pause = _FIRST_PAUSE
            while True:
                await asyncio.sleep(CHECK_SECONDS if not connection.is_closed() else 0)
                async with asyncio.timeout(CHECK_SECONDS):
                    await connection.execute("SELECT 1")
        finally:
            self._hears_own, self._port = False, None
            port.close()
            connection.terminate()

    async def _check_database(self, connection: PostgresConnection) -> None:
        try:
            service = await connection.fetchval("SELECT name FROM service")
        except asyncpg.UndefinedTableError:
            service = None
        if service != self._pool.service:
            raise _UnusableAddress("is not the database of the store; it is not used")

    async def _check_session(self) -> None:
        """Raise unless a notice comes through the pooler: in transaction mode none does."""
        self._trial = encode(Notice(n=new_id("trial"))).decode()
        await self._pool.execute("SELECT pg_notify($1, $2)", self._channel, self._trial)
        with suppress(TimeoutError):
            async with asyncio.timeout(CHECK_SECONDS):
                await self._on_trial.wait()
        if not self._on_trial.is_set():
            raise _UnusableAddress("is a connection pooler that has no session mode; it is not used")

    def _on_notice(self, connection: object, pid: int, channel: str, payload: str) -> None:
        if payload == self._trial:
            self._on_trial.set()
        self._publish(payload)

    def _on_line(self, line: bytes) -> None:
        """Publish a notice that another node has sent directly."""
        self._publish(line)

    def _on_link_lost(self) -> None:
        """What a node has sent directly may be missing; announcements come by the database."""
        self._callbacks.publish(News(topic="lost", address=self.link_address))

    def _publish(self, payload: str | bytes) -> None:
        with suppress(msgspec.DecodeError):  # a newer node may send notices of another form
            for news in decode_notice(payload).news():
                self._callbacks.publish(news)
