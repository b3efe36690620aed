"""Turns in neutral form, and the request body that each provider's wire makes of them."""

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from msgspec.structs import replace

from heald.core.errors import InvalidRequest
from heald.core.json import JsonObject, encode
from heald.core.messages import (
    File,
    Image,
    Message,
    Text,
    ToolCall,
    ToolDefinition,
    ToolResult,
    tool_results,
    user_message,
)
from heald.core.turn import Reason, ServerTool, Settings
from heald.providers.presets import PRESETS
from heald.testing import wire_stream
from heald.wires.audio import check_audio
from heald.wires.features import check_features
from heald.wires.media_check import check_media
from heald.wires.output_schema import plan_output
from heald.wires.registry import WIRES
from heald.wires.request import TurnRequest

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PDF = "JVBERi0xLjQKJSVFT0YK"
WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="
PICTURE = Image(media_type="image/png", data=PNG)
SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "degrees": {"type": "number"}},
    "required": ["city", "degrees"],
    "additionalProperties": False,
}
WEATHER = ToolDefinition(name="weather", description="Weather of a city.", input_schema=SCHEMA)
CLOCK = ToolDefinition(name="clock", description="The time.", input_schema={"type": "object", "properties": {}})
CALLS = [
    ToolCall(id="call_1", name="weather", input={"city": "Oslo", "degrees": 1.5}),
    ToolCall(id="call_2", name="clock", input={}),
]
PROVIDERS = {
    "openai-chat": "gpt-5.5",
    "openai": "gpt-5.5",
    "anthropic": "claude-sonnet-4-6",
    "bedrock-anthropic": "anthropic.claude-sonnet-4-5-20250929-v1:0",
    "vertex-anthropic": "claude-sonnet-4-5@20250929",
    "gemini": "gemini-3.1-pro-preview",
    "mistral": "mistral-large-latest",
    "groq": "openai/gpt-oss-120b",
    "bedrock": "anthropic.claude-sonnet-4-6",
    "ollama": "qwen3",
}
"""The model of each provider whose requests are checked: every wire, and the chat wire as three providers have it."""
_SERVER_TOOLS = (
    ServerTool("web_search"),
    ServerTool("web_fetch"),
    ServerTool("code_execution"),
    ServerTool("file_search", {"vector_store_ids": ["vs_1"]}),
    ServerTool("image_generation"),
)
_TIERS = {"bedrock": "default", "gemini": "standard"}
_GEMINI_SEARCH = ServerTool("file_search", {"fileSearchStoreNames": ["fileSearchStores/1"]})


class Speaker(NamedTuple):
    """A model of a provider, which writes the answers of a scenario."""

    provider: str
    wire: str
    model: str

    def answer(self, **content: Any) -> Message:
        """A message as the wire's decoder makes it of the provider's stream, with the provider's own content."""
        decoder = WIRES[self.wire].decoder(provider=self.provider, model=self.model)
        decoder.open()
        if self.provider == "openai-chat":  # it has no thinking that can be read
            content.pop("thinking", None)
        for piece in wire_stream(self.wire, **content):
            decoder.feed(_in_words_of(self.provider, piece))
        decoder.close()
        assert decoder.message is not None, decoder.error
        return decoder.message


def _in_words_of(provider: str, piece: bytes) -> bytes:
    """A piece of a Chat Completions stream with thinking as the provider writes it."""
    head, field, tail = piece.partition(b'"reasoning_content":')
    if not field or provider not in ("groq", "mistral"):
        return piece
    if provider == "groq":
        return head + b'"reasoning":' + tail
    thinking, rest = json.JSONDecoder().raw_decode(tail.decode())
    part = {"type": "thinking", "thinking": [{"type": "text", "text": thinking}]}
    return head + b'"content":' + json.dumps([part]).encode() + tail[rest:]


class Turn(NamedTuple):
    messages: list[Message]
    tools: list[ToolDefinition] = []
    settings: Settings = Settings()


def results(*contents: Any, is_error: bool = False) -> Message:
    status = "error" if is_error else "ok"
    return tool_results(
        [
            ToolResult(id=call.id, name=call.name, content=content, status=status)
            for call, content in zip(CALLS, contents, strict=False)
        ]
    )


_HELLO = [user_message("Hello")]
_TOOLS = [WEATHER, CLOCK]


def _with(**settings: Any) -> Callable[[Speaker], Turn]:
    return lambda _: Turn(_HELLO, _TOOLS, Settings(**settings))


def _asked(*parts: Any, **settings: Any) -> Callable[[Speaker], Turn]:
    return lambda _: Turn([user_message("Look at this.", *parts)], settings=Settings(**settings))


def _called(calls: list[ToolCall], *contents: Any, is_error: bool = False, **answer: Any) -> Callable[[Speaker], Turn]:
    return lambda speaker: Turn(
        [*_HELLO, speaker.answer(calls=calls, **answer), results(*contents, is_error=is_error)],
        _TOOLS,
        Settings(reasoning=Reason(effort="high")) if answer.get("thinking") else Settings(),
    )


def _server_tools(speaker: Speaker) -> Turn:
    features = WIRES[speaker.wire].features
    without = _quirks(speaker.provider).without
    tools = [tool for tool in _SERVER_TOOLS if tool.name in features and tool.name not in without]
    if speaker.wire == "gemini":
        tools = [_GEMINI_SEARCH if tool.name == "file_search" else tool for tool in tools]
    return Turn(_HELLO, _TOOLS, Settings(server_tools=[tool for tool in tools if features[tool.name] != "extra"]))


def _labelled(speaker: Speaker) -> Turn:
    tier = _TIERS.get(speaker.provider, "auto")
    return Turn(_HELLO, settings=Settings(user="u1", metadata={"team": "a"}, service_tier=tier))


def _long_history(speaker: Speaker) -> Turn:
    messages: list[Message] = []
    for number in range(30):
        calls = [replace(call, id=f"{call.id}_{number}") for call in CALLS]
        answered = [ToolResult(id=call.id, name=call.name, content=f"Result {number}", status="ok") for call in calls]
        messages += [user_message(f"Question {number}"), speaker.answer(text="Let me look.", calls=calls)]
        messages += [tool_results(answered), speaker.answer(text=f"Answer {number}")]
    return Turn([*messages, user_message("And now?")], _TOOLS)


def _foreign_history(speaker: Speaker) -> Turn:
    other = Speaker("other", "messages" if speaker.wire != "messages" else "chat", "m")
    return Turn([*_HELLO, other.answer(thinking="Hm.", calls=CALLS), results("4 degrees", "noon")], _TOOLS)


def _open_call(speaker: Speaker) -> Turn:
    return Turn([*_HELLO, speaker.answer(calls=CALLS), user_message("Never mind.")], _TOOLS)


SCENARIOS: dict[str, Callable[[Speaker], Turn]] = {
    "text": lambda _: Turn(_HELLO),
    "a system prompt": _asked(system="Be brief."),
    "several turns": lambda speaker: Turn([*_HELLO, speaker.answer(text="Hi."), user_message("How are you?")]),
    "a picture as data": _asked(PICTURE),
    "a picture by URL, in detail": _asked(Image(url="https://example.com/a.png", detail="high")),
    "a PDF": _asked(File(media_type="application/pdf", data=PDF, name="a.pdf")),
    "a PDF, with citations": _asked(File(media_type="application/pdf", data=PDF, name="a.pdf"), citations=True),
    "a text file": _asked(File(media_type="text/plain", data="aGVsbG8=", name="a.txt")),
    "audio": _asked(File(media_type="audio/wav", data=WAV, name="a.wav")),
    "an uploaded file": _asked(File(media_type="application/pdf", file_id="file_1", name="a.pdf")),
    "tools": _with(),
    "strict tools": lambda _: Turn(_HELLO, [replace(WEATHER, strict=True)]),
    "a call and its result": _called(CALLS[:1], "4 degrees"),
    "parallel calls": _called(CALLS, "4 degrees", "noon"),
    "a result with an error": _called(CALLS[:1], "No such city.", is_error=True),
    "a picture in a result": _called(CALLS[:1], [Text("A map."), PICTURE]),
    "thinking sent back": _called(CALLS, "4 degrees", "noon", thinking="Let me think.", text="I look."),
    "a call without a result": _open_call,
    "a history of another provider": _foreign_history,
    "a long history": _long_history,
    "tool choice: required": _with(tool_choice="required"),
    "tool choice: one tool": _with(tool_choice="weather"),
    "tool choice: none": _with(tool_choice="none"),
    "no parallel calls": _with(parallel_tool_calls=False),
    "a typed answer": _asked(output_schema=SCHEMA),
    "a typed answer beside tools": _with(output_schema=SCHEMA),
    "prompt caching": _with(system="Be brief.", cache=True, cache_ttl="1h", cache_key="key"),
    "server tools": _server_tools,
    "stop sequences and sampling": _with(
        stop_sequences=["END"], temperature=0.5, top_p=0.9, seed=1, max_output_tokens=5000, top_logprobs=2
    ),
    "reasoning: an effort": _with(reasoning=Reason(effort="medium")),
    "reasoning: a budget": _with(reasoning=Reason(budget=4096), max_output_tokens=8192),
    "reasoning: off": _with(reasoning=Reason(effort="none")),
    "compaction and cleared results": _with(compact_at=100_000, clear_results_at=50_000),
    "a user, labels and a tier": _labelled,
    "pictures as an answer": _with(image_output=True),
}


def _quirks(provider: str) -> Any:
    return _endpoint(provider).quirks


def _endpoint(provider: str) -> Any:
    return next(endpoint for endpoint in PRESETS if endpoint.provider == provider)


def as_socket_request(body: JsonObject) -> JsonObject:
    """The body of a turn as it is sent over a WebSocket, behind an answer that the server holds."""
    members = {name: value for name, value in body.items() if name != "stream"}
    return {"type": "response.create", **members, "previous_response_id": "resp_1"}


def as_compaction(body: JsonObject) -> JsonObject:
    """The call that compacts the conversation of a body."""
    encode_compaction = WIRES["responses"].encode_compaction
    assert encode_compaction is not None
    return encode_compaction(TurnRequest(model="m", messages=[]), body)[1]


FORMS: dict[str, tuple[str, Callable[[JsonObject], JsonObject]]] = {
    "openai, over a WebSocket": ("openai", as_socket_request),
    "openai, compaction": ("openai", as_compaction),
}
"""Other requests that the body of a provider becomes."""


def build_body(provider: str, scenario: str) -> JsonObject | str:
    """The request that a scenario becomes, or the sentence with which Heald refuses it."""
    endpoint = _endpoint(provider)
    wire = WIRES[endpoint.wire]
    speaker = Speaker(provider, wire.name, PROVIDERS[provider])
    turn = SCENARIOS[scenario](speaker)
    request = TurnRequest(
        model=speaker.model,
        messages=turn.messages,
        tools=turn.tools,
        settings=turn.settings,
        provider=provider,
        quirks=endpoint.quirks,
        context_size=8192 if wire.name == "ollama" else None,
    )
    try:
        check_audio(wire, request.messages)
        check_media(wire, request.messages, provider, endpoint.quirks.without)
        check_features(wire.name, request.settings, wire.features, provider, endpoint.quirks.without)
    except InvalidRequest as error:
        return str(error)
    return json.loads(encode(wire.build_request(plan_output(request, wire.name))))
