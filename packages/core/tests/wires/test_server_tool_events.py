"""Tools that a provider runs are events, and so are the sources that an answer cites."""

import json
from typing import Any

import pytest

from heald.core.messages import Grounding, Image, Source
from heald.core.payload import Payload
from heald.core.server_tool_events import CitationAdded, ServerToolCall, ServerToolResult
from heald.testing.streams import amazon_event, sse_event
from heald.wires.decoder import Decoder
from heald.wires.registry import WIRES
from heald.wires.server_tools import MAX_TEXT

Kind = ServerToolCall | ServerToolResult | CitationAdded


def decode(wire: str, *events: Any) -> tuple[list[Kind], Decoder]:
    decoder = WIRES[wire].decoder("msg_1", model="m")
    payloads: list[Payload] = decoder.open()
    for event in events:
        payloads += decoder.feed(event if isinstance(event, bytes) else sse_event(event))
    payloads += decoder.close()
    assert decoder.error is None
    return [payload for payload in payloads if isinstance(payload, Kind)], decoder


def grounding(decoder: Decoder) -> list[Source]:
    assert decoder.message is not None
    return [source for block in decoder.message.content if isinstance(block, Grounding) for source in block.sources]


def test_messages() -> None:
    results = [{"type": "web_search_result", "url": "https://a.example", "title": "A", "encrypted_content": "x"}]
    output: dict[str, Any] = {
        "type": "bash_code_execution_result",
        "stdout": "3",
        "stderr": "",
        "return_code": 0,
        "content": [],
    }
    blocks: list[dict[str, Any]] = [
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": results},
        {"type": "server_tool_use", "id": "s2", "name": "bash_code_execution", "input": {"command": "echo 3"}},
        {"type": "bash_code_execution_tool_result", "tool_use_id": "s2", "content": output},
        {
            "type": "web_fetch_tool_result",
            "tool_use_id": "s3",
            "content": {"type": "web_fetch_tool_result_error", "error_code": "url_not_accessible"},
        },
        {"type": "text", "text": ""},
    ]
    events: list[Any] = [{"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 1}}}]
    for index, block in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        if index == 0:
            delta = {"type": "input_json_delta", "partial_json": '{"query":"oslo"}'}
            events.append({"type": "content_block_delta", "index": 0, "delta": delta})
        if index == 5:
            cited = {"type": "web_search_result_location", "url": "https://a.example", "title": "A", "cited_text": "Q"}
            events.append(
                {"type": "content_block_delta", "index": 5, "delta": {"type": "text_delta", "text": "It is."}}
            )
            for _ in range(2):
                delta = {"type": "citations_delta", "citation": cited}
                events.append({"type": "content_block_delta", "index": 5, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    events.append({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}})
    events.append({"type": "message_stop"})
    decoded, decoder = decode("messages", *events)
    assert decoded == [
        ServerToolCall("msg_1", "s1", "web_search", {"query": "oslo"}),
        ServerToolResult("msg_1", "s1", "web_search", "", [Source("A", "https://a.example")]),
        ServerToolCall("msg_1", "s2", "bash_code_execution", {"command": "echo 3"}),
        ServerToolResult("msg_1", "s2", "bash_code_execution", "3"),
        ServerToolResult("msg_1", "s3", "web_fetch", "url_not_accessible", [], True),
        CitationAdded("msg_1", "msg_1.0", Source("A", "https://a.example", "Q")),
    ]
    assert grounding(decoder) == [Source("A", "https://a.example", "Q")]


def test_responses() -> None:
    search = {"type": "search", "query": "oslo", "sources": [{"type": "url", "url": "https://a.example"}]}
    items: list[dict[str, Any]] = [
        {"type": "web_search_call", "id": "ws", "status": "completed", "action": search},
        {
            "type": "file_search_call",
            "id": "fs",
            "status": "completed",
            "queries": ["tax"],
            "results": [{"filename": "tax.pdf", "text": "19 %"}],
        },
        {
            "type": "code_interpreter_call",
            "id": "ci",
            "status": "completed",
            "code": "1+1",
            "container_id": "c",
            "outputs": [{"type": "logs", "logs": "x" * (MAX_TEXT + 5)}],
        },
        {
            "type": "message",
            "id": "msg",
            "role": "assistant",
            "content": [
                {
                    "type": "output_text",
                    "text": "Two.",
                    "annotations": [
                        {"type": "url_citation", "url": "https://a.example", "title": "A"},
                        {"type": "file_citation", "file_id": "f", "filename": "tax.pdf", "index": 0},
                    ],
                }
            ],
        },
    ]
    events = [{"type": "response.output_item.done", "output_index": at, "item": item} for at, item in enumerate(items)]
    end = {"type": "response.completed", "response": {"id": "r", "status": "completed", "output": items}}
    decoded, decoder = decode("responses", *events, end)
    assert decoded[:5] == [
        ServerToolCall("msg_1", "ws", "web_search", {"type": "search", "query": "oslo"}),
        ServerToolResult("msg_1", "ws", "web_search", "", [Source("https://a.example", "https://a.example")]),
        ServerToolCall("msg_1", "fs", "file_search", {"queries": ["tax"]}),
        ServerToolResult("msg_1", "fs", "file_search", "", [Source("tax.pdf", None, "19 %")]),
        ServerToolCall("msg_1", "ci", "code_execution", {"code": "1+1"}),
    ]
    assert isinstance(logs := decoded[5], ServerToolResult)
    assert len(logs.text) == MAX_TEXT + 1
    assert [payload.source for payload in decoded[6:] if isinstance(payload, CitationAdded)] == grounding(decoder)
    assert grounding(decoder) == [Source("A", "https://a.example"), Source("tax.pdf")]


def test_gemini() -> None:
    parts: list[dict[str, Any]] = [
        {"executableCode": {"language": "PYTHON", "code": "print(3)"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "no"}},
        {"toolCall": {"id": "t", "toolType": "URL_CONTEXT", "args": {"url": "https://a.example"}}},
        {"toolResponse": {"id": "t", "toolType": "URL_CONTEXT", "response": {"ok": True}}},
        {"text": "Three."},
    ]
    web = {"web": {"uri": "https://a.example", "title": "A"}}
    ground = {"webSearchQueries": ["oslo"], "groundingChunks": [web]}
    chunk: dict[str, Any] = {
        "candidates": [{"content": {"parts": parts}, "groundingMetadata": ground, "finishReason": "STOP"}]
    }
    last: dict[str, Any] = {
        "candidates": [{"content": {"parts": []}, "groundingMetadata": ground, "finishReason": "STOP"}]
    }
    decoded, decoder = decode("gemini", chunk, last)
    assert decoded == [
        ServerToolCall("msg_1", "", "code_execution", {"language": "PYTHON", "code": "print(3)"}),
        ServerToolResult("msg_1", "", "code_execution", "no", [], True),
        ServerToolCall("msg_1", "t", "web_fetch", {"url": "https://a.example"}),
        ServerToolResult("msg_1", "t", "web_fetch", '{"ok":true}'),
        ServerToolCall("msg_1", "", "web_search", {"queries": ["oslo"]}),
        CitationAdded("msg_1", "", Source("A", "https://a.example")),
    ]
    assert grounding(decoder) == [Source("A", "https://a.example")]


def test_chat_cites() -> None:
    note = {"type": "url_citation", "url_citation": {"url": "https://a.example", "title": "A"}}
    delta = {"choices": [{"delta": {"content": "Yes.", "annotations": [note]}, "finish_reason": "stop"}]}
    decoded, _ = decode("chat", delta, b"data: [DONE]\n\n")
    assert decoded == [CitationAdded("msg_1", "msg_1.0", Source("A", "https://a.example"))]


def test_converse_has_pictures() -> None:
    steps: list[tuple[str, Any]] = [
        ("contentBlockStart", {"contentBlockIndex": 0, "start": {"image": {"format": "webp"}}}),
        ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"image": {"source": {"bytes": "AAEC"}}}}),
        ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"image": {"source": {"bytes": "AwQF"}}}}),
        ("contentBlockStop", {"contentBlockIndex": 0}),
        ("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"image": {"error": {"message": "unsafe"}}}}),
        ("contentBlockStop", {"contentBlockIndex": 1}),
        ("messageStop", {"stopReason": "end_turn"}),
        ("metadata", {"usage": {"inputTokens": 1, "outputTokens": 1}}),
    ]
    _, decoder = decode("converse", *(amazon_event(name, data) for name, data in steps))
    assert decoder.message is not None
    assert decoder.message.content == [Image(media_type="image/webp", data="AAECAwQF")]
    assert decoder.notes == ["The provider made no picture: unsafe"]


def test_converse() -> None:
    use = {"toolUseId": "s1", "name": "nova_grounding", "type": "server_tool_use"}
    steps: list[tuple[str, Any]] = [
        ("contentBlockStart", {"contentBlockIndex": 0, "start": {"toolUse": use}}),
        ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"toolUse": {"input": '{"query":"oslo"}'}}}),
        ("contentBlockStop", {"contentBlockIndex": 0}),
        (
            "contentBlockStart",
            {"contentBlockIndex": 1, "start": {"toolResult": {"toolUseId": "s1", "type": "nova_grounding_result"}}},
        ),
        ("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"toolResult": [{"text": "cold"}]}}),
        ("contentBlockStop", {"contentBlockIndex": 1}),
        ("contentBlockDelta", {"contentBlockIndex": 2, "delta": {"text": "Cold."}}),
        ("messageStop", {"stopReason": "end_turn"}),
        ("metadata", {"usage": {"inputTokens": 1, "outputTokens": 1}}),
    ]
    decoded, _ = decode("converse", *(amazon_event(name, data) for name, data in steps))
    assert decoded == [
        ServerToolCall("msg_1", "s1", "nova_grounding", {"query": "oslo"}),
        ServerToolResult("msg_1", "s1", "nova_grounding_result", "cold"),
    ]


@pytest.mark.parametrize("wire", ["messages", "responses"])
def test_an_answer_that_was_not_streamed(wire: str) -> None:
    whole: dict[str, dict[str, Any]] = {
        "messages": {
            "type": "message",
            "id": "m",
            "content": [
                {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "oslo"}},
                {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []},
                {"type": "text", "text": "Cold."},
            ],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 1, "output_tokens": 1},
        },
        "responses": {
            "object": "response",
            "id": "r",
            "status": "completed",
            "output": [{"type": "web_search_call", "id": "s1", "status": "completed", "action": {"query": "oslo"}}],
        },
    }
    decoded, _ = decode(wire, json.dumps(whole[wire]).encode())
    assert decoded[0] == ServerToolCall("msg_1", "s1", "web_search", {"query": "oslo"})
    assert isinstance(decoded[1], ServerToolResult)
