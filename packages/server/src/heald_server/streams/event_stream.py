"""Streams the events of a session to its clients: stored ones first, then live ones from its hub."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from functools import partial
from typing import Literal

from heald.core.json import encode
from heald.sessions.store import Store
from heald.sessions.store_errors import NoSuchSession, StoreError
from heald_server.streams.dialect_encoder import split_batches
from heald_server.streams.event_hub import BATCH_EVENTS, EncodedEvent, EventHub, HubReader, wake_waiter

LONG_LOG = 4000
"""Events after a cursor from which on the end of the log is sent first."""
TAIL_EVENTS = 1000
"""Events at the end of a log that may be sent first."""

EndReason = Literal["shutdown", "token", "deleted", "slow", "store"]

PushBatch = Callable[[Sequence[EncodedEvent]], bool]
"""Sends a batch to the client at once. False, and nothing was sent, if that cannot be done without waiting."""

_log = logging.getLogger("heald_server.streams")


class EventStream:
    """The events of a session after a cursor, batch by batch: stored ones first, then live ones.

    Live events are passed to `push`, if there is one, in the moment in which they are stored: no task has to be woken.
    """

    def __init__(self, store: Store, hub: Callable[[str], EventHub], session: str, after: int) -> None:
        self.session = session
        self.seq = after
        """The last event of the session that was yielded."""
        self.end_reason: EndReason | None = None
        """Why the server ended the stream, if it did."""
        self.push: PushBatch | None = None
        self.is_response = False
        """It is the whole response to a request: a client that gets half of it cannot go on elsewhere."""
        self._store = store
        self._hub = hub
        self._waiter: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._due = 0.0
        self._stopped = False

    def stop(self, why: EndReason | None = None) -> None:
        """End the stream after the current batch."""
        self._stopped = True
        self.end_reason = self.end_reason or why
        if self._waiter is not None:
            wake_waiter(self._waiter)

    async def batches(self, heartbeat: float) -> AsyncGenerator[Sequence[EncodedEvent]]:
        """Yield events as they come. An empty batch after `heartbeat` seconds without events."""
        hub = self._hub(self.session)  # only now: a hub without readers may be removed
        reader = hub.subscribe()
        try:
            while not self._stopped:
                async for batch in self._stored():
                    yield batch
                while not self._stopped and (entries := hub.read(reader)) is not None:
                    if not entries:
                        if await self._wait(hub, reader, heartbeat):
                            continue
                        yield ()
                        if await self._is_behind(heartbeat):
                            break
                        continue
                    fresh, _, is_whole = self._fresh(entries)
                    for batch in split_batches(fresh):
                        self.seq = self._last(batch)
                        yield batch
                    if not is_whole:
                        break
                reader.position = hub.end
        except NoSuchSession:
            self.end_reason = "deleted"
        except StoreError as error:
            self.end_reason = "store"
            _log.error("the log cannot be read: %s", error, extra={"session": self.session})
        finally:
            hub.unsubscribe(reader)
            if self._timer is not None:
                self._timer.cancel()

    async def _is_behind(self, seconds: float) -> bool:
        """Whether the log has events that did not reach the hub: whatever fails on their way, a reader that waits gets
        them after a heartbeat. A store that does not answer ends no idle stream."""
        try:
            async with asyncio.timeout(seconds):
                return bool(await self._store.read(self.session, after=self.seq, limit=1))
        except NoSuchSession:
            raise
        except (StoreError, TimeoutError):
            return False

    async def _wait(self, hub: EventHub, reader: HubReader, seconds: float) -> bool:
        """Wait for an event that cannot be pushed. Returns False if none came at all for `seconds`."""
        loop = asyncio.get_running_loop()
        self._waiter = waiter = loop.create_future()
        self._due = loop.time() + seconds
        if self._timer is None:
            self._timer = loop.call_at(self._due, self._check_deadline, loop)
        on_events = partial(wake_waiter, waiter) if self.push is None else partial(self._push, hub, reader, seconds)
        hub.add_listener(on_events)
        try:
            await waiter
            return self._stopped or loop.time() < self._due
        finally:
            hub.remove_listener(on_events)
            self._waiter = None

    def _push(self, hub: EventHub, reader: HubReader, seconds: float) -> None:
        """Push the next events, if they follow those that were sent. If not, the waiting task reads them."""
        waiter, push, position = self._waiter, self.push, reader.position
        if waiter is None or waiter.done() or push is None:
            return
        try:
            entries = hub.read(reader)
            fresh, seq, is_whole = self._fresh(entries) if entries else ([], self.seq, False)
            if self._stopped or not is_whole or (fresh and not push(fresh)):
                reader.position = position
                waiter.set_result(None)
                return
        except Exception as error:
            waiter.set_exception(error)
            return
        self.seq = seq
        self._due = asyncio.get_running_loop().time() + seconds
        if reader.position < hub.end and not waiter.done():
            waiter.set_result(None)

    def _check_deadline(self, loop: asyncio.AbstractEventLoop) -> None:
        """Check the deadline. One timer is reused as long as events come: a timer for each event would cost more."""
        self._timer = None
        if self._waiter is None:
            return
        if loop.time() < self._due:
            self._timer = loop.call_at(self._due, self._check_deadline, loop)
        else:
            wake_waiter(self._waiter)

    async def _stored(self) -> AsyncGenerator[Sequence[EncodedEvent]]:
        while not self._stopped:
            events = await self._store.read(self.session, after=self.seq, limit=BATCH_EVENTS)
            if not events:
                return
            for batch in split_batches([EncodedEvent(event, encode(event)) for event in events]):
                self.seq = batch[-1].event.seq
                yield batch

    def _fresh(self, entries: Sequence[EncodedEvent]) -> tuple[list[EncodedEvent], int, bool]:
        """Return the events that were not read from the store, up to a gap, the last event of the session after them,
        and whether there was no gap."""
        seq = self.seq
        if len(entries) == 1 and entries[0].event.seq == seq + 1 and entries[0].event.session == self.session:
            return list(entries), seq + 1, True
        fresh: list[EncodedEvent] = []
        for entry in entries:
            if entry.event.session != self.session:
                fresh.append(entry)
            elif entry.event.seq == seq + 1:
                seq += 1
                fresh.append(entry)
            elif entry.event.seq > seq:
                return fresh, seq, False
        return fresh, seq, True

    def _last(self, batch: Sequence[EncodedEvent]) -> int:
        seqs = (entry.event.seq for entry in reversed(batch) if entry.event.session == self.session)
        return next(seqs, self.seq)
