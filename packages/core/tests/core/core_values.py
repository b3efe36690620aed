"""Hypothesis strategies for everything that the ground floor can hold."""

from typing import Any

import msgspec
from hypothesis import strategies as st

from heald.core.envelope import PAYLOADS, Event, new_event
from heald.core.messages import (
    File,
    Grounding,
    Image,
    InvalidCall,
    Message,
    Native,
    Reasoning,
    Source,
    Text,
    ToolCall,
    ToolResult,
)
from heald.core.payload import Payload
from heald.core.turn import Iteration, Usage

# Any code point that UTF-8 can hold; lone surrogates have tests of their own.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
words = st.text("abcdef_0123", min_size=1, max_size=8)
numbers = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False, width=32)

json_values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
json_objects: st.SearchStrategy[dict[str, Any]] = st.dictionaries(texts, json_values, max_size=3)

sources = st.builds(Source, texts, st.none() | texts, st.none() | texts)
text_blocks = st.builds(Text, texts, st.booleans())
images = st.builds(Image, media_type=words, data=st.none() | words, url=st.none() | texts)
files = st.builds(File, media_type=words, data=st.none() | words, url=st.none() | texts, name=st.none() | texts)
invalid_calls = st.builds(
    InvalidCall, st.sampled_from(["malformed", "truncated", "filtered", "refused"]), texts, raw=texts
)
tool_calls = st.builds(
    ToolCall,
    id=words,
    name=texts,
    input=json_objects,
    wire_id=st.none() | words,
    invalid=st.none() | invalid_calls,
)
tool_results = st.builds(
    ToolResult,
    id=words,
    status=st.sampled_from(["ok", "error", "denied", "timeout", "interrupted", "unknown_tool", "invalid_input"]),
    content=texts | st.lists(text_blocks | images | files, max_size=3),
    name=texts,
    truncated=st.booleans(),
    is_error=st.none() | st.booleans(),
)
blocks = st.one_of(
    text_blocks,
    st.builds(Reasoning, texts),
    images,
    files,
    tool_calls,
    tool_results,
    st.builds(Grounding, st.lists(sources, max_size=3)),
)
natives = st.builds(Native, wire=words, provider=words, model=words, content=json_values)
messages = st.builds(
    Message,
    role=st.sampled_from(["user", "assistant", "tool"]),
    content=st.lists(blocks, max_size=4),
    id=texts,
    native=st.none() | natives,
)

counts = st.integers(0, 10**9)
iterations = st.builds(Iteration, words, st.none() | words, *[counts] * 7)
usages = st.builds(
    Usage,
    *[st.none() | counts] * 6,
    server_tools=st.dictionaries(words, counts, max_size=2),
    tier=st.none() | words,
    iterations=st.lists(iterations, max_size=2),
)

# Hypothesis reads the types of every other field from the classes themselves.
for kind, strategy in (
    (Usage, usages),
    (Text, text_blocks),
    (ToolCall, tool_calls),
    (ToolResult, tool_results),
    (Message, messages),
):
    st.register_type_strategy(kind, strategy)


def payloads_of(kind: type[Payload]) -> st.SearchStrategy[Payload]:
    """Any payload of one class."""
    if kind is ToolCall:
        return tool_calls
    if kind is ToolResult:
        return tool_results
    fields = {field.name: _field(field.type) for field in msgspec.structs.fields(kind)}
    return st.fixed_dictionaries(fields).map(lambda values: kind(**values))


def _field(kind: Any) -> st.SearchStrategy[Any]:
    if kind is str:
        return texts
    if kind is float:
        return st.floats(0, 1e6, width=32)
    if kind == float | None:
        return st.none() | st.floats(0, 1e6, width=32)
    if kind is int:
        return st.integers(-(2**53), 2**53)
    if kind == dict[str, Any]:
        return json_objects
    if "JsonObject" in str(kind) or "dict[str, typing.Any]" in str(kind):
        return st.none() | json_objects
    return st.from_type(kind)


def event(data: Payload, seq: int = 7) -> Event:
    return new_event(
        seq=seq,
        id=f"evt_{seq}",
        session="ses_1",
        exchange="exc_1",
        type=data.type,
        layer=data.layer,
        time=1700000000.25,
        epoch=3,
        data=data,
    )


payload_kinds = sorted(PAYLOADS.items())
