"""What tools had cost is in the bill of an exchange that was broken off; and the log says what broke it off."""

import pytest

from heald.agent.bus import EventBus
from heald.core.envelope import Event
from heald.core.events import ErrorOccurred, ExchangeRequest, ExchangeResponse, ToolCompleted, ToolFailed
from heald.core.messages import user_message
from heald.sessions.store_errors import Fenced, StoreError, StoreFull, StoreLocked
from heald.sessions.unfinished_exchange import ENDED, UnfinishedExchange


def _unfinished(*costs: float | None) -> UnfinishedExchange:
    events: list[Event] = []
    bus = EventBus("ses_1")
    bus.subscribe(events.append)
    bus.exchange = "ex_1"
    bus.publish(ExchangeRequest(user_message("Go."), "m"))
    for number, cost in enumerate(costs):
        bus.publish(ToolCompleted(f"call_{number}", "paint", 1.0, "", cost))
    bus.publish(ToolFailed("call_x", "paint", "error", 1.0, "", 0.5))
    unfinished = UnfinishedExchange()
    for event in events:
        unfinished.feed(event)
    return unfinished


@pytest.mark.parametrize(("costs", "whole"), [((), 0.5), ((0.25, 0.25), 1.0), ((0.25, None), None)])
def test_the_bill_of_what_was_broken_off(costs: tuple[float | None, ...], whole: float | None) -> None:
    *_, response = _unfinished(*costs).closing_payloads()
    assert isinstance(response, ExchangeResponse)
    assert (response.status, response.cost_usd) == ("failed", whole)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (StoreFull("x"), "There was no room left to store the session while the exchange ran; "),
        (StoreLocked("x"), "Another process kept the sessions locked while the exchange ran; "),
        (StoreError("x"), "The session could not be stored while the exchange ran; "),
        (Fenced("x"), "The session could not be stored while the exchange ran; "),
    ],
)
def test_the_reason_is_reported(error: StoreError, said: str) -> None:
    for why, beginning in ((error.happened, said), (ENDED, "The process ended while the exchange ran; ")):
        closing = list(_unfinished().closing_payloads(why))
        told = next(payload for payload in closing if isinstance(payload, ErrorOccurred))
        assert told.error.message.startswith(beginning)
        assert isinstance(closing[-1], ExchangeResponse)
        assert closing[-1].error == told.error
