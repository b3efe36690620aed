"""What a provider wrote goes back as it came: signatures, encrypted reasoning, ids, calls."""

import json
from typing import Any

import pytest
from corpus import batches, body_of, decode, loader, present, quirks_of, recordings

from heald.core.json import as_object, as_objects
from heald.core.messages import Message, ToolResult, tool_results, user_message
from heald.wires.registry import WIRES
from heald.wires.request import TurnRequest

pytestmark = present

CLIENT_FAULTS = {
    **dict.fromkeys(
        [
            "seq--openrouter--fantasy--multi-tool-streaming--0-0eef8",
            "seq--openrouter--fantasy--multi-tool-streaming--0-2b38c",
            "seq--openrouter--fantasy--tool-streaming--0-fbff3",
        ],
        "the recorded client lost the first piece of the reasoning it echoed",
    ),
    "seq--openai--chatlas--test-openai-tool-variations--1": "the recorded client sent the item's id as the call's",
}
"""Follow-ups in which the recorded client, not the provider, is wrong."""

WITH_BLOCKS = [r for r in recordings() if r.truth.get("blocks") and not r.truth["error"]]


_PLAIN_BASE64 = str.maketrans("-_", "+/")


def _follow_ups() -> dict[str, list[tuple[Any, int]]]:
    """(sequence, turn number) of every recorded request that continues a recorded stream, by wire."""
    module = loader()
    requests: dict[str, list[tuple[Any, int]]] = {}
    for sequence in module.sequences() if module is not None else ():
        if sequence["fidelity"] == "handcrafted":
            continue
        for number, turn in enumerate(sequence["turns"]):
            if number and turn.get("echoed") and sequence["turns"][number - 1].get("recording_obj"):
                requests.setdefault(sequence["api"], []).append((sequence, number))
    return requests


FOLLOW_UPS = _follow_ups()


@pytest.mark.parametrize("batch", batches(WITH_BLOCKS))
def test_native_content_is_what_came(batch: list[Any]) -> None:
    wrong: dict[str, Any] = {}
    for recording in batch:
        decoder, _ = decode(recording, [body_of(recording)])
        if decoder.message is None:  # the stream was not finished
            continue
        if "base64 chars>" in str(recording.truth["blocks"]):  # the truth leaves out the picture
            continue
        expected = [_sendable(b) for b in recording.truth["blocks"] if not _is_empty(b)]
        native = decoder.message.native
        if native is None or native.content != expected:
            wrong[recording.id] = (native, expected)
    assert not wrong, wrong


@pytest.mark.parametrize("wire", FOLLOW_UPS)
def test_follow_up_requests_echo_what_the_recorded_ones_did(wire: str) -> None:
    wrong = {
        f"{sequence['id']}-{number}": missing
        for sequence, number in FOLLOW_UPS[wire]
        if (missing := _missing(sequence, number)) and sequence["id"] not in CLIENT_FAULTS
    }
    assert not wrong, wrong


def _missing(sequence: dict[str, Any], number: int) -> list[tuple[Any, ...]]:
    """What the recorded request told of the answer before it, and ours does not."""
    before, turn = sequence["turns"][number - 1], sequence["turns"][number]
    recording, wire = before["recording_obj"], sequence["api"]
    decoder, _ = decode(recording, [body_of(recording)])
    if decoder.message is None:
        return [("no message",)]
    request = TurnRequest(
        model="model",
        provider=recording.meta["provider"],
        messages=[user_message("question"), decoder.message, _continuation(decoder.message)],
        quirks=quirks_of(recording.meta["provider"], wire),
    )
    ours = _facts(wire, WIRES[wire].build_request(request), decoder.message)
    earlier = len(_facts(wire, before.get("request") or {}, decoder.message))
    theirs = _facts(wire, _next_answer_only(wire, before, turn["request"]), decoder.message)[earlier:]
    missing = [fact for fact in theirs if fact not in ours]
    calls = [fact[0] for fact in ours].count("call")
    if calls != len(decoder.message.tool_calls):
        missing.append(("calls", calls, len(decoder.message.tool_calls)))
    return missing


def _next_answer_only(wire: str, before: dict[str, Any], request: dict[str, Any]) -> dict[str, Any]:
    """A chat request without the answers of turns that were not recorded."""
    if wire != "chat":
        return request
    answers = [place for place, message in enumerate(request["messages"]) if message["role"] == "assistant"]
    answered = sum(message["role"] == "assistant" for message in before["request"]["messages"])
    return request | {"messages": request["messages"][: answers[answered] + 1]}


def _continuation(message: Message) -> Message:
    results = [ToolResult(id=call.id, name=call.name, status="ok", content="done") for call in message.tool_calls]
    return tool_results(results) if results else user_message("and then?")


def _facts(wire: str, request: dict[str, Any], message: Message) -> list[tuple[Any, ...]]:
    """What matters of the assistant's part of a request, whatever a client's habits of writing it."""
    facts: list[tuple[Any, ...]] = []
    match wire:
        case "chat":
            for sent in as_objects(request.get("messages")):
                if sent["role"] == "assistant":
                    facts += _chat_facts(sent)
        case "messages":
            for sent in as_objects(request.get("messages")):
                if sent["role"] == "assistant":
                    facts += [fact for block in _parts(sent["content"]) for fact in _block_facts(block)]
        case "gemini":
            received = {call.wire_id or call.id for call in message.tool_calls}
            for content in as_objects(request.get("contents")):
                if content.get("role") == "model":
                    facts += [fact for part in as_objects(content["parts"]) for fact in _part_facts(part, received)]
        case _:
            for item in as_objects(request.get("input")):
                facts += _item_facts(item)
    return facts


def _chat_facts(sent: dict[str, Any]) -> list[tuple[Any, ...]]:
    facts: list[tuple[Any, ...]] = [
        ("call", call["id"], call["function"]["name"], json.loads(call["function"]["arguments"] or "{}"))
        for call in as_objects(sent.get("tool_calls"))
    ]
    text = "".join(part.get("text", "") for part in _parts(sent.get("content"))).strip()
    thought = sent.get("reasoning_content") or sent.get("reasoning")
    details = as_objects(sent.get("reasoning_details"))
    facts += [("text", text)] if text else []
    facts += [("thought", thought)] if thought else []
    facts += [("detail", d.get("data"), d.get("signature"), d.get("text") or d.get("summary")) for d in details]
    return facts


def _block_facts(block: dict[str, Any]) -> list[tuple[Any, ...]]:
    match block["type"]:
        case "text":
            return [("text", block["text"].strip())] if block["text"].strip() else []
        case "thinking":
            return [("thinking", block["thinking"], block["signature"])]
        case "tool_use":
            return [("call", block["id"], block["name"], block["input"])]
        case kind:
            return [(kind, block.get("data"), block.get("tool_use_id"))]


def _part_facts(part: dict[str, Any], received: set[str]) -> list[tuple[Any, ...]]:
    facts: list[tuple[Any, ...]] = []
    call = as_object(part.get("functionCall") or part.get("function_call"))
    if call:
        facts.append(("call", call["name"], call.get("args") or {}))
        facts += [("id", call["id"])] if call.get("id") in received else []
    if part.get("thoughtSignature"):
        facts.append(("signature", part["thoughtSignature"].translate(_PLAIN_BASE64)))
    return facts


def _item_facts(item: dict[str, Any]) -> list[tuple[Any, ...]]:
    match item.get("type"):
        case "function_call":
            return [("call", item["call_id"], item["name"], json.loads(item["arguments"] or "{}"))]
        case "reasoning" if item.get("encrypted_content"):
            return [("encrypted", item["encrypted_content"])]
        case "message" | None if item.get("role") == "assistant":
            text = "".join(part.get("text", "") for part in _parts(item["content"])).strip()
            return [("text", text), *([("phase", item["phase"])] if item.get("phase") else [])]
        case _:
            return []


def _parts(content: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else as_objects(content)


def _is_empty(block: dict[str, Any]) -> bool:
    """Blank text goes back to nobody: APIs refuse it."""
    if block.get("type") == "text":
        return not block["text"].strip()
    return block.get("text") == "" and "thoughtSignature" not in block


def _sendable(block: dict[str, Any]) -> dict[str, Any]:
    """Arguments that are not JSON go back wrapped: no API takes them as they came."""
    if block.get("_input_valid_json") is False:
        members = {name: value for name, value in block.items() if name != "_input_valid_json"}
        return members | {"input": {"INVALID_JSON": block["input"]}}
    if block.get("type") == "function_call" and block.get("status") == "incomplete":
        return block | {
            "arguments": json.dumps({"INVALID_JSON": block["arguments"]}, separators=(",", ":"), ensure_ascii=False)
        }
    return block
