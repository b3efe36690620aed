"""I10 to I14, I50, I51 and I60, broken."""

from typing import get_args

import pytest
from checker_logs import (
    OVERLOADED,
    Log,
    call,
    cancelled,
    event_at,
    failed,
    limited,
    plain,
    retried,
    several,
    tools,
    violation_ids,
)

from heald.core.events import (
    CancelRequested,
    ConversationEnd,
    ConversationStart,
    ErrorMessage,
    ErrorOccurred,
    ExchangeRequest,
    ExchangeResponse,
    ExchangeStatus,
    MessageDelta,
    MessageDiscarded,
    UserMessage,
)
from heald.core.turn import Usage
from heald_check import check_log


def test_i10_no_request() -> None:
    assert {"I10", "I04"} <= violation_ids(plain().cut(ExchangeRequest))


def test_i10_two_requests() -> None:
    assert "I10" in violation_ids(plain().double(ExchangeRequest))


def test_i10_a_late_request() -> None:
    assert "I10" in violation_ids(plain().move(ExchangeRequest, before=ConversationStart))


def test_i11_no_response() -> None:
    assert violation_ids(plain().cut(ExchangeResponse)) == {"I11"}
    assert "I11" in violation_ids(several().cut(ExchangeResponse))


def test_i11_two_responses() -> None:
    assert violation_ids(plain().double(ExchangeResponse)) == {"I11"}


def test_i11_something_follows() -> None:
    assert violation_ids(plain().move(ExchangeResponse, before=ConversationEnd)) == {"I11"}


def test_i12_an_unknown_status() -> None:
    assert violation_ids(plain().change(ExchangeResponse, status="done")) == {"I12"}


@pytest.mark.parametrize("kind", [ErrorOccurred, ErrorMessage])
def test_i12_failed_without_an_error_or_with_two(kind: type[ErrorOccurred | ErrorMessage]) -> None:
    assert violation_ids(failed().cut(kind)) == {"I12"}
    assert violation_ids(failed().double(kind)) == {"I12"}


def test_i12_completed_with_an_error() -> None:
    assert violation_ids(plain().insert(ErrorOccurred(OVERLOADED), before=ExchangeResponse)) == {"I12"}
    assert violation_ids(plain().insert(ErrorMessage(OVERLOADED), before=ExchangeResponse)) == {"I12"}


def test_i12_errors_are_counted_by_exchange() -> None:
    log = Log().open().discard(retry=False).close("failed").open().turn("x").close("failed")
    assert violation_ids(log) == set()
    assert violation_ids(log.cut(ErrorOccurred, 1)) == {"I12"}


def test_i13_exchanges_overlap() -> None:
    assert "I13" in violation_ids(several().move(ExchangeRequest, 1, before=ExchangeResponse))


def test_i13_opens_while_the_last_is_open() -> None:
    assert "I13" in violation_ids(several().cut(ExchangeResponse))


def test_i14_one_request_twice() -> None:
    assert violation_ids(several().change(ExchangeRequest, 1, client_request_id="req_1")) == {"I14"}
    assert violation_ids(several().change(ExchangeRequest, 3, client_request_id="req_2")) == {"I14"}


def test_i50_another_sum() -> None:
    assert violation_ids(plain().change(ExchangeResponse, usage=Usage(input=1))) == {"I50"}


def test_i50_a_discarded_attempt_counts() -> None:
    log = retried()
    counted = Usage(input=20, output=2)
    assert log.usage == counted + Usage(input=14)
    assert violation_ids(log.change(ExchangeResponse, usage=counted)) == {"I50"}


def test_i50_unknown_is_not_zero() -> None:
    assert violation_ids(plain().change(ExchangeResponse, usage=Usage(input=10, output=3, reasoning=0))) == {"I50"}


def test_i50_negative() -> None:
    less = Usage(input=-1)
    assert violation_ids(plain().change(MessageDelta, usage=less).change(ExchangeResponse, usage=less)) == {"I50"}
    assert "I50" in violation_ids(failed().change(MessageDiscarded, usage=less))
    assert violation_ids(plain().change(ExchangeResponse, delegated=less)) == {"I50"}


def test_i50_counted_twice() -> None:
    assert violation_ids(plain().double(MessageDelta)) == {"I50"}


def test_i50_by_exchange() -> None:
    assert violation_ids(several().change(ExchangeResponse, 3, usage=several().usage + Usage(input=10))) == {"I50"}


def test_i51_other_turns() -> None:
    assert violation_ids(tools().change(ExchangeResponse, turns=2)) == {"I51"}
    assert violation_ids(retried().change(ExchangeResponse, turns=4)) == {"I51"}


def test_i51_a_limit_that_is_not_reported() -> None:
    assert violation_ids(limited().change(ExchangeResponse, status="completed")) == {"I51"}
    assert violation_ids(limited().change(ExchangeResponse, limit=None)) == {"I51"}


def test_i60_a_message_starts_after_the_cancel() -> None:
    assert violation_ids(cancelled().move(CancelRequested, before=ConversationStart)) == {"I60"}


def test_i60_a_call_starts_after_the_cancel() -> None:
    first, second = call("call_1"), call("call_2")
    log = Log().open().turn(first, second).run(first).add(CancelRequested()).run(second)
    log.result(first, "cancelled").result(second, "cancelled").close("cancelled")
    assert violation_ids(log) == {"I60"}


@pytest.mark.parametrize("status", sorted(set(get_args(ExchangeStatus)) - {"cancelled"}))
def test_i60_it_ends_otherwise(status: str) -> None:
    assert "I60" in violation_ids(cancelled().change(ExchangeResponse, status=status))


def test_i60_the_next_exchange_is_not_cancelled() -> None:
    log = Log().open().add(CancelRequested()).close("cancelled").open().turn("Hello.").close()
    assert violation_ids(log) == set()


def test_what_is_wrong_with_one_exchange_is_reported_once() -> None:
    reported = check_log(event_at(plain(), UserMessage, exchange="exc_x"))
    assert sorted(violation.invariant for violation in reported) == ["I04", "I10", "I11"]
