"""I3C: the calls that a program makes."""

from checker_logs import Log, call, violation_ids

from heald.core.events import (
    ApprovalRequested,
    ApprovalResolved,
    AssistantMessage,
    CancelRequested,
    ToolCompleted,
    ToolExecuting,
    ToolPlanned,
    ToolUseMessage,
)
from heald.core.messages import ToolCall, ToolResult

PROGRAM = call("call_1", "run_program", program="price('tea')")
INNER = ToolCall(id="call_2", name="price", input={"item": "tea"}, parent="call_1")
SECOND = ToolCall(id="call_3", name="price", input={"item": "milk"}, parent="call_1")


def make(log: Log, inner: ToolCall) -> Log:
    return log.add(inner, ToolUseMessage(inner), ToolPlanned(inner.id, inner.name))


def program() -> Log:
    """A program with two calls, of which one fails before it runs."""
    log = make(Log().open().turn(PROGRAM).run(PROGRAM), INNER).run(INNER).result(INNER)
    return make(log, SECOND).result(SECOND, "invalid_input").result(PROGRAM).turn("Done.").close()


def interrupted(*, started: bool = True) -> Log:
    """The writer dies while a call of a program runs, or waits for an approval."""
    log = make(Log().open().turn(PROGRAM).run(PROGRAM), INNER)
    if started:
        log.run(INNER).resume().result(INNER, "interrupted")
    else:
        log.add(ApprovalRequested("appr_1", INNER.id, INNER.name, "digest", "It wants to."))
        log.resume().add(ApprovalResolved("appr_1", INNER.id, "denied")).result(INNER, "cancelled")
    return log.result(PROGRAM, "interrupted").turn("Done.").close()


def test_right_programs_are_right() -> None:
    assert violation_ids(program()) == set()
    assert violation_ids(interrupted()) == set()
    assert violation_ids(interrupted(started=False)) == set()


def test_a_cancelled_program_is_right() -> None:
    log = make(Log().open().turn(PROGRAM).run(PROGRAM), INNER).run(INNER).add(CancelRequested("enough"))
    log.result(INNER, "cancelled").result(PROGRAM, "cancelled").close("cancelled")
    assert violation_ids(log) == set()


def test_a_call_whose_parent_does_not_run() -> None:
    assert "I3C" in violation_ids(program().move(ToolExecuting, 0, before=ToolResult, before_nth=1))
    assert violation_ids(make(Log().open().turn("Hello."), INNER).run(INNER).result(INNER).close()) == {"I3C"}
    other = ToolCall(id="call_2", name="price", input={}, parent="call_none")
    log = make(Log().open().turn(PROGRAM).run(PROGRAM), other).run(other).result(other).result(PROGRAM)
    assert violation_ids(log.turn("Done.").close()) == {"I3C"}


def test_a_call_that_is_made_after_its_parent_ended() -> None:
    log = Log().open().turn(PROGRAM).run(PROGRAM).result(PROGRAM)
    assert violation_ids(make(log, INNER).run(INNER).result(INNER).turn("Done.").close()) == {"I3C"}


def test_a_parent_that_ends_before_its_call() -> None:
    log = make(Log().open().turn(PROGRAM).run(PROGRAM), INNER).run(INNER).result(PROGRAM).result(INNER)
    assert violation_ids(log.turn("Done.").close()) == {"I3C"}


def test_a_call_that_runs_on_its_own_after_a_crash() -> None:
    log = make(Log().open().turn(PROGRAM).run(PROGRAM), INNER).resume()
    log.run(INNER).result(INNER).result(PROGRAM, "interrupted")
    assert violation_ids(log.turn("Done.").close()) == {"I3C"}


def test_a_call_of_a_program_in_a_message() -> None:
    log = Log().open().turn(PROGRAM, INNER).run(PROGRAM).run(INNER).result(INNER).result(PROGRAM)
    assert "I3C" in violation_ids(log.turn("Done.").close())
    assert log.find(AssistantMessage) < log.find(ToolCompleted)
