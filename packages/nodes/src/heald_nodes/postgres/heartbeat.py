"""A thread that keeps a node alive while its event loop is busy."""

import asyncio
import logging
import threading
from collections.abc import Callable
from contextlib import suppress

from heald.sessions.shared_store import HEARTBEAT_SECONDS, NODE_SECONDS
from heald_nodes.postgres.address import PostgresAddress
from heald_nodes.postgres.driver import PostgresConnection
from heald_nodes.postgres.schema import ADVANCE_CLOCK, CLOCK, NOW

_log = logging.getLogger("heald.store")


class HeartbeatThread:
    """Extends the life of a node every second, as long as `is_alive` returns True. It is a thread of its own, so that a
    node whose event loop is busy for a while is not judged dead."""

    def __init__(self, address: PostgresAddress, node: str, is_alive: Callable[[], bool]) -> None:
        self._address = address
        self._node = node
        self._is_alive = is_alive
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heald-heartbeat", daemon=True)
        self._thread.start()

    @property
    def _backend(self) -> str:
        """The session of the database that ends with this process; 0 if a pooler keeps it for others."""
        return "0" if self._address.is_pooled else "pg_backend_pid()"

    def stop(self) -> None:
        self._stopped.set()

    def _run(self) -> None:
        asyncio.run(self._beat_for_ever())

    async def _beat_for_ever(self) -> None:
        connection: PostgresConnection | None = None
        while not await asyncio.to_thread(self._stopped.wait, HEARTBEAT_SECONDS):
            if not self._is_alive():
                continue
            try:
                async with asyncio.timeout(NODE_SECONDS):
                    connection = connection or await self._address.connect()
                    await connection.execute(
                        f"WITH served AS ({ADVANCE_CLOCK})"
                        f" UPDATE nodes SET expires = {NOW} + $2, lease = {CLOCK} + $2, backend = {self._backend}"
                        f" WHERE name = $1 AND lease > {CLOCK}",
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
