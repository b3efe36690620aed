"""The agents that work for an exchange share its budget: together they exceed it by one request at most."""

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

import heald
from heald.core.envelope import Event
from heald.core.errors import ProviderError
from heald.core.events import ExchangeResponse, MessageDelta, MessageStop
from heald.core.messages import assistant, user_message
from heald.core.turn import Cost, Usage
from heald.providers.base import OnEvent
from heald.providers.scripted import Script, ScriptDecoder
from heald.tools.context import ToolContext
from heald_check import check_log
from priced_model import PricedModel, S, caller, used, worker

REQUEST = 515  # tokens of one answer of a worker; a token costs a tenth of a cent


def _responses(events: list[Event]) -> list[ExchangeResponse]:
    return [event.data for event in events if isinstance(event.data, ExchangeResponse)]


def _spent(events: list[Event]) -> tuple[int, int]:
    """Return the tokens and the turns of all agents, from their events."""
    usages = [event.data.usage.total or 0 for event in events if isinstance(event.data, MessageDelta)]
    return sum(usages), sum(isinstance(event.data, MessageStop) for event in events)


def _assert_clean(events: list[Event]) -> None:
    for session in {event.session for event in events}:
        problems = check_log([event for event in events if event.session == session])
        assert not problems, problems


async def _run(agent: heald.Agent) -> list[Event]:
    async with asyncio.timeout(120):
        events = [event async for event in agent.stream("Go.")]
    _assert_clean(events)
    return events


def _agent(model: S, helper: heald.Agent, budget: heald.Budget, **options: Any) -> heald.Agent:
    return heald.Agent(model, tools=[helper.as_tool("help", "Helps.")], budget=budget, permissions="auto", **options)


@pytest.mark.parametrize("calls", [1, 4, 8])
async def test_dollars(calls: int) -> None:
    events = await _run(_agent(caller(calls), heald.Agent(worker(REQUEST)), heald.Budget(usd=0.5)))
    tokens, _ = _spent(events)
    outer = _responses(events)[-1]
    assert outer.cost_usd is not None
    assert outer.cost_usd == pytest.approx(tokens * 0.001)
    assert outer.cost_usd <= 0.5 + REQUEST * 0.001
    assert (outer.status, outer.limit) == ("limit", "usd")


@pytest.mark.parametrize("calls", [1, 4, 8])
async def test_tokens(calls: int) -> None:
    events = await _run(_agent(caller(calls), heald.Agent(worker(REQUEST)), heald.Budget(tokens=500)))
    tokens, _ = _spent(events)
    assert tokens <= 500 + REQUEST
    outer = _responses(events)[-1]
    assert (outer.status, outer.limit) == ("limit", "tokens")
    assert outer.delegated is not None
    assert (outer.usage + outer.delegated).total == tokens


@pytest.mark.parametrize("calls", [1, 4, 8])
async def test_turns(calls: int) -> None:
    """A worker would take 20 turns, and each of several as well."""

    @heald.tool
    def nothing() -> str:
        """Nothing."""
        return ""

    model = PricedModel([[S.call("nothing")]] * 200, pause=0.001)
    helper = heald.Agent(model, tools=[nothing])
    events = await _run(_agent(caller(calls), helper, heald.Budget(turns=5)))
    assert _spent(events)[1] == 5
    *inner, outer = _responses(events)
    assert (outer.status, outer.limit, outer.turns) == ("limit", "turns", 1)
    assert {response.limit for response in inner} == {"turns"}


@pytest.mark.parametrize("calls", [1, 4, 8])
async def test_seconds(calls: int) -> None:
    """The time of the caller ends all of them."""
    model = PricedModel(["word " * 100_000] * 8, pause=0.01)
    events = await _run(_agent(caller(calls), heald.Agent(model), heald.Budget(seconds=0.3)))
    *inner, outer = _responses(events)
    assert (outer.status, outer.limit) == ("limit", "seconds")
    assert len(inner) == calls
    assert {response.status for response in inner} == {"cancelled"}


async def test_they_run_in_parallel_while_all_of_them_fit() -> None:
    running = most = 0

    class Counted(PricedModel):
        async def play(self, decoder: ScriptDecoder, script: Script, on_event: OnEvent) -> None:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await asyncio.sleep(0.05)
            await super().play(decoder, script, on_event)
            running -= 1

    model = Counted([used(REQUEST, "A report.")] * 8)
    events = await _run(_agent(caller(8), heald.Agent(model, max_output_tokens=600), heald.Budget(tokens=50_000)))
    assert most == 8
    assert _responses(events)[-1].status == "completed"
    most = 0
    model = Counted([used(REQUEST, "A report.")] * 8)
    events = await _run(_agent(caller(8), heald.Agent(model, max_output_tokens=600), heald.Budget(tokens=2_100)))
    assert 2 <= most <= 3
    assert _spent(events)[0] <= 2_100 + REQUEST


async def test_a_turn_that_is_not_limited_is_one_of_each_agent() -> None:
    @heald.tool
    def nothing() -> str:
        """Nothing."""
        return ""

    model = PricedModel([[S.call("nothing")]] * 60)
    events = await _run(_agent(caller(2), heald.Agent(model, tools=[nothing]), heald.Budget(tokens=1_000_000)))
    assert _responses(events)[-1].status == "completed"
    assert _spent(events)[1] == 2 + 2 * 20


@pytest.mark.parametrize(
    ("budget", "most"), [(heald.Budget(usd=0.5), 500), (heald.Budget(tokens=500), 500), (heald.Budget(turns=4), None)]
)
async def test_two_deep(budget: heald.Budget, most: int | None) -> None:
    """Four agents that each call four."""
    leaf = heald.Agent(worker(REQUEST))
    script = used(20, *(S.call("deeper", prompt="Go.") for _ in range(4)), reason="tool_use")

    def answer(request: Any) -> Any:
        return script if request.messages[-1].role == "user" else used(20, "Done.")

    middle = heald.Agent(PricedModel([answer] * 20, pause=0.001), tools=[leaf.as_tool("deeper", "Deeper.")])
    events = await _run(_agent(caller(4), middle, budget))
    tokens, turns = _spent(events)
    outer = _responses(events)[-1]
    assert outer.status == "limit"
    if most is None:
        assert turns == 4
    else:
        assert tokens <= most + REQUEST
        assert outer.delegated is not None
        assert (outer.usage + outer.delegated).total == tokens


async def test_the_note_names_whose_limit_it_was() -> None:
    events = await _run(_agent(caller(4), heald.Agent(worker(REQUEST)), heald.Budget(tokens=500)))
    outer = next(event for event in reversed(events) if isinstance(event.data, ExchangeResponse))
    notes = {response.note for response in _responses(events)[:-1] if response.status == "limit"}
    assert notes == {f"The exchange reached the budget of 500 tokens of its caller, the exchange {outer.exchange}."}
    assert isinstance(outer.data, ExchangeResponse)
    assert outer.data.note == "The exchange reached its budget of 500 tokens."


async def test_its_own_budget_restricts_a_delegate_further() -> None:
    @heald.tool
    def nothing() -> str:
        """Nothing."""
        return ""

    model = PricedModel([used(100, S.call("nothing"), reason="tool_use")] * 40)
    helper = heald.Agent(model, tools=[nothing], budget=heald.Budget(tokens=250))
    events = await _run(_agent(caller(2), helper, heald.Budget(tokens=100_000)))
    *inner, outer = _responses(events)
    assert [(response.limit, response.usage.total) for response in inner] == [("tokens", 300)] * 2
    assert {response.note for response in inner} == {"The exchange reached its budget of 250 tokens."}
    assert outer.status == "completed"


async def test_failed_attempts_of_delegates_count() -> None:
    """Each answers with a fallback, after an attempt that used tokens."""
    error = ProviderError("Overloaded.")
    failing = PricedModel([[S.stop("end_turn", Usage(input=300, output=1)), "Half.", S.fail(error)]] * 8, pause=0.001)
    helper = heald.Agent(failing, fallbacks=[worker(REQUEST)])
    events = await _run(_agent(caller(8), helper, heald.Budget(tokens=2_000)))
    outer = _responses(events)[-1]
    assert outer.delegated is not None
    assert ((outer.usage + outer.delegated).total or 0) <= 2_000 + REQUEST
    assert (outer.status, outer.limit) == ("limit", "tokens")


async def test_a_cancelled_delegate_releases_what_it_had_reserved() -> None:
    """The first one reserves all that is left and never ends; the tool's time runs out."""

    class Endless(PricedModel):
        async def play(self, decoder: ScriptDecoder, script: Script, on_event: OnEvent) -> None:
            if len(self.requests) == 1:
                await asyncio.sleep(3600)
            await super().play(decoder, script, on_event)

    helper = heald.Agent(Endless([used(50, "A report.")] * 2))
    tools = [replace(helper.as_tool("short", "Helps."), timeout=0.3), helper.as_tool("help", "Helps.")]
    calls = [S.call("short", prompt="A"), S.call("help", prompt="B")]
    model = PricedModel([used(20, *calls, reason="tool_use"), "Done."])
    agent = heald.Agent(model, tools=tools, budget=heald.Budget(tokens=500), permissions="auto")
    events = await _run(agent)
    *inner, outer = _responses(events)
    assert sorted(response.status for response in inner) == ["cancelled", "completed"]
    assert outer.status == "completed"


async def test_what_a_running_tool_has_spent_counts_at_once() -> None:
    begun, spent, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    @heald.tool
    async def paint(ctx: ToolContext) -> str:
        """Paint."""
        await asyncio.wait_for(begun.wait(), 60)
        ctx.spend(1.0)
        spent.set()
        await asyncio.wait_for(ended.wait(), 60)
        return "painted"

    @heald.tool
    async def wait_for_paint() -> str:
        """Wait."""
        begun.set()
        await asyncio.wait_for(spent.wait(), 60)
        return ""

    inner = PricedModel([used(20, S.call("wait_for_paint"), reason="tool_use"), used(20, "Never.")])
    helper = heald.Agent(inner, tools=[wait_for_paint])
    helper_tool = helper.as_tool("help", "Helps.")
    model = PricedModel([used(20, S.call("paint"), S.call("help", prompt="A"), reason="tool_use"), "Never."])
    agent = heald.Agent(model, tools=[paint, helper_tool], budget=heald.Budget(usd=0.9), permissions="auto")
    events: list[Event] = []

    def on_event(event: Event) -> None:
        events.append(event)
        if isinstance(event.data, ExchangeResponse):
            ended.set()

    agent.subscribe(on_event)
    async with asyncio.timeout(120):
        result = await agent.run("Go.")
    assert [response.limit for response in _responses(events)] == ["usd", "usd"]
    assert len(inner.requests) == 1
    assert result.cost_usd == pytest.approx(1.04)


async def test_a_budget_in_dollars_of_the_caller_needs_prices_of_delegates() -> None:
    class Unpriced(S):
        def open_session(self, **options: Any) -> Any:
            session = super().open_session(**options)
            session.cost = lambda _: Cost()  # pyright: ignore[reportAttributeAccessIssue]
            return session

    helper = heald.Agent(Unpriced(["A report."], name="scripted/unpriced"))
    events = await _run(_agent(caller(1), helper, heald.Budget(usd=5)))
    inner = _responses(events)[0]
    assert inner.status == "failed"
    assert inner.error is not None
    assert "The price of scripted/unpriced is not known" in inner.error.message


async def test_a_summary_counts_before_the_next_request() -> None:
    """The requests of a compaction use the budget up, so the turn that it was made for is not sent."""

    class Small(PricedModel):
        def open_session(self, **options: Any) -> Any:
            session: Any = super().open_session(**options)

            async def context_window() -> int:
                return 2_000

            session.context_window = context_window
            return session

    long = [make("word " * 400) for _ in range(5) for make in (user_message, assistant)]
    model = Small([used(900, "Facts: words."), used(900, "Never.")])
    agent = heald.Agent(model, history=long, budget=heald.Budget(tokens=800))
    events = await _run(agent)
    response = _responses(events)[-1]
    assert (response.status, response.limit, len(model.requests)) == ("limit", "tokens", 1)
    assert response.usage.total == 900


async def test_a_request_may_have_a_budget_of_its_own() -> None:
    @heald.tool
    def nothing() -> str:
        """Nothing."""
        return ""

    agent = heald.Agent(PricedModel([[S.call("nothing")]] * 9), tools=[nothing], budget=heald.Budget(turns=5))
    result = await agent.send("Go.", budget=heald.Budget(turns=2)).result()
    assert (result.limit, result.turns) == ("turns", 2)
    assert result.note is not None
    assert result.note.endswith("The exchange reached the budget of 2 turns that its request set.")
    assert (await agent.send("Go.", budget=heald.Budget(turns=9)).result()).turns == 5
