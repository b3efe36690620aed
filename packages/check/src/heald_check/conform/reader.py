"""Reads a response body strictly by its specification and records every fault.

The decoders in `heald.wires` forgive much of this, so no parser is shared with them.
"""

from collections.abc import Callable
from typing import Any, ClassVar

from heald.core.json import JsonObject, as_int, as_object, encode_text, parse_strict
from heald_check.conform.excerpt import excerpt, quoted
from heald_check.conform.framing import RawFrame, SplitBody, StreamFault, split_events
from heald_check.conform.reading import ReadCall, ReadUsage, StreamReading


class StrictReader:
    """Reads one answer. A subclass implements `read_event` and, if the end has rules of its own, `end`."""

    finishes: ClassVar[frozenset[str]]
    """The finish reasons of the API."""
    truncated: ClassVar[str]
    """The finish reason of an answer that reached the output limit."""
    split: ClassVar[Callable[[bytes], SplitBody]] = staticmethod(split_events)
    wants_ids: ClassVar[bool] = True

    def __init__(self) -> None:
        self.text: list[str] = []
        self.calls: list[ReadCall] = []
        self.finish = ""
        self.tokens: ReadUsage | None = None
        self.error: str | None = None
        self.role: Any = None
        self.ended = False
        self._faults: dict[StreamFault, None] = {}

    @classmethod
    def read(cls, body: bytes) -> StreamReading:
        reader, parts = cls(), cls.split(body)
        reader._faults.update(dict.fromkeys(parts.faults))
        for frame in parts.frames:
            reader.read_frame(frame)
        if reader.error is None:
            reader.end()
            reader._check_answer()
        return StreamReading(
            events=len(parts.frames),
            text="".join(reader.text),
            calls=tuple(reader.calls),
            finish=reader.finish,
            tokens=reader.tokens,
            error=reader.error,
            faults=tuple(reader._faults),
        )

    def read_event(self, data: JsonObject, event: str) -> None:
        raise NotImplementedError

    def end(self) -> None:
        """Check the end of the body."""

    def read_frame(self, frame: RawFrame) -> None:
        """Read one event: a JSON object, except for `[DONE]` of Chat Completions."""
        try:
            value = parse_strict(frame.data)
        except ValueError as error:
            self.add_fault("json", f"{quoted(frame.data, 60)} is not JSON: {excerpt(str(error))}")
            return
        if not isinstance(value, dict):
            self.add_fault("json", f"{quoted(frame.data, 60)} is not an object")
            return
        if self.ended:
            self.add_fault("after-end", "an event after the last one", "F13")
        self.read_event(as_object(value), frame.event)

    # --- for subclasses ------------------------------------------------------------------------------------------

    def add_fault(self, rule: str, what: str, case: str = "") -> None:
        self._faults[StreamFault(rule, what, case)] = None

    def set_error(self, error: Any) -> None:
        message = as_object(error).get("message") or error
        self.error = message if isinstance(message, str) else encode_text(message)

    def check_event_name(self, kind: str, event: str) -> None:
        """Check that the name of an event is the type in its data."""
        if not event:
            self.add_fault("event-names", "events have no name")
        elif kind != event:
            self.add_fault("event-names", f"event {quoted(event, 60)} holds the type {quoted(kind, 60)}")

    def require(self, rule: str, holder: JsonObject, where: str, **kinds: type) -> None:
        for name, kind in kinds.items():
            if not isinstance(holder.get(name), kind) or holder[name] == "":
                self.add_fault(rule, f"{where} has no {name}")

    def check_same_id(self, expected: str, holder: JsonObject, message: str) -> str:
        """Check that all envelopes of an answer have one id. Returns the id that counts from here on."""
        sent = str(holder.get("id") or "")
        if expected and sent and sent != expected:
            self.add_fault("envelope", message)
        return expected or sent

    def read_usage(self, raw: JsonObject, read: str, written: str) -> ReadUsage:
        for name in (read, written):
            if as_int(raw.get(name)) is None:
                self.add_fault("usage", f"usage has no {name}", "U04")
        return ReadUsage(as_int(raw.get(read)), as_int(raw.get(written)), as_int(raw.get("total_tokens")))

    def check_reasoning(self, details: Any) -> None:
        """Check that reasoning tokens, which count as output, do not exceed the output."""
        reasoning = as_int(as_object(details).get("reasoning_tokens"))
        output = self.tokens.output if self.tokens is not None else None
        if reasoning is not None and output is not None and reasoning > output:
            self.add_fault("usage-sum", "more reasoning tokens than output tokens", "U03")

    def check_total(self, total: int | None, *parts: int | None) -> None:
        if total is None:
            self.add_fault("usage-sum", "usage has no total")
        elif total != sum(part or 0 for part in parts):
            figures = " + ".join(str(part) for part in parts if part is not None)
            self.add_fault("usage-sum", f"{figures} is not the total of {total}")

    # --- rules of every API --------------------------------------------------------------------------------------

    def _check_answer(self) -> None:
        if not self.finish:
            self.add_fault("finish", "no finish reason", "F10")
        elif self.finish not in self.finishes:
            self.add_fault("finish", f"{quoted(self.finish, 40)} is not a finish reason of this API")
        if self.tokens is None:
            self.add_fault("usage", "no usage", "U04")
        elif self.tokens.output == 0 and (self.calls or any(self.text)):
            self.add_fault("usage", "output was sent and none was counted", "U04")
        if self.role != "assistant":
            self.add_fault("role", "no role" if not self.role else f"the role {quoted(str(self.role), 40)}", "T15")
        for call in self.calls:
            self._check_call(call)
        ids = [call.id for call in self.calls if call.id]
        if len(set(ids)) < len(ids):
            self.add_fault("call-ids", "two calls of one answer have the same id", "T11")

    def _check_call(self, call: ReadCall) -> None:
        if self.wants_ids and not call.id:
            self.add_fault("call-ids", "a call has no id", "T06")
        if not call.name:
            self.add_fault("call-fields", "a call has no name", "T10")
        if self.finish == self.truncated:
            return
        if not call.arguments.strip():
            self.add_fault("empty-arguments", "empty arguments", "V01")
            return
        try:
            value = parse_strict(call.arguments)
        except ValueError as error:
            self.add_fault("arguments", f"{quoted(call.arguments, 60)} is not JSON: {excerpt(str(error))}", "V03")
            return
        if isinstance(value, str):
            self.add_fault("arguments", "arguments that are JSON inside a JSON string", "V09")
        elif not isinstance(value, dict):
            self.add_fault("arguments", f"{quoted(call.arguments, 60)} is not an object", "V03")
