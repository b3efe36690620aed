"""Placement: on which node the work of a session runs.

The log of a session is its only state, and its lease admits one writer, so any engine that runs a job somewhere, and
elsewhere if that fails, can place the work. By default the nodes claim it in the store. A plugin of the group
`heald.placements` opens the addresses of one scheme.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Protocol

from heald.core.distribution import install_advice
from heald.core.errors import ConfigurationError
from heald.plugins import has_plugin, load_plugin, plugin_names


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


def open_placement(address: str) -> Placement:
    """Open a placement: an address whose scheme a plugin opens, such as `store` or
    `temporal://host:port/namespace/queue`, or `module:name` of a class or function that returns one."""
    scheme, _, name = address.partition(":")
    if has_plugin("placements", scheme):
        return load_plugin("placements", scheme)(address)
    if scheme == "temporal":
        raise ConfigurationError(f"Placement by Temporal needs heald-nodes; install it: {install_advice('temporal')}.")
    if not (scheme and name) or "/" in address:
        schemes = ", ".join(sorted(plugin_names("placements")))
        raise ConfigurationError(
            f"There is no placement {address!r}; name one of {schemes}, for example store or "
            "temporal://host:7233/namespace, or module:name of a class."
        )
    try:
        return getattr(import_module(scheme), name)()
    except (ImportError, AttributeError) as error:
        raise ConfigurationError(f"The placement {address} cannot be loaded: {error}.") from None
