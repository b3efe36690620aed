"""I30 to I3B, broken."""

import pytest
from checker_logs import (
    Log,
    approved,
    broken_call,
    call,
    cancelled,
    invalid,
    one_call,
    own_call,
    resumed,
    tools,
    violation_ids,
)

from heald.core.events import (
    ApprovalRequested,
    ApprovalResolved,
    CancelRequested,
    ClientToolRequested,
    ConversationStart,
    ConversationWaiting,
    ExchangeResponse,
    MessageStart,
    MessageStop,
    QuestionAnswered,
    QuestionAsked,
    ToolCompleted,
    ToolExecuting,
    ToolFailed,
    ToolOutputDelta,
    ToolPlanned,
    ToolUseMessage,
)
from heald.core.messages import Text, ToolCall, ToolResult, ToolStatus
from heald.core.payload import Payload


def running() -> Log:
    """A call that says something and asks something while it runs."""
    asked = call(path="a")
    log = Log().open().turn(asked).run(asked, output="working")
    log.add(QuestionAsked("q_1", asked.id, "Really?", []), QuestionAnswered("q_1", asked.id, "Yes."))
    return log.result(asked).turn("Done.").close()


def test_running_is_right() -> None:
    assert violation_ids(running()) == set()


def on_client(status: ToolStatus = "ok") -> Log:
    """A call of a client beside one of the server."""
    hosted, asked = call("call_1", path="a"), call("call_2", name="where_am_i")
    log = Log().open().turn(hosted, asked).run(hosted).run(asked)
    log.add(ClientToolRequested(asked.id, asked.name, {}, 600.0))
    log.result(hosted).add(ConversationWaiting([asked.id]))
    return log.result(asked, status).turn("Done.").close()


@pytest.mark.parametrize("status", ["ok", "error", "denied", "timeout", "cancelled"])
def test_a_call_of_a_client_is_right_however_it_ends(status: ToolStatus) -> None:
    assert violation_ids(on_client(status)) == set()


def test_i3b_a_request_without_a_running_call() -> None:
    assert "I3B" in violation_ids(on_client().change(ClientToolRequested, id="call_other"))
    assert "I3B" in violation_ids(on_client().change(ClientToolRequested, name="other"))
    assert "I3B" in violation_ids(on_client().move(ClientToolRequested, before=ToolExecuting))
    assert violation_ids(on_client().double(ClientToolRequested)) == {"I3B"}


def test_i3b_the_conversation_waits_for_open_calls_of_clients_only() -> None:
    assert violation_ids(on_client().change(ConversationWaiting, call_ids=[])) == {"I3B"}
    assert violation_ids(on_client().change(ConversationWaiting, call_ids=["call_1"])) == {"I3B"}
    assert violation_ids(on_client().change(ConversationWaiting, call_ids=["call_2", "call_3"])) == {"I3B"}
    assert violation_ids(on_client().move(ConversationWaiting, before=ToolCompleted)) == {"I3B"}
    assert violation_ids(on_client().cut(ClientToolRequested)) == {"I3B"}


def test_i38_a_call_of_the_server_is_not_denied_after_its_start() -> None:
    assert "I38" in violation_ids(on_client("denied").cut(ClientToolRequested))


def test_i30_no_result_or_two() -> None:
    assert "I30" in violation_ids(one_call().cut(ToolResult))
    assert "I30" in violation_ids(one_call().double(ToolResult))
    assert "I30" in violation_ids(own_call().cut(ToolResult))


def test_i30_a_result_without_a_call() -> None:
    assert "I30" in violation_ids(one_call().cut(ToolCall))
    assert "I30" in violation_ids(one_call().change(ToolResult, id="call_other"))


def test_i30_a_result_before_its_call() -> None:
    assert "I30" in violation_ids(one_call().move(ToolResult, before=ToolCall))


def test_i30_another_result_in_the_action() -> None:
    log = one_call()
    result, asked = log.entries[log.find(ToolResult)].data, log.entries[log.find(ToolCall)].data
    assert isinstance(result, ToolResult)
    assert isinstance(asked, ToolCall)
    right = one_call().insert(ToolUseMessage(asked, result), before=MessageStart, nth=1)
    assert violation_ids(right) == set()
    other = ToolResult(id=asked.id, status="ok", content="other")
    assert violation_ids(one_call().insert(ToolUseMessage(asked, other), before=MessageStart, nth=1)) == {"I30"}


def test_i30_at_the_end_of_the_log() -> None:
    assert {"I11", "I30"} == violation_ids(Log().open().turn(call()))


def test_i31_an_id_twice() -> None:
    assert "I31" in violation_ids(one_call().double(ToolCall))


def test_i31_an_id_in_two_exchanges() -> None:
    asked = call()
    log = Log()
    for _ in range(2):
        log.open().turn(asked).run(asked).result(asked).turn("Done.").close()
    assert "I31" in violation_ids(log)


@pytest.mark.parametrize("kind", [ToolPlanned, ToolExecuting, ToolOutputDelta, QuestionAsked, ToolCompleted])
def test_i32_before_the_call(kind: type[Payload]) -> None:
    assert "I32" in violation_ids(running().move(kind, before=ToolCall))


@pytest.mark.parametrize(
    "kind",
    [ToolUseMessage, ToolPlanned, ToolExecuting, ToolOutputDelta, QuestionAsked, QuestionAnswered, ToolCompleted],
)
def test_i32_after_the_result(kind: type[Payload]) -> None:
    assert "I32" in violation_ids(running().move(kind, before=MessageStart, before_nth=1))


def test_i32_output_before_the_start() -> None:
    assert violation_ids(running().move(ToolOutputDelta, before=ToolExecuting)) == {"I32"}
    assert "I32" in violation_ids(running().cut(ToolExecuting))


def test_i32_output_after_the_end() -> None:
    assert violation_ids(running().move(ToolCompleted, before=QuestionAsked)) == {"I32"}


def test_i32_planned_twice() -> None:
    assert violation_ids(one_call().double(ToolPlanned)) == {"I32"}
    assert violation_ids(one_call().move(ToolPlanned, before=ToolCompleted)) == {"I32"}


def test_i32_ended_twice_or_not() -> None:
    assert violation_ids(one_call().double(ToolCompleted)) == {"I32"}
    assert violation_ids(one_call().cut(ToolCompleted)) == {"I32"}
    assert violation_ids(one_call("error").cut(ToolFailed)) == {"I32"}


def test_i32_completed_and_never_started() -> None:
    assert "I32" in violation_ids(one_call().cut(ToolExecuting))
    assert "I32" in violation_ids(one_call("timeout").cut(ToolExecuting))
    asked = call()
    assert violation_ids(Log().open().turn(asked).run(asked).resume().result(asked).close()) == {"I32", "I36"}


def test_i33_starts_in_an_unfinished_message() -> None:
    assert "I33" in violation_ids(one_call().move(ToolExecuting, before=MessageStop))
    assert "I33" in violation_ids(tools().move(ToolExecuting, 2, before=MessageStop, before_nth=1))


def test_i33_is_called_in_an_unfinished_message() -> None:
    assert "I33" in violation_ids(one_call().move(ToolCall, before=MessageStop))


def test_i34_the_next_message_does_not_wait() -> None:
    assert "I34" in violation_ids(one_call().move(MessageStart, 1, before=ToolResult))
    assert "I34" in violation_ids(tools().move(MessageStart, 1, before=ToolResult, before_nth=1))


def test_i35_an_unknown_status() -> None:
    assert "I35" in violation_ids(
        one_call("error").change(ToolResult, status="crashed").change(ToolFailed, status="crashed")
    )
    assert "I35" in violation_ids(one_call().change(ToolResult, status="done"))


def test_i35_two_statuses() -> None:
    assert violation_ids(one_call("error").change(ToolResult, status="timeout")) == {"I35"}
    assert violation_ids(one_call().change(ToolResult, status="error")) == {"I35"}


def test_i36_starts_twice() -> None:
    assert violation_ids(one_call().double(ToolExecuting)) == {"I36"}


def test_i36_a_second_attempt_without_a_crash() -> None:
    asked = call()
    log = Log().open().turn(asked).run(asked).run(asked, attempt=2).result(asked).turn("Done.").close()
    assert violation_ids(log) == {"I36"}


def test_i36_the_same_attempt_after_a_crash() -> None:
    assert violation_ids(resumed().change(ToolExecuting, 2, attempt=1)) == {"I36"}
    assert violation_ids(resumed().change(ToolExecuting, 0, attempt=2)) == {"I36"}


def test_i36_what_is_not_idempotent_reruns_after_a_crash() -> None:
    assert violation_ids(resumed().change(ToolExecuting, 1, idempotent=False)) == {"I36"}
    assert violation_ids(resumed().change(ToolExecuting, 2, idempotent=False)) == {"I36"}


@pytest.mark.parametrize("status", ["error", "cancelled", "timeout"])
def test_i36_broken_off_and_not_reported(status: str) -> None:
    assert violation_ids(resumed().change(ToolFailed, status=status).change(ToolResult, status=status)) == {"I36"}


def test_i37_an_invalid_call_starts() -> None:
    assert "I37" in violation_ids(invalid().insert(ToolExecuting("call_bad", "create_file", 1), before=ToolFailed))
    asked = broken_call()
    assert violation_ids(Log().open().turn(asked).run(asked).result(asked, "error").turn("Sorry.").close()) == {"I37"}


@pytest.mark.parametrize("status", ["denied", "timeout", "cancelled", "interrupted"])
def test_i37_an_invalid_call_ends_otherwise(status: str) -> None:
    assert "I37" in violation_ids(invalid().change(ToolFailed, status=status).change(ToolResult, status=status))


@pytest.mark.parametrize("status", ["invalid_input", "unknown_tool"])
def test_i37_a_call_that_ran_and_could_not(status: str) -> None:
    assert violation_ids(one_call("error").change(ToolFailed, status=status).change(ToolResult, status=status)) == {
        "I37"
    }


def test_i37_an_invalid_call_may_be_cancelled() -> None:
    log = invalid().change(ToolFailed, status="cancelled").change(ToolResult, status="cancelled")
    log.insert(CancelRequested(), before=ToolFailed).change(ExchangeResponse, status="cancelled")
    assert violation_ids(log) == {"I60"}, "only the message that follows is wrong"


def test_i38_never_resolved() -> None:
    assert "I38" in violation_ids(approved(allowed=False).cut(ApprovalResolved))
    assert "I38" in violation_ids(Log().open().add(ApprovalRequested("a", "c", "n", "d", "s")))


def test_i38_resolved_twice_or_never_asked() -> None:
    assert violation_ids(approved().double(ApprovalResolved)) == {"I38"}
    assert violation_ids(approved().cut(ApprovalRequested)) == {"I38"}
    assert violation_ids(approved().double(ApprovalRequested)) == {"I38"}


def test_i38_starts_before_it_is_allowed() -> None:
    assert "I38" in violation_ids(approved().move(ToolExecuting, before=ApprovalResolved))
    assert "I38" in violation_ids(approved().move(ToolExecuting, before=ApprovalRequested))


def test_i38_denied_and_starts() -> None:
    assert "I38" in violation_ids(approved().change(ApprovalResolved, decision="denied"))
    assert "I38" in violation_ids(
        one_call("error").change(ToolFailed, status="denied").change(ToolResult, status="denied")
    )


def test_i38_denied_and_ends_otherwise() -> None:
    log = approved(allowed=False).change(ToolFailed, status="error").change(ToolResult, status="error")
    assert violation_ids(log) == {"I38"}


def test_i38_resolved_for_another_call() -> None:
    assert "I38" in violation_ids(approved().change(ApprovalResolved, call_id="call_other"))


def test_i38_resolved_after_the_result() -> None:
    assert "I38" in violation_ids(approved(allowed=False).move(ApprovalResolved, before=ExchangeResponse))


@pytest.mark.parametrize("content", ["x" * (256 * 1024 + 1), [Text("é" * (128 * 1024)), Text("x")]])
def test_i39_too_much(content: str | list[Text]) -> None:
    assert violation_ids(one_call().change(ToolResult, content=content)) == {"I39"}
    assert violation_ids(one_call().change(ToolResult, content=content, truncated=True)) == set()


def test_i39_just_enough() -> None:
    assert violation_ids(one_call().change(ToolResult, content="x" * (256 * 1024))) == set()


def beside(left: str, right: str) -> Log:
    """Two calls that hold these at the same time."""
    first, second = call("call_1"), call("call_2")
    log = Log().open().turn(first, second).run(first, resources=["memo:x", left]).run(second, resources=[right])
    return log.result(first).result(second).turn("Done.").close()


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("file:a.txt", "file:a.txt"),
        ("file:", "file:src/a.txt"),
        ("file:src/a.txt", "file:"),
        ("file:src", "file:src/deep/a.txt"),
        ("file:src/deep/a.txt", "file:src/"),
        ("browser", "browser"),
    ],
)
def test_i3a_held_by_two(left: str, right: str) -> None:
    assert violation_ids(beside(left, right)) == {"I3A"}


@pytest.mark.parametrize(
    ("left", "right"),
    [("file:a.txt", "file:b.txt"), ("file:src", "file:src2/a"), ("file:a", "memo:a"), ("file:", "x:a")],
)
def test_i3a_apart(left: str, right: str) -> None:
    assert violation_ids(beside(left, right)) == set()


def test_i3a_one_after_the_other() -> None:
    first, second = call("call_1"), call("call_2")
    log = Log().open().turn(first, second)
    for asked in (first, second):
        log.run(asked, resources=["file:a", "file:a/b"]).result(asked)
    assert violation_ids(log.turn("Done.").close()) == set()


def test_i3a_a_crash_lets_go() -> None:
    first, second = call("call_1"), call("call_2")
    log = Log().open().turn(first, second).run(first, resources=["file:a"]).resume()
    log.run(second, resources=["file:a"]).result(second).result(first, "interrupted").turn("Done.").close()
    assert violation_ids(log) == set()


def test_the_right_ones_stay_right() -> None:
    assert violation_ids(cancelled()) == set()
    assert violation_ids(one_call("timeout")) == set()
    assert violation_ids(one_call().insert(ToolPlanned("call_x", "x"), before=ConversationStart)) == {"I32"}
