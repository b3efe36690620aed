"""A session on a server as it is known here: folded from the events that came, in the order of its log."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from typing import Any, TypeVar
from weakref import WeakSet

from weft.agent.bus import EventBus
from weft.agent.reactors import Reactor, Subscription
from weft.agent.state import ConversationState
from weft.core.envelope import Event
from weft.core.errors import ConnectionFailed
from weft.core.events import (
    ApprovalRequested,
    ConversationDequeued,
    ConversationQueued,
    ExchangeRequest,
    ExchangeResponse,
    FileChanged,
    QuestionAsked,
    SessionRewound,
)
from weft.core.json import JsonObject
from weft.core.messages import Message
from weft.core.payload import Layer
from weft.remote.calls import Calls
from weft.remote.cursor import Cursor
from weft.remote.errors import EventsLost, ServerRefused, Unreachable
from weft.remote.exchange import RemoteExchange
from weft.remote.files import RemoteFiles
from weft.remote.pace import Pace, Patience
from weft.remote.record import ExchangeRecord

T = TypeVar("T")

_KEPT = 16
"""Exchanges that are over and may still be asked for."""
_log = logging.getLogger("weft.remote")


class Mirror:
    """What the line tells, kept in order: the conversation, its exchanges, and who waits for them."""

    def __init__(
        self,
        calls: Calls,
        session: str | None,
        settings: JsonObject,
        pace: Pace,
        on_pending: Callable[[ApprovalRequested | QuestionAsked], object],
    ) -> None:
        self.session = session
        self.bus = EventBus(session or "")
        self.cursor = Cursor()
        self.state = ConversationState()
        self._calls = calls
        self._settings = settings
        self._pace = pace
        self._on_pending = on_pending
        self._files = RemoteFiles(calls)
        self._is_joined = self._is_lost = self._is_stale = False
        self._from = 0  # the seq behind which all was heard
        self._joining: list[asyncio.Future[str]] = []
        self._asked: dict[str, list[RemoteExchange]] = {}  # by client_request_id, until the exchange has a name
        self._named: dict[str, list[RemoteExchange]] = {}
        self._records: dict[str, ExchangeRecord] = {}
        self._subscriptions: WeakSet[Subscription] = WeakSet()
        self._tasks: set[asyncio.Task[None]] = set()

    # --- joining -----------------------------------------------------------------------------------------------------

    async def joined(self) -> str:
        """The session's id, once there is one and its events are asked for."""
        if self._is_joined and self.session is not None:
            return self.session
        waiter: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._joining.append(waiter)
        return await waiter

    async def prepare(self) -> None:
        if self._is_joined:
            return
        if self.session is None:
            self._stand(*await self._calls.create(self._settings), [], [], {})
        else:
            await self._join(self.session)
        self._is_joined, self._is_lost = True, False
        joining, self._joining = self._joining, []
        for waiter in joining:
            if not waiter.done():
                waiter.set_result(self.cursor.session)

    async def _join(self, session: str) -> None:
        calls = self._calls
        try:
            told = await calls.conversation(session)
            running = await calls.running(session, told.seq)
            files = await calls.files(session)
        except ServerRefused as error:
            raise calls.no_session(session) if error.reason in ("not_found", "gone") else error from None
        if self._is_lost:
            self._lose()
        self._stand(session, told.seq, told.messages, running, files)

    def _stand(
        self, session: str, seq: int, messages: list[Message], running: list[Event], files: Mapping[str, int]
    ) -> None:
        """Begin behind an event, with what is known of all before it."""
        self.session = self.bus.session = session
        self.cursor.begin(session, seq)
        self._from, self._is_stale = seq, False
        self._files.begin(files)
        said = 0
        if running:
            record = self._record(running[0].exchange or "")
            record.begin(running)
            said = len(record.messages)
        self.state = ConversationState(history=messages[: len(messages) - said])
        for event in running:
            self.state.feed(event)
        self.state.seq = seq
        for waiting in (*self.state.approvals.values(), *self.state.questions.values()):
            self._on_pending(waiting)

    def rejoin(self) -> None:
        self._is_joined, self._is_lost = False, True

    def _lose(self) -> None:
        """The log behind the cursor is gone. Nobody gets a gap: who waits is told, who listens is let go."""
        error = EventsLost(self.cursor.session, self.cursor.seq)
        _log.warning("%s", error)
        named, self._named, self._records = self._named, {}, {}
        for exchange in (one for handles in named.values() for one in handles):
            exchange.fail(error)
        for subscription in list(self._subscriptions):
            subscription.dropped_at = self.cursor.seq + 1
            subscription.close()
        self._subscriptions.clear()

    def lost(self, error: Exception) -> None:
        joining, self._joining = self._joining, []
        for waiter in joining:
            if not waiter.done():
                waiter.set_exception(error)
        handles = [one for several in (*self._named.values(), *self._asked.values()) for one in several]
        self._named, self._asked, self._records = {}, {}, {}
        for exchange in handles:
            if not exchange.is_over:
                exchange.fail(error)

    def way_back(self) -> str:
        if self.session is None:
            return "start it, or check the address."
        return f"what runs there goes on: pick it up with connect(…, session={self.session!r})."

    # --- hearing -----------------------------------------------------------------------------------------------------

    def subscribe(
        self, reactor: Reactor, types: Collection[str] | None, layers: Collection[Layer] | None, queue: int
    ) -> Subscription:
        subscription = self.bus.subscribe(reactor, types=types, layers=layers, queue=queue)
        self._subscriptions.add(subscription)
        return subscription

    def hear(self, event: Event) -> None:
        """The next event of the log, or one of an agent that works for this one."""
        if event.session != self.cursor.session:
            self.bus.hand_out(event)
            return
        self.state.feed(event)
        self._before(event)
        record = self._records.get(event.exchange or "")
        if record is not None:
            record.feed(event)
        self.bus.hand_out(event)
        if isinstance(event.data, ExchangeResponse):
            self._ended(event.exchange or "")
        elif isinstance(event.data, ConversationDequeued):
            self._record(event.data.request).drop()
            self._ended(event.data.request)

    def _before(self, event: Event) -> None:
        """What must be known when others hear of it."""
        match event.data:
            case ExchangeRequest(client_request_id=request):
                self._record(event.exchange or "")
                self._name(request, event.exchange or "")
            case ConversationQueued(request=exchange, client_request_id=request):
                self._name(request, exchange)
            case FileChanged():
                self._files.changed(event.data)
            case SessionRewound(seq=seq) if seq < self._from:
                self._is_stale = True
                self.later(self._reread())
            case _:
                pass

    def _record(self, exchange: str) -> ExchangeRecord:
        return self._records.setdefault(exchange, ExchangeRecord(exchange))

    # --- exchanges ---------------------------------------------------------------------------------------------------

    def expect(self, exchange: RemoteExchange) -> None:
        """Somebody is about to ask."""
        self._asked.setdefault(exchange.request, []).append(exchange)

    def forget(self, exchange: RemoteExchange) -> None:
        handles = [other for other in self._asked.pop(exchange.request, []) if other is not exchange]
        if handles:
            self._asked[exchange.request] = handles

    def answered(self, exchange: RemoteExchange, name: str, state: str) -> None:
        """The server has stored the request."""
        self.forget(exchange)
        if not exchange.id:
            self._give_name(exchange, name)
        if state in ("repeated", "steered"):
            self.recall(name)

    def current(self, handle: Callable[[], RemoteExchange]) -> RemoteExchange | None:
        """The exchange that runs, whoever asked for it."""
        name = self.state.exchange
        if name is None:
            return None
        if name not in self._named:
            self._give_name(handle(), name)
            self.recall(name)
        return self._named[name][0]

    def waiting(self) -> RemoteExchange | None:
        """One that was asked for here and has not begun."""
        return next((one for handles in self._asked.values() for one in handles if not one.is_over), None)

    def handle_of(self, name: str) -> RemoteExchange | None:
        """Whoever waits here for an exchange."""
        return next(iter(self._named.get(name, [])), None)

    def recall(self, name: str) -> None:
        """Know an exchange whose beginning was not heard, or which is long over."""
        record = self._records.get(name)
        if record is None:
            self._records[name] = record = ExchangeRecord(name)
            self.later(self._read(record, self.cursor.seq))
        elif record.response is not None:
            self._ended(name)

    async def _read(self, record: ExchangeRecord, upto: int) -> None:
        try:
            session = self.cursor.session
            record.begin(await self.patiently(lambda: self._calls.log_of(session, record.exchange, upto)))
        except Exception as error:
            for exchange in self._named.pop(record.exchange, []):
                exchange.fail(error)
            raise
        if record.response is not None:
            self._ended(record.exchange)

    def _name(self, request: str | None, name: str) -> None:
        for exchange in self._asked.pop(request or "", []):
            self._give_name(exchange, name)

    def _give_name(self, exchange: RemoteExchange, name: str) -> None:
        self._named.setdefault(name, []).append(exchange)
        exchange.name(name)

    def _ended(self, name: str) -> None:
        """It is over, and all of it has been handed out."""
        if self._is_stale:
            self.later(self._reread())
        record = self._records.get(name)
        if record is None or record.response is None:
            return
        handles = self._named.pop(name, [])
        for exchange in handles:
            exchange.tell()
        if handles:
            self.later(self._finish(record, handles, self._files.now()))
        over = [known for known, kept in self._records.items() if kept.response is not None]
        for old in over[:-_KEPT]:
            del self._records[old]

    async def _finish(
        self, record: ExchangeRecord, handles: list[RemoteExchange], files: list[tuple[str, int]]
    ) -> None:
        session = self.cursor.session
        try:
            result = record.result(await self.patiently(lambda: self._files.texts(session, files)))
        except BaseException as error:
            for exchange in handles:
                exchange.fail(error if isinstance(error, Exception) else self.closed())
            raise
        for exchange in handles:
            exchange.settle(result)

    async def _reread(self) -> None:
        """The conversation as the server has it, where the events that came do not tell all of it."""
        if not self._is_stale:
            return
        session = self.cursor.session
        told = await self.patiently(lambda: self._calls.conversation(session))
        if self.state.exchange is None and told.seq == self.cursor.seq:
            self._from, self._is_stale = told.seq, False
            self.state = _reseeded(self.state, told.messages)

    async def patiently(self, call: Callable[[], Awaitable[T]]) -> T:
        patience = Patience(self._pace)
        while True:
            try:
                return await call()
            except Unreachable as fault:
                await patience.wait(str(self._calls.address), fault, goes_on=self.way_back())

    # --- tasks -------------------------------------------------------------------------------------------------------

    def later(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.warning("Something about %s could not be learned: %s", self.session, error)

    def closed(self) -> ConnectionFailed:
        return ConnectionFailed(f"The client was closed; {self.way_back()}")

    async def close(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        self.lost(self.closed())
        await self.bus.close()


def _reseeded(state: ConversationState, messages: Sequence[Message]) -> ConversationState:
    """The state with another conversation before it."""
    fresh = ConversationState(seq=state.seq, history=messages)
    for name in ("status", "tools", "files", "approvals", "questions", "turns", "usage", "cost", "error"):
        setattr(fresh, name, getattr(state, name))
    return fresh
