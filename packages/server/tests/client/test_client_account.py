"""Agents on a server that work for an agent here share its budget. The server is real, and enforces what is left."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

import heald
import heald_server
from heald.agent.model_chain import ModelLike
from heald.core.events import ExchangeRequest, MessageDelta, MessageStop
from heald_check import check_log
from priced_model import PricedModel, S, caller, used
from serving_parts import TOKEN, Served, served

REQUEST = 515


async def _spent(server: Served) -> tuple[int, int]:
    """Return the tokens and turns in all logs of the server."""
    await server.wait_idle()
    tokens = turns = 0
    for info in (await server.context.sessions.list(limit=100)).sessions:
        log = await server.log(info.id)
        assert not check_log(log)
        tokens += sum(event.data.usage.total or 0 for event in log if isinstance(event.data, MessageDelta))
        turns += sum(isinstance(event.data, MessageStop) for event in log)
    return tokens, turns


def _answers_once() -> ModelLike:
    return PricedModel([used(REQUEST, "A report.")] * 20)


def _calls_for_ever() -> ModelLike:
    return PricedModel([used(REQUEST, S.call("list_files"), reason="tool_use")] * 30)


@pytest.mark.parametrize("script", [_answers_once, _calls_for_ever])
@pytest.mark.parametrize("calls", [1, 4, 8])
@pytest.mark.parametrize(
    "budget", [heald.Budget(usd=0.5), heald.Budget(tokens=500), heald.Budget(turns=5)], ids=["usd", "tokens", "turns"]
)
async def test_they_exceed_it_by_one_request_at_most(
    tmp_path: Path, budget: heald.Budget, calls: int, script: Callable[[], ModelLike]
) -> None:
    async with (
        asyncio.timeout(60),
        served(tmp_path, script) as server,
        heald_server.connect(server.url, TOKEN) as remote,
    ):
        agent = heald.Agent(caller(calls), tools=[remote.as_tool("help", "Helps.")], budget=budget, permissions="auto")
        result = await agent.run("Go.")
        tokens, turns = await _spent(server)
    if budget.turns == 5:
        assert turns + result.turns <= 5
        assert result.delegated is not None
        assert result.delegated.total == tokens
        return
    assert tokens + (result.usage.total or 0) <= 500 + REQUEST
    assert (result.status, result.limit) == ("limit", "usd" if budget.usd is not None else "tokens")
    assert result.cost_usd == pytest.approx(0.001 * (tokens + (result.usage.total or 0)))


async def test_without_a_budget_they_run_in_parallel(tmp_path: Path) -> None:
    """Each of the four answers waits until all have begun."""
    begun = 0
    all_begun = asyncio.Event()

    class Waiting(PricedModel):
        async def play(self, *arguments: object, **names: object) -> None:
            nonlocal begun
            begun += 1
            if begun == 4:
                all_begun.set()
            await all_begun.wait()
            await super().play(*arguments, **names)  # pyright: ignore[reportArgumentType]

    async with (
        asyncio.timeout(60),
        served(tmp_path, lambda: Waiting([used(20, "A report.")])) as server,
        heald_server.connect(server.url, TOKEN) as remote,
    ):
        agent = heald.Agent(caller(4), tools=[remote.as_tool("help", "Helps.")], permissions="auto")
        assert (await agent.run("Go.")).status == "completed"


async def test_seconds_that_are_left_travel_with_the_request(tmp_path: Path) -> None:
    """The time of the caller ends all of them, here and on the server."""
    endless = PricedModel(["word " * 100_000] * 8, pause=0.01)
    async with (
        asyncio.timeout(60),
        served(tmp_path, lambda: endless) as server,
        heald_server.connect(server.url, TOKEN) as remote,
    ):
        agent = heald.Agent(
            caller(4),
            tools=[remote.as_tool("help", "Helps.")],
            budget=heald.Budget(seconds=1.5),
            permissions="auto",
        )
        result = await agent.run("Go.")
        assert (result.status, result.limit) == ("limit", "seconds")
        await server.wait_idle()
        for info in (await server.context.sessions.list(limit=100)).sessions:
            log = await server.log(info.id)
            requests = [event.data for event in log if isinstance(event.data, ExchangeRequest)]
            assert all(0 < (request.budget or {})["seconds"] <= 1.5 for request in requests)


async def test_the_log_of_the_server_holds_the_budget(tmp_path: Path) -> None:
    """So a server that continues the exchange enforces it too. The note says whose limit it was."""
    async with (
        asyncio.timeout(60),
        served(tmp_path, _calls_for_ever) as server,
        heald_server.connect(server.url, TOKEN) as remote,
    ):
        result = await remote.send("Go.", budget=heald.Budget(turns=3, usd=9.0)).result()
        assert (result.limit, result.turns) == ("turns", 3)
        assert result.note is not None
        assert "The exchange reached the budget of 3 turns that its request set." in result.note
        log = await server.log(remote.session or "")
        request = next(event.data for event in log if isinstance(event.data, ExchangeRequest))
        assert request.budget == {"turns": 3, "usd": 9.0, "message_tokens": 256_000}
        async with server.client.post(
            f"/sessions/{remote.session}/messages", json={"text": "Go.", "budget": {"turns": 0}}
        ) as answer:
            assert answer.status in (400, 422)
