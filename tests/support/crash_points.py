"""Named points of the session code at which a test kills its process, as `kill -9` would.

`install` replaces functions of Heald in this process by ones that pass the points; Heald itself knows none of them.
`arm("append.before")` kills the process when it first reaches that point, `arm("append.before:7")` the seventh time.
`arm("count")` only counts, in `passages`, how often each point is reached.
"""

import asyncio
import os
import signal
import sqlite3
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

from heald.agent.bus import OnDelivered
from heald.core.envelope import Event
from heald.sessions import recovery
from heald.sessions import session as session_module
from heald.sessions.recorder import EventRecorder
from heald.sessions.resumption import SessionResumption
from heald.sessions.session import Session
from heald.sessions.sqlite import SqliteStore
from heald.sessions.sqlite_log import LogWriter
from heald.sessions.store import EncodedEvents
from heald.tools.runtime import Invocation, Next

POINTS = (
    "lease.taken",  # the epoch has grown; nothing of the log has been read yet
    "recovery.before",  # the open exchange is known, its end is not stored yet
    "recovery.after",
    "append.before",  # a batch is about to be written
    "append.between",  # its events are written, what belongs to them is not, the transaction is open
    "append.commit",  # all are written, the transaction is open
    "append.after",  # it is stored, and not delivered yet
    "release.after",  # live subscribers have it
    "tool.before",  # its start is stored, its body did not run
    "tool.after",  # its body has run, its result is not stored
)

passages: Counter[str] = Counter()

_name = ""
_at = 1
_is_opening: ContextVar[bool] = ContextVar("is_opening", default=False)


def arm(fault: str) -> None:
    """Set the fault. An empty one disarms."""
    global _name, _at
    name, _, number = fault.partition(":")
    if name not in ("", "count", *POINTS) or not (number or "1").isdecimal():
        raise ValueError(f"There is no fault {fault!r}; name one of {', '.join(POINTS)}, with :n for the n-th time.")
    _name, _at = name, int(number or 1)
    passages.clear()


def reach(point: str) -> None:
    """Count a point, and kill the process if it is armed for it."""
    if not _name:
        return
    passages[point] += 1
    if point == _name and passages[point] == _at:
        os.kill(os.getpid(), signal.SIGKILL)


def install(*, postgres: bool = False) -> None:
    """Pass the points in this process, those of the PostgreSQL store too if tests use it."""
    _install_sessions()
    _install_sqlite()
    if postgres:
        _install_postgres()


def _surround(run: Callable[..., Awaitable[Any]], before: str, after: str) -> Callable[..., Awaitable[Any]]:
    async def run_between(*arguments: Any, **options: Any) -> Any:
        reach(before)
        outcome = await run(*arguments, **options)
        reach(after)
        return outcome

    return run_between


def _install_sessions() -> None:
    open_acquired = Session._open_acquired.__func__  # pyright: ignore
    read_history = session_module.read_history
    run_tool = Session._store_start_first  # pyright: ignore[reportPrivateUsage]
    deliver = EventRecorder._deliver  # pyright: ignore[reportPrivateUsage]

    async def open_with_point(cls: type[Session], *arguments: Any, **options: Any) -> Session:
        _is_opening.set(True)
        return await open_acquired(cls, *arguments, **options)

    async def read_with_point(*arguments: Any, **options: Any) -> Any:
        if _is_opening.get():
            _is_opening.set(False)
            reach("lease.taken")
        return await read_history(*arguments, **options)

    async def run_with_points(session: Session, invocation: Invocation, run: Next) -> Any:
        return await run_tool(session, invocation, _surround(run, "tool.before", "tool.after"))

    def deliver_with_point(
        recorder: EventRecorder, batch: Sequence[Event | OnDelivered], encoded: Mapping[str, EncodedEvents]
    ) -> None:
        deliver(recorder, batch, encoded)
        if recorder._lease.session in encoded:  # pyright: ignore[reportPrivateUsage]
            reach("release.after")

    _replace(Session, "_open_acquired", classmethod(open_with_point))
    _replace(session_module, "read_history", read_with_point)
    _replace(Session, "_store_start_first", run_with_points)
    _replace(EventRecorder, "_deliver", deliver_with_point)
    for owner, name in ((SessionResumption, "_record"), (recovery, "_close_exchange")):
        _replace(owner, name, _surround(getattr(owner, name), "recovery.before", "recovery.after"))


class _PassingConnection:
    """A connection that passes a point after each statement that inserts events."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
        cursor = self._connection.execute(statement, *values)
        if statement.startswith("INSERT INTO events"):
            reach("append.between")
        return cursor

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


def _install_sqlite() -> None:
    append, append_group = LogWriter.append, LogWriter.append_group
    on_appended = SqliteStore._on_appended  # pyright: ignore[reportPrivateUsage]

    def append_with_points(writer: LogWriter, lease: Any, events: Any, blobs: Any, work: Any, connection: Any) -> Any:
        reach("append.before")
        passing: Any = _PassingConnection(connection)
        encoded = append(writer, lease, events, blobs, work, passing)
        reach("append.commit")
        return encoded

    def append_group_with_points(writer: LogWriter, group: Any, connection: Any) -> Any:
        reach("append.before")
        outcomes = append_group(writer, group, _PassingConnection(connection))  # pyright: ignore[reportArgumentType]
        reach("append.commit")
        return outcomes

    def on_appended_with_point(*arguments: Any) -> None:
        reach("append.after")
        on_appended(*arguments)

    _replace(LogWriter, "append", append_with_points)
    _replace(LogWriter, "append_group", append_group_with_points)
    _replace(SqliteStore, "_on_appended", on_appended_with_point)


def _install_postgres() -> None:
    from heald_nodes.postgres import store as store_module
    from heald_nodes.postgres import writer
    from heald_nodes.postgres.store import PostgresStore

    commit = writer.GroupWriter._commit  # pyright: ignore[reportPrivateUsage]
    append = PostgresStore.append
    end_append = store_module._end_append  # pyright: ignore[reportPrivateUsage]
    store_blobs = writer._store_blobs  # pyright: ignore[reportPrivateUsage]

    async def commit_with_point(*arguments: Any) -> None:
        reach("append.before")
        await commit(*arguments)

    async def append_with_point(*arguments: Any, **options: Any) -> Any:
        encoded = await append(*arguments, **options)
        reach("append.after")
        return encoded

    def end_append_with_point(pending: Any, on_done: Any, done: "asyncio.Future[None]") -> None:
        if not done.cancelled() and done.exception() is None:
            reach("append.after")
        end_append(pending, on_done, done)

    _replace(writer.GroupWriter, "_commit", commit_with_point)
    _replace(writer, "_store_blobs", _surround(store_blobs, "append.between", "append.commit"))
    _replace(PostgresStore, "append", append_with_point)
    _replace(store_module, "_end_append", end_append_with_point)


def _replace(owner: object, name: str, replacement: object) -> None:
    assert hasattr(owner, name), f"{owner} has no {name} any more"
    setattr(owner, name, replacement)
