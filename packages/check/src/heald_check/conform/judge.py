"""Judges the answers to probes, one function for each.

A server is wrong only for what the server does: if a model did not do what it was asked, the check is skipped.
"""

from collections.abc import Callable

from heald.wires.text_edits import FilePiece, TextEdits, TextFiles
from heald_check.conform.answer import ProbeAnswer
from heald_check.conform.check_finding import CheckFinding, ok, skipped, wrong
from heald_check.conform.excerpt import excerpt, quoted
from heald_check.conform.prompts import EDITED_FILE, GET_TIME, GET_WEATHER, LIMIT, LOCKER_NUMBER, RESULT, STOP, UNICODE

_MOJIBAKE = ("Ã¼", "æ\x9d±", "\\u", "ðŸ")


def _judge_text(answer: ProbeAnswer) -> CheckFinding:
    text = answer.reading.text.strip()
    return ok(quoted(text, 60)) if text else wrong("a whole answer without any text")


def _judge_turns(answer: ProbeAnswer) -> CheckFinding:
    text = answer.reading.text
    if LOCKER_NUMBER in text:
        return ok("an earlier turn was remembered")
    return skipped(f"the model did not repeat an earlier turn, but answered {quoted(text, 60)}")


def _judge_unicode(answer: ProbeAnswer) -> CheckFinding:
    text = answer.reading.text
    if UNICODE in text:
        return ok(quoted(UNICODE))
    if "\N{REPLACEMENT CHARACTER}" in text or any(sign in text for sign in _MOJIBAKE):
        return wrong(f"damaged characters, {quoted(text, 60)}")
    return skipped(f"the model did not repeat the line, but answered {quoted(text, 60)}")


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
    return skipped(f"the model did not use the result, but answered {quoted(reading.text, 60)}")


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
        return skipped("without usage, a cut answer looks like a finished one")
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
    return skipped(f"the model did not name the colour, but answered {quoted(text, 60)}")


def _judge_text_edit(answer: ProbeAnswer) -> CheckFinding:
    """Read the answer as Heald reads the files that a model writes as text."""
    reader = TextEdits(TextFiles(workspace_paths=frozenset([EDITED_FILE]), sizes={EDITED_FILE: 24}))
    pieces = (*reader.feed(answer.reading.text), *reader.close())
    parts = [piece for piece in pieces if isinstance(piece, FilePiece)]
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
