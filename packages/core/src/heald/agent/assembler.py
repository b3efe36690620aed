"""Assembles messages from deltas. A pure fold: no clock, no I/O."""

from typing import Any

from heald.core.events import (
    AssistantMessage,
    InputJsonDelta,
    MessageDelta,
    MessageDiscarded,
    MessageStart,
    MessageStop,
    TextContentBlockStart,
    TextDelta,
    ThinkingContentBlockStart,
    ThinkingDelta,
    ToolPlanned,
    ToolUseContentBlockStart,
    ToolUseMessage,
)
from heald.core.messages import Block, Message, Reasoning, Text, ToolCall
from heald.core.payload import Payload
from heald.core.turn import StopReason
from heald.wires.finished_call import build_call, disable_call

DELTAS: frozenset[type[Payload]] = frozenset({TextDelta, ThinkingDelta, InputJsonDelta})
"""The pieces of a message, which are most events of a log. A fold of a log only assembles the message from them."""


class _Block:
    __slots__ = ("call", "form", "kind", "name", "parts")

    def __init__(self, kind: str, call: str = "", name: str = "", form: str | None = None) -> None:
        self.kind = kind
        self.call = call
        self.name = name
        self.form = form
        self.parts: list[str] = []


class MessageAssembler:
    """Assembles one message after the other from its stream."""

    def __init__(self) -> None:
        self.message = ""
        """The id of the open message; empty if there is none."""
        self.length = 0
        """The size of the open message so far, of any kind, in bytes of UTF-8."""
        self._blocks: list[_Block] = []
        self._stop: StopReason = "error"
        self._interrupted_by = ""
        self._calls_allowed = True

    def feed(self, payload: Payload) -> list[Payload]:
        """Feed the next payload. Returns, at the end of a message, the message and its calls."""
        kind = type(payload)  # isinstance would cost more than the rest
        delta: Any = payload
        if kind is TextDelta or kind is ThinkingDelta:
            text: str = delta.text
        elif kind is InputJsonDelta:
            text = delta.partial_json
        else:
            return self._feed_other(payload)
        index: int = delta.index
        self._blocks[index].parts.append(text)
        self.length += len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))
        return _NOTHING

    def _feed_other(self, payload: Payload) -> list[Payload]:
        match payload:
            case MessageStart(message_id=message):
                self.message, self._blocks, self._stop, self.length = message, [], "error", 0
            case TextContentBlockStart(refusal=refusal):
                self._blocks.append(_Block("refusal" if refusal else "text"))
            case ThinkingContentBlockStart():
                self._blocks.append(_Block("thinking"))
            case ToolUseContentBlockStart(id=call, name=name, form=form):
                self._blocks.append(_Block("tool", call, name, form))
            case MessageDelta(stop_reason=stop, provider_stop_reason=reason, interrupted=interrupted):
                self._stop, self._calls_allowed = stop, payload.calls_allowed
                self._interrupted_by = (reason or "") if interrupted else ""
            case MessageStop():
                message = Message(role="assistant", content=self._content(), id=self.message)
                self.reset()
                return message_payloads(message)
            case MessageDiscarded():
                self.reset()
            case _:
                pass
        return _NOTHING

    @property
    def text(self) -> str:
        """The text of the open message so far."""
        return "".join(part for block in self._blocks if block.kind == "text" for part in block.parts)

    def reset(self) -> None:
        """Drop the open message."""
        self.message, self._blocks, self.length = "", [], 0

    def _content(self) -> list[Block]:
        content: list[Block] = []
        for block in self._blocks:
            text = "".join(block.parts)
            if block.kind == "tool":
                call = build_call(
                    block.call, None, block.name, text, self._stop, block.form, interrupted_by=self._interrupted_by
                )
                content.append(call if self._calls_allowed else disable_call(call))
            elif block.kind == "thinking":
                content.append(Reasoning(text))
            else:
                content.append(Text(text, refusal=block.kind == "refusal"))
        return content


def message_payloads(message: Message) -> list[Payload]:
    """Return the payloads of a finished message: the message, and each of its calls."""
    payloads: list[Payload] = [AssistantMessage(message)]
    for block in message.content:
        if isinstance(block, ToolCall):
            payloads += (block, ToolUseMessage(block), ToolPlanned(block.id, block.name))
    return payloads


_NOTHING: list[Payload] = []
