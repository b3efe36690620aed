"""I01 to I05 and I62, broken."""

from typing import Any

import msgspec
import pytest
from checker_logs import Log, call, event_at, plain, resumed, several, tools, violation_ids

from heald.core.envelope import Event
from heald.core.events import (
    ConversationEnd,
    ConversationStart,
    ExchangeRequest,
    ExchangeResponse,
    MessageDelta,
    SessionResumed,
    TextDelta,
    ToolOutputDelta,
    Unknown,
)
from heald.core.messages import user_message
from heald_check import check_log


def _found(events: list[Event]) -> set[str]:
    return {violation.invariant for violation in check_log(events)}


def test_i01_a_gap() -> None:
    events = plain().events()
    del events[4]
    assert "I01" in _found(events)


def test_i01_begins_late() -> None:
    assert "I01" in _found([msgspec.structs.replace(event, seq=event.seq + 1) for event in plain().events()])


def test_i01_a_number_twice() -> None:
    assert _found(event_at(plain(), ConversationEnd, seq=3)) == {"I01"}


def test_i02_an_id_twice() -> None:
    assert _found(event_at(plain(), ConversationEnd, id="evt_ses_1_1")) == {"I02"}


def test_i02_an_id_in_two_sessions() -> None:
    first, second = Log("ses_1").open().turn("x").close().events(), Log("ses_2").open().turn("x").close().events()
    second[3] = msgspec.structs.replace(second[3], id=first[3].id)
    assert _found(first + second) == {"I02"}


def test_i03_time_runs_back() -> None:
    assert _found(event_at(plain(), ConversationEnd, time=1.0)) == {"I03"}


def test_i03_time_runs_back_within_a_later_epoch() -> None:
    events = [msgspec.structs.replace(e, time=e.time - 9000) if e.epoch == 2 else e for e in resumed().events()]
    assert _found(events) == set(), "another epoch is another clock"
    events[-1] = msgspec.structs.replace(events[-1], time=1.0)
    assert _found(events) == {"I03"}


def test_i04_no_exchange() -> None:
    assert _found(event_at(plain(), ConversationEnd, exchange=None)) == {"I04"}


def test_i04_an_exchange_that_nobody_opened() -> None:
    assert "I04" in _found(event_at(plain(), ConversationEnd, exchange="exc_other"))


def test_i04_no_session_of_its_own() -> None:
    assert "I04" in _found([msgspec.structs.replace(event, session="") for event in plain().events()])


@pytest.mark.parametrize("fields", [{"type": "text_delta"}, {"layer": "stream"}, {"id": ""}])
def test_i04_an_envelope_that_does_not_fit(fields: dict[str, Any]) -> None:
    assert _found(event_at(plain(), ConversationStart, **fields)) == {"I04"}


def test_i05_odd_characters_are_stored_as_their_escapes() -> None:
    assert violation_ids(tools().change(ToolOutputDelta, text="a\0b \ud83d and null")) == set()


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_i05_a_number_that_json_lacks(number: float) -> None:
    assert violation_ids(plain().change(ExchangeResponse, duration_ms=number)) == {"I05"}
    assert violation_ids(plain().change(MessageDelta, provider_usage={"cost": [{"usd": number}]})) == {"I05"}


def test_i05_not_json_at_all() -> None:
    assert violation_ids(plain().insert(Unknown({1: object()}), before=ExchangeResponse)) == {"I05"}


def test_i05_too_large() -> None:
    assert violation_ids(tools().change(ToolOutputDelta, text="x" * (1024 * 1024))) == {"I05"}
    assert violation_ids(tools().change(ToolOutputDelta, text="x" * (1024 * 1024 - 400))) == set()


def test_i62_the_epoch_decreases() -> None:
    assert violation_ids(_in_epoch(resumed(), -1, 1)) == {"I62"}
    assert violation_ids(_in_epoch(several(), 3, 5)) == {"I62"}


def test_i62_a_fenced_off_writer() -> None:
    log = resumed()
    assert violation_ids(_in_epoch(log, log.find(SessionResumed) + 2, 1)) == {"I62"}


def _in_epoch(log: Log, at: int, epoch: int) -> Log:
    log.entries[at].epoch = epoch
    return log


def test_a_log_of_nonsense_breaks_no_checker() -> None:
    """Every event of a log, alone and backwards."""
    for log in (tools(), resumed(), several()):
        events = log.events()
        assert check_log(reversed(events))
        for event in events:
            check_log([event])
    assert {"I25", "I30"} <= violation_ids(Log().open().add(call("call_9", deep=[[[1]]])).close())
    assert "I11" in violation_ids(Log().open())
    assert {"I04", "I21"} <= violation_ids(Log().add(TextDelta(3, "b", "x")))
    assert "I04" in violation_ids(Log().add(ExchangeRequest(user_message("Hi."))))
