"""Runs a case through a codec, and checks what came out against what the case says and what always holds."""

import sys
from collections.abc import Iterable, Sequence
from random import Random
from typing import Any, cast

from heald.core.errors import ErrorInfo
from heald.core.events import (
    InputJsonDelta,
    MessageDelta,
    MessageDiscarded,
    MessageStart,
    MessageStop,
    TextContentBlockStart,
    TextContentBlockStop,
    TextDelta,
    ThinkingContentBlockStart,
    ThinkingContentBlockStop,
    ThinkingDelta,
    ToolUseContentBlockStart,
    ToolUseContentBlockStop,
)
from heald.core.json import JsonObject, encode
from heald.core.messages import Grounding, Message, Reasoning, Text, ToolCall, ToolResult, tool_results, user_message
from heald.core.payload import Payload
from heald.wires.decoder import Decoder
from heald.wires.partial_json import PartialJson
from heald.wires.registry import WIRES
from heald.wires.request import TurnRequest

from .case import PROVIDER, Case, Expected, ExpectedCall

_MAX_PREVIEW = 4000


# --- through the codec ----------------------------------------------------------------------------------------


def decode(case: Case, pieces: Iterable[bytes], *, join_from: int = sys.maxsize) -> tuple[list[Payload], Decoder]:
    decoder = WIRES[case.wire].decoder(
        provider=PROVIDER,
        model=case.model,
        used_ids=frozenset(call.id for message in case.history for call in message.tool_calls),
        max_output_tokens=case.settings.max_output_tokens,
        quirks=case.quirks,
    )
    decoder.join_from = join_from
    events = decoder.open()
    for piece in pieces:
        events += decoder.feed(piece)
    return events + decoder.close(), decoder


def cut_at_random(data: bytes, seed: str) -> list[bytes]:
    """Pieces of very different sizes, the same for the same seed."""
    random = Random(seed)
    pieces: list[bytes] = []
    at = 0
    while at < len(data):
        size = random.choice((1, 2, 3, 7, 40, 300))
        pieces.append(data[at : at + size])
        at += size
    return pieces


def build_request(case: Case, messages: Sequence[Message]) -> JsonObject:
    return WIRES[case.wire].build_request(
        TurnRequest(
            model=case.model,
            messages=list(messages),
            tools=case.tools,
            settings=case.settings,
            provider=PROVIDER,
            quirks=case.quirks,
        )
    )


def build_next(case: Case, message: Message, stop_reason: str | None) -> JsonObject:
    """The request after this answer: its calls answered, or the user's next words."""
    return build_request(case, [*case.history, message, *what_follows(message, stop_reason)])


def what_follows(message: Message, stop_reason: str | None) -> list[Message]:
    if message.tool_calls:
        return [tool_results([result_of(call) for call in message.tool_calls])]
    return [] if stop_reason == "pause_turn" else [user_message("And then?")]


def result_of(call: ToolCall) -> ToolResult:
    if call.invalid is not None:
        return ToolResult(id=call.id, name=call.name, status="invalid_input", content=call.invalid.message)
    return ToolResult(id=call.id, name=call.name, status="ok", content="done")


# --- against what the case says -------------------------------------------------------------------------------


def check(case: Case, events: list[Payload], message: Message | None, error: ErrorInfo | None) -> None:
    """Events, and the message or the error that they ended with."""
    expected = case.expect
    assert expected is not None, "a stream needs an expectation"
    check_order(events)
    if expected.outcome == "discarded":
        _check_discarded(expected, events, message, error)
        return
    assert error is None, f"discarded: {error}"
    assert message is not None
    _check_message(expected, message)
    earlier = {call.id for before in case.history for call in before.tool_calls}
    assert not earlier & {call.id for call in message.tool_calls}, "ids are unique in the session"
    _check_streamed(expected, events, message)
    (delta,) = (event for event in events if isinstance(event, MessageDelta))
    assert delta.stop_reason == expected.stop_reason
    if expected.usage is not None:
        assert delta.usage == expected.usage
    encode(message)


def _check_discarded(
    expected: Expected, events: list[Payload], message: Message | None, error: ErrorInfo | None
) -> None:
    assert message is None, "the attempt failed, yet a message was handed out"
    assert not any(isinstance(event, ToolCall) for event in events)
    assert expected.error is not None
    assert error is not None
    assert (error.code, error.retryable) == (expected.error.code, expected.error.retryable), error.message
    if expected.text is not None:
        assert _joined_text(events, TextDelta) == expected.text
    last = next(event for event in reversed(events) if isinstance(event, MessageDiscarded))
    if expected.usage is not None:
        assert last.usage == expected.usage


def _check_message(expected: Expected, message: Message) -> None:
    texts = [block for block in message.content if isinstance(block, Text)]
    said = "".join(block.text for block in texts if not block.refusal)
    if expected.text_length is not None:
        assert len(said) == expected.text_length
    else:
        assert said == (expected.text or "")
    assert "".join(block.text for block in texts if block.refusal) == expected.refusal
    assert "".join(block.text for block in message.content if isinstance(block, Reasoning)) == expected.thinking
    if expected.blocks is not None:
        assert [_kind(block) for block in message.content] == expected.blocks
    if expected.sources is not None:
        grounding = [block for block in message.content if isinstance(block, Grounding)]
        assert [source.url or source.title for block in grounding for source in block.sources] == expected.sources
    assert [call.name for call in message.tool_calls] == [call.name for call in expected.calls]
    for call, expected_call in zip(message.tool_calls, expected.calls, strict=True):
        _check_call(call, expected_call)
    ids = [call.id for call in message.tool_calls]
    assert len(set(ids)) == len(ids), "ids are unique"


def _kind(block: Any) -> str:
    return "tool_use" if isinstance(block, ToolCall) else type(block).__name__.lower()


def _check_call(call: ToolCall, expected: ExpectedCall) -> None:
    assert call.id
    if expected.id is not None:
        assert call.id == expected.id
    if expected.invalid is None:
        assert call.invalid is None
        assert call.input == expected.input
        return
    assert call.invalid is not None, "the call would run"
    assert call.invalid.reason == expected.invalid
    if expected.raw is not None:
        assert call.invalid.raw == expected.raw


def _check_streamed(expected: Expected, events: list[Payload], message: Message) -> None:
    """What was shown while it arrived is what the message holds."""
    assert _joined_text(events, TextDelta) == message.text
    assert _joined_text(events, ThinkingDelta) == expected.thinking
    starts = [event for event in events if isinstance(event, ToolUseContentBlockStart)]
    assert [start.id for start in sorted(starts, key=lambda s: _place(message, s.id))] == [
        call.id for call in message.tool_calls
    ]
    for start in starts:
        call = message.tool_calls[_place(message, start.id)]
        expected_call = expected.calls[_place(message, start.id)]
        assert start.name == call.name
        deltas = [e.partial_json for e in events if isinstance(e, InputJsonDelta) and e.block == start.block]
        if call.invalid is None and not expected_call.revised:
            check_preview(deltas, call.input)


def _place(message: Message, call_id: str) -> int:
    return next(place for place, call in enumerate(message.tool_calls) if call.id == call_id)


def _joined_text(events: list[Payload], kind: type[TextDelta] | type[ThinkingDelta]) -> str:
    return "".join(event.text for event in events if isinstance(event, kind))


# --- against what always holds --------------------------------------------------------------------------------


def check_order(events: list[Payload]) -> None:
    """One start, one end, every block opened and closed once, thinking closed before text begins."""
    assert isinstance(events[0], MessageStart)
    assert isinstance(events[-1], MessageStop | MessageDiscarded)
    assert sum(isinstance(event, MessageStart | MessageStop | MessageDiscarded) for event in events) == 2
    opened: dict[str, str] = {}
    seen: list[str] = []
    for event in events:
        match event:
            case TextContentBlockStart() | ThinkingContentBlockStart():
                assert not set(opened.values()) & {"text", "thinking"}, "two texts at once"
                opened[event.block] = "text" if isinstance(event, TextContentBlockStart) else "thinking"
            case ToolUseContentBlockStart():
                assert not set(opened.values()) & {"text", "thinking"}, "a text was still open"
                opened[event.block] = "tool"
            case TextDelta():
                assert opened[event.block] == "text"
                assert event.text
            case ThinkingDelta():
                assert opened[event.block] == "thinking"
                assert event.text
            case InputJsonDelta():
                assert opened[event.block] == "tool"
            case TextContentBlockStop() | ThinkingContentBlockStop() | ToolUseContentBlockStop():
                del opened[event.block]
            case _:
                continue
        if event.block not in seen:
            assert event.index == len(seen)
            seen.append(event.block)
    assert isinstance(events[-1], MessageDiscarded) or not opened, "a block was never closed"


def check_preview(deltas: list[str], final: JsonObject) -> None:
    """At every character the preview is a part of the final value, and it never shrinks."""
    text = "".join(deltas)
    if len(text) > _MAX_PREVIEW:
        return
    parser = PartialJson()
    for character in text:
        parser.feed(character)
        assert_part(parser.value, final)
    parser.feed(" ")
    if not text.lstrip().startswith('"'):  # encoded twice: no preview of what is inside
        assert (parser.value or {}) == final


def assert_part(value: Any, whole: Any) -> None:
    match value:
        case None:
            return
        case dict():
            for key, item in cast(JsonObject, value).items():
                assert_part(item, whole[key])
        case list():
            for item, full in zip(cast("list[Any]", value), whole, strict=False):
                assert_part(item, full)
        case str() if isinstance(whole, str):
            assert whole.startswith(value), f"{value!r} is not a beginning of {whole!r}"
        case str():
            return
        case _:
            assert value == whole
