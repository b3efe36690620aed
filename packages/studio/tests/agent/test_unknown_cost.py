"""A cost that nobody knows is None in results, events and the API, and never zero."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

import heald
from heald.core.events import ExchangeResponse
from heald.core.json import JsonObject
from heald.testing.server import ScriptedServer
from heald.testing.streams import wire_reply
from heald_studio.evaluate.columns import COLUMNS_BY_KEY


class Adapter(heald.providers.ProviderAdapter):
    def __init__(self, cost: float | None) -> None:
        self._cost = cost
        self.features = frozenset({"cost"} if cost is not None else ())

    async def create_message_stream(self, request: Any, options: Any = None) -> AsyncIterator[JsonObject]:
        yield {"type": "text", "text": "Hello"}
        yield {"type": "usage", "inputTokens": 3, "outputTokens": 2} | ({"cost": self._cost} if self._cost else {})
        yield {"type": "end"}


async def test_a_provider_of_your_own_that_reports_no_cost() -> None:
    async with heald.Agent(Adapter(None)) as agent:
        events = [event async for event in agent.stream("Hi")]
    assert isinstance(response := events[-1].data, ExchangeResponse)
    assert response.cost_usd is None


async def test_one_that_reports_it_may_have_a_budget_in_dollars() -> None:
    async with heald.Agent(Adapter(0.25), budget=heald.Budget(usd=1)) as agent:
        assert (await agent.run("Hi")).cost_usd == 0.25


async def test_one_that_does_not_may_not() -> None:
    async with heald.Agent(Adapter(None), budget=heald.Budget(usd=1)) as agent:
        with pytest.raises(heald.HealdError, match=r"The price of .* is not known"):
            await agent.run("Hi")


async def test_an_endpoint_in_no_price_list() -> None:
    async with (
        ScriptedServer([wire_reply("chat", text="Hello")]) as server,
        heald.Agent(heald.Model("m", base_url=server.url)) as agent,
    ):
        assert (await agent.run("Hi")).cost_usd is None


def test_the_report_of_an_evaluation_calls_it_unknown() -> None:
    assert COLUMNS_BY_KEY["cost"].format(None) == "unknown"
    assert COLUMNS_BY_KEY["cost"].format(0.0) == "0.0000"
