"""A session whose exchange is a number of steps, each with an effect that must take place once.

It stands for `heald.sessions.Session`: it acquires the lease, continues what a dead writer left open, appends with the
real store, and stops when it is fenced. The start of a step is stored before its effect.
"""

import asyncio
import random
from collections.abc import Callable, Sequence

from benchmarks.nodes.simulation.ledger import Ledger
from heald.core.envelope import Event, new_event
from heald.core.errors import HealdError
from heald.core.events import TextDelta
from heald.sessions.leases import Lease
from heald.sessions.store_errors import Fenced, StoreError
from heald.sessions.work import Work
from heald_nodes.postgres.store import PostgresStore
from heald_server.streams.event_hub import EventHub

_BLOCK = "block"
_OPENING = ("request",)
_CLOSING = ("end", "interrupted")


def text_of(event: Event) -> str:
    """Return the text of an event of the simulation: all of them are deltas."""
    assert isinstance(event.data, TextDelta)
    return event.data.text


class WorkExchange:
    """A running exchange."""

    def __init__(self) -> None:
        self._callbacks: list[Callable[[], object]] = []

    def on_end(self, callback: Callable[[], object]) -> None:
        self._callbacks.append(callback)

    def end(self) -> None:
        for callback in self._callbacks:
            callback()


class WorkSession:
    """An open session."""

    queued = 0
    client_calls = ()

    def __init__(
        self,
        store: PostgresStore,
        lease: Lease,
        log: Sequence[Event],
        hub: EventHub,
        ledger: Ledger,
        pace: random.Random,
    ) -> None:
        self._store = store
        self._lease = lease
        self._hub = hub
        self._ledger = ledger
        self._pace = pace
        self._seq = log[-1].seq if log else 0
        self.error: Exception | None = None
        self.current: WorkExchange | None = None
        self._requests: set[str] = set()
        self._steps: list[str] = []
        self._started = ""
        self._appending = asyncio.Lock()
        self._on_failure: list[Callable[[Exception], object]] = []
        self._task: asyncio.Task[None] | None = None
        for event in log:
            self._apply(text_of(event))

    @property
    def epoch(self) -> int:
        return self._lease.epoch

    def on_failure(self, callback: Callable[[Exception], object]) -> None:
        self._on_failure.append(callback)

    def _apply(self, text: str) -> None:
        """Fold an event into the state."""
        word, _, rest = text.partition(" ")
        if word == "request":
            name, _, count = rest.partition(" ")
            self._requests.add(name)
            self._steps += [f"{name}.{number}" for number in range(int(count))]
        elif word == "start":
            self._started = rest
        elif word in ("end", "interrupted"):
            self._started = ""
            self._steps.remove(rest)

    async def begin(self, work: Work) -> None:
        """Close the step that a dead writer left open, and continue its exchange. `work` is what the store has."""
        if self._started:
            await self._append([f"interrupted {self._started}"])
        if self._steps:
            self._start()
        elif work != "idle":
            await self._append([])  # the work was stored, and not the request

    async def ask(self, request: str, steps: int, limit: int, owner: str) -> bool:
        """Accept a request, unless too many exchanges of the owner run. One that was accepted before is not accepted
        anew: the command that brought it may be repeated when the reply of a dead holder is missing."""
        if request in self._requests:
            return True
        if self._steps or self.current is not None:
            return False
        if await self._store.admit_work(self._lease.session, owner, limit=limit) >= limit:
            return False
        if self._steps or self.current is not None:  # by a request that was faster
            return False
        await self._append([f"request {request} {steps}"])
        self._start()
        return True

    def _start(self) -> None:
        if self._task is None or self._task.done():
            self.current = WorkExchange()
            self._ledger.working[self._lease.session] = self._lease.holder
            self._task = asyncio.create_task(self._work(self.current))

    async def _work(self, exchange: WorkExchange) -> None:
        try:
            while self._steps:
                step = self._steps[0]
                await self._append([f"start {step}"])
                self._ledger.effects[self._lease.session, step] += 1
                await asyncio.sleep(self._pace.random() * 0.8)
                for _ in range(self._pace.randrange(3)):
                    await self._append(["delta"] * self._pace.randrange(1, 3))
                await self._append([f"end {step}"])
        except HealdError:
            pass  # the session has failed
        finally:
            self.current = None
            if self._ledger.working.get(self._lease.session) == self._lease.holder:
                del self._ledger.working[self._lease.session]
            exchange.end()

    async def _append(self, texts: Sequence[str]) -> None:
        """Append events, and whether there is work after them."""
        async with self._appending:
            if self.error is not None:
                raise self.error
            session, epoch = self._lease.session, self._lease.epoch
            events = [
                new_event(
                    seq=self._seq + number,
                    id=f"{session}-{epoch}-{self._seq + number}",
                    session=session,
                    exchange=None,
                    type=TextDelta.type,
                    layer=TextDelta.layer,
                    time=float(self._seq + number),
                    epoch=epoch,
                    data=TextDelta(index=0, block=_BLOCK, text=text),
                )
                for number, text in enumerate(texts, 1)
            ]
            left = len(self._steps) + sum(
                (text.split()[0] in _OPENING) - (text.split()[0] in _CLOSING) for text in texts
            )
            try:
                await self._store.append(self._lease, events, work="running" if left else "idle")
            except StoreError as error:
                self._fail(error)
                raise
            self._seq += len(events)
            for event, text in zip(events, texts, strict=True):
                self._ledger.acknowledged[session, event.seq] = text
                self._apply(text)
                self._hub.add(event)

    def _fail(self, error: Exception) -> None:
        if self.error is None:
            self.error = error
            for callback in self._on_failure:
                callback(error)

    def fence(self) -> None:
        """Stop writing: another process has acquired the session."""
        self._fail(Fenced("The session was opened elsewhere."))
        if self._task is not None:
            self._task.cancel()

    async def only_waits(self) -> bool:
        return False

    async def hand_over(self) -> None:
        await self.close()

    async def suspend(self) -> None:
        await self.close()

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        await self._store.release(self._lease)
