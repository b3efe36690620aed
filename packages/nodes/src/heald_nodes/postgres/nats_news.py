"""Notices between nodes by NATS, for clusters where the notices of the database become the limit.

A notice is sent after its commit. When the connection was away, notices may be missing: every subscriber gets `lost`
and reads what it needs.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any, Protocol

import msgspec

from heald.core.distribution import install_advice
from heald.core.errors import ConfigurationError
from heald.core.json import encode
from heald.sessions.news import News, NewsCallbacks, OnNews
from heald.sessions.store_url import without_password
from heald_nodes.postgres.notices import Appended, CarriedRows, Notice, decode_notice, split_appended
from heald_nodes.postgres.pool import PostgresPool

_log = logging.getLogger("heald.store")
_RETRY_SECONDS = 1.0
_PING_SECONDS = 2
"""A link that answers no two pings is broken, though nobody has closed it."""
_PUBLISH_SECONDS = 0.5


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
        raise ConfigurationError(f"News by NATS need nats-py; install it: {install_advice('nats')}.") from None


class NatsNews:
    """Notices on a subject of a NATS server, one for each database and schema, however its address is written."""

    def __init__(self, pool: PostgresPool, url: str) -> None:
        self._pool = pool
        self._url = url
        self._callbacks = NewsCallbacks()
        self._client = _new_client()
        self._connecting: asyncio.Task[None] | None = None

    @property
    def _subject(self) -> str:
        return f"heald.news.{self._pool.service}"

    @property
    def own_channel(self) -> str:
        return ""

    @property
    def link_address(self) -> str:
        return ""

    def with_notice(self, statement: str, schema: str) -> str:
        """Return the statement as it is: the notice is not part of the database."""
        return statement

    async def publish_after_commit(self, appended: Sequence[Appended], carried: Iterable[CarriedRows]) -> None:
        for notice in split_appended(appended, carried):
            await self.publish(notice)

    async def publish(self, notice: Notice) -> None:
        """Send a notice. One that cannot be sent is dropped: its readers get `lost` when the connection is back."""
        self._start()
        try:
            async with asyncio.timeout(_PUBLISH_SECONDS):  # a link that hangs must hold up no commit
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
            self._connecting = asyncio.create_task(self._connect(), name="heald-news")

    async def _connect(self) -> None:
        while True:
            try:
                await self._pool.open()  # the subject is known then
                await self._client.connect(
                    self._url,
                    ping_interval=_PING_SECONDS,
                    max_outstanding_pings=2,
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
                _log.warning(
                    "news by NATS at %s cannot be used (%s)", without_password(self._url), type(error).__name__
                )
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
        with suppress(msgspec.DecodeError):  # a newer node may send notices of another form
            for news in decode_notice(message.data).news():
                self._callbacks.publish(news)
