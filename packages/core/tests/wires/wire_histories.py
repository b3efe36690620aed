"""Random histories, as crashes, cancels, trims and other providers leave them, and what each wire makes of one."""

from typing import Any, cast

from hypothesis import strategies as st

from heald.core.json import JsonObject
from heald.core.messages import (
    File,
    Grounding,
    Image,
    InvalidCall,
    Message,
    Reasoning,
    Source,
    Text,
    ToolCall,
    ToolResult,
)

texts = st.sampled_from(["", " ", "hello", "ä\U0001f600", "line\nline", '{"a":'])
ids = st.sampled_from(["a", "b", "a_2", "call:1", "x" * 80, "", "functions.f:0", "123456789"])
names = st.sampled_from(["read", "write", "bad name!", "é", ""])
picture = Image(data="AAAA")

calls = st.builds(
    ToolCall,
    id=ids,
    name=names,
    input=st.sampled_from([{}, {"a": 1}, {"é": ["\ud83d"]}]),
    invalid=st.none() | st.just(InvalidCall("malformed", "why", '{"a')),
)
results = st.builds(
    ToolResult,
    id=ids,
    name=names,
    status=st.sampled_from(["ok", "error"]),
    content=texts | st.lists(st.just(picture) | st.builds(Text, texts), max_size=2),
)
says = st.one_of(
    st.builds(Text, texts),
    st.builds(Reasoning, texts),
    calls,
    st.just(Grounding([Source("t", "https://example.org")])),
)
asks = st.builds(Text, texts) | st.just(picture) | st.just(File(media_type="application/pdf", data="AAAA", name="f"))
messages = st.one_of(
    st.builds(Message, role=st.just("user"), content=st.lists(asks, max_size=2)),
    st.builds(Message, role=st.just("assistant"), content=st.lists(says, max_size=4)),
    st.builds(Message, role=st.just("tool"), content=st.lists(results, max_size=3)),
)
histories = st.lists(messages, max_size=7)


def calls_and_results(wire: str, body: JsonObject) -> list[tuple[str, str]]:
    """The calls and results of a request body in order, as ("call", id) and ("result", id).

    Wires that pair by place have no ids: there, the names of tools stand for them.
    """
    finders = {"chat": _chat, "responses": _responses, "gemini": _gemini, "ollama": _ollama, "converse": _converse}
    return finders.get(wire, _messages)(body)


def _chat(body: JsonObject) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for message in body["messages"]:
        pairs += [("call", call["id"]) for call in message.get("tool_calls", ())]
        if message["role"] == "tool":
            pairs.append(("result", message["tool_call_id"]))
    return pairs


def _responses(body: JsonObject) -> list[tuple[str, str]]:
    kinds = {"function_call": "call", "function_call_output": "result"}
    return [(kinds[item["type"]], item["call_id"]) for item in body["input"] if item.get("type") in kinds]


def _messages(body: JsonObject) -> list[tuple[str, str]]:
    blocks = [block for message in body["messages"] for block in message["content"]]
    pairs: list[tuple[str, str]] = []
    for block in blocks:
        if block["type"] == "tool_use":
            pairs.append(("call", block["id"]))
        elif block["type"] == "tool_result":
            pairs.append(("result", block["tool_use_id"]))
    return pairs


def _converse(body: JsonObject) -> list[tuple[str, str]]:
    blocks = [block for message in body["messages"] for block in message["content"]]
    kinds = {"toolUse": "call", "toolResult": "result"}
    return [(kinds[kind], block[kind]["toolUseId"]) for block in blocks for kind in kinds if kind in block]


def _gemini(body: JsonObject) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for part in [part for content in body["contents"] for part in content["parts"]]:
        if "functionCall" in part:
            pairs.append(("call", part["functionCall"]["name"]))
        elif "functionResponse" in part:
            pairs.append(("result", part["functionResponse"]["name"]))
    return pairs


def _ollama(body: JsonObject) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for message in cast("list[dict[str, Any]]", body["messages"]):
        pairs += [("call", call["function"]["name"]) for call in message.get("tool_calls", ())]
        if message["role"] == "tool":
            pairs.append(("result", message["tool_name"]))
    return pairs
