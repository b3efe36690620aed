"""What the plain readers share: what they collect, and the rules that are the same for every API."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from weft.core.json import JsonObject, as_int, as_object, encode_text, parse_strict
from weft.testing.conform.plain.frames import Fault, Frame, Frames, read_events
from weft.testing.conform.verdict import excerpt, quoted


@dataclass(frozen=True)
class Call:
    id: str
    name: str
    arguments: str

    @property
    def input(self) -> JsonObject | None:
        """The arguments, None where they are no object."""
        try:
            value = parse_strict(self.arguments or "{}")
        except ValueError:
            return None
        return as_object(value) if isinstance(value, dict) else None


@dataclass(frozen=True)
class Tokens:
    input: int | None
    output: int | None
    total: int | None = None


@dataclass(frozen=True)
class Reading:
    """An answer as it stands in its bytes."""

    events: int
    text: str
    calls: tuple[Call, ...]
    finish: str
    tokens: Tokens | None
    error: str | None
    faults: tuple[Fault, ...]

    def broke(self, *rules: str) -> list[Fault]:
        return [fault for fault in self.faults if fault.rule in rules]


@dataclass
class OpenCall:
    """A call while its pieces arrive."""

    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list[str])
    index: int | None = None

    @property
    def arguments(self) -> str:
        return "".join(self.pieces)


class Reader:
    """Reads one answer. A wire implements `take` for each event and, where it has more to say, `end`."""

    finishes: ClassVar[frozenset[str]]
    """The finish reasons of the API."""
    truncated: ClassVar[str]
    """The one that says that the output limit was reached."""
    cut: ClassVar[Callable[[bytes], Frames]] = staticmethod(read_events)
    wants_ids: ClassVar[bool] = True

    def __init__(self) -> None:
        self.text: list[str] = []
        self.calls: list[OpenCall] = []
        self.finish = ""
        self.tokens: Tokens | None = None
        self.error: str | None = None
        self.role: Any = None
        self.ended = False
        self._faults: dict[Fault, None] = {}

    @classmethod
    def read(cls, body: bytes) -> Reading:
        reader, frames = cls(), cls.cut(body)
        for fault in frames.faults:
            reader.fault(fault.rule, fault.what, fault.case)
        for frame in frames.frames:
            reader.frame(frame)
        if reader.error is None:
            reader.end()
            reader.settle()
        return Reading(
            events=len(frames.frames),
            text="".join(reader.text),
            calls=tuple(Call(call.id, call.name, call.arguments) for call in reader.calls),
            finish=reader.finish,
            tokens=reader.tokens,
            error=reader.error,
            faults=tuple(reader._faults),
        )

    # --- what a wire implements ------------------------------------------------------------------------------

    def take(self, data: JsonObject, event: str) -> None:
        raise NotImplementedError

    def end(self) -> None:
        """The body is over."""

    # --- what a wire calls -----------------------------------------------------------------------------------

    def fault(self, rule: str, what: str, case: str = "") -> None:
        self._faults[Fault(rule, what, case)] = None

    def frame(self, frame: Frame) -> None:
        """One event. All but chat's `[DONE]` are JSON objects."""
        try:
            value = parse_strict(frame.data)
        except ValueError as error:
            self.fault("json", f"{quoted(frame.data, 60)} is no JSON: {excerpt(str(error))}")
            return
        if not isinstance(value, dict):
            self.fault("json", f"{quoted(frame.data, 60)} is no object")
            return
        if self.ended:
            self.fault("after-end", "an event after the last one", "F13")
        self.take(as_object(value), frame.event)

    def failed(self, error: Any) -> None:
        said = as_object(error).get("message") or error
        self.error = said if isinstance(said, str) else encode_text(said)

    def named(self, kind: str, event: str) -> None:
        """Where events have names, the name is the type."""
        if not event:
            self.fault("event-names", "events have no name")
        elif kind != event:
            self.fault("event-names", f"event {quoted(event, 60)} holds the type {quoted(kind, 60)}")

    def require(self, rule: str, holder: JsonObject, where: str, **kinds: type) -> None:
        for name, kind in kinds.items():
            if not isinstance(holder.get(name), kind) or holder[name] == "":
                self.fault(rule, f"{where} has no {name}")

    def count(self, raw: JsonObject, read: str, written: str) -> Tokens:
        for name in (read, written):
            if as_int(raw.get(name)) is None:
                self.fault("usage", f"usage has no {name}", "U04")
        return Tokens(as_int(raw.get(read)), as_int(raw.get(written)), as_int(raw.get("total_tokens")))

    def count_reasoning(self, details: Any) -> None:
        """Where reasoning is counted within the output, it cannot be more than the whole."""
        reasoning = as_int(as_object(details).get("reasoning_tokens"))
        output = self.tokens.output if self.tokens is not None else None
        if reasoning is not None and output is not None and reasoning > output:
            self.fault("usage-sum", "more reasoning tokens than output tokens", "U03")

    def sum_up(self, total: int | None, *parts: int | None) -> None:
        if total is None:
            self.fault("usage-sum", "usage has no total")
        elif total != sum(part or 0 for part in parts):
            figures = " + ".join(str(part) for part in parts if part is not None)
            self.fault("usage-sum", f"{figures} is not the total of {total}")

    # --- rules of every API ----------------------------------------------------------------------------------

    def settle(self) -> None:
        if not self.finish:
            self.fault("finish", "no finish reason", "F10")
        elif self.finish not in self.finishes:
            self.fault("finish", f"{quoted(self.finish, 40)} is no finish reason of this API")
        if self.tokens is None:
            self.fault("usage", "no usage", "U04")
        elif self.tokens.output == 0 and (self.calls or any(self.text)):
            self.fault("usage", "output was sent and none was counted", "U04")
        if self.role != "assistant":
            self.fault("role", "no role" if not self.role else f"the role {quoted(str(self.role), 40)}", "T15")
        for call in self.calls:
            self._settle_call(call)
        ids = [call.id for call in self.calls if call.id]
        if len(set(ids)) < len(ids):
            self.fault("call-ids", "two calls of one answer have the same id", "T11")

    def _settle_call(self, call: OpenCall) -> None:
        if self.wants_ids and not call.id:
            self.fault("call-ids", "a call has no id", "T06")
        if not call.name:
            self.fault("call-fields", "a call has no name", "T10")
        if self.finish == self.truncated:
            return
        if not call.arguments.strip():
            self.fault("empty-arguments", "empty arguments", "V01")
            return
        try:
            value = parse_strict(call.arguments)
        except ValueError as error:
            self.fault("arguments", f"{quoted(call.arguments, 60)} is no JSON: {excerpt(str(error))}", "V03")
            return
        if isinstance(value, str):
            self.fault("arguments", "arguments that are JSON inside a JSON string", "V09")
        elif not isinstance(value, dict):
            self.fault("arguments", f"{quoted(call.arguments, 60)} is no object", "V03")
