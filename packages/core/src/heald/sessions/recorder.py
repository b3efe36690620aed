"""Stores each event before any reactor sees it.

An event with structure is stored at once, together with the deltas before it. So is the first delta of a block, if
somebody watches. Other deltas alone are stored at once if somebody watches, with a pause between commits where the loop
or the store is busy, else every 50 ms; those that come during a commit are stored by the next one. The end of a
message, the message itself and its calls go into one transaction, so a log never holds half a turn. An event that
cannot be stored is never delivered.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import cast

from heald.agent.bus import EventBus, OnDelivered
from heald.core.envelope import Event, is_event
from heald.core.events import ExchangeRequest
from heald.sessions.commit_clock import clock_of
from heald.sessions.delegate_logs import DelegateLogs
from heald.sessions.leases import Lease
from heald.sessions.store import EncodedEvents, Store, as_submit_store, as_watched_store
from heald.sessions.store_errors import StoreError
from heald.sessions.titles import make_title
from heald.sessions.work import WORK_EVENTS, Work, WorkTracker

DELAY = 0.05
"""Seconds that a delta waits if nobody watches."""
_DELTAS = frozenset({"text_delta", "thinking_delta", "input_json_delta", "tool_output_delta", "file_preview"})

_BLOCK_STARTS = frozenset({"text_content_block_start", "thinking_content_block_start"})

OnStored = Callable[[Event, bytes | None], object]
"""Called with each stored event and its JSON, if the store has encoded it."""


class EventRecorder:
    """The sink of a session's bus. `attach` returns the blobs that belong to an event."""

    def __init__(
        self,
        store: Store,
        lease: Lease,
        bus: EventBus,
        *,
        titled: bool,
        attach: Callable[[Event], Mapping[str, bytes]],
        on_failure: Callable[[Exception], None],
        delegates: DelegateLogs,
        work: WorkTracker | None = None,
    ) -> None:
        self.error: Exception | None = None
        """The reason why nothing can be stored any more."""
        self._listeners: list[OnStored] = []
        self._on_batch: list[Callable[[], object]] = []
        self._watchers: list[Callable[[], bool]] = []
        self._store = store
        self._lease = lease
        self._bus = bus
        self._attach = attach
        self._on_failure = on_failure
        self._delegates = delegates
        self._work = work or WorkTracker()
        self._loop = asyncio.get_running_loop()
        self._pending: list[Event | OnDelivered] = []
        self._blobs: dict[str, dict[str, bytes]] = {}  # by session
        self._holds: dict[str, int] = {}  # by session, where an incomplete turn begins in `_pending`
        self._titled, self._title = titled, ""
        self._wake_scheduled = self._ticks = self._due = False
        self._is_delayed = False
        self._is_direct = False  # a delta of this moment is stored at its end
        self._is_delivering = False
        self._clock = clock_of(self._loop)
        self._task: asyncio.Task[None] | None = None
        self._submits = as_submit_store(store)
        if (watched := as_watched_store(store)) is not None:
            self._watchers.append(partial(watched.is_read_elsewhere, lease.session))
        self._has_deltas_only = True
        self._has_delegates = False  # events of other sessions wait
        self._begins_block = False  # the next delta is the first one of its block
        self._is_counted = False  # an append is part of the load of the clock
        self._submitted: list[Event | OnDelivered] = []  # what is being stored without a task

    def on_stored(
        self, callback: OnStored, is_watched: Callable[[], bool], on_batch: Callable[[], object] | None = None
    ) -> None:
        """Call back with each stored event, and with `on_batch` after those that were stored together. Deltas are
        stored without delay while `is_watched` returns True."""
        self._listeners.append(callback)
        self._watchers.append(is_watched)
        if on_batch is not None:
            self._on_batch.append(on_batch)

    def record(self, event: Event) -> None:
        """Queue an event of the bus, or of an agent that works for the session."""
        if self.error is not None:
            return
        kind = event.type
        if kind == "message_stop":
            self._holds[event.session] = len(self._pending)
        elif kind in ("assistant_message", "exchange_response"):
            self._holds.pop(event.session, None)
        elif kind in ("file_changed", "tool_result"):
            self._blobs.setdefault(event.session, {}).update(self._attach(event))
        elif not self._titled and isinstance(event.data, ExchangeRequest) and event.session == self._lease.session:
            self._titled, self._title = True, make_title(event.data.message)
        self._pending.append(event)
        if event.session != self._lease.session:
            self._has_delegates = True
        if kind not in _DELTAS:
            self._has_deltas_only = False
            self._begins_block = self._begins_block or kind in _BLOCK_STARTS
            self._schedule_wake()
            return
        is_first, self._begins_block = self._begins_block, False
        if is_first and self._is_watched(kind):
            self._schedule_wake()
        elif not self._is_delayed and not self._wake_scheduled and not self._is_direct:
            self._schedule_delta(event)

    def end_moment(self) -> None:
        """Store the deltas of a moment that need not wait."""
        if not self._is_direct:
            return
        self._is_direct = False
        if self._is_delivering:  # those before them come first
            self._schedule_wake()
        elif not self._wake_scheduled:
            self._wake()

    def call_when_delivered(self, callback: OnDelivered) -> None:
        """Call back when every recorded event is stored and delivered, or with the reason why that will not happen."""
        if self.error is not None or not (self._pending or self._is_storing):
            callback(self.error)
            return
        self._pending.append(callback)
        self._has_deltas_only = False
        self._schedule_wake()

    async def flush(self) -> None:
        """Wait until every recorded event is stored and delivered. Raises the error of the store."""
        done: asyncio.Future[None] = self._loop.create_future()

        def resolve(error: Exception | None) -> None:
            if done.done():
                return
            if error is None:
                done.set_result(None)
            else:
                done.set_exception(error)

        self.call_when_delivered(resolve)
        await done

    async def close(self) -> None:
        """Store the remaining events, if that is possible."""
        self._holds.clear()
        if self.error is None:
            await self.flush()

    def fail(self, error: Exception) -> None:
        """Stop storing and delivering."""
        if self.error is not None:
            return
        self.error = (
            error
            if isinstance(error, StoreError)
            else StoreError(f"The session could not be stored ({type(error).__name__}); open it again.")
        )
        pending = [*self._submitted, *self._pending]
        self._submitted, self._pending = [], []
        for item in pending:
            if not is_event(item):
                item(self.error)
        self._on_failure(self.error)

    def _schedule_delta(self, event: Event) -> None:
        if self._ticks:
            return
        if not self._is_watched(event.type):
            self._is_delayed = True
            self._clock.add_unwatched(self._loop, self._wake, DELAY)
        elif event.session == self._lease.session and self._clock.is_idle(self._loop):
            self._is_direct = True
        else:
            self._ticks = True
            self._clock.add(self._loop, self._tick)

    def _tick(self) -> None:
        self._ticks = False
        if self._pending:  # an event with structure may have stored them meanwhile
            self._wake()

    def _is_watched(self, kind: str) -> bool:
        handlers = self._bus.table.get(kind)
        if handlers is None:
            handlers = self._bus.find_handlers(kind)
        if handlers:
            return True
        for is_watched in self._watchers:  # noqa: SIM110  `any` is two calls more, for each delta
            if is_watched():
                return True
        return False

    def _schedule_wake(self) -> None:
        if not self._wake_scheduled:
            self._wake_scheduled = True
            self._loop.call_soon(self._wake)  # events of the same moment join the batch

    @property
    def _is_storing(self) -> bool:
        return self._task is not None or bool(self._submitted)

    def _wake(self) -> None:
        self._wake_scheduled, self._due = False, True
        if self._is_delayed:
            self._is_delayed = False
            self._clock.remove_unwatched(self._wake)
        if self.error is None and self._task is None and not self._submitted:
            self._store_pending()

    def _store_pending(self) -> None:
        """Store what waits: events of the session alone without a task, where the store can do that."""
        if self._submits is None or self._has_delegates:
            self._begin_load()
            self._task = self._loop.create_task(self._write())
            return
        self._due = False
        has_structure = not self._has_deltas_only
        batch = self._split_batch()
        events = [item for item in batch if is_event(item)] if has_structure else cast("list[Event]", batch)
        if not events:
            self._deliver(batch, {})
            return
        title, self._title = self._title, ""
        self._submitted = batch
        self._submits.submit_events(
            self._lease,
            events,
            self._on_submitted,
            blobs=self._blobs.pop(self._lease.session, None) if self._blobs else None,
            work=self._feed_work(events) if has_structure else None,
            title=title,
        )
        if self._submitted is batch:  # it is not stored yet: the journal stores at once
            self._begin_load()

    def _begin_load(self) -> None:
        self._is_counted = True
        self._clock.load.begin_store(self._loop.time())

    def _end_load(self) -> None:
        if self._is_counted:
            self._is_counted = False
            self._clock.load.end_store(self._loop.time())

    def _on_submitted(self, encoded: EncodedEvents, error: Exception | None) -> None:
        """Deliver what is stored. Called once more if the store loses its place in the log."""
        if self._is_counted:
            self._end_load()
        if self.error is not None:
            return
        if error is not None:
            self.fail(error)
            return
        submitted, self._submitted = self._submitted, []
        try:
            self._deliver(submitted, {self._lease.session: encoded})
        except Exception as failure:
            self.fail(failure)
            return
        if self._due and self.error is None:
            self._store_pending()

    def _split_batch(self) -> list[Event | OnDelivered]:
        """Return what may be stored now: all that waits, but for incomplete turns and what follows them."""
        if not self._holds:
            batch, self._pending = self._pending, []
            self._has_deltas_only, self._has_delegates = True, False
            return batch
        end = min(self._holds.values())
        batch, self._pending = self._pending[:end], self._pending[end:]
        self._has_deltas_only = not self._pending
        self._has_delegates = any(is_event(item) and item.session != self._lease.session for item in self._pending)
        for session in self._holds:
            self._holds[session] -= end
        return batch

    def _feed_work(self, events: Sequence[Event]) -> Work:
        """Return the work of the session after these events of it."""
        for event in events:
            if event.type in WORK_EVENTS:
                self._work.feed(event)
        return self._work.work

    async def _write(self) -> None:
        try:
            while self._due and self.error is None:
                self._due = False
                await self._write_batch()
        except Exception as error:
            self.fail(error)
        finally:
            self._end_load()
            self._task = None

    async def _write_batch(self) -> None:
        batch = self._split_batch()
        blobs, self._blobs = self._blobs, {}
        logs: dict[str, list[Event]] = {}
        for item in batch:
            if is_event(item):
                logs.setdefault(item.session, []).append(item)
        self._feed_work(logs.get(self._lease.session, ()))
        try:
            encoded = await self._store_logs(logs, blobs)
        except Exception:
            self._pending = batch + self._pending  # `fail` calls the callbacks among them
            self._has_deltas_only = False
            raise
        self._deliver(batch, encoded)

    @property
    def work(self) -> Work:
        """The work of the session after the events that are stored."""
        return self._work.work

    async def _store_logs(
        self, logs: dict[str, list[Event]], blobs: dict[str, dict[str, bytes]]
    ) -> dict[str, EncodedEvents]:
        session_id = self._lease.session
        encoded: dict[str, EncodedEvents] = {}
        for session, log in logs.items():  # delegates first: the session's own events build on their work
            if session != session_id:
                encoded[session] = await self._delegates.append(session, log, blobs.get(session, {}))
        if session_id in logs:
            append = self._store.append(self._lease, logs[session_id], blobs.get(session_id), work=self._work.work)
            encoded[session_id] = await (self._append_with_title(append) if self._title else append)
        return encoded

    async def _append_with_title(self, append: Awaitable[EncodedEvents]) -> EncodedEvents:
        """Store the title beside the first events: jobs that come together share a transaction."""
        title, self._title = self._title, ""
        _, encoded = await asyncio.gather(self._store.rename(self._lease.session, title, only_untitled=True), append)
        return encoded

    def _deliver(self, batch: Sequence[Event | OnDelivered], encoded: Mapping[str, EncodedEvents]) -> None:
        dispatch, listeners = self._bus.dispatch, self._listeners
        bodies = {session: iter(body) for session, body in encoded.items() if body is not None}
        self._is_delivering = True
        try:
            for item in batch:
                if not is_event(item):
                    item(self.error)
                    continue
                dispatch(item)
                following = bodies.get(item.session)
                body = next(following) if following is not None else None
                for listener in listeners:
                    listener(item, body)
            for on_batch in self._on_batch:
                on_batch()
        finally:
            self._is_delivering = False
