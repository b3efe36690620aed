"""Splits the body of a response into frames, strictly by its specification."""

import re

import msgspec

from heald_check.conform.excerpt import quoted

_LINE_END = re.compile(r"\r\n|\n|\r")
_FIELDS = ("data", "event", "id", "retry")


class StreamFault(msgspec.Struct, frozen=True):
    """One fault of an answer, with the rule that it breaks and the conformance case that describes it."""

    rule: str
    what: str
    case: str = ""


class RawFrame(msgspec.Struct, frozen=True):
    data: str
    event: str = ""


class SplitBody(msgspec.Struct, frozen=True):
    frames: tuple[RawFrame, ...]
    faults: tuple[StreamFault, ...]


def split_events(body: bytes) -> SplitBody:
    """Split server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html)."""
    text, faults = _decode_text(body)
    if text.lstrip()[:1] in ("{", "["):
        return SplitBody((), (*faults, StreamFault("framing", "bare JSON instead of server-sent events")))
    frames: list[RawFrame] = []
    data: list[str] = []
    event = ""
    *lines, rest = _LINE_END.split(text)
    for line in [*lines, rest] if rest else lines:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if line and name and name not in _FIELDS:
            faults.append(StreamFault("framing", f"a line that is not a field: {quoted(line, 60)}"))
        elif name == "data":
            data.append(value)
        elif name == "event":
            event = value
        if line:
            continue
        if data:
            frames.append(RawFrame("\n".join(data), event))
        data, event = [], ""
    if data:
        faults.append(StreamFault("framing", "the last event lacks the blank line that ends it"))
        frames.append(RawFrame("\n".join(data), event))
    return SplitBody(tuple(frames), tuple(faults))


def split_lines(body: bytes) -> SplitBody:
    """Split lines of JSON."""
    text, faults = _decode_text(body)
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if any(line.startswith(("data:", "event:")) for line in lines):
        return SplitBody((), (*faults, StreamFault("framing", "server-sent events instead of lines of JSON")))
    return SplitBody(tuple(RawFrame(line) for line in lines), tuple(faults))


def _decode_text(body: bytes) -> tuple[str, list[StreamFault]]:
    try:
        return body.decode("utf-8-sig"), []
    except UnicodeDecodeError as error:
        return body.decode("utf-8-sig", "replace"), [StreamFault("utf-8", f"invalid UTF-8 at byte {error.start}")]
