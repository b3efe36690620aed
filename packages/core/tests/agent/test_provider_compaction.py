"""A conversation that has become too long is compacted by the provider's own endpoint, if the settings choose it."""

from typing import Any

import pytest

import heald
from heald.core.context_events import ConversationCompacted
from heald.core.json import JsonObject, encode
from heald.core.messages import Message
from heald.core.turn import Settings, Usage
from heald.testing.server import ReceivedRequest, Reply, ScriptedServer
from heald.testing.streams import wire_reply
from heald.wires.registry import WIRES
from heald.wires.request import TurnRequest

LONG = "and so on " * 60
ITEMS: list[JsonObject] = [
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Request 0."}]},
    {"id": "cmp_1", "type": "compaction", "encrypted_content": "c2VjcmV0"},
]
COMPACTED: JsonObject = {
    "id": "resp_c",
    "object": "response.compaction",
    "created_at": 1,
    "output": ITEMS,
    "usage": {"input_tokens": 900, "output_tokens": 40, "total_tokens": 940},
}


def reply_json(value: JsonObject, status: int = 200) -> Reply:
    return Reply([encode(value)], status=status, content_type="application/json")


class Provider:
    """Answers turns, and compacts as it is told."""

    def __init__(self, wire: str, compaction: Reply) -> None:
        self.wire = wire
        self.compaction = compaction
        self.turns: list[Any] = []
        self.compactions: list[Any] = []

    def answer(self, request: ReceivedRequest) -> Reply:
        if request.path.endswith("/compact"):
            self.compactions.append(request.body)
            return self.compaction
        self.turns.append(request.body)
        return wire_reply(self.wire, text=f"Yes. {LONG}")


async def compact(provider: Provider, settings: Settings) -> tuple[ConversationCompacted | None, list[Message], float]:
    """Fill a conversation, compact it, and ask once more. Returns the compaction, the messages and the cost."""
    async with ScriptedServer(provider.answer) as server:
        model = heald.Model("gpt-5.5", wire=provider.wire, base_url=f"{server.url}/v1", api_key="k", provider="openai")
        async with heald.Agent(model, settings=settings) as agent:
            for number in range(6):
                await agent.run(f"Request {number}. {LONG}")
            compaction = await agent.compact()
            messages = list(agent.messages)
            await agent.run("And now?")
    return compaction, messages, (compaction.cost_usd or 0.0) if compaction is not None else 0.0


async def test_the_provider_compacts_the_beginning_and_gets_its_items_back() -> None:
    provider = Provider("responses", reply_json(COMPACTED))
    compaction, messages, cost = await compact(provider, Settings(system="Be brief.", compact_by="provider"))
    assert compaction is not None
    assert (compaction.written_by, compaction.reason) == ("provider", "requested")
    assert compaction.usage == Usage(input=900, output=40)
    assert cost > 0
    [sent] = provider.compactions
    assert set(sent) == {"model", "instructions", "input"}
    assert sent["instructions"] == "Be brief."
    assert len(sent["input"]) == compaction.removed
    assert provider.turns[-1]["input"][: len(ITEMS)] == ITEMS
    assert len(provider.turns) == 7
    assert "Request 0." in messages[0].text


async def test_another_provider_is_sent_the_requests_as_text() -> None:
    _, messages, _ = await compact(Provider("responses", reply_json(COMPACTED)), Settings(compact_by="provider"))
    request = TurnRequest(model="claude", messages=messages, provider="anthropic")
    body = encode(WIRES["messages"].build_request(request))
    assert b"Request 0." in body
    assert b"c2VjcmV0" not in body


@pytest.mark.parametrize(
    "reply", [reply_json({"error": {"message": "no such path"}}, 404), reply_json({"output": []}), Reply([b"<html>"])]
)
async def test_the_model_summarises_if_the_endpoint_fails(reply: Reply) -> None:
    provider = Provider("responses", reply)
    compaction, _, _ = await compact(provider, Settings(compact_by="provider"))
    assert compaction is not None
    assert compaction.written_by == "model"
    assert len(provider.compactions) == 1


@pytest.mark.parametrize(("wire", "compact_by"), [("responses", "model"), ("chat", "provider")])
async def test_no_endpoint_is_asked_without_the_setting_or_on_another_wire(wire: str, compact_by: Any) -> None:
    provider = Provider(wire, reply_json(COMPACTED))
    compaction, _, _ = await compact(provider, Settings(compact_by=compact_by))
    assert compaction is not None
    assert compaction.written_by == "model"
    assert provider.compactions == []
