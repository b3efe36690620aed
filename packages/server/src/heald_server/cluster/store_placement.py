"""Placement by the store: the nodes claim work there."""

import asyncio
import logging
import random

from heald.core.errors import ConfigurationError, HealdError
from heald_server.cluster.node_tasks import wait_for_event
from heald_server.cluster.placement import PlacementHost

CLAIM_SECONDS = 0.5
"""Seconds between two claims, with some jitter."""

_log = logging.getLogger("heald_server.cluster.node")


class StorePlacement:
    """Nodes claim work in the store: a request runs where it arrives, unless that node is full or dies."""

    passes_on = False

    def __init__(self) -> None:
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def start(self, host: PlacementHost) -> None:
        self._task = asyncio.create_task(self._claim_for_ever(host), name="heald-node-claims")

    async def offer(self, session: str) -> None:
        pass  # its news reach every node

    def wake(self) -> None:
        self._news.set()

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _claim_for_ever(self, host: PlacementHost) -> None:
        while True:
            try:
                await host.claim_sessions()
            except (HealdError, TimeoutError):
                pass  # the node has logged it
            except Exception:
                _log.exception("Work could not be claimed.")
            self._news.clear()
            await wait_for_event(self._news, CLAIM_SECONDS * random.uniform(0.7, 1.3))


def open_store_placement(address: str) -> StorePlacement:
    """Open `store`, which has no further address."""
    if address != "store":
        raise ConfigurationError(f"There is no placement {address!r}; write store.")
    return StorePlacement()
