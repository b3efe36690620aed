"""The way between nodes and the database, and the faults on it: delays, stalls, restarts, partitions, lost answers."""

import asyncio
import random
from collections.abc import Callable, Sequence
from functools import partial
from math import log
from typing import TYPE_CHECKING

from heald_nodes.postgres.driver import asyncpg

if TYPE_CHECKING:
    from benchmarks.nodes.simulation.database import Row
    from benchmarks.nodes.simulation.driver import SimulatedConnection

_SLOW_ANSWERS = 0.3
"""The share of answers that take a time of their own."""

_HALF_ANSWERS = 0.3
"""The share of broken connections that break in the middle of an answer."""


class StatementInTransit:
    """A statement on its way to the database, and its rows on their way back."""

    __slots__ = ("answer", "arguments", "connection", "in_transaction", "loses_answer", "network", "query")

    def __init__(
        self,
        network: "Network",
        connection: "SimulatedConnection",
        query: str,
        arguments: Sequence[object],
        answer: "asyncio.Future[list[Row]]",
        *,
        loses_answer: bool,
    ) -> None:
        self.network = network
        self.connection = connection
        self.query = query
        self.arguments = arguments
        self.answer = answer
        self.loses_answer = loses_answer
        self.in_transaction = connection.in_transaction

    def arrive(self) -> None:
        """Run in the database, unless it is stalled or the host cannot be reached."""
        network = self.network
        if network.is_stalled or self.connection.host in network.partitioned:
            network.hold(self.arrive)
            self._expire_later()
        else:
            self._run()

    def _run(self) -> None:
        network, connection = self.network, self.connection
        if not network.has(connection):
            return
        try:
            outcome = connection.run_now(self.query, self.arguments, in_transaction=self.in_transaction)
        except Exception as error:
            if not self.answer.done():
                self.answer.set_exception(error)
            return
        if isinstance(outcome, asyncio.Future):
            outcome.add_done_callback(self._run_after)
        elif self.loses_answer:
            network.break_connection(connection)
        elif network.chance.random() < _SLOW_ANSWERS or connection.host in network.slowness:
            connection.loop.call_later(network.draw_delay(connection.host), self._reply, outcome)
        else:
            self._reply(outcome)

    def _run_after(self, _: "asyncio.Future[None]") -> None:
        self._run()

    def _reply(self, rows: "list[Row]") -> None:
        if self.connection.host in self.network.partitioned:
            self.network.hold(partial(self._reply, rows))
            self._expire_later()
        elif not self.answer.done():
            self.answer.set_result(rows)

    def _expire_later(self) -> None:
        self.connection.loop.call_later(self.network.command_timeout, self._expire)

    def _expire(self) -> None:
        if not self.answer.done():
            self.answer.set_exception(TimeoutError())
            self.network.abandon(self.connection)


class Network:
    """Carries statements and answers, in virtual time."""

    def __init__(self, seed: int = 0) -> None:
        self.chance = random.Random(seed)
        self.delay = 0.002
        """Seconds of a way, on average."""
        self.slowness: dict[str, float] = {}
        """By host, by what its ways take longer."""
        self.is_stalled = False
        """The database accepts statements and does not run them."""
        self.is_down = False
        """The database does not run."""
        self.partitioned: set[str] = set()
        self.lost_answers = 0.0
        """The share of statements whose answer is lost, together with the connection."""
        self.lost_notices = 0.0
        self.command_timeout = 30.0
        """Seconds after which a node gives up a statement that is held somewhere."""
        self._connections: dict[int, SimulatedConnection] = {}
        self._held: list[Callable[[], None]] = []
        """What arrived during a stall or waits at a partition."""

    def add(self, connection: "SimulatedConnection") -> None:
        self._connections[connection.pid] = connection

    def draw_delay(self, host: str) -> float:
        """Return the seconds of a way, by chance."""
        delay = -log(1.0 - self.chance.random()) * self.delay
        return delay * self.slowness[host] if host in self.slowness else delay

    def hold(self, arrive: Callable[[], None]) -> None:
        """Keep something until the database or a host can be reached again."""
        self._held.append(arrive)

    def has(self, connection: "SimulatedConnection") -> bool:
        """Whether the database has a connection."""
        return connection.pid in self._connections

    async def connect(self, host: str, seconds: float) -> None:
        """Connect a host with the database, or raise a TimeoutError after some seconds."""
        if self.is_down:
            await asyncio.sleep(self.draw_delay(host))
            raise ConnectionRefusedError(111, "Connection refused")
        loop = asyncio.get_running_loop()
        accepted: asyncio.Future[None] = loop.create_future()
        loop.call_later(self.draw_delay(host), self._accept, host, accepted, loop.time() + seconds)
        await accepted

    def _accept(self, host: str, accepted: "asyncio.Future[None]", until: float) -> None:
        if self.is_stalled or host in self.partitioned:
            self._held.append(partial(self._accept, host, accepted, until))
            accepted.get_loop().call_at(until, _expire, accepted)
        elif accepted.done():
            return
        elif self.is_down:
            accepted.set_exception(ConnectionResetError(104, "Connection reset by peer"))
        else:
            accepted.set_result(None)

    def _arrive(self, host: str, then: Callable[[], None]) -> None:
        """Call back when something from a host arrives at the database, which may be stalled."""
        asyncio.get_running_loop().call_later(self.draw_delay(host), self._arrive_now, host, then)

    def _arrive_now(self, host: str, then: Callable[[], None]) -> None:
        if self.is_stalled or host in self.partitioned:
            self._held.append(partial(self._arrive_now, host, then))
        else:
            then()

    def send(
        self,
        connection: "SimulatedConnection",
        query: str,
        arguments: Sequence[object],
        answer: "asyncio.Future[list[Row]]",
    ) -> None:
        """Carry a statement to the database and its rows back."""
        loses_answer = self.lost_answers > 0 and self.chance.random() < self.lost_answers
        statement = StatementInTransit(self, connection, query, arguments, answer, loses_answer=loses_answer)
        connection.loop.call_later(self.draw_delay(connection.host), statement.arrive)

    def deliver(self, connection: "SimulatedConnection", call: Callable[[], object]) -> None:
        """Deliver a notice, unless it is lost."""
        if self.lost_notices and self.chance.random() < self.lost_notices:
            return
        due = max(connection.loop.time() + self.draw_delay(connection.host), connection.last_notice)
        connection.last_notice = due  # a connection keeps the order
        connection.loop.call_at(due, self._deliver_now, connection, call, context=connection.context)

    def _deliver_now(self, connection: "SimulatedConnection", call: Callable[[], object]) -> None:
        if connection.host in self.partitioned:
            self._held.append(partial(self._deliver_now, connection, call))
        elif not connection.is_closed():
            call()

    def abandon(self, connection: "SimulatedConnection") -> None:
        """A node closes a connection whose answer it does not await. The statement on its way runs, or does not."""
        connection.mark_closed()
        if self.chance.random() < 0.5:
            self.break_connection(connection)
        else:
            self._arrive(connection.host, partial(self.break_connection, connection))

    # --- faults ------------------------------------------------------------------------------------------------------

    def release(self) -> None:
        """The database or a host can be reached again: what was held arrives, in any order."""
        held, self._held = self._held, []
        self.chance.shuffle(held)
        for arrive in held:
            arrive()

    def break_connection(self, connection: "SimulatedConnection") -> None:
        """End a connection on both sides."""
        if self._connections.pop(connection.pid, None) is not None:
            connection.end()
        pending = connection.mark_closed()
        if pending is not None and not pending.done():
            pending.set_exception(
                asyncpg.InternalClientError("the connection was lost in the middle of an answer")
                if self.chance.random() < _HALF_ANSWERS
                else asyncpg.ConnectionDoesNotExistError("the connection was lost")
            )

    def break_connections(self, host: str = "") -> None:
        """Break all connections, or those of a host."""
        for connection in list(self._connections.values()):
            if host in ("", connection.host):
                self.break_connection(connection)


def _expire(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_exception(TimeoutError())
