"""Notices between nodes by LISTEN and NOTIFY, on a connection of its own.

A notice is part of the commit that it is about. When the connection was away, notices may be missing: every subscriber
gets `lost` and reads what it needs.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from hashlib import sha256

import msgspec

from heald.core.json import encode
from heald.sessions.news import News, NewsCallbacks, OnNews
from heald_nodes.postgres.driver import PostgresConnection
from heald_nodes.postgres.notices import LONGEST_ID, NO_NOTICE, Appended, CarriedRows, Notice, decode_notice
from heald_nodes.postgres.pool import PostgresPool

CHECK_SECONDS = 5.0
"""Seconds between two checks that the connection is alive."""
_LONGEST_PAUSE = 1.0
_log = logging.getLogger("heald.store")


def _channel_of(schema: str) -> str:
    return f"heald_{sha256(schema.encode()).hexdigest()[:16]}"


class PostgresNews:
    """Notices by LISTEN and NOTIFY."""

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool
        self._callbacks = NewsCallbacks()
        self._task: asyncio.Task[None] | None = None

    @property
    def _channel(self) -> str:
        return _channel_of(self._pool.schema)

    def with_notice(self, statement: str, schema: str) -> str:
        head, _, rest = statement.rpartition("SELECT id, key FROM h")
        return f"""{head.rstrip()}, n AS (
    SELECT pg_notify('{_channel_of(schema)}', json_build_object(
               'e', json_agg(json_build_array(id, last_seq, epoch)),
               'd', coalesce(json_agg(json_build_array(id, last_seq, before + 1, rows)) FILTER (WHERE carried), '[]')
           )::text)
    FROM (SELECT CASE WHEN length(id) <= {LONGEST_ID} THEN id ELSE '' END AS id, last_seq, epoch, before, carried, part,
                 CASE WHEN carried THEN key || E'\\n' || convert_from(body, 'UTF8') END AS rows
          FROM h WHERE body IS NOT NULL AND part <> {NO_NOTICE}) AS appended
    GROUP BY part
)
SELECT id, key, (SELECT count(*) FROM n) FROM h{rest}"""

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
        pause = 0.05
        while True:
            connection: PostgresConnection | None = None
            try:
                await self._pool.open()
                connection = await self._pool.connect_alone()
                await connection.add_listener(self._channel, self._on_notice)
                self._callbacks.publish(News(topic="lost"))
                pause = 0.05
                while True:
                    await asyncio.sleep(CHECK_SECONDS if not connection.is_closed() else 0)
                    async with asyncio.timeout(CHECK_SECONDS):
                        await connection.execute("SELECT 1")
            except asyncio.CancelledError:
                raise
            except Exception as error:
                _log.warning("news of other nodes are interrupted (%s)", type(error).__name__)
            finally:
                if connection is not None:
                    connection.terminate()
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)

    def _on_notice(self, connection: object, pid: int, channel: str, payload: str) -> None:
        with suppress(msgspec.DecodeError):  # a newer node may send notices of another form
            for news in decode_notice(payload).news():
                self._callbacks.publish(news)
