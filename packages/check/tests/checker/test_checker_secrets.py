"""I70 and I71, broken."""

import pytest
from checker_logs import Log, call, failed, invalid, one_call, plain, tools, violation_ids

from heald.core.errors import ErrorInfo
from heald.core.events import (
    ConversationInterrupted,
    ErrorMessage,
    ErrorOccurred,
    ExchangeRequest,
    ExchangeResponse,
    MessageDiscarded,
    RetryScheduled,
    ToolExecuting,
    ToolFailed,
    ToolOutputDelta,
)
from heald.core.messages import InvalidCall, ToolCall, ToolResult, user_message
from heald.core.payload import Payload

CANARY = "sk-CANARY-0123"
TRACEBACK = 'Traceback (most recent call last):\n  File "x.py", line 3, in f\nKeyError: 1'


def test_i70_anywhere() -> None:
    assert violation_ids(
        plain().change(ExchangeRequest, message=user_message(f"My key is {CANARY}.")), secrets=[CANARY]
    ) == {"I70"}
    assert violation_ids(tools().change(ToolExecuting, summary=CANARY), secrets=["other", CANARY]) == {"I70"}
    assert violation_ids(plain(), secrets=[CANARY, ""]) == set()


def test_i70_cut_into_deltas() -> None:
    asked = call(path="a")
    log = Log().open().turn(asked).run(asked, output=f"the key: {CANARY}!").result(asked).turn("Done.").close()
    assert violation_ids(log, secrets=[CANARY]) == {"I70"}
    assert violation_ids(Log().open().discard(said="sk-CAN").close("cancelled"), secrets=[CANARY]) == set()


def test_i70_cut_into_deltas_of_a_message_that_was_discarded() -> None:
    log = Log().open().start()
    log.block(0, f"It is {CANARY}", {})
    assert violation_ids(log.drop_message().close("failed"), secrets=[CANARY]) == {"I70"}


@pytest.mark.parametrize("secret", ['quo"ted\\slash', "schlüssel-ä", "line\nbreak-1"])
def test_i70_as_json_writes_it(secret: str) -> None:
    log = one_call().change(ToolResult, content=f"It is {secret}.")
    assert violation_ids(log, secrets=[secret]) == {"I70"}
    asked = call(key=secret)
    log = Log().open().turn(asked).run(asked).result(asked).turn("Done.").close()
    assert violation_ids(log, secrets=[secret]) == {"I70"}


def test_i70_beside_half_a_surrogate_pair() -> None:
    assert violation_ids(one_call().change(ToolResult, content=f"\ud83d {CANARY}"), secrets=[CANARY]) == {"I70"}


@pytest.mark.parametrize("words", [TRACEBACK, 'File "/app/heald/x.py", line 12, in run', "in /home/me/project/x.py"])
@pytest.mark.parametrize("kind", [ErrorOccurred, ErrorMessage, MessageDiscarded, RetryScheduled, ExchangeResponse])
def test_i71_errors(kind: type[Payload], words: str) -> None:
    error = ErrorInfo(code="internal", message=f"It broke: {words}")
    assert violation_ids(failed().change(kind, error=error), host_paths=["/home/me/project/"]) == {"I71"}


def test_i71_a_provider_code() -> None:
    error = ErrorInfo(code="internal", message="It broke.", provider_code="/home/me/key")
    assert violation_ids(failed().change(ErrorOccurred, error=error), host_paths=["/home/me"]) == {"I71"}


@pytest.mark.parametrize("words", [TRACEBACK, "see /home/me."])
def test_i71_tools(words: str) -> None:
    paths = ["/home/me"]
    assert violation_ids(one_call("error").change(ToolResult, content=words), host_paths=paths) == {"I71"}
    assert violation_ids(one_call("error").change(ToolFailed, summary=words), host_paths=paths) == {"I71"}
    assert violation_ids(one_call().change(ToolResult, content=words), host_paths=paths) == set(), (
        "that is what it was asked"
    )
    assert violation_ids(one_call().change(ToolResult, content=words, is_error=True), host_paths=paths) == {"I71"}


def test_i71_a_call_that_could_not_be_read() -> None:
    assert "I71" in violation_ids(invalid().change(ToolCall, invalid=InvalidCall("malformed", TRACEBACK, "x")))


def test_i71_an_interruption() -> None:
    assert violation_ids(failed().change(ConversationInterrupted, reason=TRACEBACK)) == {"I71"}


def test_i71_a_program_may_show_its_own_traceback() -> None:
    log = one_call("error", attempt_output=TRACEBACK).change(ToolResult, content=f"exit code 1\n{TRACEBACK}")
    assert violation_ids(log) == set()
    assert violation_ids(log.change(ToolOutputDelta, text="....")) == {"I71"}


def test_i71_a_path_that_only_begins_alike() -> None:
    error = ErrorInfo(code="internal", message="See /home/me2 and /home.")
    assert violation_ids(failed().change(ErrorOccurred, error=error), host_paths=["/home/me", "/", ""]) == set()
