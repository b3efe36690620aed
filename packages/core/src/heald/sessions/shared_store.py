"""The optional protocol of a store that several nodes share.

A node is a process that serves sessions. It proves that it is alive by a heartbeat; the sessions of a dead node, and
those that wait for a node, are claimed by the others. News of appends and commands reach every node.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, runtime_checkable

import msgspec

from heald.core.envelope import Event
from heald.core.errors import HealdError
from heald.sessions.news import News, OnNews
from heald.sessions.store import Store

NODE_SECONDS = 3.0
"""A node whose last heartbeat is older is dead."""
HEARTBEAT_SECONDS = 1.0
READERS_SECONDS = 30.0
"""How long there are news of the events of a session after a node has announced readers of it."""
RETRY_CLAIM_SECONDS = 15.0
"""How long a session that could not be opened is not claimed once more, unless the node names another time."""


class PostedCommand(msgspec.Struct, frozen=True, kw_only=True):
    """A command that another node posted for a session that this node holds."""

    id: str
    session: str
    body: bytes
    """JSON, whose form the sender and the holder know."""


class Spending(msgspec.Struct, frozen=True, kw_only=True):
    """The usage of an owner."""

    tokens: int = 0
    usd: float = 0.0
    unpriced: bool = False
    """Something was used whose price is not known."""
    age: float = 0.0
    """Seconds since the first of it, for the time at which it is forgotten."""


class NodeInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A living node."""

    name: str
    folders: tuple[str, ...] = ()
    """Names of the folders that sessions may work in there."""
    room: int = 0
    """How many more exchanges it accepts."""
    version: str = ""


class NotHeld(HealdError):
    """Nobody holds the session, so a command cannot be posted; the caller may open the session itself."""


class NotAnswered(HealdError):
    """The holder of a session did not answer a command in time."""


@runtime_checkable
class SharedStore(Store, Protocol):
    """A store whose sessions several nodes share: the methods of `Store`, and those for the nodes."""

    @property
    def node(self) -> str:
        """The name of this process among the nodes of the store."""
        ...

    async def heartbeat(self, *, folders: Sequence[str] = (), room: int = 0) -> None:
        """Record that this node is alive. From the first heartbeat on the leases of this node last as long as it beats,
        and need no renewal. A node that was cut off from the store judges no other node dead for `NODE_SECONDS`."""
        ...

    def support_heartbeat(self, is_alive: Callable[[], bool]) -> Callable[[], None]:
        """Keep this node alive while its event loop is too busy for heartbeats, as long as `is_alive` returns True; it
        is called in another thread. Returns a function that ends the support."""
        ...

    async def list_nodes(self) -> Sequence[NodeInfo]:
        """Return the living nodes."""
        ...

    async def end_node(self) -> None:
        """Forget this node at once, so that others claim its work without waiting."""
        ...

    async def claim_work(self, limit: int) -> Sequence[str]:
        """Claim at most `limit` sessions with work whose holder is dead or missing, and whose folder this node offers.
        Their epoch grows, so the old holder is fenced; no other node gets them. Returns their ids: the caller opens
        them."""
        ...

    async def unclaim_work(self, session: str, *, seconds: float = RETRY_CLAIM_SECONDS, forget: bool = False) -> None:
        """Return a claimed session that this node cannot open. It is claimed once more after `seconds`; with `forget`
        no node claims it any more."""
        ...

    async def find_holder(self, session: str) -> str:
        """Return the node that holds a session, or an empty text if it is free."""
        ...

    async def read_many(self, cursors: Mapping[str, int]) -> Mapping[str, Sequence[Event]]:
        """Return the next events of several sessions, each after a seq. Missing sessions are left out."""
        ...

    async def thin_out(self, *, seconds: float, limit: int = 20) -> int:
        """Join the deltas of at most `limit` idle sessions that were not changed for `seconds`: the first delta of a
        block gets the whole text, the others stay as empty ones. Returns how many sessions were thinned out; always 0
        for a store in memory."""
        ...

    def subscribe_news(self, callback: OnNews) -> Callable[[], None]:
        """Call back in the event loop with news, also with those of this node. Returns a function that unsubscribes."""
        ...

    async def post_command(self, session: str, body: bytes, *, seconds: float) -> bytes:
        """Post a command to the holder of a session and return its reply. Raises NotHeld if nobody holds it (any more)
        and the command was not accepted, and NotAnswered if the time is over."""
        ...

    async def read_commands(self) -> Sequence[PostedCommand]:
        """Accept the commands for the sessions that this node holds, each one once."""
        ...

    async def reply_command(self, command: str, reply: bytes) -> None: ...

    async def record_spending(self, owner: str, *, tokens: int, usd: float | None, payment: str = "") -> None:
        """Add to the usage of an owner. `usd` is None if the price is not known. With the name of a payment it may be
        repeated if it fails: it counts once."""
        ...

    async def read_spending(self, owner: str, *, seconds: float) -> Spending:
        """Return the usage of an owner in the last seconds, to the precision of a minute."""
        ...

    async def count_running(self, owner: str) -> int:
        """Return how many sessions of an owner have an open exchange or waiting requests."""
        ...

    async def admit_work(self, session: str, owner: str, *, limit: int) -> int:
        """Mark a session without work as waiting, if fewer than `limit` other sessions of its owner have work. Returns
        how many have. It is exact over all nodes. The caller holds the session, and stores its work next."""
        ...

    async def read_records(self, kind: str) -> Mapping[str, bytes]:
        """Return the records of a kind, by name: tokens, secrets, or other small things that all nodes share."""
        ...

    async def put_record(self, kind: str, name: str, data: bytes, *, only_new: bool = False) -> bytes:
        """Store a record. With `only_new` an existing one stays. Returns the stored record."""
        ...

    async def delete_record(self, kind: str, name: str) -> None: ...


@runtime_checkable
class EventFeed(Protocol):
    """A store that has news of events, and carries them, only for the nodes that have announced readers."""

    async def announce_readers(self, sessions: Sequence[str]) -> None:
        """Have news of the events of sessions for `READERS_SECONDS`, also of those since they were last read."""
        ...

    def decode_news(self, news: News) -> Sequence[Event] | None:
        """Return the events that news carry; None if they must be read."""
        ...
