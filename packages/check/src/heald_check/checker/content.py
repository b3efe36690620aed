"""Invariants of content: a message and its calls equal what streamed (I23 to I25, I27 and I28)."""

from typing import Any, cast, get_args

import msgspec

from heald.core import events as ev
from heald.core.envelope import Event
from heald.core.json import parse_strict
from heald.core.messages import Message, Reasoning, Text, ToolCall
from heald.core.turn import EXECUTABLE, StopReason
from heald_check.checker.blocks import BLOCK_EVENTS, BlockKind
from heald_check.checker.invariants import InvariantCheck, ReportViolation

_STOP_REASONS = frozenset(get_args(StopReason))
ENGINE_CALL_PREFIX = "final_"
"""The prefix of the ids of calls that the engine makes itself; no message contains them."""


class _StreamedBlock(msgspec.Struct):
    """A block as it streamed."""

    refusal: bool = False
    call: str = ""
    name: str = ""
    parts: list[str] = []

    @property
    def text(self) -> str:
        return "".join(self.parts)


class _StreamedMessage:
    """A message as it streamed. Blocks are kept by their index."""

    def __init__(self, message: str) -> None:
        self.message = message
        self.stop_reason: StopReason | None = None
        self.blocks: dict[BlockKind, dict[int, _StreamedBlock]] = {"text": {}, "thinking": {}, "tool": {}}

    def of_kind(self, kind: BlockKind) -> list[_StreamedBlock]:
        return list(self.blocks[kind].values())


class ContentCheck(InvariantCheck):
    watches = (
        *(ev.ExchangeRequest, ev.MessageStart, *BLOCK_EVENTS, ev.MessageDelta, ev.MessageStop, ev.MessageDiscarded),
        *(ev.AssistantMessage, ToolCall, ev.ToolUseMessage, ev.ToolExecuting, ev.ExchangeResponse),
    )

    def __init__(self, report: ReportViolation) -> None:
        super().__init__(report)
        self._open: _StreamedMessage | None = None
        self._stopped: _StreamedMessage | None = None  # its assistant_message is expected
        self._pending: dict[str, ToolCall] = {}  # calls of the last message without a tool_call event
        self._called: dict[str, ToolCall] = {}
        self._dropped: set[str] = set()  # calls of discarded messages that no later message has

    def on_event(self, event: Event) -> None:
        match event.data:
            case ev.TextDelta(index=index, text=text):
                self._append("text", index, text)
            case ev.ThinkingDelta(index=index, text=text):
                self._append("thinking", index, text)
            case ev.InputJsonDelta(index=index, partial_json=text):
                self._append("tool", index, text)
            case ev.TextContentBlockStart(index=index, refusal=refusal) if self._open is not None:
                self._open.blocks["text"][index] = _StreamedBlock(refusal)
            case ev.ThinkingContentBlockStart(index=index) if self._open is not None:
                self._open.blocks["thinking"][index] = _StreamedBlock()
            case ev.ToolUseContentBlockStart(index=index, id=call, name=name) if self._open is not None:
                self._open.blocks["tool"][index] = _StreamedBlock(call=call, name=name)
            case ev.MessageStart(message_id=message):
                self._i25_all_called(event)
                self._open = _StreamedMessage(message)
            case ev.MessageDelta(stop_reason=stop):
                self._i27_known(event, stop)
                if self._open is not None:
                    self._open.stop_reason = stop
            case ev.MessageStop():
                self._i27_present(event)
                self._stopped, self._open = self._open, None
            case ev.MessageDiscarded():
                if self._open is not None:
                    self._dropped.update(block.call for block in self._open.of_kind("tool"))
                self._open = None
            case ev.AssistantMessage(message=message):
                self._compare(event, message)
            case ToolCall():
                self._i25_call(event, event.data)
            case ev.ToolUseMessage(call=call):
                if call != self._called.get(call.id):
                    self.report("I25", event, f"tool_use_message of {call.id!r} holds another call than tool_call")
            case ev.ToolExecuting(id=call):
                self._i28_not_discarded(event, call)
            case ev.ExchangeResponse(stop_reason=stop):
                self._i25_all_called(event)
                self._i27_known(event, stop)
            case ev.ExchangeRequest():
                self._open = self._stopped = None
            case _:
                pass

    def _append(self, kind: BlockKind, index: int, text: str) -> None:
        if self._open is not None and index in self._open.blocks[kind]:
            self._open.blocks[kind][index].parts.append(text)

    def _compare(self, event: Event, message: Message) -> None:
        streamed, self._stopped = self._stopped, None
        if streamed is None or streamed.message != message.id:
            return
        texts = [block for block in message.content if isinstance(block, Text)]
        blocks = streamed.of_kind("text")
        if not _texts_match([block.text for block in blocks], [block.text for block in texts]):
            self.report("I23", event, f"the text of {message.id!r} differs from its deltas")
        elif len(texts) == len(blocks) and [b.refusal for b in texts] != [b.refusal for b in blocks]:
            self.report("I23", event, f"{message.id!r} is a refusal in its deltas or in its message, not in both")
        thought = [block.text for block in message.content if isinstance(block, Reasoning)]
        if not _texts_match([block.text for block in streamed.of_kind("thinking")], thought):
            self.report("I24", event, f"the thinking of {message.id!r} differs from its deltas")
        self._i25_inputs(event, streamed, message)
        self._i27_fits(event, streamed, message)
        self._pending = {call.id: call for call in message.tool_calls}
        self._dropped.difference_update(self._pending)

    def _i25_inputs(self, event: Event, streamed: _StreamedMessage, message: Message) -> None:
        blocks = {block.call: block for block in streamed.of_kind("tool")}
        calls = {call.id: call for call in message.tool_calls}
        if blocks.keys() != calls.keys() or len(calls) != len(message.tool_calls):
            self.report("I25", event, f"the calls of {message.id!r} are not those that streamed")
        for call_id in blocks.keys() & calls.keys():
            block, call = blocks[call_id], calls[call_id]
            if block.name != call.name:
                self.report("I25", event, f"the call {call_id!r} streamed as {block.name!r} and is {call.name!r}")
            elif call.invalid is None and not _parses_to(block.text, call.input):
                self.report("I25", event, f"the input of {call_id!r} differs from its deltas")

    def _i25_call(self, event: Event, call: ToolCall) -> None:
        self._called[call.id] = call
        asked = self._pending.pop(call.id, None)
        if asked is None and (call.id.startswith(ENGINE_CALL_PREFIX) or call.parent is not None):
            return
        if asked is None:
            self._i28_not_discarded(event, call.id)
            self.report("I25", event, f"tool_call {call.id!r} stands in no assistant_message before it")
        elif asked != call or not _json_equal(asked.input, call.input):
            self.report("I25", event, f"tool_call {call.id!r} is not the call of its assistant_message")

    def _i25_all_called(self, event: Event) -> None:
        for call in self._pending:
            self.report("I25", event, f"the call {call!r} has no tool_call before {event.type}")
        self._pending = {}

    def _i27_known(self, event: Event, stop: StopReason) -> None:
        if stop not in _STOP_REASONS:
            self.report("I27", event, f"the stop reason {stop!r} is not known")

    def _i27_present(self, event: Event) -> None:
        if self._open is not None and self._open.stop_reason is None:
            self.report("I27", event, f"the message {self._open.message!r} stops without a stop reason")

    def _i27_fits(self, event: Event, streamed: _StreamedMessage, message: Message) -> None:
        """Check the stop reason. A message that was cut off keeps its reason, and all of its calls must be invalid."""
        stop, calls = streamed.stop_reason, message.tool_calls
        if stop is None:
            return
        if stop in EXECUTABLE:
            if (stop == "tool_use") != bool(calls):
                self.report("I27", event, f"{message.id!r} has {len(calls)} calls and stopped for {stop}")
        elif valid := [call.id for call in calls if call.invalid is None]:
            self.report("I27", event, f"{message.id!r} was cut by {stop}, yet {valid[0]!r} is not marked invalid")

    def _i28_not_discarded(self, event: Event, call: str) -> None:
        if call in self._dropped:
            self.report("I28", event, f"{event.type} of {call!r}, whose message was discarded")


def _texts_match(streamed: list[str], held: list[str]) -> bool:
    """Compare block by block if the counts are equal; a message may omit empty blocks."""
    return streamed == held if len(streamed) == len(held) else "".join(streamed) == "".join(held)


def _parses_to(text: str, held: Any) -> bool:
    """Whether an argument text parses to the input. Empty and null mean no arguments; some models encode twice."""
    if text.strip() in ("", "null"):
        return held == {}
    try:
        value = parse_strict(text)
        return _json_equal(parse_strict(value) if isinstance(value, str) else value, held)
    except ValueError:
        return False


def _json_equal(a: Any, b: Any) -> bool:
    """Compare as JSON: `true` is not 1."""
    if isinstance(a, dict) and isinstance(b, dict):
        left, right = cast("dict[str, Any]", a), cast("dict[str, Any]", b)
        return left.keys() == right.keys() and all(_json_equal(left[key], right[key]) for key in left)
    if isinstance(a, list) and isinstance(b, list):
        ours, theirs = cast("list[Any]", a), cast("list[Any]", b)
        return len(ours) == len(theirs) and all(map(_json_equal, ours, theirs))
    return isinstance(a, bool) == isinstance(b, bool) and a == b
