"""Placement: on which node the work of a session runs.

The log of a session is its only state, and its lease admits one writer, so any engine that runs a job somewhere, and
elsewhere if that fails, can place the work. By default the nodes claim it in the store.
"""

import asyncio
import random
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Protocol

from weft.core.errors import ConfigurationError, WeftError

CLAIM_SECONDS = 0.5
"""Seconds between two claims, with some jitter."""


class PlacementHost(Protocol):
    """A node, as its placement sees it."""

    @property
    def room(self) -> int:
        """Sessions that may run here at once."""
        ...

    async def run_session(self, session: str, on_beat: Callable[[], object]) -> None:
        """Run the work of a session here until none is left, and call back about every second meanwhile.

        It waits as long as another living node has the session. It raises if the work must go on elsewhere.
        """
        ...

    async def run_command(self, session: str, command: str, body: bytes) -> None:
        """Send a command to a session, wherever it runs: `cancel`, or `approvals/{approval}` with a JSON decision."""
        ...

    async def claim_sessions(self, *, starts: bool = True) -> list[str]:
        """Claim sessions in the store whose node is dead or missing, and start their work here. With `starts=False`
        they are only found, and stay free."""
        ...


class Placement(Protocol):
    """Decides which node runs the work of sessions. One belongs to each node."""

    @property
    def passes_on(self) -> bool:
        """Whether a request is only stored where it arrives, and its session offered."""
        ...

    async def start(self, host: PlacementHost) -> None:
        """Connect, and begin to run work on this node."""
        ...

    async def offer(self, session: str) -> None:
        """A session has work: some node should `run_session` it. It may be offered several times."""
        ...

    def wake(self) -> None:
        """The store has news of work."""
        ...

    async def stop(self) -> None:
        """Accept no more work. It is called when the node begins to stop, and once more at its end."""
        ...


class StorePlacement:
    """Nodes claim work in the store: a request runs where it arrives, unless that node is full or dies."""

    passes_on = False

    def __init__(self) -> None:
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def start(self, host: PlacementHost) -> None:
        self._task = asyncio.create_task(self._claim_for_ever(host), name="weft-node-claims")

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
            with suppress(WeftError, TimeoutError):  # the node has logged it
                await host.claim_sessions()
            self._news.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(CLAIM_SECONDS * random.uniform(0.7, 1.3)):
                    await self._news.wait()


def open_placement(address: str) -> Placement:
    """Open a placement: `store`, `temporal://host:port/namespace/queue`, or `module:name` of a class or function that
    returns one."""
    if address == "store":
        return StorePlacement()
    if address.startswith("temporal://"):
        try:
            from weft.server.temporal_placement import TemporalPlacement
        except ImportError:
            raise ConfigurationError(
                "Placement by Temporal needs temporalio; install it with: pip install 'weft[temporal]'."
            ) from None
        return TemporalPlacement(address)
    module, _, name = address.partition(":")
    if not (module and name) or "/" in address:
        raise ConfigurationError(
            f"There is no placement {address!r}; name store, temporal://host:7233/namespace or module:name."
        )
    try:
        return getattr(import_module(module), name)()
    except (ImportError, AttributeError) as error:
        raise ConfigurationError(f"The placement {address} cannot be loaded: {error}.") from None
