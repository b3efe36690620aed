"""The part of the store protocol by which several nodes share the sessions of one store.

A node is a process that serves sessions. It proves that it is alive by a heartbeat; the sessions of a dead node, and
those that wait for a node, are claimed by the others. News of appends and commands reach every node. News may be lost,
doubled or late: it only ever means that there is something to read.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import time
from typing import Literal, Protocol

import msgspec

from weft.core.envelope import Event
from weft.core.errors import NotFound, WeftError
from weft.core.events import ConversationDequeued, ConversationQueued, ExchangeRequest, ExchangeResponse
from weft.core.ids import new_id

NODE_SECONDS = 3.0
"""A node whose last heartbeat is older is dead."""
HEARTBEAT_SECONDS = 1.0
RETRY_CLAIM_SECONDS = 15.0
"""How long a session that could not be opened is not claimed once more, unless the node names another time."""

Work = Literal["idle", "running", "waiting"]
"""The work of a session: nothing, an open exchange, or requests that wait for a node."""


WORK_EVENTS = frozenset({"exchange_request", "exchange_response", "conversation_queued", "conversation_dequeued"})
"""The types of the events that change the work of a session."""


class WorkTracker:
    """Folds the events of a session into the work that is open at their end."""

    def __init__(self, exchange: str | None = None, waiting: Sequence[str] = ()) -> None:
        self._exchange = exchange
        self._waiting = set(waiting)

    @property
    def work(self) -> Work:
        if self._exchange is not None:
            return "running"
        return "waiting" if self._waiting else "idle"

    def feed(self, event: Event) -> None:
        match event.data:
            case ExchangeRequest():
                self._exchange = event.exchange
                self._waiting.discard(event.exchange or "")
            case ExchangeResponse():
                self._exchange = None
            case ConversationQueued(request=request) if event.data.message is not None:
                self._waiting.add(request)
            case ConversationDequeued(request=request):
                self._waiting.discard(request)
            case _:
                pass


Topic = Literal["events", "commands", "replies", "records", "work", "lost"]


class News(msgspec.Struct, frozen=True, kw_only=True):
    """A notice that the store has something new.

    `events`: the log of a session has grown up to `seq`, or has a new writer of a higher `epoch`. `commands`: a command
    waits for the holder of a session. `work`: a session waits for a node. `records`: records of the kind `name` have
    changed. `lost`: notices may be missing, so everything must be read.
    """

    topic: Topic
    session: str = ""
    seq: int = 0
    epoch: int = 0
    name: str = ""


OnNews = Callable[[News], object]


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


class NotHeld(WeftError):
    """Nobody holds the session, so a command cannot be posted; the caller may open the session itself."""


class NotAnswered(WeftError):
    """The holder of a session did not answer a command in time."""


class SharedStore(Protocol):
    """The part of a store that nodes use. `LocalSharing` implements it for a store that only one process uses."""

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

    async def record_spending(self, owner: str, *, tokens: int, usd: float | None) -> None:
        """Add to the usage of an owner. `usd` is None if the price is not known."""
        ...

    async def read_spending(self, owner: str, *, seconds: float) -> Spending:
        """Return the usage of an owner in the last seconds, to the precision of a minute."""
        ...

    async def count_running(self, owner: str) -> int:
        """Return how many sessions of an owner have an open exchange or waiting requests."""
        ...

    async def read_records(self, kind: str) -> Mapping[str, bytes]:
        """Return the records of a kind, by name: tokens, secrets, or other small things that all nodes share."""
        ...

    async def put_record(self, kind: str, name: str, data: bytes, *, only_new: bool = False) -> bytes:
        """Store a record. With `only_new` an existing one stays. Returns the stored record."""
        ...

    async def delete_record(self, kind: str, name: str) -> None: ...


# --- the store of one process ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Spent:
    time: float
    tokens: int
    usd: float | None


class NewsCallbacks:
    """The subscribers of a store's news in one process."""

    def __init__(self) -> None:
        self._callbacks: dict[int, OnNews] = {}
        self._count = 0

    def add(self, callback: OnNews) -> Callable[[], None]:
        self._count += 1
        number = self._count
        self._callbacks[number] = callback
        return lambda: self._callbacks.pop(number, None) and None

    def publish(self, news: News) -> None:
        for callback in list(self._callbacks.values()):
            callback(news)


class LocalSharing:
    """Implements what does not depend on how a store keeps sessions. Spending and records end with the process."""

    def __init__(self, node: str = "") -> None:
        self._node = node or new_id("node")
        self._info = NodeInfo(name=self._node)
        self._news = NewsCallbacks()
        self._spent: dict[str, deque[_Spent]] = {}
        self._records: dict[str, dict[str, bytes]] = {}

    @property
    def node(self) -> str:
        return self._node

    async def heartbeat(self, *, folders: Sequence[str] = (), room: int = 0) -> None:
        self._info = NodeInfo(name=self._node, folders=tuple(folders), room=room)

    def support_heartbeat(self, is_alive: Callable[[], bool]) -> Callable[[], None]:
        return lambda: None

    async def list_nodes(self) -> Sequence[NodeInfo]:
        return [self._info]

    async def end_node(self) -> None:
        pass

    async def read(
        self, session: str, *, after: int = 0, upto: int | None = None, limit: int = 1000
    ) -> Sequence[Event]:
        raise NotImplementedError

    async def read_many(self, cursors: Mapping[str, int]) -> Mapping[str, Sequence[Event]]:
        found: dict[str, Sequence[Event]] = {}
        for session, after in cursors.items():
            with suppress(NotFound):
                found[session] = await self.read(session, after=after)
        return found

    async def thin_out(self, *, seconds: float, limit: int = 20) -> int:
        return 0

    def subscribe_news(self, callback: OnNews) -> Callable[[], None]:
        return self._news.add(callback)

    async def post_command(self, session: str, body: bytes, *, seconds: float) -> bytes:
        raise NotHeld("The store has one node only, which can open the session itself.")

    async def read_commands(self) -> Sequence[PostedCommand]:
        return ()

    async def reply_command(self, command: str, reply: bytes) -> None:
        pass

    async def record_spending(self, owner: str, *, tokens: int, usd: float | None) -> None:
        self._spent.setdefault(owner, deque()).append(_Spent(time(), tokens, usd))

    async def read_spending(self, owner: str, *, seconds: float) -> Spending:
        spent, now = self._spent.get(owner, deque[_Spent]()), time()
        while spent and spent[0].time < now - seconds:
            spent.popleft()
        return Spending(
            tokens=sum(each.tokens for each in spent),
            usd=sum(each.usd or 0.0 for each in spent),
            unpriced=any(each.usd is None for each in spent),
            age=now - spent[0].time if spent else 0.0,
        )

    async def read_records(self, kind: str) -> Mapping[str, bytes]:
        return dict(self._records.get(kind, {}))

    async def put_record(self, kind: str, name: str, data: bytes, *, only_new: bool = False) -> bytes:
        records = self._records.setdefault(kind, {})
        if only_new and name in records:
            return records[name]
        records[name] = data
        self._news.publish(News(topic="records", name=kind))
        return data

    async def delete_record(self, kind: str, name: str) -> None:
        if self._records.get(kind, {}).pop(name, None) is not None:
            self._news.publish(News(topic="records", name=kind))
