"""I20 to I22, I26 and I29: messages open and close, their blocks stand in order, attempts are counted."""

from typing import Literal

from weft.core.envelope import Event
from weft.core.events import (
    AssistantMessage,
    ExchangeRequest,
    ExchangeResponse,
    InputJsonDelta,
    MessageDelta,
    MessageDiscarded,
    MessageStart,
    MessageStop,
    RetryScheduled,
    SessionResumed,
    TextContentBlockStart,
    TextContentBlockStop,
    TextDelta,
    ThinkingContentBlockStart,
    ThinkingContentBlockStop,
    ThinkingDelta,
    ToolUseContentBlockStart,
    ToolUseContentBlockStop,
)
from weft.testing.checker.group import Group, Report

BlockStart = TextContentBlockStart | ThinkingContentBlockStart | ToolUseContentBlockStart
BlockDelta = TextDelta | ThinkingDelta | InputJsonDelta
BlockStop = TextContentBlockStop | ThinkingContentBlockStop | ToolUseContentBlockStop
Kind = Literal["text", "thinking", "tool"]

BLOCKS = (
    *(TextContentBlockStart, ThinkingContentBlockStart, ToolUseContentBlockStart),
    *(TextDelta, ThinkingDelta, InputJsonDelta),
    *(TextContentBlockStop, ThinkingContentBlockStop, ToolUseContentBlockStop),
)


def kind_of(data: BlockStart | BlockDelta | BlockStop) -> Kind:
    """What kind of block the payload belongs to."""
    if isinstance(data, TextContentBlockStart | TextDelta | TextContentBlockStop):
        return "text"
    return (
        "thinking" if isinstance(data, ThinkingContentBlockStart | ThinkingDelta | ThinkingContentBlockStop) else "tool"
    )


class Messages(Group):
    sees = (
        *(ExchangeRequest, MessageStart, *BLOCKS, MessageDelta, MessageStop, MessageDiscarded),
        *(AssistantMessage, RetryScheduled, SessionResumed, ExchangeResponse),
    )

    def __init__(self, report: Report) -> None:
        super().__init__(report)
        self._message: str | None = None  # the open one
        self._known: set[str] = set()  # all that were ever opened
        self._blocks: list[tuple[Kind, str]] = []  # of the open message, by index
        self._unstopped: set[int] = set()  # of those, the open ones
        self._owed: dict[str, None] = {}  # stopped messages that lack their assistant_message
        self._attempt = 0  # of the open or the last discarded message; 0 before a turn
        self._discarded: str | None = None  # the last message of this turn, if it was
        self._retry: int | None = None  # the attempt that was announced
        self._resumed = False  # since the last message_start

    def see(self, event: Event) -> None:
        match event.data:
            case TextDelta() | ThinkingDelta() | InputJsonDelta():
                self._i22_delta(event, event.data)
            case TextContentBlockStart() | ThinkingContentBlockStart() | ToolUseContentBlockStart():
                self._i22_start(event, event.data)
            case TextContentBlockStop() | ThinkingContentBlockStop() | ToolUseContentBlockStop():
                self._i22_stop(event, event.data)
            case MessageStart():
                self._i26_said(event)
                self._i29_attempt(event, event.data)
                self._i20_open(event, event.data.message)
            case MessageDelta(message=message):
                if message != self._message:
                    self.broke("I21", event, f"message_delta of {message!r} stands outside it")
            case MessageStop(message=message):
                if self._i20_close(event, message):
                    self._i22_closed(event)
                    self._owed[message] = None
                self._attempt, self._discarded, self._retry = 0, None, None
            case MessageDiscarded(message=message):
                self._i20_close(event, message)
                self._discarded = message
            case AssistantMessage():
                self._i26_assistant(event, event.data)
            case RetryScheduled():
                self._i29_retry(event, event.data)
            case SessionResumed():
                self._resumed = True
            case ExchangeRequest() | ExchangeResponse():
                self._between_exchanges(event)
            case _:
                pass

    def end(self, seq: int) -> None:
        if self._message is not None:
            self._report("I20", seq, f"the message {self._message!r} is never closed")
        for message in self._owed:
            self._report("I26", seq, f"the message {message!r} has no assistant_message")

    # --- messages --------------------------------------------------------------------------------------------

    def _i20_open(self, event: Event, message: str) -> None:
        if self._message is not None:
            self.broke("I20", event, f"the message {message!r} opens while {self._message!r} is open")
        if message in self._known:
            self.broke("I20", event, f"the message {message!r} opens a second time")
        self._known.add(message)
        self._message = message
        self._blocks, self._unstopped = [], set()

    def _i20_close(self, event: Event, message: str) -> bool:
        """Whether it was open."""
        if message != self._message:
            self.broke("I20", event, f"{event.type} closes {message!r}, which is not open")
            return False
        self._message = None
        return True

    def _between_exchanges(self, event: Event) -> None:
        if self._message is not None:
            self.broke("I20", event, f"the message {self._message!r} is still open at {event.type}")
            self._message = None
        self._i26_said(event)
        self._attempt, self._discarded, self._retry = 0, None, None

    def _i26_assistant(self, event: Event, data: AssistantMessage) -> None:
        message = data.message.id
        if message not in self._owed:
            self.broke("I26", event, f"assistant_message of {message!r}, which was not just stopped")
        self._owed.pop(message, None)

    def _i26_said(self, event: Event) -> None:
        for message in self._owed:
            self.broke("I26", event, f"the message {message!r} has no assistant_message before {event.type}")
        self._owed.clear()

    # --- blocks ----------------------------------------------------------------------------------------------

    def _i21_inside(self, event: Event) -> bool:
        if self._message is None:
            self.broke("I21", event, f"{event.type} stands outside a message")
        return self._message is not None

    def _i22_start(self, event: Event, data: BlockStart) -> None:
        if not self._i21_inside(event):
            return
        if data.index != len(self._blocks):
            self.broke("I22", event, f"block {data.index} starts where {len(self._blocks)} is next")
            return
        self._blocks.append((kind_of(data), data.block))
        self._unstopped.add(data.index)

    def _i22_delta(self, event: Event, data: BlockDelta) -> None:
        if self._i21_inside(event):
            self._i22_open(event, data)

    def _i22_stop(self, event: Event, data: BlockStop) -> None:
        if self._i21_inside(event) and self._i22_open(event, data):
            self._unstopped.discard(data.index)

    def _i22_open(self, event: Event, data: BlockDelta | BlockStop) -> bool:
        if data.index not in self._unstopped:
            self.broke("I22", event, f"{event.type} is for block {data.index}, which is not open")
            return False
        if self._blocks[data.index] != (kind_of(data), data.block):
            self.broke("I22", event, f"{event.type} names block {data.index} as {data.block!r}, which it is not")
            return False
        return True

    def _i22_closed(self, event: Event) -> None:
        if self._unstopped:
            self.broke("I22", event, f"the blocks {sorted(self._unstopped)} are open at message_stop")

    # --- attempts --------------------------------------------------------------------------------------------

    def _i29_attempt(self, event: Event, data: MessageStart) -> None:
        """After a resume a turn may be counted on or begin anew."""
        wanted = self._attempt + 1
        if self._discarded is not None and self._resumed:
            if data.attempt not in (1, wanted):
                self.broke("I29", event, f"attempt {data.attempt} follows {self._attempt} and a resume")
        elif data.attempt != wanted:
            self.broke("I29", event, f"attempt {data.attempt} comes where {wanted} is next")
        elif self._discarded is not None and self._retry != data.attempt:
            self.broke("I29", event, f"attempt {data.attempt} was not announced by retry_scheduled")
        self._attempt, self._discarded, self._retry = data.attempt, None, None
        self._resumed = False

    def _i29_retry(self, event: Event, data: RetryScheduled) -> None:
        if data.message != self._discarded or self._retry is not None:
            self.broke("I29", event, f"retry_scheduled follows no attempt {data.message!r} that was just discarded")
        elif data.attempt != self._attempt + 1:
            self.broke("I29", event, f"retry_scheduled names attempt {data.attempt} where {self._attempt + 1} is next")
        self._retry = data.attempt
