"""Events cut out of a body by the letter of their format. What the format does not allow is a fault.

The decoders forgive much of this. Here nothing is forgiven, which is why no parser is shared with them.
"""

import re
from dataclasses import dataclass

from weft.testing.conform.verdict import quoted

_LINE_END = re.compile(r"\r\n|\n|\r")
_FIELDS = ("data", "event", "id", "retry")


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong with an answer, filed under the rule it breaks."""

    rule: str
    what: str
    case: str = ""


@dataclass(frozen=True)
class Frame:
    data: str
    event: str = ""


@dataclass(frozen=True)
class Frames:
    frames: tuple[Frame, ...]
    faults: tuple[Fault, ...]


def read_events(body: bytes) -> Frames:
    """Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html)."""
    text, faults = _text(body)
    if text.lstrip()[:1] in ("{", "["):
        return Frames((), (*faults, Fault("framing", "bare JSON instead of server-sent events")))
    frames: list[Frame] = []
    data: list[str] = []
    event = ""
    for line in _lines(text):
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if line and name and name not in _FIELDS:
            faults.append(Fault("framing", f"a line that is no field: {quoted(line, 60)}"))
        elif name == "data":
            data.append(value)
        elif name == "event":
            event = value
        if line:
            continue
        if data:
            frames.append(Frame("\n".join(data), event))
        data, event = [], ""
    if data:
        faults.append(Fault("framing", "the last event lacks the blank line that ends it"))
        frames.append(Frame("\n".join(data), event))
    return Frames(tuple(frames), tuple(faults))


def read_lines(body: bytes) -> Frames:
    """One JSON object a line."""
    text, faults = _text(body)
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if any(line.startswith(("data:", "event:")) for line in lines):
        return Frames((), (*faults, Fault("framing", "server-sent events instead of lines of JSON")))
    return Frames(tuple(Frame(line) for line in lines), tuple(faults))


def _text(body: bytes) -> tuple[str, list[Fault]]:
    try:
        return body.decode("utf-8-sig"), []
    except UnicodeDecodeError as error:
        return body.decode("utf-8-sig", "replace"), [Fault("utf-8", f"invalid UTF-8 at byte {error.start}")]


def _lines(text: str) -> list[str]:
    """The lines, a last one that lacks its end included."""
    *lines, rest = _LINE_END.split(text)
    return [*lines, rest] if rest else lines
