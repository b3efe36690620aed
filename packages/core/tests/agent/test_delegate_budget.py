"""An agent that works for another one takes no more than the other has left."""

import pytest

import heald
from heald.agent.account import Account
from heald.agent.budget import Budget
from heald.agent.tracker import ExchangeTracker
from heald.core.envelope import Event
from heald.core.events import ExchangeResponse
from heald.core.turn import Usage
from heald_check import check_log

S = heald.testing.ScriptedModel


async def _run(budget: Budget, delegate_budget: Budget | None = None) -> tuple[list[Event], S]:
    """Whoever works for the other would go on for ever."""
    worker = S([["word " * 40, S.call("nothing")] for _ in range(30)])

    @heald.tool
    def nothing() -> str:
        """Nothing."""
        return "nothing"

    inner = heald.Agent(worker, tools=[nothing], budget=delegate_budget or Budget(turns=25))
    outer = heald.Agent(
        S([[S.call("help", prompt="Go.")], "Done."]),
        tools=[inner.as_tool("help", "Helps.")],
        budget=budget,
        permissions="auto",
    )
    events = [event async for event in outer.stream("Go.")]
    return events, worker


def _ends(events: list[Event]) -> list[ExchangeResponse]:
    return [event.data for event in events if isinstance(event.data, ExchangeResponse)]


async def test_tokens_of_a_delegate_stay_within_what_is_left() -> None:
    events, worker = await _run(Budget(tokens=300))
    inner, outer = _ends(events)
    assert (inner.status, inner.limit) == ("limit", "tokens")
    assert (outer.status, outer.limit) == ("limit", "tokens")
    assert len(worker.requests) < 10
    sessions = {event.session for event in events}
    for session in sessions:
        assert not check_log([event for event in events if event.session == session])


async def test_its_own_budget_counts_where_that_is_less() -> None:
    events, worker = await _run(Budget(tokens=100_000), Budget(turns=3))
    inner, outer = _ends(events)
    assert (inner.status, inner.limit, len(worker.requests)) == ("limit", "turns", 3)
    assert outer.status == "completed"


async def test_without_a_budget_nothing_is_limited() -> None:
    events, worker = await _run(Budget())
    assert _ends(events)[0].limit == "turns"
    assert len(worker.requests) == 25


@pytest.mark.parametrize(
    ("budget", "other", "merged"),
    [
        (Budget(), Budget(), Budget()),
        (Budget(tokens=5), Budget(), Budget(tokens=5)),
        (Budget(), Budget(tokens=5, usd=1.0, turns=50), Budget(tokens=5, usd=1.0, turns=50)),
        (Budget(tokens=9, usd=0.5, turns=3), Budget(tokens=5, usd=1.0), Budget(tokens=5, usd=0.5, turns=3)),
        (Budget(turns=9, seconds=2), Budget(turns=4, seconds=3), Budget(turns=4, seconds=2)),
    ],
)
def test_within(budget: Budget, other: Budget, merged: Budget) -> None:
    assert budget.within(other) == merged


def test_left_is_never_nothing() -> None:
    tracker = ExchangeTracker()
    tracker.usage = Usage(output=50)
    tracker.spend(2.0)
    left = Account(Budget(tokens=40, usd=1.0), tracker).remaining()
    assert left is not None
    assert left.tokens == 1
    assert left.usd is not None
    assert 0 < left.usd < 1e-6
    left = Account(Budget(tokens=60), tracker).remaining()
    assert left is not None
    assert left.tokens == 10
    assert Account(Budget(), tracker).remaining() is None
