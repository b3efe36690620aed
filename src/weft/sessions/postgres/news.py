"""News between nodes: by LISTEN and NOTIFY, on a connection of its own, or by NATS, for clusters where the notices of
the database become the limit.

A notice of the database is part of the commit that it is about; one of NATS is sent after its commit. When the
connection was away, notices may be missing: every subscriber gets `lost` and reads what it needs.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from importlib import import_module
from typing import Any, Protocol

import msgspec

from weft.core.errors import ConfigurationError
from weft.core.json import encode
from weft.sessions.postgres.address import without_password
from weft.sessions.postgres.connection import PostgresConnection, PostgresPool
from weft.sessions.shared import News, NewsCallbacks, OnNews

CHECK_SECONDS = 5.0
"""Seconds between two checks that the connection is alive."""
_LONGEST_PAUSE = 1.0
_PER_NOTICE = 60
"""Sessions in one notice, which may have 8,000 bytes."""
_LONGEST_ID = 100

_log = logging.getLogger("weft.store")

Appended = tuple[str, int, int]
"""A session, the end of its log, and the epoch of its writer."""


class Notice(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message, with short names: events, commands (by session), replies (by command), records (by kind), work."""

    e: list[Appended] = []
    c: list[str] = []
    r: list[str] = []
    k: list[str] = []
    w: bool = False

    def news(self) -> Iterator[News]:
        for session, seq, epoch in self.e:
            if session:
                yield News(topic="events", session=session, seq=seq, epoch=epoch)
            else:  # its name was too long for a notice
                yield News(topic="lost")
        for session in self.c:
            yield News(topic="commands", session=session)
        for command in self.r:
            yield News(topic="replies", name=command)
        for kind in self.k:
            yield News(topic="records", name=kind)
        if self.w:
            yield News(topic="work")


_decoder = msgspec.json.Decoder(Notice)


def decode_notice(payload: str | bytes) -> Notice:
    return _decoder.decode(payload)


def split_appended(appended: Sequence[Appended]) -> Iterator[Notice]:
    """Yield notices that are small enough to be sent."""
    short = [each if len(each[0]) <= _LONGEST_ID else ("", 0, 0) for each in appended]
    for start in range(0, len(short), _PER_NOTICE):
        yield Notice(e=short[start : start + _PER_NOTICE])


class NewsChannel(Protocol):
    """Carries notices between the nodes of a store."""

    def with_notice(self, statement: str, schema: str) -> str:
        """Add the notice of appends to the statement that stores them, if the channel is part of the database."""
        ...

    async def publish_after_commit(self, appended: Sequence[Appended]) -> None:
        """Send the notice of appends after their commit, if the channel is not part of the database."""
        ...

    async def publish(self, notice: Notice) -> None: ...

    def subscribe(self, callback: OnNews) -> Callable[[], None]: ...

    async def close(self) -> None: ...


def _channel_of(schema: str) -> str:
    return f"weft_{sha256(schema.encode()).hexdigest()[:16]}"


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
    SELECT pg_notify('{_channel_of(schema)}',
                     json_build_object('e', json_agg(json_build_array(id, last_seq, epoch)))::text)
    FROM (SELECT CASE WHEN length(id) <= {_LONGEST_ID} THEN id ELSE '' END AS id, last_seq, epoch,
                 (row_number() OVER () - 1) / {_PER_NOTICE} AS part FROM h WHERE body IS NOT NULL) AS parts
    GROUP BY part
)
SELECT id, key, (SELECT count(*) FROM n) FROM h{rest}"""

    async def publish_after_commit(self, appended: Sequence[Appended]) -> None:
        """Do nothing: the statement has sent the notice."""

    async def publish(self, notice: Notice) -> None:
        text = encode(notice).decode()
        await self._pool.open()  # the name of the channel is known then
        await self._pool.execute("SELECT pg_notify($1, $2)", self._channel, text)

    def subscribe(self, callback: OnNews) -> Callable[[], None]:
        if self._task is None:
            self._task = asyncio.create_task(self._listen(), name="weft-news")
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
        with suppress(msgspec.DecodeError):  # a newer node may send more than this one knows
            for news in decode_notice(payload).news():
                self._callbacks.publish(news)


# --- NATS ------------------------------------------------------------------------------------------------------------


_RETRY_SECONDS = 1.0


class _Message(Protocol):
    @property
    def data(self) -> bytes: ...


class _Client(Protocol):
    """The part of nats-py's client that is used."""

    async def connect(self, servers: str, **options: Any) -> None: ...

    async def subscribe(self, subject: str, *, cb: Callable[[_Message], Awaitable[None]]) -> object: ...

    async def publish(self, subject: str, payload: bytes) -> None: ...

    async def close(self) -> None: ...


def _new_client() -> _Client:
    try:
        return import_module("nats.aio.client").Client()
    except ImportError:
        raise ConfigurationError("News by NATS need nats-py; install it with: pip install 'weft[nats]'.") from None


class NatsNews:
    """Notices on a subject of a NATS server, one for each database and schema."""

    def __init__(self, pool: PostgresPool, url: str) -> None:
        self._pool = pool
        self._url = url
        self._callbacks = NewsCallbacks()
        self._client = _new_client()
        self._connecting: asyncio.Task[None] | None = None

    @property
    def _subject(self) -> str:
        name = f"{self._pool.name}/{self._pool.schema}"
        return f"weft.news.{sha256(name.encode()).hexdigest()[:16]}"

    def with_notice(self, statement: str, schema: str) -> str:
        """Return the statement as it is: the notice is no part of the database."""
        return statement

    async def publish_after_commit(self, appended: Sequence[Appended]) -> None:
        for notice in split_appended(appended):
            await self.publish(notice)

    async def publish(self, notice: Notice) -> None:
        """Send a notice. One that cannot be sent is dropped: its readers get `lost` when the connection is back."""
        self._start()
        try:
            await self._client.publish(self._subject, encode(notice))
        except Exception as error:
            _log.debug("a notice was not sent (%s)", type(error).__name__)

    def subscribe(self, callback: OnNews) -> Callable[[], None]:
        self._start()
        return self._callbacks.add(callback)

    async def close(self) -> None:
        if self._connecting is not None:
            self._connecting.cancel()
            await asyncio.wait([self._connecting])
        with suppress(Exception):
            await self._client.close()

    def _start(self) -> None:
        if self._connecting is None:
            self._connecting = asyncio.create_task(self._connect(), name="weft-news")

    async def _connect(self) -> None:
        await self._pool.open()
        while True:
            try:
                await self._client.connect(
                    self._url,
                    max_reconnect_attempts=-1,
                    reconnect_time_wait=0.2,
                    reconnected_cb=self._on_reconnected,
                    disconnected_cb=self._on_disconnected,
                    error_cb=self._on_error,
                )
                await self._client.subscribe(self._subject, cb=self._on_message)
                self._publish_lost()
                return
            except asyncio.CancelledError:
                raise
            except Exception as error:
                _log.warning("NATS at %s cannot be reached (%s)", without_password(self._url), type(error).__name__)
            await asyncio.sleep(_RETRY_SECONDS)

    def _publish_lost(self) -> None:
        self._callbacks.publish(News(topic="lost"))

    async def _on_reconnected(self) -> None:
        self._publish_lost()

    async def _on_disconnected(self) -> None:
        _log.warning("news of other nodes are interrupted")

    async def _on_error(self, error: Exception) -> None:
        _log.debug("NATS: %s", type(error).__name__)

    async def _on_message(self, message: _Message) -> None:
        with suppress(msgspec.DecodeError):  # a newer node may send more than this one knows
            for news in decode_notice(message.data).news():
                self._callbacks.publish(news)
