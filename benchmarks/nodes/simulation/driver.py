"""The driver of the simulated database: connections that are slow, break, hang or lose answers as the faults say."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from contextvars import copy_context
from functools import cache, partial
from typing import Any
from urllib.parse import urlsplit

from benchmarks.nodes.simulation.database import Row, SimulatedDatabase
from benchmarks.nodes.simulation.network import Network
from benchmarks.nodes.simulation.translated_sql import translate
from heald_nodes.postgres.driver import Listener, asyncpg

_COMMIT = "COMMIT"
Connect = Callable[[], Awaitable["SimulatedConnection"]]


class SimulatedConnection:
    """A connection of a node to the database."""

    def __init__(self, database: SimulatedDatabase, network: Network, host: str) -> None:
        self._database = database
        self._network = network
        self.host = host
        self.loop = asyncio.get_running_loop()
        self.pid = database.add_backend()
        self.in_transaction = False
        self.last_notice = 0.0
        self.context = copy_context()
        """The process that opened it."""
        self._is_closed = False
        self._answer: asyncio.Future[list[Row]] | None = None
        network.add(self)

    def get_server_pid(self) -> int:
        return self.pid

    def is_closed(self) -> bool:
        """Whether the node knows that it is closed."""
        return self._is_closed

    def mark_closed(self) -> "asyncio.Future[list[Row]] | None":
        """The node uses it no more. Returns the answer that it waited for."""
        self._is_closed = True
        answer, self._answer = self._answer, None
        return answer

    def end(self) -> None:
        """The database has closed it."""
        self._database.remove_backend(self.pid)

    def terminate(self) -> None:
        self._network.break_connection(self)

    async def close(self) -> None:
        self.terminate()

    async def execute(self, query: str, *arguments: object) -> str:
        await self._run(query, arguments)
        return "OK"

    async def executemany(self, command: str, args: Sequence[Sequence[object]]) -> None:
        for arguments in args:
            await self._run(command, arguments)

    def fetch(self, query: str, *arguments: object) -> Coroutine[Any, Any, Sequence[Row]]:
        return self._run(query, arguments)

    async def fetchrow(self, query: str, *arguments: object) -> Row | None:
        rows = await self._run(query, arguments)
        return rows[0] if rows else None

    async def fetchval(self, query: str, *arguments: object) -> Any:
        rows = await self._run(query, arguments)
        return rows[0][0] if rows else None

    @asynccontextmanager
    async def transaction(self) -> AsyncGenerator[None]:
        self.in_transaction = True
        try:
            yield
        except BaseException:
            self.in_transaction = False
            self._database.end_transaction(self.pid, commits=False)
            raise
        self.in_transaction = False
        await self._run(_COMMIT, ())

    async def add_listener(self, channel: str, callback: Listener) -> None:
        await self._run("SELECT 1", ())

        def on_notice(channel: str, payload: str) -> None:
            self._network.deliver(self, partial(callback, self, self.pid, channel, payload))

        self._database.listeners.setdefault(self.pid, {})[channel] = on_notice

    async def _run(self, query: str, arguments: Sequence[object]) -> list[Row]:
        """Send a statement, and wait for its answer. Whoever stops waiting closes the connection: the statement may
        still run."""
        if self._is_closed:
            raise asyncpg.InterfaceError("the connection is closed")
        self._answer = answer = asyncio.Future(loop=self.loop)
        self._network.send(self, query, arguments, answer)
        try:
            return await answer
        except asyncio.CancelledError:
            self._network.abandon(self)
            raise

    def run_now(
        self, query: str, arguments: Sequence[object], *, in_transaction: bool
    ) -> "list[Row] | asyncio.Future[None]":
        """Run a statement in the database, or return what it has to wait for there."""
        if query == _COMMIT:
            self._database.end_transaction(self.pid, commits=True)
            return []
        if "pg_stat_ssl" in query:
            return []  # nodes have no ports for one another
        statement = translate(query)
        waiting = self._database.must_wait(self.pid, query, statement, arguments, in_transaction=in_transaction)
        return waiting if waiting is not None else self._database.run(self.pid, query, statement, arguments)


class _Borrowed:
    """A connection of a pool, for the duration of a block."""

    def __init__(self, pool: "SimulatedPool") -> None:
        self._pool = pool

    async def __aenter__(self) -> SimulatedConnection:
        self._connection = await self._pool.take()
        return self._connection

    async def __aexit__(self, *_: object) -> None:
        self._pool.put_back(self._connection)


class SimulatedPool:
    """Shares connections, at most `max_size`."""

    def __init__(self, connect: Connect, max_size: int) -> None:
        self._connect = connect
        self._free: deque[SimulatedConnection] = deque()
        self._places = max_size
        self._waiting: deque[asyncio.Future[None]] = deque()

    def acquire(self) -> _Borrowed:
        return _Borrowed(self)

    async def take(self) -> SimulatedConnection:
        if self._places and not self._waiting:
            self._places -= 1
        else:
            await self._wait_for_place()
        while self._free:
            connection = self._free.pop()
            if not connection.is_closed():
                return connection
        try:
            return await self._connect()
        except BaseException:
            self._free_place()
            raise

    async def _wait_for_place(self) -> None:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            if not waiter.cancelled():
                self._free_place()
            raise

    def _free_place(self) -> None:
        """Give a place to whoever waits for one."""
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return
        self._places += 1

    def put_back(self, connection: SimulatedConnection) -> None:
        self._free_place()
        if not connection.is_closed():
            self._free.append(connection)

    async def close(self) -> None:
        self.terminate()

    def terminate(self) -> None:
        while self._free:
            self._free.pop().terminate()


@cache
def _user_of(url: str) -> str:
    return urlsplit(url).username or ""


class SimulatedDriver:
    """Stands for the module asyncpg. The user in an address is the name of the host that connects."""

    def __init__(self, database: SimulatedDatabase) -> None:
        self._database = database
        self.network = Network()
        self.migrates = True
        """Whether nodes migrate the schema. It is the newest one."""

    async def connect(self, url: str, *, timeout: float = 10.0) -> SimulatedConnection:  # noqa: ASYNC109 - as asyncpg has it
        host = _user_of(url)
        await self.network.connect(host, timeout)
        return SimulatedConnection(self._database, self.network, host)

    async def create_pool(
        self, *, connect: Connect, max_size: int, command_timeout: float, **_: object
    ) -> SimulatedPool:
        self.network.command_timeout = command_timeout
        return SimulatedPool(connect, max_size)
