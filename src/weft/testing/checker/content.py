"""I23 to I25, I27 and I28: what streamed is what the message holds, and what was called is what it asks for."""

from dataclasses import dataclass, field
from typing import Any, cast, get_args

from weft.core.content import Reasoning, Text
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
    TextContentBlockStart,
    TextDelta,
    ThinkingContentBlockStart,
    ThinkingDelta,
    ToolExecuting,
    ToolUseContentBlockStart,
    ToolUseMessage,
)
from weft.core.json import parse_strict
from weft.core.messages import Message
from weft.core.stop import EXECUTABLE, StopReason
from weft.core.tools import ToolCall
from weft.testing.checker.group import Group, Report

_STOP_REASONS = frozenset(get_args(StopReason))

OWN_CALL = "final_"
"""How the ids of calls begin that the engine makes itself: they stand in no message."""


@dataclass(slots=True)
class _Block:
    """What streamed in a block."""

    index: int
    refusal: bool = False
    call: str = ""
    name: str = ""
    parts: list[str] = field(default_factory=list[str])

    @property
    def text(self) -> str:
        return "".join(self.parts)


class _Streamed:
    """What streamed in a message."""

    def __init__(self, message: str) -> None:
        self.message = message
        self.stop_reason: StopReason | None = None
        self.text: dict[int, _Block] = {}
        self.thinking: dict[int, _Block] = {}
        self.calls: dict[int, _Block] = {}


class Content(Group):
    sees = (
        *(ExchangeRequest, MessageStart, TextContentBlockStart, ThinkingContentBlockStart, ToolUseContentBlockStart),
        *(TextDelta, ThinkingDelta, InputJsonDelta, MessageDelta, MessageStop, MessageDiscarded, AssistantMessage),
        *(ToolCall, ToolUseMessage, ToolExecuting, ExchangeResponse),
    )

    def __init__(self, report: Report) -> None:
        super().__init__(report)
        self._open: _Streamed | None = None
        self._stopped: _Streamed | None = None  # waits for its assistant_message
        self._asked: dict[str, ToolCall] = {}  # calls of the last message that were not given out yet
        self._called: dict[str, ToolCall] = {}
        self._dropped: set[str] = set()  # calls of discarded messages that no later message asked for

    def see(self, event: Event) -> None:
        match event.data:
            case TextDelta(index=index, text=text):
                if self._open is not None and index in self._open.text:
                    self._open.text[index].parts.append(text)
            case ThinkingDelta(index=index, text=text):
                if self._open is not None and index in self._open.thinking:
                    self._open.thinking[index].parts.append(text)
            case InputJsonDelta(index=index, partial_json=text):
                if self._open is not None and index in self._open.calls:
                    self._open.calls[index].parts.append(text)
            case TextContentBlockStart(index=index, refusal=refusal):
                if self._open is not None:
                    self._open.text[index] = _Block(index, refusal)
            case ThinkingContentBlockStart(index=index):
                if self._open is not None:
                    self._open.thinking[index] = _Block(index)
            case ToolUseContentBlockStart(index=index, id=call, name=name):
                if self._open is not None:
                    self._open.calls[index] = _Block(index, call=call, name=name)
            case MessageStart(message=message):
                self._i25_all_called(event)
                self._open = _Streamed(message)
            case MessageDelta(stop_reason=stop):
                self._i27_known(event, stop)
                if self._open is not None:
                    self._open.stop_reason = stop
            case MessageStop():
                self._i27_said(event)
                self._stopped, self._open = self._open, None
            case MessageDiscarded():
                if self._open is not None:
                    self._dropped.update(block.call for block in self._open.calls.values())
                self._open = None
            case AssistantMessage(message=message):
                self._compare(event, message)
            case ToolCall():
                self._i25_call(event, event.data)
            case ToolUseMessage(call=call):
                if call != self._called.get(call.id):
                    self.broke("I25", event, f"tool_use_message of {call.id!r} holds another call than tool_call")
            case ToolExecuting(id=call):
                self._i28_kept(event, call)
            case ExchangeResponse(stop_reason=stop):
                self._i25_all_called(event)
                self._i27_known(event, stop)
            case ExchangeRequest():
                self._open = self._stopped = None
            case _:
                pass

    # --- a message against what streamed ---------------------------------------------------------------------

    def _compare(self, event: Event, message: Message) -> None:
        streamed, self._stopped = self._stopped, None
        if streamed is None or streamed.message != message.id:
            return
        said = [block for block in message.content if isinstance(block, Text)]
        blocks = list(streamed.text.values())
        if not _agree([block.text for block in blocks], [block.text for block in said]):
            self.broke("I23", event, f"the text of {message.id!r} is not what its deltas said")
        elif len(said) == len(blocks) and [b.refusal for b in said] != [b.refusal for b in blocks]:
            self.broke("I23", event, f"{message.id!r} is a refusal in its deltas or in its message, not in both")
        thought = [block.text for block in message.content if isinstance(block, Reasoning)]
        if not _agree([block.text for block in streamed.thinking.values()], thought):
            self.broke("I24", event, f"the thinking of {message.id!r} is not what its deltas said")
        self._i25_inputs(event, streamed, message)
        self._i27_fits(event, streamed, message)
        self._asked = {call.id: call for call in message.tool_calls}
        self._dropped.difference_update(self._asked)

    def _i25_inputs(self, event: Event, streamed: _Streamed, message: Message) -> None:
        blocks = {block.call: block for block in streamed.calls.values()}
        calls = {call.id: call for call in message.tool_calls}
        if blocks.keys() != calls.keys() or len(calls) != len(message.tool_calls):
            self.broke("I25", event, f"the calls of {message.id!r} are not those that streamed")
        for call_id in blocks.keys() & calls.keys():
            block, call = blocks[call_id], calls[call_id]
            if block.name != call.name:
                self.broke("I25", event, f"the call {call_id!r} streamed as {block.name!r} and is {call.name!r}")
            elif call.invalid is None and not _is_input(block.text, call.input):
                self.broke("I25", event, f"the input of {call_id!r} is not what its deltas said")

    def _i25_call(self, event: Event, call: ToolCall) -> None:
        self._called[call.id] = call
        asked = self._asked.pop(call.id, None)
        if asked is None and call.id.startswith(OWN_CALL):
            return
        if asked is None:
            self._i28_kept(event, call.id)
            self.broke("I25", event, f"tool_call {call.id!r} stands in no assistant_message before it")
        elif asked != call or not _same(asked.input, call.input):
            self.broke("I25", event, f"tool_call {call.id!r} is not the call of its assistant_message")

    def _i25_all_called(self, event: Event) -> None:
        for call in self._asked:
            self.broke("I25", event, f"the call {call!r} was not given out as tool_call before {event.type}")
        self._asked = {}

    # --- how it ended ----------------------------------------------------------------------------------------

    def _i27_known(self, event: Event, stop: StopReason) -> None:
        if stop not in _STOP_REASONS:
            self.broke("I27", event, f"the stop reason {stop!r} is not known")

    def _i27_said(self, event: Event) -> None:
        if self._open is not None and self._open.stop_reason is None:
            self.broke("I27", event, f"the message {self._open.message!r} stops without a stop reason")

    def _i27_fits(self, event: Event, streamed: _Streamed, message: Message) -> None:
        """A message that was cut keeps its reason though it holds calls; none of them may run."""
        stop, calls = streamed.stop_reason, message.tool_calls
        if stop is None:
            return
        if stop in EXECUTABLE:
            if (stop == "tool_use") != bool(calls):
                self.broke("I27", event, f"{message.id!r} has {len(calls)} calls and stopped for {stop}")
        elif valid := [call.id for call in calls if call.invalid is None]:
            self.broke("I27", event, f"{message.id!r} was cut by {stop}, yet {valid[0]!r} is not marked invalid")

    def _i28_kept(self, event: Event, call: str) -> None:
        if call in self._dropped:
            self.broke("I28", event, f"{event.type} of {call!r}, whose message was discarded")


def _agree(streamed: list[str], held: list[str]) -> bool:
    """Block by block where there are as many; an empty block may be left out of the message."""
    return streamed == held if len(streamed) == len(held) else "".join(streamed) == "".join(held)


def _is_input(text: str, held: Any) -> bool:
    """Whether argument text means those arguments. Nothing, and null, mean none; some models encode twice."""
    if text.strip() in ("", "null"):
        return held == {}
    try:
        value = parse_strict(text)
        return _same(parse_strict(value) if isinstance(value, str) else value, held)
    except ValueError:
        return False


def _same(a: Any, b: Any) -> bool:
    """Equal as JSON: `true` is not 1."""
    if isinstance(a, dict) and isinstance(b, dict):
        left, right = cast("dict[str, Any]", a), cast("dict[str, Any]", b)
        return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
    if isinstance(a, list) and isinstance(b, list):
        ours, theirs = cast("list[Any]", a), cast("list[Any]", b)
        return len(ours) == len(theirs) and all(map(_same, ours, theirs))
    return isinstance(a, bool) == isinstance(b, bool) and a == b
