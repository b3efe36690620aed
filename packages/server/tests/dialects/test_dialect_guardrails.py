"""The stop of a guardrail, as each kind of client gets it."""

import json
from collections.abc import Sequence
from typing import Any

import aiohttp
import pytest
from outer_program import outer_program

import heald
from dialect_support import objects, spoken
from heald.core.envelope import Event
from heald_server.agent_app import App
from heald_server.dialects.registry import open_dialect

TEXT = "Nobody may read BANANA in this answer, which goes on."
REASON = "The guardrail no_fruit stopped the answer: It names a fruit."
TOKEN = "a-token-of-the-tests"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


@heald.guardrail("output")
async def no_fruit(answer: heald.StreamedText) -> str | None:
    return "It names a fruit." if "BANANA" in answer.text else None


@heald.guardrail("request")
def no_cards(messages: Sequence[heald.Message]) -> str | None:
    return "It holds a card number." if any("4111" in message.text for message in messages) else None


def an_agent() -> heald.Agent:
    return heald.Agent(heald.testing.ScriptedModel([TEXT, TEXT]), guardrails=[no_fruit, no_cards])


async def frames_of(name: str) -> list[dict[str, Any]]:
    events: list[Event] = [event async for event in an_agent().stream("Go.")]
    frames = objects(spoken(open_dialect(name), events))
    assert "BANANA" not in str(frames)
    return frames


@pytest.mark.parametrize("name", ["native", "ag-ui", "agentx", "ai-sdk", "loop", "normalized", "openai", "responses"])
@pytest.mark.parametrize(
    ("prompt", "reason"),
    [("Go.", REASON), ("4111", "The guardrail no_cards stopped the request: It holds a card number.")],
)
async def test_the_reason_is_in_every_dialect(name: str, prompt: str, reason: str) -> None:
    dialect = open_dialect(name)
    frames = spoken(dialect, [event async for event in an_agent().stream(prompt)])
    texts = [dialect.text(frame) for frame in frames]
    assert any(reason in text for text in texts)
    assert "BANANA" not in str(texts)


async def test_a_chat_completion_ends_with_a_refusal_and_content_filter() -> None:
    *_, refusal, last = [chunk["choices"][0] for chunk in await frames_of("openai") if chunk.get("choices")]
    assert refusal["delta"] == {"refusal": REASON}
    assert last["finish_reason"] == "content_filter"


async def test_a_response_is_incomplete_with_a_refusal() -> None:
    last = (await frames_of("responses"))[-1]
    assert last["type"] == "response.incomplete"
    assert last["response"]["incomplete_details"] == {"reason": "content_filter"}
    assert last["response"]["output"][-1]["content"] == [{"type": "refusal", "refusal": REASON}]


async def test_an_ai_sdk_message_finishes_with_content_filter() -> None:
    frames = await frames_of("ai-sdk")
    error, finish = frames[-2:]
    assert error == {"type": "error", "errorText": REASON}
    assert (finish["type"], finish["finishReason"]) == ("finish", "content-filter")


async def test_an_ag_ui_run_ends_with_an_error() -> None:
    last = (await frames_of("ag-ui"))[-1]
    assert (last["type"], last["message"], last["code"]) == ("RUN_ERROR", REASON, "content_blocked")


async def test_over_http() -> None:
    app = App(an_agent(), token=TOKEN)
    body = {"model": "heald", "messages": [{"role": "user", "content": "Go."}]}
    async with outer_program(app, lifespan=app.lifespan) as at, aiohttp.ClientSession(headers=BEARER) as client:
        url = f"{at}/assistant/v1/chat/completions"
        async with client.post(url, json=body) as answer:
            assert answer.status == 200
            whole = await answer.json()
        async with client.post(url, json=body | {"stream": True}) as answer:
            lines = [line.removeprefix(b"data: ") async for line in answer.content if line.startswith(b"data: {")]
        async with client.post(url, json=body | {"messages": [{"role": "user", "content": "4111"}]}) as answer:
            refused = answer.status, (await answer.json())["error"]
    (choice,) = whole["choices"]
    assert (choice["message"]["refusal"], choice["finish_reason"]) == (REASON, "content_filter")
    finishes = [choice["finish_reason"] for line in lines for choice in json.loads(line)["choices"]]
    assert finishes[-1] == "content_filter"
    assert "BANANA" not in f"{whole}{lines}"
    status, error = refused
    assert (status, error["code"]) == (400, "content_blocked")
    assert error["message"].startswith("The guardrail no_cards stopped the request: It holds a card number.")
