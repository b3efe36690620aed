"""Rules that every stream must keep. Each looks at all answers there are and names those that break it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from weft.testing.conform.answer import Answer
from weft.testing.conform.plain.frames import Fault
from weft.testing.conform.probes import PROBES
from weft.testing.conform.verdict import Finding, ok, skipped, wrong

Found = Iterator[tuple[Answer, Fault]]

_MAX_TOLD = 3
_TEXT_RULES = ("utf-8", "json", "envelope", "order", "after-end")
_CALL_RULES = (*_TEXT_RULES, "call-ids", "call-index", "call-fields", "arguments")


@dataclass(frozen=True)
class Rule:
    name: str
    right: str
    case: str = ""
    wires: tuple[str, ...] = ()
    """The wires it is for; none means all."""
    needs: Literal["answers", "calls", "usage"] = "answers"
    find: Callable[[Sequence[Answer]], Found] | None = None
    """Where it is more than the faults of single readings under its name."""


def judge_rule(rule: Rule, answers: Sequence[Answer]) -> Finding:
    """`answers` are those that hold a stream to judge."""
    if not answers:
        return skipped("no probe brought a stream")
    calls = sum(len(answer.reading.calls) for answer in answers)
    if rule.needs == "calls" and not calls:
        return skipped("no answer has a call")
    if rule.needs == "usage" and not any(answer.reading.tokens for answer in answers):
        return skipped("no answer has usage")
    found = list(rule.find(answers) if rule.find is not None else _told(rule.name, answers))
    if not found:
        return ok(f"{calls} calls" if rule.needs == "calls" else f"{len(answers)} answers")
    return wrong(_sentence(found, len(answers)), next((fault.case for _, fault in found if fault.case), ""))


def _sentence(found: list[tuple[Answer, Fault]], answers: int) -> str:
    where: dict[str, dict[str, None]] = {}
    for answer, fault in found:
        where.setdefault(fault.what, {})[answer.probe] = None
    told = [
        f"{what} ({'every answer' if len(probes) == answers > 1 else ', '.join(probes)})"
        for what, probes in list(where.items())[:_MAX_TOLD]
    ]
    more = len(where) - len(told)
    return "; ".join(told) + (f"; and {more} more" if more else "")


def _told(rule: str, answers: Sequence[Answer]) -> Found:
    for answer in answers:
        for fault in answer.reading.broke(rule):
            yield answer, fault


def _content_type(answers: Sequence[Answer]) -> Found:
    for answer in answers:
        if answer.content_type != answer.api.content_type:
            yield answer, Fault("content-type", answer.content_type or "no content type")


def _after_end(answers: Sequence[Answer]) -> Found:
    yield from _told("after-end", answers)
    for answer in answers:
        if answer.kept_open:
            yield answer, Fault("after-end", "the body stays open after the last event")


def _finish_calls(answers: Sequence[Answer]) -> Found:
    """A call that was forced may end in `stop`: OpenAI itself does so where `tool_choice` names a function."""
    for answer in answers:
        reading, wanted = answer.reading, answer.api.call_finish
        if not reading.finish or reading.finish == answer.api.reader.truncated:
            continue
        if reading.finish == wanted and not reading.calls:
            yield answer, Fault("finish-calls", f"{wanted} without a call", "T20")
        elif reading.calls and reading.finish != wanted and not PROBES[answer.probe].forced:
            yield answer, Fault("finish-calls", f"{reading.finish} with a call", "T19")


def _call_ids(answers: Sequence[Answer]) -> Found:
    yield from _told("call-ids", answers)
    seen: set[str] = set()
    for answer in answers:
        ids = {call.id for call in answer.reading.calls if call.id}
        if ids & seen:
            yield answer, Fault("call-ids", "a call has the id of a call in another answer", "T11")
        seen |= ids


def _arguments(answers: Sequence[Answer]) -> Found:
    yield from _told("arguments", answers)
    for answer in answers:
        if answer.probe != "no-arguments":
            yield from ((answer, fault) for fault in answer.reading.broke("empty-arguments"))


def _decode(answers: Sequence[Answer]) -> Found:
    for answer in answers:
        what = _difference(answer)
        if what is not None:
            yield answer, Fault("decode", what)


def _difference(answer: Answer) -> str | None:
    """What Weft makes of the answer, where it is not what stands there.

    What a fault has already left open is not compared: two readers may mend it in two ways.
    """
    decoded, reading = answer.decoded, answer.reading
    message = decoded.message
    if decoded.error is not None or message is None:
        return f"Weft drops the answer: {(decoded.error or 'it has no message').partition(';')[0]}"
    if not reading.broke(*_TEXT_RULES) and message.text != _joined(reading.text):
        return "Weft reads another text"
    if not reading.broke(*_CALL_RULES):
        read = [(call.name, None if call.invalid is not None else call.input) for call in message.tool_calls]
        cut = reading.finish == answer.api.reader.truncated
        if read != [(call.name, None if cut else call.input) for call in reading.calls]:
            return "Weft reads other calls"
    if not reading.broke("finish") and (reading.finish == answer.api.reader.truncated) != (
        decoded.stop_reason == "max_tokens"
    ):
        return f"Weft reads {reading.finish} as {decoded.stop_reason}"
    tokens = reading.tokens
    if tokens is None or tokens.total is None or reading.broke("usage", "usage-sum"):
        return None
    return None if decoded.usage.total == tokens.total else "Weft counts other tokens"


def _joined(text: str) -> str:
    """Halves of a surrogate pair that came in two deltas, put together."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


RULES: tuple[Rule, ...] = (
    Rule("content-type", "A stream has the content type of its format.", "F07", find=_content_type),
    Rule("framing", "Events are framed as their format says, the last one too.", "F02"),
    Rule("utf-8", "A stream is UTF-8.", "F01"),
    Rule("json", "Every event is one JSON object.", "F07"),
    Rule("event-names", "The name of an event is the type in its data.", "", ("responses", "messages")),
    Rule(
        "envelope",
        "Events carry the fixed fields of the API, with the same id throughout.",
        "T15",
        ("chat", "responses", "messages", "ollama"),
    ),
    Rule("role", "The answer says that it is the assistant's.", "T15"),
    Rule("order", "Events begin, fill and end each item in turn, and are numbered so.", "", ("responses", "messages")),
    Rule("terminal", "The stream says that it is over.", "F10", ("responses", "messages", "ollama")),
    Rule("finish", "One known finish reason says why the model stopped.", "F10"),
    Rule("done-marker", "The last event is [DONE].", "F10", ("chat",)),
    Rule(
        "finish-calls",
        "The finish reason tells answers with calls from those without.",
        "T19",
        ("chat", "messages"),
        find=_finish_calls,
    ),
    Rule("after-end", "Nothing follows the end, and then the body ends too.", "F13", find=_after_end),
    Rule(
        "call-ids",
        "Every call has one id that no other call has.",
        "T06",
        ("chat", "responses", "messages"),
        needs="calls",
        find=_call_ids,
    ),
    Rule("call-index", "Calls are numbered from 0, each number for one call.", "T02", ("chat",), needs="calls"),
    Rule("call-fields", "A call begins with its whole name and its fixed fields.", "T10", needs="calls"),
    Rule("arguments", "Arguments are one JSON object.", "V03", needs="calls", find=_arguments),
    Rule("usage", "Every answer counts its input and its output tokens.", "U04"),
    Rule("usage-sum", "The total is the sum of its parts.", "U02", ("chat", "responses", "gemini"), needs="usage"),
    Rule("decode", "A decoder reads what stands in the bytes.", find=_decode),
)
