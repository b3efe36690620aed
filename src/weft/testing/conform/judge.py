"""Judges the answers: one function for each probe, and the rules that every stream must keep.

A server is wrong only for what the server does: if a model did not do what it was asked, the check is skipped.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import msgspec

from weft.testing.conform.answer import ProbeAnswer
from weft.testing.conform.probes import (
    EDITED_FILE,
    GET_TIME,
    GET_WEATHER,
    LIMIT,
    LOCKER_NUMBER,
    PROBES,
    RESULT,
    STOP,
    UNICODE,
)
from weft.testing.conform.reader import StreamFault, excerpt, quoted
from weft.wires.text_edits import FilePiece, TextEdits, TextFiles

Outcome = Literal["ok", "wrong", "skipped"]

_MOJIBAKE = ("Ã¼", "æ\x9d±", "\\u", "ðŸ")
_MAX_NAMED = 3
_TEXT_RULES = ("utf-8", "json", "envelope", "order", "after-end")
_CALL_RULES = (*_TEXT_RULES, "call-ids", "call-index", "call-fields", "arguments")


class CheckFinding(msgspec.Struct, frozen=True):
    """The outcome of a judge. `case` names the conformance case if it is not the one of the check."""

    outcome: Outcome
    seen: str
    case: str = ""


def ok(seen: str) -> CheckFinding:
    return CheckFinding("ok", seen)


def wrong(seen: str, case: str = "") -> CheckFinding:
    return CheckFinding("wrong", seen, case)


def skipped(seen: str) -> CheckFinding:
    return CheckFinding("skipped", seen)


# --- probes -----------------------------------------------------------------------------------------------------


def _judge_text(answer: ProbeAnswer) -> CheckFinding:
    text = answer.reading.text.strip()
    return ok(quoted(text, 60)) if text else wrong("a whole answer without any text")


def _judge_turns(answer: ProbeAnswer) -> CheckFinding:
    text = answer.reading.text
    if LOCKER_NUMBER in text:
        return ok("an earlier turn was remembered")
    return skipped(f"the model did not repeat what an earlier turn said, but {quoted(text, 60)}")


def _judge_unicode(answer: ProbeAnswer) -> CheckFinding:
    text = answer.reading.text
    if UNICODE in text:
        return ok(quoted(UNICODE))
    if "\N{REPLACEMENT CHARACTER}" in text or any(sign in text for sign in _MOJIBAKE):
        return wrong(f"damaged characters, {quoted(text, 60)}")
    return skipped(f"the model did not repeat the line, but said {quoted(text, 60)}")


def _judge_tool_call(answer: ProbeAnswer) -> CheckFinding:
    return _judge_call(answer, GET_WEATHER.name)


def _judge_no_arguments(answer: ProbeAnswer) -> CheckFinding:
    faults = answer.reading.faults_of("empty-arguments")
    if faults:
        return wrong("empty arguments", faults[0].case)
    return _judge_call(answer, GET_TIME.name)


def _judge_call(answer: ProbeAnswer, tool: str) -> CheckFinding:
    calls = answer.reading.calls
    forced = answer.api.wire != "ollama"
    if not calls and forced:
        return wrong(f"no call, though tool_choice names {tool}")
    if not calls:
        return skipped("the model made no call")
    names = {call.name for call in calls if call.name}
    if names - {tool} and forced:
        return wrong(f"a call of {excerpt(', '.join(sorted(names)), 60)}, though tool_choice names {tool}")
    return ok(f"{tool}({excerpt(calls[0].arguments, 60)})")


def _judge_tool_choice_none(answer: ProbeAnswer) -> CheckFinding:
    calls = answer.reading.calls
    return wrong("a call, though tool_choice is none") if calls else ok("no call")


def _judge_parallel(answer: ProbeAnswer) -> CheckFinding:
    count = len(answer.reading.calls)
    if count < 2:
        return skipped(f"the model made {count or 'no'} call{'' if count == 1 else 's'} in one answer")
    return ok(f"{count} calls in one answer")


def _judge_continuation(answer: ProbeAnswer) -> CheckFinding:
    reading = answer.reading
    if RESULT.split()[0] in reading.text:
        return ok("the result was used")
    return skipped(f"the model did not use the result, but said {quoted(reading.text, 60)}")


def _judge_truncation(answer: ProbeAnswer) -> CheckFinding:
    reading, finish = answer.reading, answer.reading.finish
    used = reading.tokens.output if reading.tokens is not None else None
    if used is not None and used > 2 * LIMIT:
        return wrong(f"{used} tokens of output, though the limit was {LIMIT}")
    if finish == answer.api.reader.truncated:
        return ok(f"{finish}, {'unknown' if used is None else used} tokens of output")
    if not finish:
        return skipped("the answer has no finish reason at all")
    if used is None:
        return skipped("without usage, a cut answer cannot be told from a finished one")
    if used < LIMIT:
        return skipped(f"the model finished after {used} tokens")
    return wrong(f"the finish reason {quoted(finish, 40)} after {used} tokens, where the limit was {LIMIT}")


def _judge_stop_sequence(answer: ProbeAnswer) -> CheckFinding:
    text, finish = answer.reading.text, answer.reading.finish
    if STOP in text:
        return wrong(f"the stop sequence and what follows it were sent, {quoted(text, 60)}")
    if "beta" not in text.lower() or STOP in text.lower():
        return skipped(f"the model did not write the words, but {quoted(text, 60)}")
    if answer.api.stop_finish is not None and finish and finish != answer.api.stop_finish:
        return wrong(f"the finish reason {quoted(finish, 40)}, not {answer.api.stop_finish}")
    return ok(f"{quoted(text, 60)}, {finish or 'no finish reason'}")


def _judge_image(answer: ProbeAnswer) -> CheckFinding:
    text = answer.reading.text
    if "red" in text.lower():
        return ok(quoted(text, 60))
    return skipped(f"the model did not tell the colour, but said {quoted(text, 60)}")


def _judge_text_edit(answer: ProbeAnswer) -> CheckFinding:
    """Read the answer as Weft reads the files that a model writes as text."""
    reader = TextEdits(TextFiles(known=frozenset([EDITED_FILE]), sizes={EDITED_FILE: 24}))
    parts = [each for each in (*reader.feed(answer.reading.text), *reader.close()) if isinstance(each, FilePiece)]
    written = "".join(part.text for part in parts)
    if EDITED_FILE in written and "Good evening" in written:
        return ok(f"the model changed {EDITED_FILE} as text")
    return skipped(f"the model did not write the change as text, but {quoted(answer.reading.text, 60)}")


PROBE_JUDGES: dict[str, Callable[[ProbeAnswer], CheckFinding]] = {
    "text": _judge_text,
    "turns": _judge_turns,
    "unicode": _judge_unicode,
    "tool-call": _judge_tool_call,
    "no-arguments": _judge_no_arguments,
    "tool-choice-none": _judge_tool_choice_none,
    "parallel": _judge_parallel,
    "continuation": _judge_continuation,
    "truncation": _judge_truncation,
    "stop-sequence": _judge_stop_sequence,
    "text-edit": _judge_text_edit,
    "image": _judge_image,
}


def judge_refusal(answer: ProbeAnswer, statuses: tuple[int, ...]) -> CheckFinding:
    if answer.broken is not None:
        return wrong(answer.broken)
    if answer.status == 200:
        return _judge_success_status(answer)
    faults: list[str] = []
    if answer.status not in statuses:
        faults.append(f"HTTP {answer.status}")
    if answer.content_type != "application/json":
        faults.append(f"an error as {answer.content_type or 'no content type'}")
    if not answer.api.error_is_right(answer.error_body):
        faults.append(f"the body {quoted(answer.body, 80)}, which is not {answer.api.error_shape}")
    if faults:
        return wrong(", ".join(faults))
    return ok(f"HTTP {answer.status}, {quoted(answer.error_text, 60)}")


def _judge_success_status(answer: ProbeAnswer) -> CheckFinding:
    error = answer.error_text if answer.error_body.get("error") else answer.reading.error
    if error:
        return wrong(f"an error sent as HTTP 200, {quoted(error, 60)}", "F08")
    return wrong("HTTP 200 and an answer, as if nothing were wrong")


# --- rules of all streams ---------------------------------------------------------------------------------------

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
    found = list(rule.find(answers) if rule.find is not None else _rule_faults(rule.name, answers))
    if not found:
        return ok(f"{calls} calls" if rule.needs == "calls" else f"{len(answers)} answers")
    return wrong(_summarise_faults(found, len(answers)), next((fault.case for _, fault in found if fault.case), ""))


def _summarise_faults(found: list[tuple[ProbeAnswer, StreamFault]], answers: int) -> str:
    where: dict[str, dict[str, None]] = {}
    for answer, fault in found:
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
        reading, wanted = answer.reading, answer.api.call_finish
        if not reading.finish or reading.finish == answer.api.reader.truncated:
            continue
        if reading.finish == wanted and not reading.calls:
            yield answer, StreamFault("finish-calls", f"{wanted} without a call", "T20")
        elif reading.calls and reading.finish != wanted and not PROBES[answer.probe].forced:
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
    """Compare Weft's decoding with the strict reading of the bytes.

    Parts that a fault leaves open are not compared, since two readers may recover differently.
    """
    decoded, reading = answer.decoded, answer.reading
    message = decoded.message
    if decoded.error is not None or message is None:
        return f"Weft drops the answer: {(decoded.error or 'it has no message').partition(';')[0]}"
    if not reading.faults_of(*_TEXT_RULES) and message.text != _join_surrogates(reading.text):
        return "Weft reads another text"
    if not reading.faults_of(*_CALL_RULES):
        read = [(call.name, None if call.invalid is not None else call.input) for call in message.tool_calls]
        cut = reading.finish == answer.api.reader.truncated
        if read != [(call.name, None if cut else call.input) for call in reading.calls]:
            return "Weft reads other calls"
    if not reading.faults_of("finish") and (reading.finish == answer.api.reader.truncated) != (
        decoded.stop_reason == "max_tokens"
    ):
        return f"Weft reads {reading.finish} as {decoded.stop_reason}"
    tokens = reading.tokens
    if tokens is None or tokens.total is None or reading.faults_of("usage", "usage-sum"):
        return None
    return None if decoded.usage.total == tokens.total else "Weft counts other tokens"


def _join_surrogates(text: str) -> str:
    """Join the halves of a surrogate pair that came in two deltas."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


RULES: tuple[StreamRule, ...] = (
    StreamRule("content-type", "A stream has the content type of its format.", "F07", find=_find_content_type),
    StreamRule("framing", "Events are framed as their format says, the last one too.", "F02"),
    StreamRule("utf-8", "A stream is UTF-8.", "F01"),
    StreamRule("json", "Every event is one JSON object.", "F07"),
    StreamRule("event-names", "The name of an event is the type in its data.", "", ("responses", "messages")),
    StreamRule(
        "envelope",
        "Events carry the fixed fields of the API, with the same id throughout.",
        "T15",
        ("chat", "responses", "messages", "ollama"),
    ),
    StreamRule("role", "The answer says that it is the assistant's.", "T15"),
    StreamRule(
        "order", "Events begin, fill and end each item in turn, and are numbered so.", "", ("responses", "messages")
    ),
    StreamRule("terminal", "The stream says that it is over.", "F10", ("responses", "messages", "ollama")),
    StreamRule("finish", "One known finish reason says why the model stopped.", "F10"),
    StreamRule("done-marker", "The last event is [DONE].", "F10", ("chat",)),
    StreamRule(
        "finish-calls",
        "The finish reason tells answers with calls from those without.",
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
