"""The dollars and tokens of the day: counted once, whoever spent them, and never by guessing."""

import pytest

from heald.core.envelope import Event, new_event
from heald.core.events import ExchangeResponse
from heald.core.turn import Usage
from heald_server.access.usage_meters import DAY, UsageMeters
from heald_server.http.errors import ApiError
from heald_server.server_limits import ServerLimits


def _ended(session: str, usd: float | None, tokens: int = 10, delegated: Usage | None = None) -> Event:
    response = ExchangeResponse("completed", "end_turn", 1.0, 1, Usage(output=tokens), usd, delegated=delegated)
    return new_event(1, "e", session, "ex", response.type, response.layer, 0.0, 1, response)


def test_what_a_delegate_spent_is_counted_once() -> None:
    meters = UsageMeters(ServerLimits(usd_per_day=1.0, tokens_per_day=100))
    hear = meters.usage_reactor("ann", "ses_1")
    hear(_ended("ses_2", 0.6, 40))  # an agent that worked for it
    hear(_ended("ses_1", 0.9, 10, Usage(output=40)))  # which its own bill holds
    meters.check_exchange("ann")
    hear(_ended("ses_1", 0.05, 45))
    meters.check_exchange("ann")
    hear(_ended("ses_1", 0.0, 5))
    with pytest.raises(ApiError, match="tokens of the day are used up") as refused:
        meters.check_exchange("ann")
    assert refused.value.status == 402
    meters.check_exchange("bob")


def test_dollars_that_nobody_knows_are_not_treated_as_none() -> None:
    now = 0.0
    meters = UsageMeters(ServerLimits(usd_per_day=1.0), lambda: now)
    hear = meters.usage_reactor("ann", "ses_1")
    hear(_ended("ses_1", 0.1))
    meters.check_exchange("ann")
    hear(_ended("ses_1", None))
    with pytest.raises(ApiError, match="price is not known") as refused:
        meters.check_exchange("ann")
    assert int(refused.value.headers["Retry-After"]) > 0
    now = DAY + 1
    meters.check_exchange("ann")


def test_without_a_limit_of_dollars_prices_do_not_matter() -> None:
    meters = UsageMeters(ServerLimits())
    meters.usage_reactor("ann", "ses_1")(_ended("ses_1", None))
    meters.check_exchange("ann")
