"""The invariant of the size and the JSON of an event (I05)."""

from math import isfinite
from typing import Any, cast

import msgspec

from heald.core import events as ev
from heald.core.envelope import Event
from heald.core.json import encode
from heald_check.checker.invariants import InvariantCheck

MAX_EVENT_BYTES = 1024 * 1024
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
