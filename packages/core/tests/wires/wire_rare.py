"""Events of shapes that are rare: fields of one vendor, tools of servers, sources, details of usage."""

from typing import Any

from wire_samples import chunk, delta, item, parts, response, start, stop

CITATION = {"type": "url_citation", "title": "One", "url": "https://example.org"}

RARE: dict[str, list[Any]] = {
    "chat": [
        chunk({"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "x", "signature": "s"}]}),
        chunk({"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "y"}]}),
        chunk({"content": [{"type": "text", "text": "a"}, {"type": "thinking", "thinking": [{"text": "b"}]}]}),
        chunk({"refusal": "no"}),
        chunk({"function_call": {"name": "f", "arguments": "{}"}}),
        chunk({"annotations": [{"type": "url_citation", "url_citation": {"title": "One", "url": "https://example.org"}}]}),
        chunk({"images": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]}),
        chunk({}, citations=["https://example.org"], x_groq={"usage": {"prompt_tokens": 1}}),
        chunk({}, usage={"prompt_tokens": 9, "total_tokens": 9, "prompt_tokens_details": {"cached_tokens": 1}}),
        chunk({}, usage={"completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 1}}),
    ],
    "responses": [
        {"type": "response.output_text.annotation.added", "output_index": 1, "annotation": CITATION},
        {"type": "response.refusal.delta", "output_index": 1, "item_id": "m1", "delta": "no"},
        item("added", 7, id="ct", type="custom_tool_call", call_id="c7", name="patch", input=""),
        {"type": "response.custom_tool_call_input.delta", "output_index": 7, "item_id": "ct", "delta": "x"},
        item("done", 7, id="ct", type="custom_tool_call", call_id="c7", name="patch", input="xy"),
        item("done", 8, id="m8", type="message", content=[{"type": "refusal", "refusal": "no"}]),
        item("done", 9, id="m9", type="message", content=[{"text": "a", "annotations": [CITATION]}]),
        item("done", 10, id="ig", type="image_generation_call", result="AAAA", output_format="png"),
        item("done", 11, id="rs", type="reasoning", summary=[{"text": "a"}], content=[{"text": "b"}]),
        {"type": "response.function_call_arguments.done", "output_index": 2, "arguments": '{"path": "ä"}'},
        response("incomplete", incomplete_details={"reason": "content_filter"}),
        response(output=[{"id": "m12", "type": "message", "content": [{"type": "output_text", "text": "a"}]}]),
        response(usage={"input_tokens": 9, "input_tokens_details": {"cached_tokens": 1}, "total_tokens": 9}),
        response("failed", error={"code": "server_error", "message": "no"}),
    ],
    "messages": [
        start(7, "server_tool_use", id="s", name="web_search", input={}),
        delta(7, "input_json_delta", partial_json="{}"),
        start(8, "text", text="a", citations=None),
        delta(8, "citations_delta", citation={"title": "One", "url": "https://example.org", "cited_text": "x"}),
        stop(8),
        start(9, "compaction", content=None),
        delta(9, "compaction_delta", content="x", encrypted_content="y"),
        start(10, "tool_use", id="c", name="f", input={"a": 1}),
        stop(10),
        {"type": "message_delta", "usage": {"output_tokens": 9, "output_tokens_details": {"thinking_tokens": 1}}},
        {"type": "error", "error": {"type": "api_error", "message": "no"}},
    ],
    "gemini": [
        parts({"functionCall": {"name": "f", "willContinue": True}, "thoughtSignature": "s"}),
        parts({"functionCall": {"partialArgs": [{"jsonPath": "$.a", "stringValue": "x"}], "willContinue": True}}),
        parts({"functionCall": {}}),
        parts({"inlineData": {"mimeType": "image/png", "data": "AAAA"}}),
        parts({"executableCode": {"code": "1"}}),
        {"candidates": [{"groundingMetadata": {"groundingChunks": [{"web": {"uri": "https://example.org"}}]}}]},
        {"candidates": [{"citationMetadata": {"citationSources": [{"uri": "https://example.org", "title": "One"}]}}]},
        {"usageMetadata": {"promptTokenCount": 9, "cachedContentTokenCount": 1, "toolUsePromptTokenCount": 1}},
        {"promptFeedback": {"blockReason": "SAFETY"}},
        {"candidates": [{"finishReason": "STOP", "finishMessage": "x"}]},
        {"error": {"code": 500, "message": "no", "status": "INTERNAL"}},
    ],
    "ollama": [
        {"message": {"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}]}},
        {"done": True, "done_reason": "stop", "total_duration": 1, "eval_count": 1},
        {"error": {"message": "no"}},
    ],
}  # fmt: skip
