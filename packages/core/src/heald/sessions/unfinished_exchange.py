"""Continues or closes the exchange that a crashed writer left open.

An open message is discarded. A started call without a result becomes `interrupted`, since its effect is unknown, unless
it may be repeated or the log shows its whole effect. A call that a program made is never run: the program has ended
with the process. To continue, the other calls run and the model is asked for the next turn
(`heald.agent.continuation`). To close, they are cancelled, a waiting approval is denied, and the exchange ends:
cancelled if that was requested, else failed.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field

from heald.agent.assembler import DELTAS, MessageAssembler
from heald.agent.continuation import OpenExchange, UnfinishedCall
from heald.agent.tracker import ExchangeTracker
from heald.core.envelope import Event
from heald.core.errors import ErrorCode, ErrorInfo
from heald.core.events import (
    ApprovalRequested,
    ApprovalResolved,
    AssistantMessage,
    CancelRequested,
    ClientToolRequested,
    ConversationInterrupted,
    ConversationSteered,
    ErrorMessage,
    ErrorOccurred,
    ExchangeRequest,
    ExchangeResponse,
    FileChanged,
    FilePreview,
    FilePreviewReset,
    MessageDelta,
    MessageDiscarded,
    MessageStart,
    MessageStop,
    QuestionAnswered,
    QuestionAsked,
    RetryScheduled,
    SessionForked,
    SessionReleased,
    SessionResumed,
    ToolCompleted,
    ToolExecuting,
    ToolFailed,
    ToolPlanned,
    UserMessage,
    tool_use_result,
)
from heald.core.messages import Message, ToolCall, ToolResult, ToolStatus
from heald.core.payload import Payload
from heald.core.turn import Usage
from heald.tools.approvals import Approval

ENDED = "The process ended"
_STOPPED = ErrorInfo(code="cancelled", message="The message was stopped before it was finished.")


_MAX_MADE = 20
"""Calls of a program that its result lists."""
MAX_ATTEMPTS = 3
"""How often a call is started at most, so that a call that kills its process is not repeated for ever."""
MAX_CRASHES = 3
"""How often a process may end while a call of an exchange runs, so that an exchange that kills its process ends."""
MAX_LOST_TURNS = 10
"""How often in a row a process may end while an exchange waits, for the model or for a person. Other causes end
processes then: text that arrives does not."""


@dataclass(slots=True)
class UnfinishedExchange:
    """Folds the events of a session into what is open at their end."""

    exchange: str | None = None
    last_whole_seq: int = 0
    """The last seq at which the log holds no incomplete turn."""
    is_released: bool = False
    """The last writer left the exchange open on purpose."""
    is_forked: bool = False
    """The log is that of a fork with a change, which nobody has continued yet."""
    crashes: int = 0
    """How often a process has ended while a call of the exchange ran, before the last one."""
    lost_turns: int = 0
    """How often one has ended otherwise since the last message, before the last one."""
    calls: dict[str, UnfinishedCall] = field(default_factory=dict[str, UnfinishedCall])
    call_ids: set[str] = field(default_factory=set[str])
    """All calls of the exchange, those that have ended included."""
    _began: float = 0.0
    _last: float = 0.0
    _message_billed: bool = False
    _billed_usd: float = 0.0  # the price of answers, where their events hold it
    _unbilled: Usage = field(default_factory=Usage)  # the usage of the other answers
    _cancelled: str | None = None
    _errors: int = 0
    _error_messages: int = 0
    _missing: set[str] = field(default_factory=set[str])  # parts of a finished message that are not in the log yet
    _approvals: dict[str, str] = field(default_factory=dict[str, str])
    _request: ExchangeRequest | None = None
    _is_begun: bool = False  # its message is in the log
    _message: Message | None = None  # the last message, if no later turn has begun
    _results: dict[str, ToolResult] = field(default_factory=dict[str, ToolResult])  # of its calls
    _has_text_calls: bool = False  # calls that were read in the text of the answer
    _attempt: int = 0  # the last attempt at the turn that has not ended
    _discarded: str = ""  # its message, if a retry was not announced
    _steering: list[Message] = field(default_factory=list[Message])
    _asked: dict[str, Event] = field(
        default_factory=dict[str, Event]
    )  # the last request to a person or client, by call
    _previews: dict[str, str] = field(default_factory=dict[str, str])  # paths, by call
    _assembler: MessageAssembler = field(default_factory=MessageAssembler)
    _tracker: ExchangeTracker = field(default_factory=ExchangeTracker)

    @property
    def is_whole(self) -> bool:
        """Whether the log holds no incomplete turn."""
        return not self._missing

    @property
    def repeatable(self) -> list[UnfinishedCall]:
        """Started calls that may be repeated. After a cancel there are none."""
        if self._cancelled is not None:
            return []
        return [
            call
            for call in self.calls.values()
            if call.started and call.idempotent and not (call.waits or call.is_inner) and call.attempt < MAX_ATTEMPTS
        ]

    @property
    def may_continue(self) -> bool:
        """Whether another process may continue the exchange. One that was cancelled or has failed is only closed."""
        if self.exchange is None or self._cancelled is not None or self._errors:
            return False
        crashes, lost_turns = self._count_ends()
        return crashes < MAX_CRASHES and lost_turns < MAX_LOST_TURNS

    def resuming_payloads(self, why: str, may_run: Callable[[UnfinishedCall], bool]) -> Iterator[Payload]:
        """Yield the payloads that prepare the continuation: what cannot go on is closed. `may_run` returns whether a
        started call can run once more here."""
        yield from self._close_message(why, "node_lost")
        message = self._assembler.message or self._discarded
        if message:
            lost = ErrorInfo(code="node_lost", message=f"{why} before the message was finished.", retryable=True)
            yield RetryScheduled(message, self._attempt + 1, 0.0, lost)
        for name, call in self.calls.items():
            if call.is_inner:
                yield from self._deny_approvals(name, why)
        for call in self._inner_first():
            if call.is_inner or (call.started and not (self._is_repeatable(call) and may_run(call))):
                yield from self._close_call(call, why)
            else:
                yield from self.reset_preview(call.call.id)

    def open_exchange(self) -> OpenExchange:
        """Return what the log holds of the open exchange."""
        assert self.exchange is not None
        assert self._request is not None
        return OpenExchange(
            id=self.exchange,
            request=self._request,
            tracker=self._tracker,
            seconds=max(self._last - self._began, 0.0),
            is_begun=self._is_begun,
            message=self._message,
            stop_reason=self._tracker.stop_reason,
            attempts=self._attempt,
            calls=list(self.calls.values()),
            results=self._results,
            steering=self._steering,
            has_text_calls=self._has_text_calls,
            billed_usd=self._billed_usd,
            unbilled=self._unbilled,
        )

    @property
    def tracker(self) -> ExchangeTracker:
        """Counts what the open exchange has used."""
        return self._tracker

    @property
    def waiting_events(self) -> list[Event]:
        """The events of the approvals, questions and client calls that still wait."""
        return [
            self._asked[name]
            for name, call in self.calls.items()
            if name in self._asked and (call.approval is not None or call.waits)
        ]

    def _count_ends(self) -> tuple[int, int]:
        """Count the crashes and the lost turns, with the end of the process that wrote last."""
        if self.is_released:
            return self.crashes, self.lost_turns
        runs = any(call.started and not call.waits for call in self.calls.values())
        return self.crashes + runs, self.lost_turns + (not runs)

    def _inner_first(self) -> list[UnfinishedCall]:
        """The open calls, those of a program before the one that runs it."""
        return sorted(self.calls.values(), key=lambda call: not call.is_inner)

    def _is_repeatable(self, call: UnfinishedCall) -> bool:
        return call.waits or (call.idempotent and call.attempt < MAX_ATTEMPTS)

    def preview_resets(self) -> Iterator[Payload]:
        """Yield the resets of the previews of files that those calls were to write."""
        for call in self.repeatable:
            yield from self.reset_preview(call.call.id)

    def reset_preview(self, call: str) -> Iterator[Payload]:
        """Yield the reset of the preview of the file that a call was to write, if there is one."""
        if call in self._previews:
            yield FilePreviewReset(call, self._previews[call])

    def feed(self, event: Event) -> None:
        if type(event.data) in DELTAS:
            self._assembler.feed(event.data)
        else:
            self._track(event)
        self._last = event.time
        if not self._missing:
            self.last_whole_seq = event.seq

    def describe_end(self) -> str:
        """Return the beginning of a sentence that explains what happened to the writer."""
        crashes, lost_turns = self._count_ends()
        if crashes >= MAX_CRASHES:
            return f"{ENDED} three times"
        return f"{ENDED} ten times" if lost_turns >= MAX_LOST_TURNS else ENDED

    def closing_payloads(self, why: str | None = None) -> Iterator[Payload]:
        """Yield the payloads that close the open exchange, if there is one. `why` is the beginning of a sentence that
        explains what happened to the writer."""
        if self.exchange is None:
            return
        why = self.describe_end() if why is None else why
        for payload in self._close_message(why, "incomplete"):
            self._tracker.feed(payload)
            yield payload
        for approval, call in self._approvals.items():
            yield ApprovalResolved(approval, call, "denied", f"{why} before it was decided.")
        for call in self._inner_first():
            yield from self._close_call(call, why)
        for message in self._steering:  # messages that the model did not see are still part of the conversation
            yield UserMessage(message)
        yield from self._close_exchange(why)

    # --- tracking ----------------------------------------------------------------------------------------------------

    def _track(self, event: Event) -> None:
        payload = event.data
        if payload.layer == "stream":
            self._track_stream(payload)
        elif payload.layer == "state":
            self._track_state(payload)
            if self.calls:
                self._track_call(event)
        else:
            self._track_message(event)
        self._tracker.feed(payload)

    def _track_message(self, event: Event) -> None:
        match event.data:
            case ExchangeRequest():
                self._begin(event)
            case ExchangeResponse():
                self.exchange = None
            case UserMessage(message=message):
                self._add_user_message(message)
            case AssistantMessage(message=message):
                self._missing = {call.id for call in message.tool_calls}
                self._message, self._results, self.lost_turns = message, {}, 0
            case ErrorMessage():
                self._error_messages += 1
            case _:
                pass

    def _track_stream(self, payload: Payload) -> None:
        match payload:
            case MessageStart(attempt=attempt):
                self._message_billed, self._message, self._discarded = False, None, ""
                self._attempt = attempt
            case MessageDelta(usage=usage, cost_usd=usd):
                self._message_billed = True
                self._billed_usd += usd or 0.0
                self._unbilled += usage if usd is None else Usage()
            case MessageDiscarded(message_id=message, usage=usage):
                self._discarded = message
                self._unbilled += usage
            case MessageStop(message_id=message):
                self._missing = {message}
                self._attempt = 0
                self._assembler.reset()  # the log has the message as an event of its own
                return
            case ToolCall(id=call):
                self.calls[call] = UnfinishedCall(payload)
                self.call_ids.add(call)
                if payload.parent is None:
                    self._has_text_calls = self._message is not None and payload not in self._message.tool_calls
            case ToolResult(id=call):
                self._end_call(payload)
                self._previews.pop(call, None)
                self._results[call] = payload
            case FilePreview(id=call, path=path):
                self._previews[call] = path
            case FilePreviewReset(id=call):
                self._previews.pop(call, None)
            case _:
                pass
        self._assembler.feed(payload)

    def _track_state(self, payload: Payload) -> None:
        match payload:
            case ToolPlanned(id=call):
                self._missing.discard(call)
            case ConversationSteered(message=message):
                self._steering.append(message)
            case RetryScheduled():
                self._discarded = ""
            case ApprovalRequested(approval=approval, call_id=call):
                self._approvals[approval] = call
            case ApprovalResolved(approval=approval):
                self._approvals.pop(approval, None)
            case CancelRequested(reason=reason):
                self._cancelled = reason
            case ErrorOccurred():
                self._errors += 1
            case SessionReleased():
                self.is_released = True
            case SessionForked():
                self.is_released = self.is_forked = True
                self.crashes = self.lost_turns = 0
            case SessionResumed():
                if payload.crashed:
                    self.crashes, self.lost_turns = self._count_ends()
                self.is_released = self.is_forked = False
            case _:
                pass

    def _end_call(self, result: ToolResult) -> None:
        ended = self.calls.pop(result.id, None)
        if ended is not None and ended.is_inner and (parent := self.calls.get(ended.call.parent or "")) is not None:
            parent.made.append(f"{result.name}: {result.status}")

    def _track_call(self, event: Event) -> None:
        """Record the state of an open call."""
        payload = event.data
        match payload:
            case ToolExecuting(id=name) if call := self.calls.get(name):
                call.attempt, call.idempotent = payload.attempt, payload.idempotent
                call.resources = payload.resources
            case ApprovalRequested(call_id=name) if call := self.calls.get(name):
                call.approval, call.decision = payload, None
                self._asked[name] = event
            case ApprovalResolved(call_id=name) if call := self.calls.get(name):
                call.approval = None
                call.decision = Approval(
                    payload.decision == "allowed", payload.reason, payload.input, payload.always, payload.by
                )
            case QuestionAsked(call_id=name) if call := self.calls.get(name):
                call.question = payload
                self._asked[name] = event
            case QuestionAnswered(call_id=name) if call := self.calls.get(name):
                call.question = None
            case ClientToolRequested(id=name) if call := self.calls.get(name):
                call.requested = payload
                self._asked[name] = event
            case FileChanged(cause=name, path=path) if call := self.calls.get(name):
                call.changed.append(path)
            case _:
                pass

    def _add_user_message(self, message: Message) -> None:
        if message in self._steering:
            self._steering.remove(message)
        self._is_begun, self._message = True, None

    def _begin(self, event: Event) -> None:
        self.exchange, self._began = event.exchange, event.time
        assert isinstance(event.data, ExchangeRequest)
        self._request, self._is_begun, self._message, self._has_text_calls = event.data, False, None, False
        self._asked = {}
        self._results, self._steering, self._attempt, self._discarded = {}, [], 0, ""
        self.crashes, self.lost_turns, self.is_released = 0, 0, False
        self.calls, self._approvals, self._previews, self._missing = {}, {}, {}, set()
        self.call_ids = set()
        self._cancelled, self._errors, self._error_messages = None, 0, 0
        self._assembler, self._tracker = MessageAssembler(), ExchangeTracker()
        self._billed_usd, self._unbilled = 0.0, Usage()

    # --- closing -----------------------------------------------------------------------------------------------------

    def _close_message(self, why: str, code: ErrorCode) -> Iterator[Payload]:
        message = self._assembler.message
        if not message:
            return
        usage = Usage() if self._message_billed else Usage(output=-(-self._assembler.length // 4))
        error = _STOPPED
        if self._cancelled is None:
            error = ErrorInfo(code=code, message=f"{why} before the message was finished.")
        yield MessageDiscarded(message, error, usage, estimated=not self._message_billed)
        for call, path in list(self._previews.items()):
            if call not in self.calls:
                yield FilePreviewReset(call, path)

    def _close_call(self, open_call: UnfinishedCall, why: str) -> Iterator[Payload]:
        call = open_call.call
        status = _status_of(open_call)
        text = f"{why} before this call was run."
        if status == "interrupted":
            changes = f" It has changed {', '.join(dict.fromkeys(open_call.changed))}." if open_call.changed else ""
            if made := self._describe_made(open_call):
                changes += f" Its program had made these calls: {made}."
            text = (
                f"{why} while this call ran, so it is not known whether it took effect.{changes} "
                "Look at the outcome before you call it again."
            )
        if call.invalid is not None:
            text = call.invalid.message
        elif status == "ok":
            text = f"Done: {', '.join(dict.fromkeys(open_call.changed))} was written."
        yield from self.reset_preview(call.id)
        yield (
            ToolCompleted(call.id, call.name, 0.0, text)
            if status == "ok"
            else ToolFailed(call.id, call.name, status, 0.0, text)
        )
        result = ToolResult(id=call.id, name=call.name, status=status, content=text)
        yield result
        if (message := tool_use_result(call, result)) is not None:
            yield message

    def close_calls_of(self, program: str, ended: Collection[str], why: str) -> Iterator[Payload]:
        """Yield the payloads that close the open calls of a program, except those that have `ended`."""
        for name, call in self.calls.items():
            if call.call.parent == program and name not in ended:
                yield from self._deny_approvals(name, why)
                yield from self._close_call(call, why)

    def _deny_approvals(self, call: str, why: str) -> Iterator[Payload]:
        for approval, name in self._approvals.items():
            if name == call:
                yield ApprovalResolved(approval, name, "denied", f"{why} before it was decided.")

    def _describe_made(self, program: UnfinishedCall) -> str:
        """List the calls that a program has made, and how they ended or will be closed."""
        open_calls = [call for call in self.calls.values() if call.call.parent == program.call.id]
        made = [*program.made, *(f"{call.call.name}: {_status_of(call)}" for call in open_calls)]
        rest = len(made) - _MAX_MADE
        return ", ".join([f"{rest} others", *made[-_MAX_MADE:]] if rest > 0 else made)

    def _close_exchange(self, why: str) -> Iterator[Payload]:
        took = round(max(self._last - self._began, 0.0) * 1000, 3)
        if self._tracker.usage != Usage():
            self._tracker.spend(None)  # the prices are not known here
        if self._cancelled is not None:
            yield ConversationInterrupted(self._cancelled)
            yield self._tracker.response("cancelled", took)
            return
        lost = ErrorInfo(
            code="incomplete", message=f"{why} while the exchange ran; what was done is kept. Ask again to go on."
        )
        if not self._errors:
            yield ErrorOccurred(lost)
        if not self._error_messages:
            yield ErrorMessage(lost)
        yield ConversationInterrupted(f"{why} while the exchange ran.")
        yield self._tracker.response("failed", took, error=lost)


def _status_of(call: UnfinishedCall) -> ToolStatus:
    """Return the status of a call that is closed without having ended by itself."""
    if call.call.invalid is not None:
        return "invalid_input"
    if call.started and call.wrote_all:
        return "ok"
    return "interrupted" if call.started else "cancelled"
