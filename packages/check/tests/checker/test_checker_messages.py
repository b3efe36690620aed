"""I20 to I29, broken."""

from typing import Any

import pytest
from checker_logs import (
    OVERLOADED,
    Log,
    broken_call,
    call,
    cut_off,
    plain,
    resumed_message,
    retried,
    tools,
    violation_ids,
)

from heald.core.events import (
    AssistantMessage,
    ConversationStart,
    ExchangeResponse,
    InputJsonDelta,
    MessageDelta,
    MessageDiscarded,
    MessageStart,
    MessageStop,
    RetryScheduled,
    TextContentBlockStart,
    TextContentBlockStop,
    TextDelta,
    ThinkingContentBlockStart,
    ThinkingContentBlockStop,
    ThinkingDelta,
    ToolExecuting,
    ToolPlanned,
    ToolUseContentBlockStart,
    ToolUseContentBlockStop,
    ToolUseMessage,
)
from heald.core.messages import Block, Message, Reasoning, Text, ToolCall
from heald.core.payload import Payload


def with_content(log: Log, *content: Block, nth: int = 0) -> Log:
    """The log with another content in an assistant message."""
    entry = log.entries[log.find(AssistantMessage, nth)].data
    assert isinstance(entry, AssistantMessage)
    return log.change(
        AssistantMessage, nth, message=Message(role="assistant", content=list(content), id=entry.message.id)
    )


# --- I20 to I22: messages and their blocks ---------------------------------------------------------------------


def test_i20_never_closed() -> None:
    assert "I20" in violation_ids(plain().cut(MessageStop))
    assert "I20" in violation_ids(retried().cut(MessageDiscarded))


def test_i20_closed_twice() -> None:
    assert "I20" in violation_ids(plain().double(MessageStop))
    assert "I20" in violation_ids(retried().double(MessageDiscarded))


def test_i20_closed_by_both_events() -> None:
    assert "I20" in violation_ids(plain().insert(MessageDiscarded("msg_ses_1_1", OVERLOADED), before=ExchangeResponse))


def test_i20_two_open_at_once() -> None:
    assert "I20" in violation_ids(tools().move(MessageStart, 1, before=TextDelta))


def test_i20_another_is_closed() -> None:
    assert "I20" in violation_ids(plain().change(MessageStop, message_id="msg_other"))


def test_i20_reopened() -> None:
    log = Log().open().turn("One.")
    log.messages = 0
    assert "I20" in violation_ids(log.turn("Two.").close())


def test_i20_open_at_the_end_of_the_log() -> None:
    assert "I20" in violation_ids(Log().open().start())


@pytest.mark.parametrize(
    "kind", [TextContentBlockStart, TextDelta, TextContentBlockStop, ThinkingDelta, InputJsonDelta, MessageDelta]
)
def test_i21_outside(kind: type[Payload]) -> None:
    assert "I21" in violation_ids(tools_with_thought().move(kind, before=ConversationStart))
    assert "I21" in violation_ids(tools_with_thought().move(kind, before=ExchangeResponse))


def tools_with_thought() -> Log:
    asked = call(path="a")
    return Log().open().turn(Reasoning("Hm."), "So.", asked).run(asked).result(asked).turn("Done.").close()


def test_i21_a_delta_of_another_message() -> None:
    assert "I21" in violation_ids(plain().change(MessageDelta, message_id="msg_other"))


def test_i22_an_index_leaps() -> None:
    assert "I22" in violation_ids(plain().change(TextContentBlockStart, index=5))


def test_i22_an_index_twice() -> None:
    assert "I22" in violation_ids(plain().double(TextContentBlockStart))


def test_i22_not_started() -> None:
    assert "I22" in violation_ids(plain().cut(TextContentBlockStart))
    assert "I22" in violation_ids(plain().cut(ThinkingContentBlockStart))


@pytest.mark.parametrize("kind", [TextContentBlockStop, ThinkingContentBlockStop, ToolUseContentBlockStop])
def test_i22_not_stopped_or_twice(kind: type[Payload]) -> None:
    assert violation_ids(tools_with_thought().cut(kind)) == {"I22"}
    assert violation_ids(tools_with_thought().double(kind)) == {"I22"}


def test_i22_a_delta_after_the_stop() -> None:
    assert "I22" in violation_ids(plain().move(TextContentBlockStop, before=TextDelta, before_nth=1))


def test_i22_a_delta_of_another_kind() -> None:
    assert "I22" in violation_ids(plain().insert(TextDelta(0, "msg_ses_1_1.0", "x"), before=ThinkingContentBlockStop))


def test_i22_a_delta_of_another_block() -> None:
    assert violation_ids(plain().change(TextDelta, block="msg_ses_1_1.7")) == {"I22"}


# --- I23 to I25: deltas and what they make ---------------------------------------------------------------------


def test_i23_a_delta_is_missing_or_twice() -> None:
    assert violation_ids(plain().cut(TextDelta, 1)) == {"I23"}
    assert violation_ids(plain().double(TextDelta, 1)) == {"I23"}


def test_i23_another_text() -> None:
    assert violation_ids(with_content(plain(), Reasoning("Let me think."), Text("Hello, "), Text("moon."))) == {"I23"}


def test_i23_text_in_the_wrong_block() -> None:
    assert violation_ids(with_content(plain(), Reasoning("Let me think."), Text("Hello, wor"), Text("ld."))) == {"I23"}


def test_i23_an_empty_block_may_be_left_out() -> None:
    log = with_content(Log().open().turn("", "Hello.").close(), Text("Hello."))
    assert violation_ids(log) == set()


def test_i23_a_refusal_on_one_side() -> None:
    assert violation_ids(plain().change(TextContentBlockStart, refusal=True)) == {"I23"}


def test_i24_a_delta_is_missing_or_twice() -> None:
    assert violation_ids(plain().cut(ThinkingDelta)) == {"I24"}
    assert violation_ids(plain().double(ThinkingDelta)) == {"I24"}


def test_i24_thoughts_that_were_not_reported() -> None:
    assert violation_ids(with_content(plain(), Text("Hello, "), Text("world."))) == {"I24"}


def test_i24_an_empty_thought_may_be_left_out() -> None:
    assert violation_ids(with_content(Log().open().turn(Reasoning(""), "Hello.").close(), Text("Hello."))) == set()


def test_i25_a_delta_is_missing_or_twice() -> None:
    assert violation_ids(tools().cut(InputJsonDelta, 2)) == {"I25"}
    assert violation_ids(tools().double(InputJsonDelta, 2)) == {"I25"}


def test_i25_another_input_in_the_call() -> None:
    other = call("call_2", "run_command", command="make clean")
    log = tools().change(ToolCall, 1, input=other.input).change(ToolUseMessage, 1, call=other)
    assert violation_ids(log) == {"I25"}


def test_i25_true_is_not_one() -> None:
    asked = call("call_1", all=True)
    log = Log().open().turn(asked).run(asked).result(asked).turn("Done.").close()
    assert violation_ids(with_content(log, call("call_1", all=1))) == {"I25"}


def test_i25_another_input_in_the_message() -> None:
    asked = call(path="a.txt")
    log = Log().open().turn(asked).run(asked).result(asked).turn("Done.").close()
    assert violation_ids(with_content(log, call(path="b.txt"))) == {"I25"}


def test_i25_another_name() -> None:
    assert violation_ids(tools().change(ToolUseContentBlockStart, name="other")) == {"I25"}


def test_i25_a_call_that_is_in_no_message() -> None:
    assert "I25" in violation_ids(with_content(tools(), Text("I write it.")))
    assert "I25" in violation_ids(tools().change(ToolUseContentBlockStart, id="call_other"))


def test_i25_a_call_that_is_not_given_out() -> None:
    asked = call(path="a")
    log = Log().open().turn(asked).run(asked).result(asked).turn("Done.").close()
    assert "I25" in violation_ids(log.cut(ToolCall))
    assert "I25" in violation_ids(with_content(Log().open().turn("So.").close(), Text("So."), asked))
    left = Log().open().turn(asked)
    assert violation_ids(left.cut(ToolCall).cut(ToolUseMessage).cut(ToolPlanned).close()) == {"I25"}


def test_i25_another_call_in_the_action() -> None:
    assert violation_ids(tools().change(ToolUseMessage, call=call(path="other"))) >= {"I25"}


@pytest.mark.parametrize(
    ("raw", "arguments"),
    [("", {}), ("null", {}), (" {} ", {}), ('"{\\"a\\": 1}"', {"a": 1}), ('{"a": 1.5e3}', {"a": 1500.0})],
)
def test_i25_what_models_write_for_arguments(raw: str, arguments: dict[str, Any]) -> None:
    assert violation_ids(_written(raw, arguments)) == set()


@pytest.mark.parametrize("raw", ['{"a": 1', '{"a": NaN}', '{"a": 1, "a": 2}', "[1]", "{}"])
def test_i25_text_that_is_not_the_input(raw: str) -> None:
    assert violation_ids(_written(raw, {"a": 2})) == {"I25"}


def _written(raw: str, arguments: dict[str, Any]) -> Log:
    asked = call("call_1", **arguments)
    log = Log().open().turn(asked).run(asked).result(asked).turn("Done.").close()
    while any(isinstance(entry.data, InputJsonDelta) for entry in log.entries):
        log.cut(InputJsonDelta)
    return log.insert(InputJsonDelta(0, "msg_ses_1_1.0", raw), before=ToolUseContentBlockStop)


# --- I26 to I29: how messages end ------------------------------------------------------------------------------


def test_i26_no_assistant_message_or_two() -> None:
    assert violation_ids(plain().cut(AssistantMessage)) == {"I26"}
    assert violation_ids(plain().double(AssistantMessage)) == {"I26"}
    assert "I26" in violation_ids(Log().open().turn("Hello.").cut(AssistantMessage))


def test_i26_before_the_stop() -> None:
    assert "I26" in violation_ids(plain().move(AssistantMessage, before=MessageStop))


def test_i26_of_a_discarded_message() -> None:
    message = Message(role="assistant", content=[Text("Half an ans")], id="msg_ses_1_1")
    assert violation_ids(retried().insert(AssistantMessage(message), before=RetryScheduled)) == {"I26"}


def test_i27_an_unknown_reason() -> None:
    assert "I27" in violation_ids(plain().change(MessageDelta, stop_reason="stop"))
    assert violation_ids(plain().change(ExchangeResponse, stop_reason="because")) == {"I27"}


def test_i27_no_reason() -> None:
    assert "I27" in violation_ids(plain().cut(MessageDelta))


def test_i27_tool_use_without_calls() -> None:
    assert violation_ids(plain().change(MessageDelta, stop_reason="tool_use")) == {"I27"}


@pytest.mark.parametrize("stop", ["end_turn", "stop_sequence", "max_tokens"])
def test_i27_valid_calls_under_another_reason(stop: str) -> None:
    assert violation_ids(tools().change(MessageDelta, stop_reason=stop)) == {"I27"}


def test_i27_a_cut_message_keeps_its_reason() -> None:
    assert violation_ids(cut_off()) == set()
    assert violation_ids(cut_off().change(MessageDelta, stop_reason="tool_use")) == set()


def _discarded_call() -> Log:
    """The same call in a discarded attempt and in the one that was kept."""
    asked = call(path="a")
    log = Log().open().start()
    log.block(0, asked, {})
    log.drop_message().add(RetryScheduled(log.message, 2, 0.1, OVERLOADED))
    return log.turn(asked, attempt=2).run(asked).result(asked).turn("Done.").close()


def test_i28_an_id_may_repeat_in_the_next_attempt() -> None:
    assert violation_ids(_discarded_call()) == set()


def test_i28_a_discarded_call_is_given_out() -> None:
    log = _discarded_call().move(ToolCall, before=RetryScheduled)
    assert "I28" in violation_ids(log)


def test_i28_a_discarded_call_starts() -> None:
    assert "I28" in violation_ids(_discarded_call().move(ToolExecuting, before=RetryScheduled))


def test_i29_attempts_leap() -> None:
    assert violation_ids(retried().change(MessageStart, 1, attempt=3)) >= {"I29"}
    assert violation_ids(plain().change(MessageStart, attempt=2)) == {"I29"}


def test_i29_attempts_do_not_count() -> None:
    assert "I29" in violation_ids(retried().change(MessageStart, 1, attempt=1))


def test_i29_the_next_turn_begins_at_one() -> None:
    assert violation_ids(retried().change(MessageStart, 3, attempt=4)) == {"I29"}


def test_i29_no_retry_or_two() -> None:
    assert violation_ids(retried().cut(RetryScheduled)) == {"I29"}
    assert violation_ids(retried().double(RetryScheduled)) == {"I29"}


def test_i29_a_retry_elsewhere() -> None:
    assert "I29" in violation_ids(retried().move(RetryScheduled, before=ExchangeResponse))
    assert "I29" in violation_ids(retried().change(RetryScheduled, message_id="msg_other"))
    assert "I29" in violation_ids(retried().change(RetryScheduled, attempt=5))
    assert violation_ids(Log().open().discard(1).close("cancelled").change(RetryScheduled, attempt=5)) == {"I29"}


def test_i29_after_a_resume_a_turn_may_begin_anew_or_count_on() -> None:
    assert violation_ids(resumed_message()) == set()
    assert violation_ids(resumed_message().change(MessageStart, 1, attempt=2)) == set()
    assert violation_ids(resumed_message().change(MessageStart, 1, attempt=3)) == {"I29"}


def test_a_broken_call_may_state_anything() -> None:
    asked = broken_call(raw="not json")
    log = Log().open().turn(asked).result(asked, "invalid_input").turn("Sorry.").close()
    assert violation_ids(log) == set()
