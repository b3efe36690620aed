"""What a good answer to each probe looks like.

A judge sees the plain reading. A server is wrong only for what the server does: where a model did not do what it was
asked, the check is skipped.
"""

from weft.testing.conform.answer import Answer
from weft.testing.conform.probes import GET_TIME, GET_WEATHER, LIMIT, LOCKER_NUMBER, RESULT, STOP, UNICODE
from weft.testing.conform.verdict import Finding, excerpt, ok, quoted, skipped, wrong

_MOJIBAKE = ("Ã¼", "æ\x9d±", "\\u", "ðŸ")


def text(answer: Answer) -> Finding:
    said = answer.reading.text.strip()
    return ok(quoted(said, 60)) if said else wrong("a whole answer without any text")


def turns(answer: Answer) -> Finding:
    said = answer.reading.text
    if LOCKER_NUMBER in said:
        return ok("an earlier turn was remembered")
    return skipped(f"the model did not repeat what an earlier turn said, but {quoted(said, 60)}")


def unicode(answer: Answer) -> Finding:
    said = answer.reading.text
    if UNICODE in said:
        return ok(quoted(UNICODE))
    if "\N{REPLACEMENT CHARACTER}" in said or any(sign in said for sign in _MOJIBAKE):
        return wrong(f"damaged characters, {quoted(said, 60)}")
    return skipped(f"the model did not repeat the line, but said {quoted(said, 60)}")


def tool_call(answer: Answer) -> Finding:
    return _called(answer, GET_WEATHER.name)


def no_arguments(answer: Answer) -> Finding:
    faults = answer.reading.broke("empty-arguments")
    if faults:
        return wrong("empty arguments", faults[0].case)
    return _called(answer, GET_TIME.name)


def _called(answer: Answer, tool: str) -> Finding:
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


def tool_choice_none(answer: Answer) -> Finding:
    calls = answer.reading.calls
    return wrong("a call, though tool_choice is none") if calls else ok("no call")


def parallel(answer: Answer) -> Finding:
    count = len(answer.reading.calls)
    if count < 2:
        return skipped(f"the model made {count or 'no'} call{'' if count == 1 else 's'} in one answer")
    return ok(f"{count} calls in one answer")


def continuation(answer: Answer) -> Finding:
    reading = answer.reading
    if RESULT.split()[0] in reading.text:
        return ok("the result was used")
    return skipped(f"the model did not use the result, but said {quoted(reading.text, 60)}")


def truncation(answer: Answer) -> Finding:
    reading, told = answer.reading, answer.reading.finish
    used = reading.tokens.output if reading.tokens is not None else None
    if used is not None and used > 2 * LIMIT:
        return wrong(f"{used} tokens of output, though the limit was {LIMIT}")
    if told == answer.api.reader.truncated:
        return ok(f"{told}, {'unknown' if used is None else used} tokens of output")
    if not told:
        return skipped("the answer has no finish reason at all")
    if used is None:
        return skipped("without usage, a cut answer cannot be told from a finished one")
    if used < LIMIT:
        return skipped(f"the model finished after {used} tokens")
    return wrong(f"the finish reason {quoted(told, 40)} after {used} tokens, where the limit was {LIMIT}")


def stop_sequence(answer: Answer) -> Finding:
    said, told = answer.reading.text, answer.reading.finish
    if STOP in said:
        return wrong(f"the stop sequence and what follows it were sent, {quoted(said, 60)}")
    if "beta" not in said.lower() or STOP in said.lower():
        return skipped(f"the model did not write the words, but {quoted(said, 60)}")
    if answer.api.stop_finish is not None and told and told != answer.api.stop_finish:
        return wrong(f"the finish reason {quoted(told, 40)}, not {answer.api.stop_finish}")
    return ok(f"{quoted(said, 60)}, {told or 'no finish reason'}")


def image(answer: Answer) -> Finding:
    said = answer.reading.text
    if "red" in said.lower():
        return ok(quoted(said, 60))
    return skipped(f"the model did not tell the colour, but said {quoted(said, 60)}")
