"""Telling: one client hears one session in one dialect, from its cursor on, without a gap and without an end.

What is stored is read in pages; then the live end follows. A client that falls behind is taken back to the store.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from typing import Literal

from weft.core.envelope import Event
from weft.core.events import ExchangeRequest
from weft.core.json import encode
from weft.dialects.dialect import Dialect
from weft.dialects.native import NativeDialect
from weft.server.hub import Entry, Hub, settle
from weft.sessions.errors import NoSuchSession, StoreError
from weft.sessions.store import PAGE, Store

MOST = 256
"""Events in one go, so that a long log does not hold others up."""
MOST_BYTES = 256 * 1024
"""The same in bytes, but for a single event: what a client that reads nothing may keep of our memory."""

LONG = 4000
"""Events behind a cursor from which on the end of a log is worth telling first."""
END = 1000
"""Events at the end of a log that may be told first."""

Farewell = Literal["shutdown", "token", "deleted", "slow", "store"]

_log = logging.getLogger("weft.server.streams")


class Telling:
    """The events of a session behind a cursor, batch by batch."""

    def __init__(self, store: Store, hub: Callable[[str], Hub], session: str, after: int) -> None:
        self.session = session
        self.seq = after
        """The last event of the session that was given."""
        self.farewell: Farewell | None = None
        """Why it ended, if it was the server who ended it."""
        self._store = store
        self._hub = hub
        self._waiter: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._due = 0.0
        self._stopped = False

    def stop(self, why: Farewell | None = None) -> None:
        """End it: after what is being given now, nothing more comes."""
        self._stopped = True
        self.farewell = self.farewell or why
        if self._waiter is not None:
            settle(self._waiter)

    async def batches(self, heartbeat: float) -> AsyncGenerator[Sequence[Entry]]:
        """What comes, as it comes. An empty batch says that nothing has come for a while."""
        hub = self._hub(self.session)  # not before: one without readers may be tidied away
        place = hub.join()
        try:
            while not self._stopped:
                async for batch in self._stored():
                    yield batch
                while not self._stopped and (entries := hub.since(place)) is not None:
                    if not entries:
                        if not await self._wait(hub, heartbeat):
                            yield ()
                        continue
                    place += len(entries)
                    fresh, is_whole = self._fresh(entries)
                    for batch in _portions(fresh):
                        self.seq = self._last(batch)
                        yield batch
                    if not is_whole:
                        break
                place = hub.end
        except NoSuchSession:
            self.farewell = "deleted"
        except StoreError as error:
            self.farewell = "store"
            _log.error("the log cannot be read: %s", error, extra={"session": self.session})
        finally:
            hub.leave()
            if self._timer is not None:
                self._timer.cancel()

    async def _wait(self, hub: Hub, seconds: float) -> bool:
        """Until something happens. False if nothing did for so long."""
        loop = asyncio.get_running_loop()
        self._waiter = waiter = loop.create_future()
        self._due = loop.time() + seconds
        if self._timer is None:
            self._timer = loop.call_at(self._due, self._look, loop)
        hub.expect(waiter)
        try:
            await waiter
            return self._stopped or loop.time() < self._due
        finally:
            hub.forget(waiter)
            self._waiter = None

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """Time may be up. One timer runs as long as events come: a new one for each would cost more than they do."""
        self._timer = None
        if self._waiter is None:
            return
        if loop.time() < self._due:
            self._timer = loop.call_at(self._due, self._look, loop)
        else:
            settle(self._waiter)

    async def _stored(self) -> AsyncGenerator[Sequence[Entry]]:
        while not self._stopped:
            events = await self._store.read(self.session, after=self.seq, limit=MOST)
            if not events:
                return
            for batch in _portions([Entry(event, encode(event)) for event in events]):
                self.seq = batch[-1].event.seq
                yield batch

    def _fresh(self, entries: Sequence[Entry]) -> tuple[list[Entry], bool]:
        """Those that were not read from the store before, up to a gap; and whether there was none."""
        fresh: list[Entry] = []
        seq = self.seq
        for entry in entries:
            if entry.event.session != self.session:
                fresh.append(entry)
            elif entry.event.seq == seq + 1:
                seq += 1
                fresh.append(entry)
            elif entry.event.seq > seq:
                return fresh, False
        return fresh, True

    def _last(self, batch: Sequence[Entry]) -> int:
        own = (entry.event.seq for entry in reversed(batch) if entry.event.session == self.session)
        return next(own, self.seq)


class Voice:
    """Says events in a dialect, as server-sent events or as WebSocket messages; with `batch`, many in one of those."""

    def __init__(self, dialect: Dialect, *, batch: bool = False) -> None:
        self.dialect = dialect
        self._batch = batch
        self._is_native = isinstance(dialect, NativeDialect)

    def sse(self, entries: Sequence[Entry], session: str) -> bytes:
        if self._is_native:
            return b"".join([entry.sse(session) for entry in entries])
        return b"".join(self.dialect.sse(frame) for entry in entries for frame in self.dialect.feed(entry.event))

    def texts(self, entries: Sequence[Entry]) -> list[str]:
        if self._is_native and self._batch and len(entries) > 1:
            return [together([entry.json for entry in entries]).decode()]
        if self._is_native:
            return [entry.text for entry in entries]
        return [self.dialect.text(frame) for entry in entries for frame in self.dialect.feed(entry.event)]


def together(events: Sequence[bytes], kind: str = "events", session: str | None = None) -> bytes:
    """Events as one message."""
    head = {"type": kind} if session is None else {"type": kind, "session": session}
    return b'%s,"events":[%s]}' % (encode(head)[:-1], b",".join(events))


def _portions(entries: Sequence[Entry]) -> Iterator[Sequence[Entry]]:
    """What is given in one go, and then the next."""
    start = size = 0
    for number, entry in enumerate(entries):
        if number > start and (number - start >= MOST or size + len(entry.json) > MOST_BYTES):
            yield entries[start:number]
            start, size = number, 0
        size += len(entry.json)
    if start < len(entries):
        yield entries[start:]


async def end_of(store: Store, session: str, after: int, last: int) -> Sequence[bytes]:
    """What happened last in a long log, from the beginning of an exchange on. Nothing if all of it comes as quickly."""
    if last - after < LONG:
        return ()
    events = await store.read(session, after=last - END, upto=last, limit=END)
    written = [encode(event) for event in events]
    first, size = len(events), 0
    for number in reversed(range(len(events))):
        size += len(written[number])
        if size > MOST_BYTES:
            break
        if isinstance(events[number].data, ExchangeRequest):
            first = number
    return written[first:]


async def brought_up_to(dialect: Dialect, store: Store, session: str, seq: int) -> Dialect:
    """Let a dialect hear the exchange that is open at a cursor, so that it goes on where the client left off."""
    if seq <= 0 or isinstance(dialect, NativeDialect):
        return dialect
    begin = await _begin_of_exchange(store, session, seq)
    while begin < seq and (events := await store.read(session, after=begin, upto=seq)):
        for event in events:
            dialect.feed(event)
        begin = events[-1].seq
    return dialect


async def _begin_of_exchange(store: Store, session: str, seq: int) -> int:
    """The seq before the last `exchange_request` up to a cursor."""
    upto = seq
    while upto > 0:
        after = max(upto - PAGE, 0)
        events: list[Event] = []
        while after < upto and (page := await store.read(session, after=after, upto=upto)):
            events += page
            after = page[-1].seq
        for event in reversed(events):
            if isinstance(event.data, ExchangeRequest):
                return event.seq - 1
        upto = max(upto - PAGE, 0)
    return 0
