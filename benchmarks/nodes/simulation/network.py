"""The way between nodes and the database, and the faults on it: delays, stalls, restarts, partitions, lost answers."""

import asyncio
import random
from collections.abc import Callable, Sequence
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

    def _way(self, host: str) -> float:
        way = -log(1.0 - self.chance.random()) * self.delay
        return way * self.slowness[host] if host in self.slowness else way

    async def connect(self, host: str) -> None:
        if self.is_down:
            await asyncio.sleep(self._way(host))
            raise ConnectionRefusedError(111, "Connection refused")
        arrived: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._arrive(host, lambda: None if arrived.done() else arrived.set_result(None))
        await arrived

    def _arrive(self, host: str, then: Callable[[], None], on_held: Callable[[], None] | None = None) -> None:
        """Call back when something from a host arrives at the database, which may be stalled."""

        def arrive() -> None:
            if self.is_stalled or host in self.partitioned:
                self._held.append(arrive)
                if on_held is not None:
                    on_held()
            else:
                then()

        asyncio.get_running_loop().call_later(self._way(host), arrive)

    def send(
        self,
        connection: "SimulatedConnection",
        query: str,
        arguments: Sequence[object],
        answer: "asyncio.Future[list[Row]]",
    ) -> None:
        """Carry a statement to the database and its rows back."""
        host = connection.host
        loses_answer = self.lost_answers > 0 and self.chance.random() < self.lost_answers
        in_transaction = connection.in_transaction

        def run() -> None:
            if connection.pid not in self._connections:
                return
            try:
                outcome = connection.run_now(query, arguments, in_transaction=in_transaction)
            except Exception as error:
                if not answer.done():
                    answer.set_exception(error)
                return
            if isinstance(outcome, asyncio.Future):
                outcome.add_done_callback(lambda _: run())
            elif loses_answer:
                self.break_connection(connection)
            elif self.chance.random() < _SLOW_ANSWERS or host in self.slowness:
                asyncio.get_running_loop().call_later(self._way(host), reply, outcome)
            else:
                reply(outcome)

        def reply(rows: "list[Row]") -> None:
            if host in self.partitioned:
                self._held.append(lambda: reply(rows))
                hold()
            elif not answer.done():
                answer.set_result(rows)

        def hold() -> None:
            asyncio.get_running_loop().call_later(self.command_timeout, expire)

        def expire() -> None:
            if not answer.done():
                answer.set_exception(TimeoutError())
                self.abandon(connection)

        self._arrive(host, run, hold)

    def deliver(self, connection: "SimulatedConnection", call: Callable[[], object]) -> None:
        """Deliver a notice, unless it is lost."""
        if self.lost_notices and self.chance.random() < self.lost_notices:
            return
        loop = asyncio.get_running_loop()
        due = max(loop.time() + self._way(connection.host), connection.last_notice)
        connection.last_notice = due  # a connection keeps the order

        def arrive() -> None:
            if connection.host in self.partitioned:
                self._held.append(arrive)
            elif not connection.is_closed():
                call()

        loop.call_at(due, arrive, context=connection.context)

    def abandon(self, connection: "SimulatedConnection") -> None:
        """A node closes a connection whose answer it does not await. The statement on its way runs, or does not."""
        connection.mark_closed()
        if self.chance.random() < 0.5:
            self.break_connection(connection)
        else:
            self._arrive(connection.host, lambda: self.break_connection(connection))

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
