"""Tokens are counted before a turn is sent: by the provider where its API does that, else from the length."""

import base64
import json

import pytest

import heald
from heald.providers.base import ProviderSession
from heald.providers.token_count import estimate_tokens
from heald.testing.server import Reply, ScriptedServer
from heald.wires.registry import WIRES

COUNTING = [name for name, wire in WIRES.items() if "token_count" in wire.features]
TOOL = heald.providers.ToolDefinition(name="weather", description="Weather.")
ANSWERS = {
    "responses": {"object": "response.input_tokens", "input_tokens": 123},
    "gemini": {"totalTokens": 123},
    "converse": {"inputTokens": 123},
    "bedrock-messages": {"inputTokens": 123},
}
PATHS = {
    "messages": "/messages/count_tokens",
    "responses": "/responses/input_tokens",
    "gemini": "/models/claude:countTokens",
    "converse": "/model/claude/count-tokens",
    "bedrock-messages": "/model/claude/count-tokens",
    "vertex-messages": "/models/count-tokens:rawPredict",
}


def open_session(server: ScriptedServer, wire: str) -> ProviderSession:
    model = heald.Model("claude", wire=wire, base_url=server.url, api_key="secret-key-1234")
    settings = heald.Settings(system="Be brief.", temperature=0.5, max_output_tokens=99)
    return heald.providers.open_provider_session(
        model, messages=[heald.user_message("Hi")], tools=[TOOL], settings=settings
    )


@pytest.mark.parametrize("wire", COUNTING)
async def test_the_provider_counts(wire: str) -> None:
    async with ScriptedServer([Reply.json(ANSWERS.get(wire, {"input_tokens": 123}))]) as server:
        counted = await heald.providers.count_tokens(open_session(server, wire))
        (request,) = server.requests
    assert (counted.tokens, counted.exact) == (123, True)
    assert request.path == PATHS[wire]
    body = request.body
    text = request.content.decode()
    if wire == "bedrock-messages":
        text = base64.b64decode(body["input"]["invokeModel"]["body"]).decode()
    assert "Be brief." in text
    assert "weather" in text
    assert "Hi" in text
    if wire in ("messages", "responses", "converse", "vertex-messages"):
        assert "temperature" not in text
        assert "stream" not in text
        assert "99" not in text
    if wire == "gemini":
        assert body["generateContentRequest"]["model"] == "models/claude"


@pytest.mark.parametrize("wire", [name for name in WIRES if name not in COUNTING])
async def test_a_wire_that_cannot_count_estimates(wire: str) -> None:
    async with ScriptedServer([Reply.json({}, 404)] * 3) as server:
        counted = await heald.providers.count_tokens(open_session(server, wire))
        assert [request.path for request in server.requests if "count" in request.path] == []
    assert not counted.exact
    assert 5 < counted.tokens < 60


async def test_a_provider_that_fails_to_count_is_no_error() -> None:
    async with ScriptedServer([Reply.json({"error": {"message": "no"}}, 500)]) as server:
        counted = await heald.providers.count_tokens(open_session(server, "messages"))
    assert not counted.exact


def test_an_estimate_grows_with_everything_that_is_sent() -> None:
    plain = estimate_tokens([heald.user_message("x" * 3500)])
    assert 900 < plain < 1100
    assert estimate_tokens([heald.user_message("x" * 3500, heald.Image(data="AAAA"))]) > plain + 1000
    assert estimate_tokens([heald.user_message("x" * 3500)], [TOOL]) > plain
    result = heald.Message(role="tool", content=[heald.ToolResult(id="c", status="ok", content="y" * 3500)])
    assert estimate_tokens([heald.user_message("x" * 3500), result]) > 2 * plain - 50
    assert json.dumps({"tokens": plain})


async def test_what_is_left_of_the_context() -> None:
    assert heald.providers.TokenCount(tokens=90, exact=True, context_window=100).left == 10
    assert heald.providers.TokenCount(tokens=190, exact=True, context_window=100).left == 0
    assert heald.providers.TokenCount(tokens=90, exact=True).left is None
