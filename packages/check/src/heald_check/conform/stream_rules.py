"""The rules that every stream must satisfy."""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import msgspec

from heald_check.conform.answer import ProbeAnswer
from heald_check.conform.check_finding import CheckFinding, ok, skipped, wrong
from heald_check.conform.framing import StreamFault
from heald_check.conform.probes import (
    PROBES,
)

_MAX_NAMED = 3
_TEXT_RULES = ("utf-8", "json", "envelope", "order", "after-end")
_CALL_RULES = (*_TEXT_RULES, "call-ids", "call-index", "call-fields", "arguments")
FoundFaults = Iterator[tuple[ProbeAnswer, StreamFault]]


class StreamRule(msgspec.Struct, frozen=True):
    name: str
    right: str
    case: str = ""
    wires: tuple[str, ...] = ()
    """The wires that it applies to; empty means all."""
    needs: Literal["answers", "calls", "usage"] = "answers"
    find: Callable[[Sequence[ProbeAnswer]], FoundFaults] | None = None
    """Finds the faults, if they are more than those of the single readings."""


def judge_rule(rule: StreamRule, answers: Sequence[ProbeAnswer]) -> CheckFinding:
    """Judge a rule over all answers that hold a stream."""
    if not answers:
        return skipped("no probe brought a stream")
    calls = sum(len(answer.reading.calls) for answer in answers)
    if rule.needs == "calls" and not calls:
        return skipped("no answer has a call")
    if rule.needs == "usage" and not any(answer.reading.tokens for answer in answers):
        return skipped("no answer has usage")
    faults = list(rule.find(answers) if rule.find is not None else _rule_faults(rule.name, answers))
    if not faults:
        return ok(f"{calls} calls" if rule.needs == "calls" else f"{len(answers)} answers")
    return wrong(_summarise_faults(faults, len(answers)), next((fault.case for _, fault in faults if fault.case), ""))


def _summarise_faults(faults: list[tuple[ProbeAnswer, StreamFault]], answers: int) -> str:
    where: dict[str, dict[str, None]] = {}
    for answer, fault in faults:
        where.setdefault(fault.what, {})[answer.probe] = None
    named = [
        f"{what} ({'every answer' if len(probes) == answers > 1 else ', '.join(probes)})"
        for what, probes in list(where.items())[:_MAX_NAMED]
    ]
    more = len(where) - len(named)
    return "; ".join(named) + (f"; and {more} more" if more else "")


def _rule_faults(rule: str, answers: Sequence[ProbeAnswer]) -> FoundFaults:
    for answer in answers:
        for fault in answer.reading.faults_of(rule):
            yield answer, fault


def _find_content_type(answers: Sequence[ProbeAnswer]) -> FoundFaults:
    for answer in answers:
        if answer.content_type != answer.api.content_type:
            yield answer, StreamFault("content-type", answer.content_type or "no content type")


def _find_after_end(answers: Sequence[ProbeAnswer]) -> FoundFaults:
    yield from _rule_faults("after-end", answers)
    for answer in answers:
        if answer.kept_open:
            yield answer, StreamFault("after-end", "the body stays open after the last event")


def _find_finish_calls(answers: Sequence[ProbeAnswer]) -> FoundFaults:
    """Find wrong finish reasons. A forced call may end in `stop`: OpenAI does so if `tool_choice` names a function."""
    for answer in answers:
        reading, call_finish = answer.reading, answer.api.call_finish
        if not reading.finish or reading.finish == answer.api.reader.truncated:
            continue
        if reading.finish == call_finish and not reading.calls:
            yield answer, StreamFault("finish-calls", f"{call_finish} without a call", "T20")
        elif reading.calls and reading.finish != call_finish and not PROBES[answer.probe].forced:
            yield answer, StreamFault("finish-calls", f"{reading.finish} with a call", "T19")


def _find_call_ids(answers: Sequence[ProbeAnswer]) -> FoundFaults:
    yield from _rule_faults("call-ids", answers)
    seen: set[str] = set()
    for answer in answers:
        ids = {call.id for call in answer.reading.calls if call.id}
        if ids & seen:
            yield answer, StreamFault("call-ids", "a call has the id of a call in another answer", "T11")
        seen |= ids


def _find_arguments(answers: Sequence[ProbeAnswer]) -> FoundFaults:
    yield from _rule_faults("arguments", answers)
    for answer in answers:
        if answer.probe != "no-arguments":
            yield from ((answer, fault) for fault in answer.reading.faults_of("empty-arguments"))


def _find_decode(answers: Sequence[ProbeAnswer]) -> FoundFaults:
    for answer in answers:
        what = _find_difference(answer)
        if what is not None:
            yield answer, StreamFault("decode", what)


def _find_difference(answer: ProbeAnswer) -> str | None:
    """Compare Heald's decoding with the strict reading of the bytes.

    Parts that a fault leaves open are not compared, since two readers may recover differently.
    """
    decoded, reading = answer.decoded, answer.reading
    message = decoded.message
    if decoded.error is not None or message is None:
        return f"Heald drops the answer: {(decoded.error or 'it has no message').partition(';')[0]}"
    if not reading.faults_of(*_TEXT_RULES) and message.text != _join_surrogates(reading.text):
        return "Heald reads another text"
    if not reading.faults_of(*_CALL_RULES):
        read = [(call.name, None if call.invalid is not None else call.input) for call in message.tool_calls]
        cut = reading.finish == answer.api.reader.truncated
        if reading.faults_of("finish"):  # an unknown finish reason counts as cut off
            cut = decoded.stop_reason == "max_tokens"
        if read != [(call.name, None if cut else call.input) for call in reading.calls]:
            return "Heald reads other calls"
    if not reading.faults_of("finish") and (reading.finish == answer.api.reader.truncated) != (
        decoded.stop_reason == "max_tokens"
    ):
        return f"Heald reads {reading.finish} as {decoded.stop_reason}"
    tokens = reading.tokens
    if tokens is None or tokens.total is None or reading.faults_of("usage", "usage-sum"):
        return None
    return None if decoded.usage.total == tokens.total else "Heald counts other tokens"


def _join_surrogates(text: str) -> str:
    """Join the halves of a surrogate pair that came in two deltas."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


RULES: tuple[StreamRule, ...] = (
    StreamRule("content-type", "A stream has the content type of its format.", "F07", find=_find_content_type),
    StreamRule("framing", "Events are framed as their format requires, the last one too.", "F02"),
    StreamRule("utf-8", "A stream is UTF-8.", "F01"),
    StreamRule("json", "Every event is one JSON object.", "F07"),
    StreamRule("event-names", "The name of an event is the type in its data.", "", ("responses", "messages")),
    StreamRule(
        "envelope",
        "Events carry the fixed fields of the API, with the same id throughout.",
        "T15",
        ("chat", "responses", "messages", "ollama"),
    ),
    StreamRule("role", "The role of the answer is assistant.", "T15"),
    StreamRule(
        "order", "Events begin, fill and end each item in turn, and are numbered so.", "", ("responses", "messages")
    ),
    StreamRule("terminal", "The stream has an event that ends it.", "F10", ("responses", "messages", "ollama")),
    StreamRule("finish", "The finish reason is one of the API.", "F10"),
    StreamRule("done-marker", "The last event is [DONE].", "F10", ("chat",)),
    StreamRule(
        "finish-calls",
        "The finish reason differs for answers with calls and without.",
        "T19",
        ("chat", "messages"),
        find=_find_finish_calls,
    ),
    StreamRule("after-end", "Nothing follows the end, and then the body ends too.", "F13", find=_find_after_end),
    StreamRule(
        "call-ids",
        "Every call has one id that no other call has.",
        "T06",
        ("chat", "responses", "messages"),
        needs="calls",
        find=_find_call_ids,
    ),
    StreamRule("call-index", "Calls are numbered from 0, each number for one call.", "T02", ("chat",), needs="calls"),
    StreamRule("call-fields", "A call begins with its whole name and its fixed fields.", "T10", needs="calls"),
    StreamRule("arguments", "Arguments are one JSON object.", "V03", needs="calls", find=_find_arguments),
    StreamRule("usage", "Every answer counts its input and its output tokens.", "U04"),
    StreamRule(
        "usage-sum", "The total is the sum of its parts.", "U02", ("chat", "responses", "gemini"), needs="usage"
    ),
    StreamRule("decode", "A decoder reads what stands in the bytes.", find=_find_decode),
)
