"""Nodes, claims, commands, spending and records in a SQLite file that several processes of one machine share.

A process is alive while it holds its lock and touches its file (`node_lock`), so no heartbeat is stored. News of own
changes is published at once. While there is another process the file is checked for its changes every 50 ms, else twice
a second: a command such as `heald tokens` may have come and ended in between. A file that nobody has written is not
read (`sqlite_stamp`), so an idle server sleeps.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import monotonic, time
from typing import Any, TypeVar

import msgspec

from heald.core.ids import new_id
from heald.core.json import as_object, encode, loads
from heald.core.version import VERSION
from heald.sessions.leases import is_free
from heald.sessions.news import News, NewsCallbacks, OnNews
from heald.sessions.node_lock import NodeLock
from heald.sessions.shared_store import RETRY_CLAIM_SECONDS, NodeInfo, NotAnswered, NotHeld, PostedCommand, Spending
from heald.sessions.sqlite_changes import SeenChanges, waiting_commands
from heald.sessions.sqlite_stamp import FileStamp, Stamp
from heald.sessions.sqlite_thinning import pack_thinned, replace_rows
from heald.sessions.store_errors import NoSuchSession, StoreError

T = TypeVar("T")
Job = Callable[[sqlite3.Connection], T]

WATCH_SECONDS = 0.05
"""How often the file is checked for changes of other processes, while there are any."""
_ALONE_SECONDS = 0.5  # how often another process is looked for
_ALONE_READ_SECONDS = 1.0  # how often the changes of processes that have ended meanwhile are looked for
_KEPT_MINUTES = 40 * 24 * 60

_WITH_WORK = "work <> 'idle' AND NOT draft AND cause IS NULL"


class SqliteSharing:
    """The shared part of a SQLite store."""

    def __init__(self, path: Path, node: str = "") -> None:
        self._node = node or new_id("node")
        self._lock = NodeLock(path.with_name(f"{path.name}-nodes"), self._node)
        self._stamp = FileStamp(path)
        self._without_work: Stamp | None = None  # the file when no session had work
        self._without_commands: Stamp | None = None
        self._info: NodeInfo | None = None  # as this node was last stored
        self._news = NewsCallbacks()
        self._seen = SeenChanges()
        self._watcher: asyncio.Task[None] | None = None
        self._others = False

    async def _write(self, job: Job[T], *, is_synced: bool = True) -> T:
        raise NotImplementedError

    async def _read(self, job: Job[T]) -> T:
        raise NotImplementedError

    def _recover_deltas(self, session: str, node: str, connection: sqlite3.Connection) -> None:
        raise NotImplementedError

    async def _execute(self, query: str, *values: object) -> None:
        """Run one statement in a transaction."""
        await self._write(lambda connection: connection.execute(query, values))

    async def _fetch(self, query: str, *values: object) -> list[Any]:
        """Return the rows of a query."""
        return await self._read(lambda connection: connection.execute(query, values).fetchall())

    @property
    def node(self) -> str:
        return self._node

    def _is_free(self, holder: str, node: str, expires: float) -> bool:
        """Return whether a session may be acquired: it is released, or its holder is dead."""
        return is_free(holder, expires, time()) or (bool(node) and not self._lock.is_alive(node))

    async def _close_sharing(self) -> None:
        watcher, self._watcher = self._watcher, None
        if watcher is not None and watcher.get_loop() is asyncio.get_running_loop():
            watcher.cancel()
            await asyncio.wait([watcher])
        if self._info is not None:
            with suppress(StoreError):
                await self.end_node()
        self._lock.close()

    # --- nodes -------------------------------------------------------------------------------------------------------

    async def heartbeat(self, *, folders: Sequence[str] = (), room: int = 0) -> None:
        info = NodeInfo(name=self._node, folders=tuple(folders), room=room, version=VERSION)
        self._lock.beat()
        stored = self._info
        if stored is not None and stored.folders == info.folders and (stored.room == room or not self._others):
            return
        self._info = info
        await self._execute("REPLACE INTO nodes VALUES (?, ?)", self._node, encode(info))

    async def thin_out(self, *, seconds: float, limit: int = 20) -> int:
        logs = await self._read(partial(pack_thinned, seconds, limit))
        return sum([await self._write(partial(replace_rows, log)) for log in logs])

    def support_heartbeat(self, is_alive: Callable[[], bool]) -> Callable[[], None]:
        """Do nothing: a process is alive while it holds its lock."""
        return lambda: None

    async def list_nodes(self) -> Sequence[NodeInfo]:
        rows = await self._fetch("SELECT name, info FROM nodes ORDER BY name")
        return [msgspec.json.decode(info, type=NodeInfo) for name, info in rows if self._lock.is_alive(name)]

    async def end_node(self) -> None:
        self._info = None
        await self._execute("DELETE FROM nodes WHERE name = ?", self._node)
        self._lock.close()

    # --- work --------------------------------------------------------------------------------------------------------

    async def claim_work(self, limit: int) -> Sequence[str]:
        stamp = self._stamp.read()
        if stamp is not None and stamp == self._without_work:
            return []
        has_work, claimable = await self._read(partial(self._look_for_work, limit))
        self._without_work = None if has_work else stamp
        if not claimable:
            return []  # nothing is written for nothing
        return await self._write(partial(self._claim, limit))

    def _look_for_work(self, limit: int, connection: sqlite3.Connection) -> tuple[bool, bool]:
        """Return whether any session has work, now or later, and whether this node may claim some now."""
        has_work = connection.execute(f"SELECT 1 FROM sessions WHERE {_WITH_WORK} LIMIT 1").fetchone() is not None
        return has_work, has_work and bool(self._find_claimable(limit, connection))

    def _find_claimable(self, limit: int, connection: sqlite3.Connection) -> list[tuple[int, str, str]]:
        """Return the keys and names of sessions with work that nobody does, and the nodes that did it last."""
        rows = connection.execute(
            f"SELECT key, id, holder, node, expires, settings FROM sessions WHERE {_WITH_WORK} AND not_before <= ?"
            " ORDER BY updated",
            (time(),),
        )
        claimable: list[tuple[int, str, str]] = []
        for key, name, holder, node, expires, settings in rows:
            if len(claimable) < limit and self._is_claimable(holder, node, expires) and self._offers(settings):
                claimable.append((key, name, node))
        return claimable

    def _claim(self, limit: int, connection: sqlite3.Connection) -> Sequence[str]:
        claimed = self._find_claimable(limit, connection)
        for _, name, node in claimed:
            self._recover_deltas(name, node, connection)
        connection.executemany(
            "UPDATE sessions SET holder = '', expires = 0, node = ?, epoch = epoch + 1 WHERE key = ?",
            [(self._node, key) for key, _, _ in claimed],
        )
        return [name for _, name, _ in claimed]

    def _is_claimable(self, holder: str, node: str, expires: float) -> bool:
        if holder:
            return self._is_free(holder, node, expires)
        return not node or not self._lock.is_alive(node)  # else a living node has claimed it

    def _offers(self, settings: bytes) -> bool:
        """Return whether this node has the folder of a session. A process that has named no folders decides later."""
        try:
            folder = as_object(loads(settings)).get("workspace")
        except ValueError:
            return True  # opening it reports the damage
        return folder is None or self._info is None or folder in self._info.folders

    async def unclaim_work(self, session: str, *, seconds: float = RETRY_CLAIM_SECONDS, forget: bool = False) -> None:
        query = (
            "UPDATE sessions SET node = '', not_before = ?, work = CASE WHEN ? THEN 'idle' ELSE work END"
            " WHERE id = ? AND node = ? AND holder = ''"
        )
        await self._execute(query, time() + seconds, forget, session, self._node)

    async def find_holder(self, session: str) -> str:
        holder, node, expires = await self._read(partial(_holder_of, session))
        return "" if self._is_free(holder, node, expires) else node or holder

    async def count_running(self, owner: str) -> int:
        ((count,),) = await self._fetch(f"SELECT count(*) FROM sessions WHERE {_WITH_WORK} AND owner = ?", owner)
        return count

    async def admit_work(self, session: str, owner: str, *, limit: int) -> int:
        return await self._write(partial(_admit, session, owner, limit), is_synced=False)

    # --- news --------------------------------------------------------------------------------------------------------

    def subscribe_news(self, callback: OnNews) -> Callable[[], None]:
        if self._watcher is None or self._watcher.done():
            self._watcher = asyncio.get_running_loop().create_task(self._watch(), name="heald-store-news")
        return self._news.add(callback)

    async def _watch(self) -> None:
        """Publish the changes of other processes: soon if there are any, else within a second."""
        await self._try_read(self._seen.begin)
        read_at: Stamp | None = None
        looked_at = monotonic()
        while True:
            others = any(True for _ in self._lock.others())
            if others and not self._others:
                self._news.publish(News(topic="lost"))
            self._others = others
            until = monotonic() + _ALONE_SECONDS
            while monotonic() < until:
                await asyncio.sleep(WATCH_SECONDS if others else _ALONE_SECONDS)
                if not others and monotonic() < looked_at + _ALONE_READ_SECONDS:
                    continue  # nearly all changes are those of this process
                looked_at = monotonic()
                stamp = self._stamp.read()
                if stamp is not None and stamp == read_at:
                    continue
                changes = await self._try_read(partial(self._seen.find, self._node))
                read_at = stamp if changes is not None else None
                for news in changes or ():
                    self._news.publish(news)

    async def _try_read(self, job: Job[T]) -> T | None:
        try:
            return await self._read(job)
        except StoreError:
            return None  # it is read the next time

    # --- commands ----------------------------------------------------------------------------------------------------

    async def post_command(self, session: str, body: bytes, *, seconds: float) -> bytes:
        command = new_id("cmd")
        until = monotonic() + seconds
        await self._write(partial(self._post, command, session, body, time() + seconds))
        try:
            while monotonic() < until:
                await asyncio.sleep(WATCH_SECONDS / 2)
                reply, accepted_by = await self._read(partial(_reply_of, command))
                if reply is not None:
                    return reply
                if not accepted_by or not self._lock.is_alive(accepted_by):
                    await self._check_held(session)
        finally:
            await self._execute("DELETE FROM commands WHERE id = ?", command)
        raise NotAnswered("The process that holds the session did not answer in time; ask again in a moment.")

    def _post(self, command: str, session: str, body: bytes, expires: float, connection: sqlite3.Connection) -> None:
        holder, node, until = _holder_of(session, connection)
        if self._is_free(holder, node, until):
            raise NotHeld("Nobody holds the session.")
        connection.execute("INSERT INTO commands VALUES (?, ?, ?, ?, '', NULL)", (command, session, body, expires))

    async def _check_held(self, session: str) -> None:
        if not await self.find_holder(session):
            raise NotHeld("Nobody holds the session.")

    async def read_commands(self) -> Sequence[PostedCommand]:
        stamp = self._stamp.read()
        if stamp is not None and stamp == self._without_commands:
            return ()
        if not await self._read(partial(waiting_commands, self._node)):
            self._without_commands = stamp
            return ()  # nothing is written for nothing
        rows = await self._write(self._accept)
        return [PostedCommand(id=name, session=session, body=body) for name, session, body in rows]

    def _accept(self, connection: sqlite3.Connection) -> list[tuple[str, str, bytes]]:
        rows = waiting_commands(self._node, connection)
        open_rows = [row[:3] for row in rows if not row[3] or not self._lock.is_alive(row[3])]
        connection.executemany(
            "UPDATE commands SET accepted_by = ? WHERE id = ?", [(self._node, name) for name, _, _ in open_rows]
        )
        return open_rows

    async def reply_command(self, command: str, reply: bytes) -> None:
        await self._execute("UPDATE commands SET reply = ? WHERE id = ?", reply, command)

    # --- spending and records ----------------------------------------------------------------------------------------

    async def record_spending(self, owner: str, *, tokens: int, usd: float | None, payment: str = "") -> None:
        minute = int(time() // 60)

        def add(connection: sqlite3.Connection) -> None:
            connection.execute(
                "INSERT INTO spent VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (owner, minute)"
                " DO UPDATE SET tokens = tokens + ?3, usd = usd + ?4, unpriced = unpriced OR ?5",
                (owner, minute, tokens, usd or 0.0, usd is None),
            )
            connection.execute("DELETE FROM spent WHERE minute < ?", (minute - _KEPT_MINUTES,))

        await self._write(add)

    async def read_spending(self, owner: str, *, seconds: float) -> Spending:
        now = time()
        query = (
            "SELECT coalesce(sum(tokens), 0), coalesce(sum(usd), 0.0), coalesce(max(unpriced), 0), min(minute)"
            " FROM spent WHERE owner = ? AND minute > ?"
        )
        ((tokens, usd, unpriced, first),) = await self._fetch(query, owner, int((now - seconds) // 60))
        age = max(now - first * 60, 0.0) if first is not None else 0.0
        return Spending(tokens=tokens, usd=usd, unpriced=bool(unpriced), age=age)

    async def read_records(self, kind: str) -> Mapping[str, bytes]:
        return dict(await self._fetch("SELECT name, data FROM records WHERE kind = ?", kind))

    async def put_record(self, kind: str, name: str, data: bytes, *, only_new: bool = False) -> bytes:
        stored = await self._write(partial(_put_record, kind, name, data, only_new))
        self._news.publish(News(topic="records", name=kind))
        return stored

    async def delete_record(self, kind: str, name: str) -> None:
        def delete(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM records WHERE kind = ? AND name = ?", (kind, name))
            _count_change(kind, connection)

        await self._write(delete)
        self._news.publish(News(topic="records", name=kind))


def _holder_of(session: str, connection: sqlite3.Connection) -> tuple[str, str, float]:
    row: Any = connection.execute("SELECT holder, node, expires FROM sessions WHERE id = ?", (session,)).fetchone()
    if row is None:
        raise NoSuchSession(session)
    return row


def _admit(session: str, owner: str, limit: int, connection: sqlite3.Connection) -> int:
    query = f"SELECT count(*) FROM sessions WHERE {_WITH_WORK} AND owner = ? AND id <> ?"
    (others,) = connection.execute(query, (owner, session)).fetchone()
    if others < limit:
        connection.execute("UPDATE sessions SET work = 'waiting' WHERE id = ? AND work = 'idle'", (session,))
    return others


def _reply_of(command: str, connection: sqlite3.Connection) -> tuple[bytes | None, str]:
    row: Any = connection.execute("SELECT reply, accepted_by FROM commands WHERE id = ?", (command,)).fetchone()
    if row is None:
        raise NotAnswered("The command was lost before it was answered; ask again.")
    return row


def _put_record(kind: str, name: str, data: bytes, only_new: bool, connection: sqlite3.Connection) -> bytes:
    (stored,) = connection.execute(
        "INSERT INTO records VALUES (?1, ?2, ?3) ON CONFLICT (kind, name)"
        " DO UPDATE SET data = CASE WHEN ?4 THEN data ELSE ?3 END RETURNING data",
        (kind, name, data, only_new),
    ).fetchone()
    _count_change(kind, connection)
    return stored


def _count_change(kind: str, connection: sqlite3.Connection) -> None:
    connection.execute(
        "INSERT INTO record_changes VALUES (?, 1) ON CONFLICT (kind) DO UPDATE SET number = number + 1", (kind,)
    )
