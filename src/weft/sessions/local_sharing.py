"""The shared part of a store that one process uses: its only node is alive, and news stays in the process."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import time

from weft.core.envelope import Event
from weft.core.errors import NotFound
from weft.core.ids import new_id
from weft.sessions.shared import News, NodeInfo, NotHeld, OnNews, PostedCommand, Spending


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
