"""L06: a budget is looked at before each request, those that are tried again included."""

import asyncio
from typing import Any

import heald
from heald.agent.budget import Budget
from heald.core.events import ExchangeResponse
from heald.core.json import encode
from heald.core.retry import Retry
from heald.testing.server import Cut, Reply, ScriptedServer
from heald_check import check_log


def _cut(tokens: int) -> Reply:
    """An answer that says what it used and then breaks off."""
    start = {"message": {"id": "m", "model": "m", "usage": {"input_tokens": tokens, "output_tokens": 1}}}
    block = {"index": 0, "content_block": {"type": "text", "text": ""}}
    events: list[tuple[str, dict[str, Any]]] = [("message_start", start), ("content_block_start", block)]
    body = b"".join(
        b"event: %s\ndata: %s\n\n" % (name.encode(), encode({"type": name} | data)) for name, data in events
    )
    return Reply([body, Cut()])


async def test_attempts_that_fail_use_the_budget_up() -> None:
    async with ScriptedServer(lambda _: _cut(400)) as server:
        model = heald.Model("m", wire="messages", base_url=f"{server.url}/v1", api_key="k")
        retry = Retry(attempts=10, base=0.0)
        agent = heald.Agent(model, budget=Budget(tokens=1000), retry=retry)
        events = [event async for event in agent.stream("Go.")]
        asked = len(server.requests)
    response = events[-1].data
    assert isinstance(response, ExchangeResponse)
    assert (response.status, response.limit, asked) == ("limit", "tokens", 3)
    assert response.usage.total == 3 * 401
    assert response.note == "The exchange reached its budget of 1,000 tokens."
    assert not check_log(events)


async def test_attempts_of_delegates_that_fail_use_the_budget_of_the_caller_up() -> None:
    """Eight at once. A retry for which there is no room waits for the others."""
    scripted = heald.testing.ScriptedModel
    calls = [scripted.call("help", prompt="Go.") for _ in range(8)]
    async with ScriptedServer(lambda _: _cut(30)) as server:
        model = heald.Model("m", wire="messages", base_url=f"{server.url}/v1", api_key="k")
        helper = heald.Agent(model, retry=Retry(attempts=50, base=0.0), max_output_tokens=50)
        tools = [helper.as_tool("help", "Helps.")]
        agent = heald.Agent(scripted([calls, "Never."]), tools=tools, budget=Budget(tokens=600), permissions="auto")
        async with asyncio.timeout(60):
            events = [event async for event in agent.stream("Go.")]
        sent = len(server.requests)
    response = events[-1].data
    assert isinstance(response, ExchangeResponse)
    assert (response.status, response.limit) == ("limit", "tokens")
    assert response.delegated is not None
    assert response.delegated.total == sent * 31
    assert 600 <= ((response.usage + response.delegated).total or 0) <= 600 + 31
    for session in {event.session for event in events}:
        assert not check_log([event for event in events if event.session == session])
