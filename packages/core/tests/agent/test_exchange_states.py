"""The states of an exchange: which transitions exist, and that a retry is stopped by a return value."""

import asyncio
import gc
import weakref

import pytest

import heald
from heald.agent.exchange import Exchange
from heald.agent.exchange_state import TRANSITIONS, ExchangeState
from heald.agent.turn_listener import TurnListener
from heald.core.errors import Overloaded
from heald.core.events import RetryScheduled
from heald.core.payload import Payload

S = heald.testing.ScriptedModel
E = ExchangeState


def test_every_state_has_its_transitions_and_one_is_final() -> None:
    assert set(TRANSITIONS) == set(E)
    assert [state for state, following in TRANSITIONS.items() if not following] == [E.DELIVERED]
    reached = {E.NEW}
    for _ in E:
        reached |= {following for state in reached for following in TRANSITIONS[state]}
    assert reached == set(E)


def send(agent: heald.Agent, text: str) -> Exchange:
    exchange = agent.send(text)
    assert isinstance(exchange, Exchange)
    return exchange


async def test_states_of_a_completed_exchange() -> None:
    async with heald.Agent(S(["Hi."])) as agent:
        first = send(agent, "1")
        second = send(agent, "2")
        assert (first.state, second.state) == (E.NEW, E.QUEUED)
        states: list[E] = []
        agent.subscribe(lambda _: states.append(first.state))
        await first.result()
        assert first.state is E.DELIVERED
        assert [*dict.fromkeys(states)] == [E.RUNNING, E.CLOSED]
        assert second.cancel() is True
        assert second.cancel() is False


async def test_a_transition_that_does_not_exist() -> None:
    async with heald.Agent(S(["Hi."])) as agent:
        exchange = send(agent, "1")
        await exchange.result()
        with pytest.raises(RuntimeError, match="delivered cannot become running"):
            exchange.move_to(E.RUNNING)
        assert exchange.state is E.DELIVERED


async def test_the_time_budget_and_a_cancel_after_it() -> None:
    @heald.tool
    async def wait() -> str:
        """Wait."""
        await asyncio.sleep(60)
        return ""

    async with heald.Agent(S([[S.call("wait")], "Done."]), tools=[wait], budget=heald.Budget(seconds=0.05)) as agent:
        exchange = send(agent, "Go.")
        result = await exchange.result()
        assert (result.status, result.limit, exchange.state) == ("limit", "seconds", E.DELIVERED)
        assert exchange.cancel() is False


def test_a_refused_retry_returns_false_and_publishes_nothing() -> None:
    published: list[Payload] = []
    stop: list[Exception] = []
    listener = TurnListener(published.extend, *([_Anything()] * 4), lambda: stop[0] if stop else None)  # pyright: ignore
    retry = RetryScheduled("msg", 2, 0.1, Overloaded("Busy.").info())
    assert listener(retry) is not False
    stop.append(RuntimeError())
    assert listener(retry) is False
    assert (published, listener.retry_stopped) == ([retry], True)


class _Anything:
    def feed(self, _: object) -> None: ...
    def fits(self) -> bool:
        return True


async def test_an_ended_exchange_leaves_no_garbage() -> None:
    """An exchange and what it is made of are freed when nobody holds them, without a search for cycles."""
    async with heald.Agent(S(["Hi."])) as agent:
        exchange = send(agent, "1")
        await exchange.result()
        await asyncio.sleep(0)  # the task ends
        reference = weakref.ref(exchange)
        gc.disable()
        try:
            del exchange
            assert reference() is None
        finally:
            gc.enable()
