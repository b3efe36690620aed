"""L02: how long to wait, in every form that servers use, between nothing and the cap."""

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heald.core.errors import ConnectionFailed, ProviderTimeout, RateLimited, Stalled
from heald.core.http_status import MAX_RETRY_AFTER, UNAVAILABLE_STATUSES, error_class, is_busy, parse_retry_after
from heald.core.retry import Retry, backoff
from heald.providers.watchdog import Timeouts
from heald.wires.errors import error_from_response


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": " 3 "}, 3.0),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after": "99999999"}, MAX_RETRY_AFTER),
        ({"retry-after": "inf"}, MAX_RETRY_AFTER),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "junk", "retry-after": "9"}, 9.0),
        ({"retry-after-ms": "-1"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00"}, 0.0),
        ({"retry-after": "Fri, 31 Dec 2999 23:59:59 GMT"}, MAX_RETRY_AFTER),
    ],
)
def test_seconds_milliseconds_and_nonsense(headers: dict[str, str], seconds: float | None) -> None:
    assert parse_retry_after(headers) == seconds


def test_a_date_is_the_time_until_then() -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    seconds = parse_retry_after({"retry-after": date})
    assert seconds is not None
    assert 25 < seconds <= 30


@given(st.text(max_size=30))
def test_no_header_raises(value: str) -> None:
    seconds = parse_retry_after({"retry-after": value, "retry-after-ms": value})
    assert seconds is None or 0 <= seconds <= MAX_RETRY_AFTER


def of(delay: Any, headers: dict[str, str] | None = None) -> float | None:
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}
    body = b'{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "slow", "details": [%s]}}'
    return error_from_response(429, headers or {}, body % _json(info)).retry_after


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


@pytest.mark.parametrize(
    ("delay", "seconds"),
    [("7s", 7.0), ("0.25s", 0.25), ("99999s", 99999.0), ("9999999s", MAX_RETRY_AFTER), ("-5s", 0.0), ("junk", 0.0)],
)
def test_google_states_it_in_the_body(delay: str, seconds: float) -> None:
    assert of(delay) == seconds


def test_the_body_is_more_precise_than_the_header() -> None:
    assert of("7s", {"Retry-After": "60"}) == 7.0
    assert of(None, {"Retry-After": "60"}) == 60.0


def test_a_quota_with_a_time_to_wait_is_a_rate_limit() -> None:
    body = (
        b'{"error": {"code": 429, "message": "You exceeded your current quota", "details": '
        b'[{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "30s"}]}}'
    )
    error = error_from_response(429, {}, body)
    assert (error.code, error.retry_after) == ("rate_limited", 30.0)


# --- the table of statuses ------------------------------------------------------------------------------------------


def test_which_statuses_are_retried() -> None:
    retried = {status for status in range(400, 600) if error_class(status).retryable}
    assert retried == {408, 409, 425, 429, 499, *range(500, 600)}
    assert {status for status in range(100, 600) if is_busy(status)} == {429, 503, 529}
    assert retried >= UNAVAILABLE_STATUSES


def test_waits_grow_with_jitter_up_to_the_cap() -> None:
    for attempt, longest in ((1, 0.5), (2, 1.0), (3, 2.0), (10, 30.0), (500, 30.0)):
        assert all(longest / 2 <= backoff(attempt, 0.5, 30.0) <= longest for _ in range(50))


def test_a_server_may_ask_for_a_longer_wait() -> None:
    assert Retry(base=0).delay(1, RateLimited("slow", retry_after=7.0)) == 7.0
    assert Retry(base=0).delay(1, RateLimited("slow")) == 0.0
    assert [Retry().is_too_long(RateLimited("slow", retry_after=n)) for n in (None, 60.0, 60.5)] == [False, False, True]


def test_how_often_a_turn_is_attempted() -> None:
    reached, unreached = ConnectionFailed("broke"), ConnectionFailed("refused", reached=False)
    assert [Retry().limit(reached), Retry().limit(reached, 5)] == [10, 5]
    assert [Retry(attempts=n).limit(unreached) for n in (None, 2, 9)] == [3, 2, 3]


def test_a_silent_server_costs_ten_minutes_at_most() -> None:
    silent = [Stalled("only pings"), ProviderTimeout("no byte")]
    assert [Retry().limit(error) for error in silent] == [2, 2]
    assert [Retry(silent_attempts=4).limit(error, 5) for error in silent] == [4, 4]
    assert Retry().limit(silent[0]) * Timeouts().content == 600
    assert Retry().limit(silent[1]) * (Timeouts().connect + Timeouts().socket) == 270
