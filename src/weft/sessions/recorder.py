"""Between the bus and those who listen: events are stored first, then handed out.

What has structure is stored at once, and deltas ride along; deltas alone wait for at most 50 ms. A message's end, the
message itself and its calls go into one transaction, so a log never holds half a turn. What cannot be stored is never
seen by anybody.
"""

import asyncio
from collections.abc import Callable, Mapping

from weft.agent.bus import EventBus
from weft.core.envelope import Event
from weft.core.events import ExchangeRequest
from weft.sessions.delegates import Delegates
from weft.sessions.errors import StoreError
from weft.sessions.faults import reach
from weft.sessions.lease import Lease
from weft.sessions.store import Store
from weft.sessions.title import title_of

DELAY = 0.05
"""Seconds that a delta may wait."""
_DELTAS = frozenset({"text_delta", "thinking_delta", "input_json_delta", "tool_output_delta", "file_preview"})

Then = Callable[[Exception | None], None]


class Recorder:
    """The sink of one session's bus. `attach` gives the blobs that belong to an event."""

    def __init__(
        self,
        store: Store,
        lease: Lease,
        bus: EventBus,
        *,
        titled: bool,
        attach: Callable[[Event], Mapping[str, bytes]],
        on_failure: Callable[[Exception], None],
        delegates: Delegates,
    ) -> None:
        self.error: Exception | None = None
        """Why nothing can be stored any more."""
        self._store = store
        self._lease = lease
        self._bus = bus
        self._attach = attach
        self._on_failure = on_failure
        self._delegates = delegates
        self._loop = asyncio.get_running_loop()
        self._pending: list[Event | Then] = []
        self._blobs: dict[str, dict[str, bytes]] = {}  # by session
        self._holds: dict[str, int] = {}  # by session, where a turn begins that is not whole yet
        self._titled, self._title = titled, ""
        self._soon = self._due = False
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    def take(self, event: Event) -> None:
        """The next event of the bus, or of an agent that works for the session."""
        if self.error is not None:
            return
        kind = event.type
        if kind == "message_stop":
            self._holds[event.session] = len(self._pending)
        elif kind in ("assistant_message", "exchange_response"):
            self._holds.pop(event.session, None)
        elif kind == "file_changed":
            self._blobs.setdefault(event.session, {}).update(self._attach(event))
        elif not self._titled and isinstance(event.data, ExchangeRequest) and event.session == self._lease.session:
            self._titled, self._title = True, title_of(event.data.message)
        self._pending.append(event)
        if kind not in _DELTAS:
            self._wake_soon()
        elif self._timer is None and not self._soon:
            self._timer = self._loop.call_later(DELAY, self._wake)

    def after(self, then: Then) -> None:
        """Call back when all that was taken so far is stored and handed out, or with why it will not be."""
        if self.error is not None or (not self._pending and self._task is None):
            then(self.error)
            return
        self._pending.append(then)
        self._wake_soon()

    async def flush(self) -> None:
        """Wait until all that was taken so far is stored and handed out. Raises why it cannot be."""
        done: asyncio.Future[None] = self._loop.create_future()

        def settle(error: Exception | None) -> None:
            if done.done():
                return
            if error is None:
                done.set_result(None)
            else:
                done.set_exception(error)

        self.after(settle)
        await done

    async def close(self) -> None:
        """Store what is left, if anything can be."""
        self._holds.clear()
        if self.error is None:
            await self.flush()

    def fail(self, error: Exception) -> None:
        """Nothing is stored from here on, and nothing handed out."""
        if self.error is not None:
            return
        self.error = (
            error
            if isinstance(error, StoreError)
            else StoreError(f"The session could not be stored ({type(error).__name__}); open it again.")
        )
        pending, self._pending = self._pending, []
        for item in pending:
            if not isinstance(item, Event):
                item(self.error)
        self._on_failure(self.error)

    def _wake_soon(self) -> None:
        if not self._soon:
            self._soon = True
            self._loop.call_soon(self._wake)  # with what the same moment still brings

    def _wake(self) -> None:
        self._soon, self._due = False, True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._task is None and self.error is None:
            self._task = self._loop.create_task(self._write())

    async def _write(self) -> None:
        try:
            while self._due and self.error is None:
                self._due = False
                await self._write_batch()
        except Exception as error:
            self.fail(error)
        finally:
            self._task = None

    async def _write_batch(self) -> None:
        end = min(self._holds.values()) if self._holds else len(self._pending)
        batch, self._pending = self._pending[:end], self._pending[end:]
        for session in self._holds:
            self._holds[session] -= end
        blobs, self._blobs = self._blobs, {}
        logs: dict[str, list[Event]] = {}
        for item in batch:
            if isinstance(item, Event):
                logs.setdefault(item.session, []).append(item)
        own = self._lease.session
        events = logs.pop(own, None)
        try:
            if self._title:
                await self._store.rename(self._lease.session, self._title, only_untitled=True)
                self._title = ""
            for session, log in logs.items():  # before what the session itself makes of their work
                await self._delegates.append(session, log, blobs.pop(session, {}))
            if events:
                await self._store.append(self._lease, events, blobs.get(own))
        except Exception:
            self._pending = batch + self._pending  # those who wait are told
            raise
        for item in batch:
            if isinstance(item, Event):
                self._bus.hand_out(item)
            else:
                item(self.error)
        if events:
            reach("release.after")
