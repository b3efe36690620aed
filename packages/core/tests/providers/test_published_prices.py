"""An answer costs what the table says: with caches, tiers, searches and several requests.

A row with `read` was compared with the page of its provider. The others agree with the price list only.
"""

import json
from pathlib import Path
from typing import Any

import pytest

import heald
from heald.core.events import ExchangeResponse, MessageDelta
from heald.core.json import JsonObject
from heald.core.turn import Usage
from heald.providers.list_price import price
from heald.testing.server import Reply, ScriptedServer
from heald.testing.streams import amazon_event, sse_event
from heald.wires.billed_cost import read_billed_cost
from heald.wires.registry import WIRES

CASES: list[JsonObject] = json.loads(Path(__file__).with_name("published_prices.json").read_bytes())["cases"]
BASES = {"gemini": "/v1beta"}
ENDS = ("message_delta", "exchange_response")
EVERY_CASE = pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])


def dollars_of(case: JsonObject) -> Any:
    """What the provider's page makes of the charges."""
    return pytest.approx(sum(count * usd / per for count, usd, per in case["charges"]), rel=1e-9)


def _messages(case: JsonObject) -> list[bytes]:
    start: JsonObject = {
        "id": "msg_1",
        "role": "assistant",
        "model": case["model"],
        "content": [],
        "usage": case["usage"],
    }
    final = case.get("final", {"output_tokens": case["usage"]["output_tokens"]})
    block = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Yes."}}
    events: list[JsonObject] = [
        {"type": "message_start", "message": start},
        block,
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": final},
        {"type": "message_stop"},
    ]
    return [sse_event(event, event["type"]) for event in events]


def _responses(case: JsonObject) -> list[bytes]:
    text: JsonObject = {"type": "output_text", "text": "Yes.", "annotations": []}
    output: list[JsonObject] = [
        *case.get("output", []),
        {"type": "message", "id": "msg_1", "role": "assistant", "content": [text]},
    ]
    response: JsonObject = {"id": "resp_1", "model": case["model"], "status": "completed", "output": output}
    response |= {"usage": case["usage"], **case.get("answer", {})}
    return [sse_event({"type": "response.completed", "response": response}, "response.completed")]


def _chat(case: JsonObject) -> list[bytes]:
    head: JsonObject = {"id": "c1", "object": "chat.completion.chunk", "model": case["model"], **case.get("answer", {})}
    choice = {"index": 0, "delta": {"content": "Yes."}, "finish_reason": "stop"}
    chunks: list[JsonObject] = [head | {"choices": [choice]}, head | {"choices": [], "usage": case["usage"]}]
    return [*map(sse_event, chunks), sse_event("[DONE]")]


def _gemini(case: JsonObject) -> list[bytes]:
    candidate: JsonObject = {"content": {"role": "model", "parts": [{"text": "Yes."}]}, "finishReason": "STOP"}
    if queries := case.get("queries"):
        candidate["groundingMetadata"] = {"webSearchQueries": queries}
    return [sse_event({"candidates": [candidate], "usageMetadata": case["usage"], "modelVersion": case["model"]})]


def _converse(case: JsonObject) -> list[bytes]:
    return [
        amazon_event("messageStart", {"role": "assistant"}),
        amazon_event("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "Yes."}}),
        amazon_event("contentBlockStop", {"contentBlockIndex": 0}),
        amazon_event("messageStop", {"stopReason": "end_turn"}),
        amazon_event("metadata", {"usage": case["usage"], "metrics": {"latencyMs": 1}, **case.get("answer", {})}),
    ]


STREAMS = {"messages": _messages, "responses": _responses, "chat": _chat, "gemini": _gemini, "converse": _converse}
CONTENT_TYPES = {"converse": "application/vnd.amazon.eventstream"}


def model_at(url: str, case: JsonObject) -> heald.Model:
    wire = case["wire"]
    base_url = url + BASES.get(wire, "/v1")
    return heald.Model(case["model"], wire=wire, base_url=base_url, api_key="sk-test", provider=case["provider"])


def test_fifty_answers_were_compared_with_a_page_of_their_provider() -> None:
    assert sum(case["read"] for case in CASES) >= 50
    assert len({case["name"] for case in CASES}) == len(CASES)
    assert all(case["source"].startswith("https://") for case in CASES)


@EVERY_CASE
def test_an_answer_costs_what_the_page_says(case: JsonObject) -> None:
    decoder = WIRES[case["wire"]].decoder("msg")
    for piece in STREAMS[case["wire"]](case):
        decoder.feed(piece)
    decoder.close()
    assert decoder.error is None
    billed = read_billed_cost(decoder.provider_usage)
    cost = price(model_at("http://127.0.0.1:1", case), decoder.usage).usd if billed is None else billed
    assert cost == dollars_of(case)


@EVERY_CASE
async def test_a_budget_counts_the_same_dollars(case: JsonObject) -> None:
    reply = Reply(STREAMS[case["wire"]](case), content_type=CONTENT_TYPES.get(case["wire"], "text/event-stream"))
    async with ScriptedServer([reply]) as server:
        agent = heald.Agent(model_at(server.url, case), budget=heald.Budget(usd=1000.0))
        ends = [event.data async for event in agent.stream("Well?") if event.type in ENDS]
    costs = [end.cost_usd for end in ends if isinstance(end, MessageDelta | ExchangeResponse)]
    assert costs == [dollars_of(case), pytest.approx(dollars_of(case).expected, abs=1e-9)]


def test_a_tier_without_a_published_price_has_no_price() -> None:
    model = heald.Model("global.anthropic.claude-sonnet-4-6", base_url="http://127.0.0.1:1", provider="aws")
    assert price(model, Usage(input=1000)).usd == pytest.approx(0.003)
    assert price(model, Usage(input=1000, tier="priority")).usd is None


def test_a_tool_without_a_published_price_makes_the_cost_unknown() -> None:
    model = heald.Model("llama-3.3-70b-versatile", base_url="http://127.0.0.1:1", provider="groq")
    assert price(model, Usage(input=1000, server_tools={"web_search": 1})).usd is None


async def test_a_budget_is_refused_for_a_tier_without_a_published_price() -> None:
    model = heald.Model("gpt-5.4", base_url="http://127.0.0.1:1", api_key="sk-test", provider="openai")
    agent = heald.Agent(model, budget=heald.Budget(usd=1.0), settings=heald.Settings(service_tier="ultrafast"))
    with pytest.raises(heald.ConfigurationError, match=r"gpt-5\.4 in the service tier 'ultrafast' is not known"):
        await agent.run("Well?")
