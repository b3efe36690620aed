"""Invariants of messages, blocks and attempts (I20 to I22, I26 and I29)."""

from heald.core import events as ev
from heald.core.envelope import Event
from heald_check.checker.blocks import BLOCK_EVENTS, BlockDelta, BlockKind, BlockStart, BlockStop, block_kind
from heald_check.checker.invariants import InvariantCheck, ReportViolation


class MessageCheck(InvariantCheck):
    watches = (
        *(ev.ExchangeRequest, ev.MessageStart, *BLOCK_EVENTS, ev.MessageDelta, ev.MessageStop, ev.MessageDiscarded),
        *(ev.AssistantMessage, ev.RetryScheduled, ev.SessionResumed, ev.ExchangeResponse),
    )

    def __init__(self, report: ReportViolation) -> None:
        super().__init__(report)
        self._message: str | None = None  # the open message
        self._known: set[str] = set()  # every message so far
        self._blocks: list[tuple[BlockKind, str]] = []  # of the open message, by index
        self._unstopped: set[int] = set()  # the indexes of its open blocks
        self._unanswered: dict[str, None] = {}  # stopped messages without an assistant_message
        self._attempt = 0  # of the open or the last discarded message; 0 before a turn
        self._discarded: str | None = None  # the last message of this turn, if it was discarded
        self._retry: int | None = None  # the attempt that retry_scheduled announced
        self._resumed = False  # since the last message_start

    def on_event(self, event: Event) -> None:
        match event.data:
            case ev.TextDelta() | ev.ThinkingDelta() | ev.InputJsonDelta():
                self._i22_delta(event, event.data)
            case ev.TextContentBlockStart() | ev.ThinkingContentBlockStart() | ev.ToolUseContentBlockStart():
                self._i22_start(event, event.data)
            case ev.TextContentBlockStop() | ev.ThinkingContentBlockStop() | ev.ToolUseContentBlockStop():
                self._i22_stop(event, event.data)
            case ev.MessageStart():
                self._i26_answered(event)
                self._i29_attempt(event, event.data)
                self._i20_open(event, event.data.message_id)
            case ev.MessageDelta(message_id=message):
                if message != self._message:
                    self.report("I21", event, f"message_delta of {message!r} stands outside it")
            case ev.MessageStop(message_id=message):
                if self._i20_close(event, message):
                    self._i22_closed(event)
                    self._unanswered[message] = None
                self._attempt, self._discarded, self._retry = 0, None, None
            case ev.MessageDiscarded(message_id=message):
                self._i20_close(event, message)
                self._discarded = message
            case ev.AssistantMessage():
                self._i26_assistant(event, event.data)
            case ev.RetryScheduled():
                self._i29_retry(event, event.data)
            case ev.SessionResumed():
                self._resumed = True
            case ev.ExchangeRequest() | ev.ExchangeResponse():
                self._between_exchanges(event)
            case _:
                pass

    def on_end(self, seq: int) -> None:
        if self._message is not None:
            self.report("I20", seq, f"the message {self._message!r} is never closed")
        for message in self._unanswered:
            self.report("I26", seq, f"the message {message!r} has no assistant_message")

    def _i20_open(self, event: Event, message: str) -> None:
        if self._message is not None:
            self.report("I20", event, f"the message {message!r} opens while {self._message!r} is open")
        if message in self._known:
            self.report("I20", event, f"the message {message!r} opens a second time")
        self._known.add(message)
        self._message = message
        self._blocks, self._unstopped = [], set()

    def _i20_close(self, event: Event, message: str) -> bool:
        """Close the message; return whether it was open."""
        if message != self._message:
            self.report("I20", event, f"{event.type} closes {message!r}, which is not open")
            return False
        self._message = None
        return True

    def _between_exchanges(self, event: Event) -> None:
        if self._message is not None:
            self.report("I20", event, f"the message {self._message!r} is still open at {event.type}")
            self._message = None
        self._i26_answered(event)
        self._attempt, self._discarded, self._retry = 0, None, None

    def _i26_assistant(self, event: Event, data: ev.AssistantMessage) -> None:
        message = data.message.id
        if message not in self._unanswered:
            self.report("I26", event, f"assistant_message of {message!r}, which was not just stopped")
        self._unanswered.pop(message, None)

    def _i26_answered(self, event: Event) -> None:
        for message in self._unanswered:
            self.report("I26", event, f"the message {message!r} has no assistant_message before {event.type}")
        self._unanswered.clear()

    def _i21_inside(self, event: Event) -> bool:
        if self._message is None:
            self.report("I21", event, f"{event.type} stands outside a message")
        return self._message is not None

    def _i22_start(self, event: Event, data: BlockStart) -> None:
        if not self._i21_inside(event):
            return
        if data.index != len(self._blocks):
            self.report("I22", event, f"block {data.index} starts where {len(self._blocks)} is next")
            return
        self._blocks.append((block_kind(data), data.block))
        self._unstopped.add(data.index)

    def _i22_delta(self, event: Event, data: BlockDelta) -> None:
        if self._i21_inside(event):
            self._i22_open(event, data)

    def _i22_stop(self, event: Event, data: BlockStop) -> None:
        if self._i21_inside(event) and self._i22_open(event, data):
            self._unstopped.discard(data.index)

    def _i22_open(self, event: Event, data: BlockDelta | BlockStop) -> bool:
        if data.index not in self._unstopped:
            self.report("I22", event, f"{event.type} is for block {data.index}, which is not open")
            return False
        if self._blocks[data.index] != (block_kind(data), data.block):
            self.report("I22", event, f"{event.type} names block {data.index} as {data.block!r}, which it is not")
            return False
        return True

    def _i22_closed(self, event: Event) -> None:
        if self._unstopped:
            self.report("I22", event, f"the blocks {sorted(self._unstopped)} are open at message_stop")

    def _i29_attempt(self, event: Event, data: ev.MessageStart) -> None:
        """Check the attempt. After a resume the attempts of a turn may continue or start over."""
        following = self._attempt + 1
        if self._discarded is not None and self._resumed:
            if data.attempt not in (1, following):
                self.report("I29", event, f"attempt {data.attempt} follows {self._attempt} and a resume")
        elif data.attempt != following:
            self.report("I29", event, f"attempt {data.attempt} comes where {following} is next")
        elif self._discarded is not None and self._retry != data.attempt:
            self.report("I29", event, f"attempt {data.attempt} was not announced by retry_scheduled")
        self._attempt, self._discarded, self._retry = data.attempt, None, None
        self._resumed = False

    def _i29_retry(self, event: Event, data: ev.RetryScheduled) -> None:
        if data.message_id != self._discarded or self._retry is not None:
            self.report("I29", event, f"retry_scheduled follows no attempt {data.message_id!r} that was just discarded")
        elif data.attempt != self._attempt + 1:
            self.report("I29", event, f"retry_scheduled names attempt {data.attempt} where {self._attempt + 1} is next")
        self._retry = data.attempt
