"""Heartbeats from a thread of its own, so that a node whose event loop is busy for a while is not judged dead."""

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress

from weft.sessions.postgres.driver import Connection
from weft.sessions.postgres.schema import NOW
from weft.sessions.shared import HEARTBEAT_SECONDS, NODE_SECONDS

_log = logging.getLogger("weft.store")


class HeartbeatThread:
    """Extends the life of a node every second, as long as `is_alive` returns True."""

    def __init__(self, connect: Callable[[], Awaitable[Connection]], node: str, is_alive: Callable[[], bool]) -> None:
        self._connect = connect
        self._node = node
        self._is_alive = is_alive
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="weft-heartbeat", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()

    def _run(self) -> None:
        asyncio.run(self._beat_for_ever())

    async def _beat_for_ever(self) -> None:
        connection: Connection | None = None
        while not await asyncio.to_thread(self._stopped.wait, HEARTBEAT_SECONDS):
            if not self._is_alive():
                continue
            try:
                async with asyncio.timeout(NODE_SECONDS):
                    connection = connection or await self._connect()
                    await connection.execute(
                        f"UPDATE nodes SET expires = {NOW} + $2, backend = pg_backend_pid()"
                        f" WHERE name = $1 AND expires > {NOW}",
                        self._node,
                        NODE_SECONDS,
                    )
            except Exception as error:
                _log.debug("a heartbeat failed (%s)", type(error).__name__)
                if connection is not None:
                    connection.terminate()
                connection = None
        if connection is not None:
            with suppress(Exception):
                await connection.close()
