"""Forks a session: the log up to an event, and then what the change makes of it.

The fork ends with `session_forked` and the facts that differ. No model is asked: whoever opens the fork continues its
exchange, or starts the request that waits in it.
"""

from collections.abc import Collection, Iterator, Sequence

import msgspec

from heald.agent.bus import EventBus
from heald.core.envelope import Event
from heald.core.errors import HealdError
from heald.core.events import (
    ApprovalResolved,
    CancelRequested,
    ConversationDequeued,
    ConversationQueued,
    SessionForked,
    SessionResumed,
    ToolCompleted,
    ToolExecuting,
    ToolFailed,
    tool_use_result,
)
from heald.core.ids import new_id
from heald.core.messages import ToolCall, ToolResult
from heald.core.payload import Payload
from heald.sessions.fork_change import ForkChange
from heald.sessions.fork_point import ForkPoint, call_of, find_fork_point
from heald.sessions.history import SessionHistory
from heald.sessions.leases import Lease
from heald.sessions.session_copies import SessionCopies
from heald.sessions.session_info import SessionInfo
from heald.sessions.settings import SessionSettings
from heald.sessions.store import Store, iterate_events
from heald.sessions.unfinished_exchange import UnfinishedExchange
from heald.sessions.work import WorkTracker
from heald.tools.summaries import result_summary

_NOT_WAITING = "The session was forked without what waited."
_STATED = "The result was given by the fork."


async def fork_session(
    store: Store, session: str, at: int | None, *, title: str | None, change: ForkChange | None, by: str
) -> SessionInfo:
    """Create a fork of a session at an event, the last one by default. See `Sessions.fork`."""
    info = await store.info(session)
    at = info.last_seq if at is None else at
    if not 0 <= at <= info.last_seq:
        raise HealdError(f"The log has the events 1 to {info.last_seq}; there is no {at} to fork at.")
    point = await (
        _last_whole_event(store, session, at) if change is None else find_fork_point(store, session, at, change)
    )
    stored = SessionSettings.of(info.settings)
    dropped = [(after, min(upto, point.seq)) for after, upto in stored.dropped if after < point.seq]
    model = change.model if change is not None and isinstance(change.model, str) else stored.model
    fork = SessionInfo(
        id=new_id("ses"),
        owner=info.owner,
        kind=info.kind,
        title=title if title is not None else info.title,
        parent=session,
        parent_seq=point.seq,
        epoch=info.epoch,
        settings=msgspec.structs.replace(stored, model=model, dropped=dropped, always=[]).data(),
    )
    delegates = [delegate for delegate in await store.delegates(session) if delegate.cause in point.started]
    copies = SessionCopies(store)
    changed = ChangedEnd(store, session, point, change, by) if change is not None else None
    await copies.create(fork, copies.read_log(session, point.seq, stored.files), delegates, finish_log=changed)
    return await store.info(fork.id)


async def _last_whole_event(store: Store, session: str, at: int) -> ForkPoint:
    """Return the last event up to `at` that is not inside the end of a turn."""
    unfinished = UnfinishedExchange()
    started: dict[str, int] = {}
    async for event in iterate_events(store, session, upto=at):
        unfinished.feed(event)
        if isinstance(event.data, ToolExecuting):
            started.setdefault(event.data.id, event.seq)
    seq = unfinished.last_whole_seq
    return ForkPoint(seq, [call for call, began in started.items() if began <= seq])


class ChangedEnd:
    """Writes the end of the log of a fork: what differs, and what has happened at the same time."""

    def __init__(self, store: Store, source: str, point: ForkPoint, change: ForkChange, by: str) -> None:
        self._store = store
        self._source = source
        self._point = point
        self._change = change
        self._by = by

    async def __call__(self, lease: Lease, history: SessionHistory) -> None:
        events: list[Event] = []
        point, change, unfinished = self._point, self._change, history.unfinished
        running = await self._running_calls(unfinished)
        bus = EventBus(lease.session, seq=history.seq, epoch=lease.epoch)
        bus.subscribe(events.append)
        call = point.call.id if point.call is not None else None
        bus.publish(SessionForked(self._source, point.seq, change.changed, call, change.model_name, self._by))
        bus.publish_all(ConversationDequeued(queued.request, _NOT_WAITING) for queued in history.waiting)
        if (message := change.message()) is not None:
            request = point.request
            queued = ConversationQueued(1, new_id("ex"), message)
            if request is not None:
                queued = msgspec.structs.replace(
                    queued, cause=request.cause, output_schema=request.output_schema, budget=request.budget
                )
            bus.publish(queued)
        bus.exchange = unfinished.exchange
        bus.publish_all(running)
        ended = {payload.id for payload in running if isinstance(payload, ToolResult)}
        bus.publish_all(list(self._changed_payloads(unfinished, ended)))
        tracker = WorkTracker(unfinished.exchange, [queued.request for queued in history.waiting])
        for event in events:
            tracker.feed(event)
        await SessionCopies(self._store).copy_contents(self._source, lease.session, running)
        await self._store.append(lease, events, work=tracker.work)

    def _changed_payloads(self, unfinished: UnfinishedExchange, ended: Collection[str]) -> Iterator[Payload]:
        """Yield the changed result, or the changed decision. `ended` are the calls that have ended by themselves."""
        point, call = self._point, self._point.call
        if call is None:
            return
        result, decision = self._change.tool_result(call), self._change.decision()
        if decision is not None:
            verdict = "allowed" if decision.allowed else "denied"
            yield ApprovalResolved(
                point.approval,
                call.id,
                verdict,
                decision.reason,
                decision.arguments,
                decision.always,
                decision.by or self._by,
            )
        if result is None:
            return
        if point.approval:
            yield ApprovalResolved(point.approval, call.id, "allowed", _STATED, by=self._by)
        yield from unfinished.close_calls_of(call.id, ended, "The session was forked")
        yield from unfinished.reset_preview(call.id)
        summary = result_summary(result)
        if result.status == "ok":
            yield ToolCompleted(call.id, call.name, 0.0, summary)
        else:
            yield ToolFailed(call.id, call.name, result.status, 0.0, summary)
        yield result
        if (use := tool_use_result(call, result)) is not None:
            yield use

    async def _running_calls(self, unfinished: UnfinishedExchange) -> Sequence[Payload]:
        """Return the further events of the calls that ran at the fork point and have ended by themselves since: what
        they did has happened for the fork too."""
        changed = self._point.call.id if self._point.call is not None else None
        payloads: dict[str, list[Payload]] = {
            name: [] for name, call in unfinished.calls.items() if (call.started or call.is_inner) and name != changed
        }
        ended: list[str] = []
        if not payloads:
            return []
        async for event in iterate_events(self._store, self._source, after=self._point.seq):
            payload = event.data
            if isinstance(payload, CancelRequested | SessionResumed):
                break  # the others did not end by themselves
            call = call_of(payload)
            if isinstance(payload, ToolCall) and payload.parent in payloads:
                payloads[payload.id] = []  # the program of a running call made it
            if call not in payloads or event.exchange != unfinished.exchange:
                continue
            payloads[call].append(payload)
            if isinstance(payload, ToolResult):
                ended.append(call)
            if len(ended) == len(payloads):
                break
        return [payload for call in ended for payload in payloads[call]]
