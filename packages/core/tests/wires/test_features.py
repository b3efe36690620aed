"""Every feature that a wire declares stands in the bytes of its requests, and no other one is sent."""

import base64
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any, get_args

import msgspec
import pytest

from heald.core.errors import InvalidRequest
from heald.core.json import encode
from heald.core.messages import File, Image, Message, ToolDefinition, user_message
from heald.core.turn import Reason, ServerTool, ServerToolName, Settings
from heald.wires.features import FEATURES, PASSED, FeatureName, check_features
from heald.wires.registry import WIRES
from heald.wires.rendering import RenderCache
from heald.wires.request import Quirks, TurnRequest
from repository import ROOT

MODELS = {
    "chat": "gpt-5",
    "responses": "gpt-5",
    "messages": "claude-opus-4-6",
    "gemini": "gemini-3-pro",
    "ollama": "llama",
    "converse": "eu.anthropic.claude-opus-4-6-v1",
    "bedrock-messages": "eu.anthropic.claude-opus-4-6-v1",
    "vertex-messages": "claude-opus-4-6",
}
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL = ToolDefinition(name="weather", description="Weather.", input_schema=SCHEMA, strict=True)
DATA = base64.b64encode(b"a;b").decode()
PDF = File(media_type="application/pdf", data=DATA, name="a.pdf")
CALLS = ("file_upload", "token_count", "batches", "compaction_endpoint", "websocket")
"""Features that are requests of their own, or a way to send them; tests/providers looks at those."""


def sample(feature: FeatureName) -> dict[str, Any]:
    """What requests a feature: settings, `messages`, `tools`, `quirks` or another `model`."""
    server_tools = get_args(ServerToolName)
    if feature in server_tools:
        return {"server_tools": [ServerTool(feature, {"zone": 1})]}  # pyright: ignore[reportArgumentType]
    samples: dict[str, dict[str, Any]] = {
        "temperature": {"temperature": 0.25},
        "top_p": {"top_p": 0.75},
        "max_output_tokens": {"max_output_tokens": 4321},
        "stop_sequences": {"stop_sequences": ["END"]},
        "seed": {"seed": 77},
        "logprobs": {"top_logprobs": 3},
        "effort": {"reasoning": Reason(effort="high")},
        "budget": {"reasoning": Reason(budget=3000), "quirks": Quirks(reasoning_request="object")},
        "thinking_text": {"reasoning": Reason(effort="high", visible=True)},
        "strict_output": {"output_schema": SCHEMA},
        "strict_tools": {"tools": [TOOL], "quirks": Quirks(strict_tools=True)},
        "image_output": {"image_output": True},
        "citations": {"messages": [user_message(PDF)], "citations": True},
        "tool_choice": {"tools": [TOOL], "tool_choice": "weather"},
        "parallel_tools": {"tools": [TOOL], "parallel_tool_calls": False},
        "cache_marks": {"system": "be brief", "cache": True, "quirks": Quirks(cache_marks=True), "model": "claude"},
        "cache_ttl": {"system": "be brief", "cache": True, "cache_ttl": "1h"},
        "cache_key": {"cache_key": "blue"},
        "compaction": {"compact_at": 90000},
        "compaction_endpoint": {"compact_by": "provider"},
        "websocket": {"websocket": True},
        "clear_results": {"clear_results_at": 50000},
        "image_input": {"messages": [user_message(Image(data=DATA))]},
        "image_detail": {"messages": [user_message(Image(data=DATA, detail="low"))]},
        "pdf_input": {"messages": [user_message(PDF)]},
        "text_documents": {"messages": [user_message(File(media_type="text/csv", data=DATA, name="a.csv"))]},
        "audio_input": {"messages": [user_message(File(media_type="audio/wav", data=DATA))]},
        "file_ids": {"messages": [user_message(File(media_type="application/pdf", file_id="file_1"))]},
        "service_tier": {"service_tier": "flex"},
        "user": {"user": "u1"},
        "metadata": {"metadata": {"team": "blue"}},
    }
    return samples[feature]


def build(wire: str, **arguments: Any) -> Any:
    """The bytes of a request, read as JSON."""
    messages: list[Message] = arguments.pop("messages", [user_message("hi")])
    tools, quirks = arguments.pop("tools", []), arguments.pop("quirks", Quirks())
    model: str = arguments.pop("model", MODELS[wire])
    fields: dict[str, Any] = {"cache": False} | arguments
    settings = Settings(**fields)
    request = TurnRequest(model=model, messages=messages, tools=tools, settings=settings, quirks=quirks)
    return msgspec.json.decode(encode(WIRES[wire].build_request(request)))


def at(body: Any, path: str) -> Any:
    """The value at a path such as `tools.0.strict`; None if there is none."""
    value: Any = body
    for part in path.split("."):
        try:
            value = value[int(part) if part.isdecimal() else part]
        except (LookupError, TypeError):
            return None
    return value


_CONFIG = "generationConfig"
_STRICT = SCHEMA | {"additionalProperties": False}
_FORMAT = {"type": "json_schema", "schema": _STRICT}
PLACES: dict[str, dict[FeatureName, dict[str, Any]]] = {
    "chat": {
        "temperature": {"temperature": 0.25},
        "top_p": {"top_p": 0.75},
        "max_output_tokens": {"max_tokens": 4321},
        "stop_sequences": {"stop": ["END"]},
        "seed": {"seed": 77},
        "logprobs": {"logprobs": True, "top_logprobs": 3},
        "effort": {"reasoning_effort": "high"},
        "budget": {"reasoning.max_tokens": 3000},
        "strict_output": {
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "output", "schema": _STRICT, "strict": True},
            }
        },
        "strict_tools": {"tools.0.function.strict": True, "tools.0.function.parameters": _STRICT},
        "image_output": {"modalities": ["text", "image"]},
        "tool_choice": {"tool_choice": {"type": "function", "function": {"name": "weather"}}},
        "parallel_tools": {"parallel_tool_calls": False},
        "web_search": {"web_search_options": {"zone": 1}},
        "cache_marks": {"messages.0.content.0.cache_control": {"type": "ephemeral"}},
        "cache_ttl": {"prompt_cache_retention": "24h"},
        "cache_key": {"prompt_cache_key": "blue"},
        "image_input": {"messages.0.content.0.image_url.url": f"data:image/png;base64,{DATA}"},
        "image_detail": {"messages.0.content.0.image_url.detail": "low"},
        "pdf_input": {"messages.0.content.0.file.file_data": f"data:application/pdf;base64,{DATA}"},
        "text_documents": {"messages.0.content.0": {"type": "text", "text": "File a.csv:\na;b"}},
        "audio_input": {"messages.0.content.0.input_audio": {"data": DATA, "format": "wav"}},
        "file_ids": {"messages.0.content.0.file": {"file_id": "file_1"}},
        "service_tier": {"service_tier": "flex"},
        "user": {"user": "u1"},
        "metadata": {"metadata": {"team": "blue"}},
    },
    "responses": {
        "temperature": {"temperature": 0.25},
        "top_p": {"top_p": 0.75},
        "max_output_tokens": {"max_output_tokens": 4321},
        "logprobs": {"top_logprobs": 3, "include.1": "message.output_text.logprobs"},
        "effort": {"reasoning.effort": "high"},
        "thinking_text": {"reasoning.summary": "auto"},
        "strict_output": {"text.format": {"type": "json_schema", "name": "output", "schema": _STRICT, "strict": True}},
        "strict_tools": {"tools.0.strict": True, "tools.0.parameters": _STRICT},
        "image_output": {"tools.0": {"type": "image_generation"}},
        "tool_choice": {"tool_choice": {"type": "function", "name": "weather"}},
        "parallel_tools": {"parallel_tool_calls": False},
        "web_search": {"tools.0": {"type": "web_search", "zone": 1}, "include.1": "web_search_call.action.sources"},
        "code_execution": {"tools.0": {"type": "code_interpreter", "container": {"type": "auto"}, "zone": 1}},
        "file_search": {"tools.0": {"type": "file_search", "zone": 1}, "include.1": "file_search_call.results"},
        "image_generation": {"tools.0": {"type": "image_generation", "zone": 1}},
        "cache_ttl": {"prompt_cache_retention": "24h"},
        "cache_key": {"prompt_cache_key": "blue"},
        "compaction": {"context_management": [{"type": "compaction", "compact_threshold": 90000}]},
        "image_input": {"input.0.content.0.image_url": f"data:image/png;base64,{DATA}"},
        "image_detail": {"input.0.content.0.detail": "low"},
        "pdf_input": {"input.0.content.0.file_data": f"data:application/pdf;base64,{DATA}"},
        "text_documents": {"input.0.content.0.file_data": f"data:text/csv;base64,{DATA}"},
        "file_ids": {"input.0.content.0": {"type": "input_file", "file_id": "file_1"}},
        "service_tier": {"service_tier": "flex"},
        "user": {"safety_identifier": "u1"},
        "metadata": {"metadata": {"team": "blue"}},
    },
    "messages": {
        "temperature": {"temperature": 0.25},
        "top_p": {"top_p": 0.75},
        "max_output_tokens": {"max_tokens": 4321},
        "stop_sequences": {"stop_sequences": ["END"]},
        "effort": {"output_config.effort": "high", "thinking.type": "adaptive"},
        "budget": {"thinking": {"type": "enabled", "budget_tokens": 3000}},
        "thinking_text": {"thinking.display": "summarized"},
        "strict_output": {"output_config.format": _FORMAT},
        "strict_tools": {"tools.0.strict": True, "tools.0.input_schema": _STRICT},
        "citations": {"messages.0.content.0.citations": {"enabled": True}},
        "tool_choice": {"tool_choice": {"type": "tool", "name": "weather"}},
        "parallel_tools": {"tool_choice.disable_parallel_tool_use": True},
        "web_search": {"tools.0": {"type": "web_search_20250305", "name": "web_search", "zone": 1}},
        "web_fetch": {"tools.0": {"type": "web_fetch_20250910", "name": "web_fetch", "zone": 1}},
        "code_execution": {"tools.0": {"type": "code_execution_20250825", "name": "code_execution", "zone": 1}},
        "cache_marks": {"system.0.cache_control": {"type": "ephemeral"}},
        "cache_ttl": {"system.0.cache_control": {"type": "ephemeral", "ttl": "1h"}},
        "compaction": {
            "context_management.edits.0": {
                "type": "compact_20260112",
                "trigger": {"type": "input_tokens", "value": 90000},
            }
        },
        "clear_results": {
            "context_management.edits.0": {
                "type": "clear_tool_uses_20250919",
                "trigger": {"type": "input_tokens", "value": 50000},
            }
        },
        "image_input": {"messages.0.content.0.source.data": DATA},
        "pdf_input": {"messages.0.content.0.source": {"type": "base64", "media_type": "application/pdf", "data": DATA}},
        "text_documents": {
            "messages.0.content.0.source": {"type": "text", "media_type": "text/plain", "data": "a;b"},
        },
        "file_ids": {"messages.0.content.0.source": {"type": "file", "file_id": "file_1"}},
        "service_tier": {"service_tier": "flex"},
        "user": {"metadata": {"user_id": "u1"}},
    },
    "gemini": {
        "temperature": {f"{_CONFIG}.temperature": 0.25},
        "top_p": {f"{_CONFIG}.topP": 0.75},
        "max_output_tokens": {f"{_CONFIG}.maxOutputTokens": 4321},
        "stop_sequences": {f"{_CONFIG}.stopSequences": ["END"]},
        "seed": {f"{_CONFIG}.seed": 77},
        "logprobs": {f"{_CONFIG}.responseLogprobs": True, f"{_CONFIG}.logprobs": 3},
        "effort": {f"{_CONFIG}.thinkingConfig.thinkingLevel": "high"},
        "budget": {f"{_CONFIG}.thinkingConfig.thinkingBudget": 3000},
        "thinking_text": {f"{_CONFIG}.thinkingConfig.includeThoughts": True},
        "strict_output": {
            f"{_CONFIG}.responseJsonSchema": SCHEMA,
            f"{_CONFIG}.responseMimeType": "application/json",
        },
        "image_output": {f"{_CONFIG}.responseModalities": ["TEXT", "IMAGE"]},
        "tool_choice": {"toolConfig.functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["weather"]}},
        "web_search": {"tools.0": {"googleSearch": {"zone": 1}}},
        "web_fetch": {"tools.0": {"urlContext": {"zone": 1}}},
        "code_execution": {"tools.0": {"codeExecution": {"zone": 1}}},
        "file_search": {"tools.0": {"fileSearch": {"zone": 1}}},
        "image_input": {"contents.0.parts.0.inlineData": {"mimeType": "image/png", "data": DATA}},
        "image_detail": {"contents.0.parts.0.mediaResolution": {"level": "MEDIA_RESOLUTION_LOW"}},
        "pdf_input": {"contents.0.parts.0.inlineData": {"mimeType": "application/pdf", "data": DATA}},
        "text_documents": {"contents.0.parts.0.inlineData": {"mimeType": "text/csv", "data": DATA}},
        "audio_input": {"contents.0.parts.0.inlineData": {"mimeType": "audio/wav", "data": DATA}},
        "file_ids": {"contents.0.parts.0.fileData": {"mimeType": "application/pdf", "fileUri": "file_1"}},
        "service_tier": {"serviceTier": "flex"},
        "metadata": {"labels": {"team": "blue"}},
    },
    "ollama": {
        "temperature": {"options.temperature": 0.25},
        "top_p": {"options.top_p": 0.75},
        "max_output_tokens": {"options.num_predict": 4321},
        "stop_sequences": {"options.stop": ["END"]},
        "seed": {"options.seed": 77},
        "logprobs": {"logprobs": True, "top_logprobs": 3},
        "effort": {"think": True},
        "strict_output": {"format": SCHEMA},
        "cache_ttl": {"keep_alive": "1h"},
        "image_input": {"messages.0.images": [DATA]},
        "text_documents": {"messages.0.content": "\n\nFile a.csv:\na;b"},
    },
    "converse": {
        "temperature": {"inferenceConfig.temperature": 0.25},
        "top_p": {"inferenceConfig.topP": 0.75},
        "max_output_tokens": {"inferenceConfig.maxTokens": 4321},
        "stop_sequences": {"inferenceConfig.stopSequences": ["END"]},
        "effort": {"outputConfig.effort": "high", "additionalModelRequestFields.thinking.type": "adaptive"},
        "budget": {"additionalModelRequestFields.thinking": {"type": "enabled", "budget_tokens": 3000}},
        "strict_output": {"outputConfig.textFormat.type": "json_schema"},
        "strict_tools": {"toolConfig.tools.0.toolSpec.strict": True},
        "citations": {"messages.0.content.0.document.citations": {"enabled": True}},
        "tool_choice": {"toolConfig.toolChoice": {"tool": {"name": "weather"}}},
        "web_search": {"toolConfig.tools.0.systemTool": {"name": "nova_grounding", "zone": 1}},
        "code_execution": {"toolConfig.tools.0.systemTool": {"name": "nova_code_interpreter", "zone": 1}},
        "cache_marks": {"system.1.cachePoint": {"type": "default"}},
        "cache_ttl": {"system.1.cachePoint": {"type": "default", "ttl": "1h"}},
        "image_input": {"messages.0.content.0.image": {"format": "png", "source": {"bytes": DATA}}},
        "pdf_input": {"messages.0.content.0.document.format": "pdf"},
        "text_documents": {"messages.0.content.0.document.format": "csv"},
        "audio_input": {"messages.0.content.0.audio": {"format": "wav", "source": {"bytes": DATA}}},
        "service_tier": {"serviceTier": {"type": "flex"}},
        "metadata": {"requestMetadata": {"team": "blue"}},
    },
}
for cloud in ("bedrock-messages", "vertex-messages"):
    PLACES[cloud] = {
        name: place for name, place in PLACES["messages"].items() if WIRES[cloud].features.get(name, PASSED) != PASSED
    }
    PLACES[cloud]["compaction"] = PLACES["messages"]["compaction"] | {"anthropic_beta": ["compact-2026-01-12"]}


def declared() -> list[Any]:
    cells = [(wire, name, place) for wire in WIRES for name, place in WIRES[wire].features.items()]
    return [pytest.param(wire, name, id=f"{wire}-{name}") for wire, name, place in cells if place != PASSED]


@pytest.mark.parametrize(("wire", "feature"), declared())
def test_a_declared_feature_is_in_the_bytes(wire: str, feature: FeatureName) -> None:
    if feature in CALLS:
        assert feature not in PLACES[wire]
        return
    body = build(wire, **sample(feature))
    expected = PLACES[wire][feature]
    assert {path: at(body, path) for path in expected} == expected
    plain = build(wire)
    assert {path: at(plain, path) for path in expected} != expected


@pytest.mark.parametrize("wire", list(WIRES))
def test_a_setting_that_the_wire_does_not_declare_is_not_sent(wire: str) -> None:
    for name, feature in FEATURES.items():
        if feature.setting and WIRES[wire].features.get(name, PASSED) == PASSED:
            settings = {feature.setting: sample(name)[feature.setting]}
            assert build(wire, tools=[TOOL], **settings) == build(wire, tools=[TOOL]), name


@pytest.mark.parametrize("wire", list(WIRES))
def test_a_tool_of_the_provider_that_the_wire_does_not_have_is_refused(wire: str) -> None:
    features = WIRES[wire].features
    for name in get_args(ServerToolName):
        settings = Settings(server_tools=[ServerTool(name)])
        if features.get(name, PASSED) == PASSED:
            with pytest.raises(InvalidRequest, match=name):
                check_features(wire, settings, features)
        else:
            check_features(wire, settings, features)
    if "image_output" not in features:
        with pytest.raises(InvalidRequest, match="image_output"):
            check_features(wire, Settings(image_output=True), features)


def test_every_cell_has_its_place() -> None:
    for wire in WIRES.values():
        supported = {name for name, place in wire.features.items() if place != PASSED and name not in CALLS}
        assert set(PLACES[wire.name]) == supported
    assert set(FEATURES) == set(get_args(FeatureName))


def test_the_table_in_the_docs_is_made_from_the_declarations() -> None:
    root = ROOT
    spec = spec_from_file_location("make_feature_docs", root / "scripts" / "make_feature_docs.py")
    assert spec is not None
    assert spec.loader is not None
    made = module_from_spec(spec)
    spec.loader.exec_module(made)
    page = (root / "docs" / "providers.md").read_text("utf-8")
    assert made.page(page) == page, "run make docs"
    assert "yes: `generationConfig.seed`" in page


def test_betas_of_anthropic_are_a_header() -> None:
    wire = WIRES["messages"]
    settings = Settings(compact_at=90000, clear_results_at=50000, extra_headers={"Anthropic-Beta": "mine", "X-A": "b"})
    file = user_message(File(media_type="application/pdf", file_id="file_1"))
    request = TurnRequest(model="claude-opus-4-6", messages=[file], settings=settings)
    assert wire.build_headers(request) == {
        "anthropic-beta": "context-management-2025-06-27,compact-2026-01-12,files-api-2025-04-14,mine",
        "x-a": "b",
    }
    assert WIRES["chat"].build_headers(request) == {"anthropic-beta": "mine", "x-a": "b"}


def test_a_file_that_joins_a_conversation_is_in_the_next_header() -> None:
    messages, cache = [user_message("Hello")], RenderCache()
    request = TurnRequest(model="claude-opus-4-6", messages=messages, cache=cache)
    wire = WIRES["messages"]
    assert wire.build_headers(request) == {}
    messages.append(user_message(File(media_type="application/pdf", file_id="file_1")))
    assert wire.build_headers(request) == {"anthropic-beta": "files-api-2025-04-14"}
    messages.append(user_message("And?"))
    assert wire.build_headers(request) == {"anthropic-beta": "files-api-2025-04-14"}
    messages[1] = user_message("It was removed.")
    assert wire.build_headers(request) == {}


def test_what_thinking_shows_can_be_left_out() -> None:
    for wire in ("messages", "responses", "gemini"):
        body = encode(build(wire, reasoning=Reason(effort="high", visible=False)))
        assert b"summar" not in body
        assert b"includeThoughts" not in body
