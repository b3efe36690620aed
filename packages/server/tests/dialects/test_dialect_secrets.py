"""No dialect says a secret, whatever a provider puts into its errors."""

import asyncio
from typing import Any

import pytest

import heald
from dialect_support import spoken
from heald.agent.agent import Agent
from heald.core.envelope import Event
from heald.testing.server import Reply, ScriptedServer
from heald_server.dialects.registry import load_dialects, open_dialect

KEY = "sk-CANARY-0123456789abcdef0123456789abcdef"


@pytest.mark.parametrize("status", [401, 400, 500])
async def test_a_provider_that_repeats_the_key(status: int) -> None:
    body: Any = {"error": {"message": f"Incorrect API key provided: {KEY}. Authorization: Bearer {KEY}"}}
    async with ScriptedServer([Reply.json(body, status=status)] * 3) as server:
        model = heald.Model("m", wire="chat", base_url=f"{server.url}/v1", api_key=KEY, provider="test")
        events: list[Event] = []
        async with Agent(model, retry=heald.Retry(attempts=2, base=0, cap=0)) as agent:
            agent.subscribe(events.append)
            result = await asyncio.wait_for(agent.send("Go.").result(), 120)
    assert result.status == "failed"
    for name in load_dialects():
        dialect = open_dialect(name)
        said = b"".join(dialect.sse(frame) for frame in spoken(dialect, events))
        assert b"CANARY" not in said
        assert b"Incorrect API key" in said
