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
    found,
    limited,
    plain,
    retried,
    several,
    tools,
)

from weft.core.events import (
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
from weft.core.turn import Usage
from weft.testing import check_log


def test_i10_no_request() -> None:
    assert {"I10", "I04"} <= found(plain().cut(ExchangeRequest))


def test_i10_two_requests() -> None:
    assert "I10" in found(plain().double(ExchangeRequest))


def test_i10_a_late_request() -> None:
    assert "I10" in found(plain().move(ExchangeRequest, before=ConversationStart))


def test_i11_no_response() -> None:
    assert found(plain().cut(ExchangeResponse)) == {"I11"}
    assert "I11" in found(several().cut(ExchangeResponse))


def test_i11_two_responses() -> None:
    assert found(plain().double(ExchangeResponse)) == {"I11"}


def test_i11_something_follows() -> None:
    assert found(plain().move(ExchangeResponse, before=ConversationEnd)) == {"I11"}


def test_i12_an_unknown_status() -> None:
    assert found(plain().change(ExchangeResponse, status="done")) == {"I12"}


@pytest.mark.parametrize("kind", [ErrorOccurred, ErrorMessage])
def test_i12_failed_without_an_error_or_with_two(kind: type[ErrorOccurred | ErrorMessage]) -> None:
    assert found(failed().cut(kind)) == {"I12"}
    assert found(failed().double(kind)) == {"I12"}


def test_i12_completed_with_an_error() -> None:
    assert found(plain().insert(ErrorOccurred(OVERLOADED), before=ExchangeResponse)) == {"I12"}
    assert found(plain().insert(ErrorMessage(OVERLOADED), before=ExchangeResponse)) == {"I12"}


def test_i12_errors_are_counted_by_exchange() -> None:
    log = Log().open().discard(retry=False).close("failed").open().turn("x").close("failed")
    assert found(log) == set()
    assert found(log.cut(ErrorOccurred, 1)) == {"I12"}


def test_i13_exchanges_overlap() -> None:
    assert "I13" in found(several().move(ExchangeRequest, 1, before=ExchangeResponse))


def test_i13_opens_while_the_last_is_open() -> None:
    assert "I13" in found(several().cut(ExchangeResponse))


def test_i14_one_request_twice() -> None:
    assert found(several().change(ExchangeRequest, 1, client_request_id="req_1")) == {"I14"}
    assert found(several().change(ExchangeRequest, 3, client_request_id="req_2")) == {"I14"}


def test_i50_another_sum() -> None:
    assert found(plain().change(ExchangeResponse, usage=Usage(input=1))) == {"I50"}


def test_i50_a_discarded_attempt_counts() -> None:
    log = retried()
    kept = Usage(input=20, output=2)
    assert log.usage == kept + Usage(input=14)
    assert found(log.change(ExchangeResponse, usage=kept)) == {"I50"}


def test_i50_unknown_is_not_zero() -> None:
    assert found(plain().change(ExchangeResponse, usage=Usage(input=10, output=3, reasoning=0))) == {"I50"}


def test_i50_negative() -> None:
    less = Usage(input=-1)
    assert found(plain().change(MessageDelta, usage=less).change(ExchangeResponse, usage=less)) == {"I50"}
    assert "I50" in found(failed().change(MessageDiscarded, usage=less))
    assert found(plain().change(ExchangeResponse, delegated=less)) == {"I50"}


def test_i50_counted_twice() -> None:
    assert found(plain().double(MessageDelta)) == {"I50"}


def test_i50_by_exchange() -> None:
    assert found(several().change(ExchangeResponse, 3, usage=several().usage + Usage(input=10))) == {"I50"}


def test_i51_other_turns() -> None:
    assert found(tools().change(ExchangeResponse, turns=2)) == {"I51"}
    assert found(retried().change(ExchangeResponse, turns=4)) == {"I51"}


def test_i51_a_limit_that_is_not_reported() -> None:
    assert found(limited().change(ExchangeResponse, status="completed")) == {"I51"}
    assert found(limited().change(ExchangeResponse, limit=None)) == {"I51"}


def test_i60_a_message_starts_after_the_cancel() -> None:
    assert found(cancelled().move(CancelRequested, before=ConversationStart)) == {"I60"}


def test_i60_a_call_starts_after_the_cancel() -> None:
    first, second = call("call_1"), call("call_2")
    log = Log().open().turn(first, second).run(first).add(CancelRequested()).run(second)
    log.result(first, "cancelled").result(second, "cancelled").close("cancelled")
    assert found(log) == {"I60"}


@pytest.mark.parametrize("status", sorted(set(get_args(ExchangeStatus)) - {"cancelled"}))
def test_i60_it_ends_otherwise(status: str) -> None:
    assert "I60" in found(cancelled().change(ExchangeResponse, status=status))


def test_i60_the_next_exchange_is_not_cancelled() -> None:
    log = Log().open().add(CancelRequested()).close("cancelled").open().turn("Hello.").close()
    assert found(log) == set()


def test_what_is_wrong_with_one_exchange_is_reported_once() -> None:
    told = check_log(event_at(plain(), UserMessage, exchange="exc_x"))
    assert sorted(violation.invariant for violation in told) == ["I04", "I10", "I11"]
