"""Invariants of the envelope (I01 to I05), of exchanges (I10 to I14) and of their totals (I50, I51); of cancelling
(I60), resuming after a crash (I61 to I63), rewinding (I64) and compacting (I65)."""

from math import isfinite
from typing import Any, cast, get_args

import msgspec

from weft.core import events as ev
from weft.core.context_events import ConversationCompacted, ConversationRestored
from weft.core.envelope import Event
from weft.core.json import encode
from weft.core.messages import ToolCall, ToolResult
from weft.core.payload import Payload
from weft.core.turn import Usage
from weft.testing.checker.invariants import InvariantCheck, ReportViolation
from weft.testing.checker.messages import BLOCK_EVENTS

MAX_EVENT_BYTES = 1024 * 1024

_SESSION_LEVEL = (
    *(
        ev.ConversationQueued,
        ev.ConversationDequeued,
        ev.SessionResumed,
        ev.SessionReleased,
        ev.SessionRewound,
        ev.FileAccepted,
    ),
    *(ConversationCompacted, ConversationRestored, ev.Unknown),
)


class EnvelopeCheck(InvariantCheck):
    """I01, I03 and I04: the number, the time and the exchange of an event."""

    def __init__(self, report: ReportViolation) -> None:
        super().__init__(report)
        self._seq = 0
        self._time = 0.0
        self._epoch: int | None = None
        self._opened: set[str] = set()

    def on_event(self, event: Event) -> None:
        self._i01_gapless(event)
        self._i03_time(event)
        self._i04_belongs(event)

    def _i01_gapless(self, event: Event) -> None:
        if event.seq != self._seq + 1:
            self.report("I01", event, f"seq {event.seq} follows {self._seq}")
        self._seq = event.seq

    def _i03_time(self, event: Event) -> None:
        if event.epoch == self._epoch and event.time < self._time:
            self.report("I03", event, f"the time runs back by {self._time - event.time:g} s within epoch {event.epoch}")
        self._time, self._epoch = event.time, event.epoch

    def _i04_belongs(self, event: Event) -> None:
        data = event.data
        if not event.session or not event.type or not event.id:
            self.report("I04", event, "the event lacks its session, type or id")
        if not isinstance(data, ev.Unknown) and (event.type, event.layer) != (data.type, data.layer):
            self.report("I04", event, f"{event.type!r} of layer {event.layer!r} holds the payload {data.type!r}")
        exchange = event.exchange
        if exchange is None:
            if not isinstance(data, _SESSION_LEVEL) and not _is_user_action(data):
                self.report("I04", event, f"{event.type} belongs to no exchange")
        elif isinstance(data, ev.ExchangeRequest):
            self._opened.add(exchange)
        elif exchange not in self._opened:
            self._opened.add(exchange)
            self.report("I04", event, f"{event.type} belongs to {exchange!r}, which no exchange_request opened")


def _is_user_action(data: Payload) -> bool:
    """Whether the event records what a person did outside of any exchange."""
    match data:
        case ev.FileChanged(cause="user"):
            return True
        case ev.UserMessage(message=message):
            return message.said is not None
        case _:
            return False


_PIECES = (ev.TextDelta, ev.ThinkingDelta, ev.InputJsonDelta, ev.ToolOutputDelta, ev.FilePreview)
"""Events with a piece of a content. Clients get a larger event with the whole of one as references to blobs."""


class StrictJsonCheck(InvariantCheck):
    """I05: the encoding of an event."""

    def on_event(self, event: Event) -> None:
        try:
            raw = encode(event)
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            self.report("I05", event, f"{event.type} is not JSON: {error}")
            return
        if len(raw) > MAX_EVENT_BYTES and isinstance(event.data, _PIECES):
            self.report("I05", event, f"{event.type} has {len(raw)} bytes, more than {MAX_EVENT_BYTES}")
        # NaN and infinity are encoded as null, so only an event with a null can hold one.
        if b"null" in raw and (what := _find_non_finite(msgspec.to_builtins(event))) is not None:
            self.report("I05", event, f"{event.type} holds {what}")


def _find_non_finite(value: Any) -> str | None:
    """Return the first number in a value that strict JSON cannot hold."""
    pending: list[Any] = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, float) and not isfinite(item):
            return f"the number {item}"
        if isinstance(item, dict):
            members = cast("dict[Any, Any]", item)
            pending += members.keys()
            pending += members.values()
        elif isinstance(item, list | tuple):
            pending += cast("list[Any]", item)
    return None


_STATUSES = frozenset(get_args(ev.ExchangeStatus))


class ExchangeCheck(InvariantCheck):
    def __init__(self, report: ReportViolation) -> None:
        super().__init__(report)
        self._open: dict[str, None] = {}
        self._closed: set[str] = set()
        self._requests: dict[str, str] = {}
        self._errors = self._error_messages = 0

    def on_event(self, event: Event) -> None:
        exchange = event.exchange
        if exchange is None:
            return
        if exchange in self._closed:
            self.report("I11", event, f"{event.type} follows the exchange_response of {exchange!r}")
            return
        if not isinstance(event.data, ev.ExchangeRequest):
            self._i10_opened(event, exchange)
        match event.data:
            case ev.ExchangeRequest(client_request_id=request):
                self._i10_opens(event, exchange)
                self._i14_once(event, exchange, request)
            case ev.ExchangeResponse():
                self._i12_outcome(event, event.data)
                del self._open[exchange]
                self._closed.add(exchange)
            case ev.ErrorOccurred():
                self._errors += 1
            case ev.ErrorMessage():
                self._error_messages += 1
            case _:
                pass

    def on_end(self, seq: int) -> None:
        for exchange in self._open:
            self.report("I11", seq, f"the exchange {exchange!r} has no exchange_response")

    def _i10_opens(self, event: Event, exchange: str) -> None:
        if exchange in self._open:
            self.report("I10", event, f"the exchange {exchange!r} has an exchange_request that is not its first event")
            return
        self._i13_alone(event, exchange)
        self._open[exchange] = None
        self._errors = self._error_messages = 0

    def _i10_opened(self, event: Event, exchange: str) -> None:
        if exchange not in self._open:
            self.report("I10", event, f"the exchange {exchange!r} begins with {event.type}")
            self._open[exchange] = None

    def _i12_outcome(self, event: Event, response: ev.ExchangeResponse) -> None:
        errors, messages, status = self._errors, self._error_messages, response.status
        if status not in _STATUSES:
            self.report("I12", event, f"the status {status!r} is not one of {', '.join(sorted(_STATUSES))}")
        elif status == "failed" and (errors, messages) != (1, 1):
            self.report("I12", event, f"a failed exchange has {errors} error_occurred and {messages} error_message")
        elif status == "completed" and errors + messages:
            self.report("I12", event, f"a completed exchange has {errors} error_occurred and {messages} error_message")

    def _i13_alone(self, event: Event, exchange: str) -> None:
        if self._open:
            self.report("I13", event, f"{exchange!r} opens while {next(iter(self._open))!r} is open")

    def _i14_once(self, event: Event, exchange: str, request: str | None) -> None:
        if request is not None and self._requests.setdefault(request, exchange) != exchange:
            self.report("I14", event, f"the client_request_id {request!r} had opened {self._requests[request]!r}")


class TotalsCheck(InvariantCheck):
    watches = (
        *(ev.ExchangeRequest, ev.MessageDelta, ev.MessageStop, ev.MessageDiscarded, ev.ExchangeResponse),
        ConversationCompacted,
    )

    def __init__(self, report: ReportViolation) -> None:
        super().__init__(report)
        self._usage: dict[str, Usage] = {}  # by message
        self._turns = 0

    def on_event(self, event: Event) -> None:
        match event.data:
            case ev.MessageDelta(message=message, usage=usage):
                self._i50_counted(event, usage)
                if message in self._usage:
                    self.report("I50", event, f"the usage of {message!r} is given a second time")
                self._usage[message] = usage
            case ev.MessageDiscarded(message=message, usage=usage):
                self._i50_counted(event, usage)
                if usage != Usage() or message not in self._usage:
                    self._usage[message] = usage
            case ConversationCompacted(usage=usage):
                self._i50_counted(event, usage)
                if event.exchange is not None:
                    self._usage[event.id] = usage
            case ev.MessageStop():
                self._turns += 1
            case ev.ExchangeResponse():
                self._i50_sum(event, event.data)
                self._i51_turns(event, event.data)
            case _:
                self._usage, self._turns = {}, 0

    def _i50_counted(self, event: Event, usage: Usage) -> None:
        buckets = (usage.input, usage.cache_read, usage.cache_write, usage.output, usage.reasoning)
        if any(bucket is not None and bucket < 0 for bucket in buckets):
            self.report("I50", event, f"{event.type} counts fewer than no tokens")

    def _i50_sum(self, event: Event, response: ev.ExchangeResponse) -> None:
        self._i50_counted(event, response.usage)
        self._i50_counted(event, response.delegated or Usage())
        total = sum(self._usage.values(), Usage())
        if response.usage != total:
            self.report("I50", event, f"the usage is {response.usage} and its messages add up to {total}")

    def _i51_turns(self, event: Event, response: ev.ExchangeResponse) -> None:
        if response.turns != self._turns:
            self.report("I51", event, f"the exchange says {response.turns} turns and has {self._turns}")
        if (response.status == "limit") != (response.limit is not None):
            self.report("I51", event, f"the exchange ends {response.status} with the limit {response.limit!r}")


# --- cancelling, resuming, rewinding, compacting ---------------------------------------------------------------------


_CONTENT = (*BLOCK_EVENTS, ev.MessageDelta, ev.MessageStop)


class CancelCheck(InvariantCheck):
    """I60."""

    watches = (
        *(ev.ExchangeRequest, ev.ConversationDequeued, ev.CancelRequested, ev.MessageStart, ev.ToolExecuting),
        ev.ExchangeResponse,
    )

    def __init__(self, report: ReportViolation) -> None:
        super().__init__(report)
        self._cancelled = False
        self._dequeued: set[str] = set()

    def on_event(self, event: Event) -> None:
        match event.data:
            case ev.CancelRequested():
                self._cancelled = True
            case ev.ConversationDequeued(request=request):
                self._dequeued.add(request)
            case ev.ExchangeRequest():
                self._cancelled = event.exchange in self._dequeued
            case ev.MessageStart() | ev.ToolExecuting():
                if self._cancelled:
                    self.report("I60", event, f"{event.type} comes after cancel_requested")
            case ev.ExchangeResponse(status=status):
                if self._cancelled and status != "cancelled":
                    self.report("I60", event, f"the exchange was cancelled and ends {status}")
                self._cancelled = False
            case _:
                pass


class ResumeCheck(InvariantCheck):
    """I61 to I63."""

    def __init__(self, report: ReportViolation) -> None:
        super().__init__(report)
        self._seq = 0
        self._epoch: int | None = None
        self._calls: dict[str, None] = {}  # calls without a result
        self._unresolved: dict[str, int] = {}  # those that were open at a resume, and its seq
        self._message: str | None = None
        self._before: set[str] = set()  # messages from before the last resume
        self._opened: list[str] = []  # messages since the last resume

    def on_event(self, event: Event) -> None:
        self._i62_epoch(event)
        data = event.data
        if isinstance(data, _CONTENT):
            self._i63_once(event)
        match data:
            case ToolCall(id=call_id):
                self._calls[call_id] = None
            case ToolResult(id=call_id):
                self._calls.pop(call_id, None)
                self._unresolved.pop(call_id, None)
            case ev.MessageStart(message=message):
                if message in self._before:
                    self.report("I63", event, f"the message {message!r} starts a second time after a resume")
                self._message = message
                self._opened.append(message)
            case ev.MessageStop() | ev.MessageDiscarded():
                self._message = None
            case ev.SessionResumed():
                self._i61_from(event, data)
            case ev.ExchangeResponse():
                self._i61_all_resolved(event.seq)
            case _:
                pass
        self._seq = event.seq

    def on_end(self, seq: int) -> None:
        self._i61_all_resolved(seq)

    def _i61_from(self, event: Event, data: ev.SessionResumed) -> None:
        if data.from_seq != self._seq:
            self.report("I61", event, f"session_resumed has {data.from_seq} and the last seq before it is {self._seq}")
        self._unresolved.update(dict.fromkeys(self._calls, event.seq))
        self._before.update(self._opened)
        self._opened.clear()

    def _i61_all_resolved(self, seq: int) -> None:
        for call_id, resumed in self._unresolved.items():
            self.report("I61", seq, f"the call {call_id!r} was open at the resume at {resumed} and has no result")
        self._unresolved.clear()
        self._calls.clear()

    def _i62_epoch(self, event: Event) -> None:
        if self._epoch is not None and event.epoch < self._epoch:
            self.report("I62", event, f"epoch {event.epoch} follows {self._epoch}")
        self._epoch = event.epoch

    def _i63_once(self, event: Event) -> None:
        if self._message in self._before:
            self.report("I63", event, f"{event.type} continues {self._message!r}, which a crash had interrupted")


class RewindCheck(InvariantCheck):
    """I64."""

    watches = (ev.ExchangeRequest, ev.ExchangeResponse, ev.SessionRewound)

    def __init__(self, report: ReportViolation) -> None:
        super().__init__(report)
        self._began = 0  # the seq of the open exchange, 0 if none is open
        self._spans: list[tuple[int, int]] = []  # the first and last seq of each closed exchange

    def on_event(self, event: Event) -> None:
        match event.data:
            case ev.ExchangeRequest():
                self._began = event.seq
            case ev.ExchangeResponse():
                self._spans.append((self._began, event.seq))
                self._began = 0
            case ev.SessionRewound(seq=seq):
                self._i64_between(event, seq)
            case _:
                pass

    def _i64_between(self, event: Event, seq: int) -> None:
        if self._began:
            self.report("I64", event, "session_rewound comes while an exchange is open")
        if not 0 <= seq < event.seq:
            self.report("I64", event, f"session_rewound names {seq}, which is no event before it")
        elif any(first <= seq < last for first, last in self._spans):
            self.report("I64", event, f"session_rewound names {seq}, which is inside an exchange")


class CompactionCheck(InvariantCheck):
    """I65. A rewind may drop compactions, so after one any earlier compaction may be restored."""

    watches = (
        *(ev.MessageStart, ev.MessageStop, ev.MessageDiscarded, ev.SessionRewound),
        *(ConversationCompacted, ConversationRestored),
    )

    def __init__(self, report: ReportViolation) -> None:
        super().__init__(report)
        self._message = ""
        self._holding: list[int] = []
        self._rewound = False

    def on_event(self, event: Event) -> None:
        match event.data:
            case ev.MessageStart(message=message):
                self._message = message
            case ev.SessionRewound():
                self._rewound = True
            case ConversationCompacted():
                self._i65_compacted(event, event.data)
                self._holding.append(event.seq)
            case ConversationRestored(seq=seq):
                self._i65_restored(event, seq)
            case _:
                self._message = ""

    def _i65_compacted(self, event: Event, compaction: ConversationCompacted) -> None:
        if self._message:
            self.report("I65", event, f"the context is compacted while {self._message!r} is open")
        if compaction.tokens_after >= compaction.tokens_before:
            before, after = compaction.tokens_before, compaction.tokens_after
            self.report("I65", event, f"the context has {after} tokens after the compaction and {before} before it")
        if compaction.removed < 0 or compaction.shortened < 0:
            self.report("I65", event, "the compaction removes or shortens fewer than no messages")

    def _i65_restored(self, event: Event, seq: int) -> None:
        if event.exchange is not None:
            self.report("I65", event, "the context is restored inside an exchange")
        if seq not in self._holding or (seq != self._holding[-1] and not self._rewound):
            self.report("I65", event, f"{seq} is not the last compaction that holds")
        if seq in self._holding:
            self._holding.remove(seq)
