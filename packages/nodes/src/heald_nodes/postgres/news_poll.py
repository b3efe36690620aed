"""Reads from the database what news would tell: the floor where LISTEN is not possible, as through a pooler."""

import asyncio

from heald.sessions.news import News, NewsCallbacks
from heald_nodes.postgres.pool import PostgresPool
from heald_nodes.postgres.schema import NOW
from heald_nodes.postgres.writer import TOUCH_SECONDS

POLL_SECONDS = 0.25
_RECORD_POLLS = 4
"""Records are compared at every so many polls."""
_OVERLAP_SECONDS = TOUCH_SECONDS + 2.0
"""`updated` is not written by every append; and a commit ends later than its statement."""


class NewsPoll:
    """Publishes the appends, commands and records of all nodes, some times a second. Deletions are not found: whoever
    reads a deleted session learns it from the session."""

    def __init__(self, pool: PostgresPool, callbacks: NewsCallbacks) -> None:
        self._pool = pool
        self._callbacks = callbacks
        self._since: float | None = None
        self._ends: dict[str, tuple[int, int]] = {}  # by session, the end of its log and its epoch
        self._records: dict[str, str] | None = None

    async def run(self) -> None:
        """Poll until the task is cancelled. Raises StoreError when the database cannot be read."""
        polls = 0
        while True:
            await self._publish_appends()
            await self._publish_commands()
            if polls % _RECORD_POLLS == 0:
                await self._publish_records()
            polls += 1
            await asyncio.sleep(POLL_SECONDS)

    async def _publish_appends(self) -> None:
        rows = await self._pool.fetch(
            f"SELECT {NOW}, id, last_seq, epoch FROM sessions WHERE updated > coalesce($1, {NOW}) - {_OVERLAP_SECONDS}"
            f" UNION ALL SELECT {NOW}, NULL, 0, 0",
            self._since,
        )
        ends = {session: (seq, epoch) for _, session, seq, epoch in rows if session is not None}
        for session, (seq, epoch) in ends.items():
            if self._ends.get(session) != (seq, epoch) and seq > 0:
                self._callbacks.publish(News(topic="events", session=session, seq=seq, epoch=epoch))
        self._since, self._ends = min(row[0] for row in rows), ends

    async def _publish_commands(self) -> None:
        rows = await self._pool.fetch(
            f"SELECT DISTINCT session FROM commands WHERE reply IS NULL AND accepted_by IS NULL AND expires > {NOW}"
        )
        for row in rows:
            self._callbacks.publish(News(topic="commands", session=row[0]))

    async def _publish_records(self) -> None:
        rows = await self._pool.fetch(
            "SELECT kind, md5(string_agg(xmin::text || ' ' || name, ',' ORDER BY name)) FROM records GROUP BY kind"
        )
        records: dict[str, str] = {row[0]: row[1] for row in rows}
        if self._records is not None:
            for kind in sorted(records.keys() | self._records.keys()):
                if records.get(kind) != self._records.get(kind):
                    self._callbacks.publish(News(topic="records", name=kind))
        self._records = records
