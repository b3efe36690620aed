"""What a provider or one of its models lacks is not sent to it, and a tool that it does not run is refused."""

from typing import Any

import pytest

import heald
from heald.core.errors import InvalidRequest
from heald.core.json import JsonObject, encode, loads
from heald.core.messages import ToolDefinition, user_message
from heald.core.turn import Reason, ServerTool, Settings
from heald.providers.endpoint import Endpoint
from heald.providers.presets import PRESETS
from heald.testing.server import ScriptedServer
from heald.wires.registry import WIRES
from heald.wires.request import TurnRequest

ENDPOINTS = {endpoint.provider: endpoint for endpoint in PRESETS}
GPT, QWEN = "openai/gpt-oss-120b", "qwen/qwen3-32b"
EVERYTHING: dict[str, Any] = {
    "seed": 7,
    "user": "u1",
    "cache_ttl": "1h",
    "cache_key": "blue",
    "top_logprobs": 2,
    "metadata": {"team": "blue"},
}


def build(provider: str, model: str = "m", **settings: Any) -> JsonObject:
    endpoint = ENDPOINTS[provider]
    request = TurnRequest(
        model=model,
        messages=[user_message("hi")],
        tools=[ToolDefinition(name="pay")],
        settings=Settings(**settings),
        provider=provider,
        quirks=endpoint.quirks,
    )
    return loads(encode(WIRES[endpoint.wire].build_request(request)))


def test_mistral_has_other_names_and_fewer_fields() -> None:
    body = build("mistral", **EVERYTHING)
    assert body["random_seed"] == 7
    assert body["prompt_cache_key"] == "blue"
    assert not body.keys() & {"seed", "user", "prompt_cache_retention"}


def test_groq_has_fewer_fields() -> None:
    body = build("groq", **EVERYTHING)
    assert (body["seed"], body["user"]) == (7, "u1")
    refused = {"prompt_cache_key", "prompt_cache_retention", "logprobs", "top_logprobs", "metadata"}
    assert not body.keys() & refused


def test_openai_has_them_all() -> None:
    body = build("openai-chat", **EVERYTHING)
    assert body.keys() >= {"seed", "safety_identifier", "prompt_cache_key", "prompt_cache_retention", "logprobs"}


@pytest.mark.parametrize(
    ("provider", "model", "effort", "level"),
    [
        *(("groq", GPT, effort, "low") for effort in ("none", "minimal", "low")),
        *(("groq", GPT, effort, "high") for effort in ("high", "xhigh", "max")),
        ("groq", GPT, "medium", "medium"),
        ("groq", QWEN, "none", "none"),
        *(("groq", QWEN, effort, "default") for effort in ("minimal", "low", "max")),
        ("groq", "qwen/qwen3.8-27b", "minimal", "low"),
        ("groq", "qwen/qwen3.8-27b", "none", "none"),
        ("groq", "llama-3.3-70b-versatile", "high", None),
        *(("mistral", "magistral", effort, effort) for effort in ("minimal", "xhigh", "max")),
        ("openai-chat", "gpt-5", "minimal", "minimal"),
    ],
)
def test_an_effort_is_one_that_the_model_accepts(provider: str, model: str, effort: Any, level: str | None) -> None:
    body = build(provider, model, reasoning=Reason(effort=effort))
    assert body.get("reasoning_effort") == level


@pytest.mark.parametrize("endpoint", [e for e in PRESETS if "web_search" in e.quirks.without], ids=lambda e: e.provider)
async def test_a_search_is_refused_where_there_is_none(endpoint: Endpoint) -> None:
    settings = Settings(server_tools=[ServerTool("web_search")])
    async with ScriptedServer([]) as server:
        model = heald.Model(
            "m", wire=endpoint.wire, base_url=server.url, provider=endpoint.provider, quirks=endpoint.quirks
        )
        session = heald.providers.open_provider_session(model, messages=[user_message("hi")], settings=settings)
        with pytest.raises(InvalidRequest, match=f"The provider {endpoint.provider} has no web_search"):
            await session.stream_turn(lambda _: None)
        assert server.requests == []


def test_the_providers_without_a_search() -> None:
    chat = {endpoint.provider for endpoint in PRESETS if endpoint.wire == "chat"}
    searching = {name for name in chat if "web_search" not in ENDPOINTS[name].quirks.without}
    assert searching == {"openai-chat", "openrouter"}


def test_vertex_does_not_get_the_field_for_calls_of_server_tools() -> None:
    search: dict[str, Any] = {"server_tools": [ServerTool("web_search")]}
    assert "includeServerSideToolInvocations" not in build("vertex", "gemini-3-flash", **search)["toolConfig"]
    assert build("gemini", "gemini-3-flash", **search)["toolConfig"]["includeServerSideToolInvocations"] is True


def test_claude_over_openrouter_has_marks() -> None:
    marked = encode(build("openrouter", "anthropic/claude-opus-4.6", system="Be brief."))
    assert marked.count(b'"cache_control"') == 2
    assert b'"cache_control"' not in encode(build("openrouter", "openai/gpt-5", system="Be brief."))
