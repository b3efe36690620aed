"""Mirrors a session of a server: the state is folded from its events."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar
from weakref import WeakSet

from heald.agent.bus import EventBus
from heald.agent.reactors import Subscription
from heald.agent.state import ConversationState
from heald.core.envelope import Event
from heald.core.errors import ConnectionFailed
from heald.core.events import (
    ApprovalRequested,
    ClientToolRequested,
    ConversationDequeued,
    ConversationQueued,
    ExchangeRequest,
    ExchangeResponse,
    FileChanged,
    QuestionAsked,
    SessionRewound,
)
from heald.core.json import JsonObject
from heald.core.messages import Message
from heald_server.client.errors import ConnectionLost, EventsLost, ServerRefused
from heald_server.client.event_cursor import EventCursor
from heald_server.client.exchange import RemoteExchange
from heald_server.client.exchange_record import ExchangeRecord
from heald_server.client.remote_files import RemoteFiles
from heald_server.client.rest import RestClient
from heald_server.client.timing import Backoff, Timing

T = TypeVar("T")

_KEPT_EXCHANGES = 16
"""Finished exchanges whose results are kept for later requests."""
_log = logging.getLogger("heald_server.client")


class SessionMirror:
    """The state of a session on a server: the conversation, its exchanges, and the handles that wait for them."""

    def __init__(
        self,
        rest: RestClient,
        session: str | None,
        settings: JsonObject,
        timing: Timing,
        on_pending: Callable[[ApprovalRequested | QuestionAsked | ClientToolRequested], object],
        client_tools: Sequence[JsonObject] = (),
    ) -> None:
        self.session = session
        self.bus = EventBus(session or "")
        self.cursor = EventCursor()
        self.state = ConversationState()
        self._rest = rest
        self._settings = settings
        self._timing = timing
        self._on_pending = on_pending
        self._client_tools = client_tools  # offered to a session that exists already
        self._files = RemoteFiles(rest)
        self.is_joined = self._is_lost = self._is_stale = False
        self._start_seq = 0  # every event after this seq was received
        self._joining: list[asyncio.Future[str]] = []
        self._pending: dict[str, list[RemoteExchange[Any]]] = {}  # by client_request_id, until the exchange has an id
        self._handles: dict[str, list[RemoteExchange[Any]]] = {}
        self._records: dict[str, ExchangeRecord] = {}
        self.subscriptions: WeakSet[Subscription] = WeakSet()
        self._tasks: set[asyncio.Task[None]] = set()

    # --- joining -----------------------------------------------------------------------------------------------------

    async def joined(self) -> str:
        """Wait until the session is joined. Returns its id."""
        if self.is_joined and self.session is not None:
            return self.session
        waiter: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._joining.append(waiter)
        return await waiter

    async def prepare(self) -> None:
        """Create or join the session and set the cursor. Raises ConnectionLost if it must be called once more."""
        if self.is_joined:
            return
        if self.session is None:
            self._start_at(*await self._rest.create(self._settings), [], [], {})
        else:
            await self._join(self.session)
        self.is_joined, self._is_lost = True, False
        joining, self._joining = self._joining, []
        for waiter in joining:
            if not waiter.done():
                waiter.set_result(self.cursor.session)

    async def _join(self, session: str) -> None:
        rest = self._rest
        try:
            if self._client_tools:
                await rest.set_client_tools(session, self._client_tools)
            conversation = await rest.conversation(session)
            running = await rest.running_exchange(session, conversation.seq)
            files = await rest.files(session)
        except ServerRefused as error:
            raise rest.no_session(session) if error.reason in ("not_found", "gone") else error from None
        if self._is_lost:
            self._drop_readers()
        self._start_at(session, conversation.seq, conversation.messages, running, files)

    def _start_at(
        self, session: str, seq: int, messages: list[Message], running: list[Event], files: Mapping[str, int]
    ) -> None:
        """Start after an event, with the state of the session at that event."""
        self.session = self.bus.session = session
        self.cursor.begin(session, seq)
        self._start_seq, self._is_stale = seq, False
        self._files.begin(files)
        count = 0
        if running:
            record = self._record(running[0].exchange or "")
            record.begin(running)
            count = len(record.messages)
        self.state = ConversationState(history=messages[: len(messages) - count])
        for event in running:
            self.state.feed(event)
        self.state.seq = seq
        state = self.state
        for waiting in (*state.approvals.values(), *state.questions.values(), *state.client_calls.values()):
            self._on_pending(waiting)

    def on_reset(self) -> None:
        """Mark the received log as lost: the server no longer has it. `prepare` rejoins the session."""
        self.is_joined, self._is_lost = False, True

    def _drop_readers(self) -> None:
        """Fail waiting exchanges and drop reactors before the gap: the log after the cursor is lost."""
        error = EventsLost(self.cursor.session, self.cursor.seq)
        _log.warning("%s", error)
        named, self._handles, self._records = self._handles, {}, {}
        for exchange in (handle for handles in named.values() for handle in handles):
            exchange.fail(error)
        for subscription in list(self.subscriptions):
            subscription.dropped_at = self.cursor.seq + 1
            subscription.close()
        self.subscriptions.clear()

    def on_lost(self, error: Exception) -> None:
        """Handle the final end of the connection."""
        joining, self._joining = self._joining, []
        for waiter in joining:
            if not waiter.done():
                waiter.set_exception(error)
        handles = [handle for group in (*self._handles.values(), *self._pending.values()) for handle in group]
        self._handles, self._pending, self._records = {}, {}, {}
        for exchange in handles:
            if not exchange.is_over:
                exchange.fail(error)

    def recovery_hint(self) -> str:
        """Return the end of a sentence on what to do when the server is back."""
        if self.session is None:
            return "start it, or check the address."
        return f"what runs there goes on: pick it up with connect(…, session={self.session!r})."

    # --- events ------------------------------------------------------------------------------------------------------

    def on_event(self, event: Event) -> None:
        """Apply and deliver the next event of the log, or of an agent that works for the session."""
        if event.session != self.cursor.session:
            self.bus.dispatch(event)
            return
        self.state.feed(event)
        self._update_state(event)
        record = self._records.get(event.exchange or "")
        if record is not None:
            record.feed(event)
        self.bus.dispatch(event)
        if isinstance(event.data, ExchangeResponse):
            self._ended(event.exchange or "")
        elif isinstance(event.data, ConversationDequeued):
            self._record(event.data.request).drop()
            self._ended(event.data.request)

    def _update_state(self, event: Event) -> None:
        """Update the state that must be known before the event is delivered."""
        match event.data:
            case ExchangeRequest(client_request_id=request):
                self._record(event.exchange or "")
                self._assign_ids(request, event.exchange or "")
            case ConversationQueued(request=exchange, client_request_id=request):
                self._assign_ids(request, exchange)
            case FileChanged():
                self._files.changed(event.data)
            case SessionRewound(seq=seq) if seq < self._start_seq:
                self._is_stale = True
                self.start_task(self._reread())
            case _:
                pass

    def _record(self, exchange: str) -> ExchangeRecord:
        return self._records.setdefault(exchange, ExchangeRecord(exchange))

    # --- exchanges ---------------------------------------------------------------------------------------------------

    def add_pending(self, exchange: RemoteExchange[Any]) -> None:
        """Add a request that is about to be sent."""
        self._pending.setdefault(exchange.request, []).append(exchange)

    def remove_pending(self, exchange: RemoteExchange[Any]) -> None:
        handles = [other for other in self._pending.pop(exchange.request, []) if other is not exchange]
        if handles:
            self._pending[exchange.request] = handles

    def on_accepted(self, exchange: RemoteExchange[Any], name: str, state: str) -> None:
        """Record that the server has accepted a request."""
        self.remove_pending(exchange)
        if not exchange.id:
            self._assign_id(exchange, name)
        if state in ("repeated", "steered"):
            self.load_exchange(name)

    def current(self, handle: Callable[[], RemoteExchange[Any]]) -> RemoteExchange[Any] | None:
        """Return the running exchange, of this client or of another one."""
        name = self.state.exchange
        if name is None:
            return None
        if name not in self._handles:
            self._assign_id(handle(), name)
            self.load_exchange(name)
        return self._handles[name][0]

    def pending_exchange(self) -> RemoteExchange[Any] | None:
        """Return a request of this client that the server has not accepted yet."""
        return next((handle for handles in self._pending.values() for handle in handles if not handle.is_over), None)

    def find_exchange(self, name: str) -> RemoteExchange[Any] | None:
        """Return a handle of an exchange, if this client has one."""
        return next(iter(self._handles.get(name, [])), None)

    def load_exchange(self, name: str) -> None:
        """Read an exchange whose beginning was not received, or which is over."""
        record = self._records.get(name)
        if record is None:
            self._records[name] = record = ExchangeRecord(name)
            self.start_task(self._read(record, self.cursor.seq))
        elif record.response is not None:
            self._ended(name)

    async def _read(self, record: ExchangeRecord, upto: int) -> None:
        try:
            session = self.cursor.session
            record.begin(await self.retry(lambda: self._rest.exchange_events(session, record.exchange, upto)))
        except Exception as error:
            for exchange in self._handles.pop(record.exchange, []):
                exchange.fail(error)
            raise
        if record.response is not None:
            self._ended(record.exchange)

    def _assign_ids(self, request: str | None, name: str) -> None:
        for exchange in self._pending.pop(request or "", []):
            self._assign_id(exchange, name)

    def _assign_id(self, exchange: RemoteExchange[Any], name: str) -> None:
        self._handles.setdefault(name, []).append(exchange)
        exchange.set_id(name)

    def _ended(self, name: str) -> None:
        """End an exchange whose events were all delivered."""
        if self._is_stale:
            self.start_task(self._reread())
        record = self._records.get(name)
        if record is None or record.response is None:
            return
        handles = self._handles.pop(name, [])
        for exchange in handles:
            exchange.mark_delivered()
        if handles:
            self.start_task(self._finish(record, handles, self._files.now()))
        over = [exchange_id for exchange_id, record in self._records.items() if record.response is not None]
        for old in over[:-_KEPT_EXCHANGES]:
            del self._records[old]

    async def _finish(
        self, record: ExchangeRecord, handles: list[RemoteExchange[Any]], files: list[tuple[str, int]]
    ) -> None:
        session = self.cursor.session
        try:
            result = record.result(await self.retry(lambda: self._files.texts(session, files)))
        except BaseException as error:
            for exchange in handles:
                exchange.fail(error if isinstance(error, Exception) else self.closed())
            raise
        for exchange in handles:
            exchange.resolve(result)

    async def _reread(self) -> None:
        """Read the conversation from the server, after a rewind to before the received events."""
        if not self._is_stale:
            return
        session = self.cursor.session
        conversation = await self.retry(lambda: self._rest.conversation(session))
        if self.state.exchange is None and conversation.seq == self.cursor.seq:
            self._start_seq, self._is_stale = conversation.seq, False
            self.state = _reseeded(self.state, conversation.messages)

    async def retry(self, call: Callable[[], Awaitable[T]]) -> T:
        backoff = Backoff(self._timing)
        while True:
            try:
                return await call()
            except ConnectionLost as fault:
                await backoff.wait(str(self._rest.address), fault, goes_on=self.recovery_hint())

    # --- tasks -------------------------------------------------------------------------------------------------------

    def start_task(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.warning("A request of the client of %s failed: %s", self.session, error)

    def closed(self) -> ConnectionFailed:
        return ConnectionFailed(f"The client was closed; {self.recovery_hint()}")

    async def close(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        self.on_lost(self.closed())
        await self.bus.close()


def _reseeded(state: ConversationState, messages: Sequence[Message]) -> ConversationState:
    """Copy the state, with another conversation before it."""
    fresh = ConversationState(seq=state.seq, history=messages)
    live = ("status", "tools", "files", "approvals", "questions", "client_calls")
    for name in (*live, "turns", "usage", "cost_usd", "error"):
        setattr(fresh, name, getattr(state, name))
    return fresh
