"""What the wires know, in the groups of `vocabulary.py`.

A word that a decoder reads is a string, or a field of a struct, in its modules. A word of requests is in the bodies of
the scenarios.
"""

import ast
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from heald.core.json import JsonObject
from heald.wires.client_items import read_client_output
from heald.wires.registry import WIRES
from heald.wires.server_tools import read_messages_result

WIRES_FOLDER = Path(__file__).resolve().parents[2] / "packages" / "core" / "src" / "heald" / "wires"
Bodies = list[JsonObject]
"""The request bodies that the scenarios become for the providers of an SDK."""
Knows = Callable[[str, Bodies], bool]
"""Whether a wire knows a word."""


@cache
def read_words(module: str) -> frozenset[str]:
    """The strings and the fields of classes in a module of the wires, without docstrings."""
    words: set[str] = set()
    for node in ast.walk(ast.parse((WIRES_FOLDER / f"{module}.py").read_text("utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            words.add(node.value)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            words.add(node.target.id)
    return frozenset(word for word in words if "\n" not in word)


def reads(*modules: str) -> Knows:
    """Modules name the word. Of a path such as `usage.tokens`, every part."""
    return lambda word, _: all(any(part in read_words(module) for module in modules) for part in word.split("."))


def names(*modules: str) -> Knows:
    """Modules name the word, which has dots of its own."""
    return lambda word, _: any(word in read_words(module) for module in modules)


def stops(wire: str, *more: str, prefix: str = "") -> Knows:
    """The word is a stop reason of the decoder, whose list is closed."""
    decoder = WIRES[wire].decoder
    reasons = {*decoder.stop_reasons, *getattr(decoder, "malformed", ()), *more}
    return lambda word, _: prefix + word in reasons


def fields(word: str, bodies: Bodies) -> bool:
    """A body has the word as a member, or the member at a path of two."""
    head, _, tail = word.partition(".")
    return any(head in body and (not tail or tail in body[head]) for body in bodies)


def types(*members: str, absent: str = "") -> Knows:
    """The word is the value of a `type`, or a bare string, somewhere in these members of a body. `absent` is the type
    of an object that has none."""
    return lambda word, bodies: any(
        word in _types(body[name], absent) for body in bodies for name in members if name in body
    )


def keys(*members: str) -> Knows:
    """The word is a name of a member, or a string, somewhere in these members of a body."""
    return lambda word, bodies: any(word in _keys(body[name]) for body in bodies for name in members if name in body)


def either(*sources: Knows) -> Knows:
    return lambda word, bodies: any(source(word, bodies) for source in sources)


def _types(value: Any, absent: str) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, dict) and "type" not in item and absent:
                yield absent
            yield from _types(item, "")
    elif isinstance(value, dict):
        for name, member in value.items():
            if name == "type" and isinstance(member, str):
                yield member
            elif isinstance(member, dict | list):
                yield from _types(member, "")


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, member in value.items():
            yield name
            yield from _keys(member)
    elif isinstance(value, list):
        for item in value:
            yield from _keys(item)
    elif isinstance(value, str):
        yield value


def _is_result_block(word: str, _: Bodies) -> bool:
    return read_messages_result({"type": word}) is not None


def _is_client_output(word: str, _: Bodies) -> bool:
    return read_client_output({"type": word, "call_id": "c"}) is not None


_MESSAGES = ("messages", "messages_usage", "event_order")
_RESPONSES = ("responses", "client_items", "server_tools", "responses_usage", "logprobs")
_CHAT = ("chat", "usage_counts", "logprobs", "service_tier")
_GEMINI = ("gemini", "gemini_usage", "server_tools", "logprobs")
_CONVERSE = ("converse", "amazon_framing")
_CHAT_GROUPS: dict[str, Knows] = {
    "chunk fields": reads(*_CHAT),
    "choice fields": reads(*_CHAT),
    "delta fields": reads(*_CHAT),
    "call types": lambda word, _: word == "function",
    "finish reasons": stops("chat", "error"),
    "usage fields": reads(*_CHAT),
    "request fields": fields,
    "content parts": types("messages"),
    "content chunks": types("messages"),
    "tool types": types("tools"),
    "roles": keys("messages"),
}
SOURCES: dict[str, dict[str, Knows]] = {
    "openai-chat": _CHAT_GROUPS,
    "groq": _CHAT_GROUPS,
    "mistral": _CHAT_GROUPS,
    "openai-responses": {
        "stream events": names("responses"),
        "socket events": names("responses"),
        "socket requests": lambda word, _: word == "response.create",
        "output items": either(names(*_RESPONSES), _is_client_output),
        "input items": either(
            names("responses", "responses_request", "client_items", "server_tools"), _is_client_output
        ),
        "content parts": names("responses", "responses_request"),
        "input parts": types("input"),
        "annotations": names("responses"),
        "statuses": either(stops("responses"), lambda word, _: word in ("failed", "cancelled", "incomplete")),
        "incomplete reasons": stops("responses", prefix="incomplete:"),
        "error codes": names("errors"),
        "response fields": names(*_RESPONSES),
        "usage fields": names(*_RESPONSES),
        "request fields": fields,
        "tool types": types("tools"),
        "tool choices": types("tool_choice"),
        "includes": types("include"),
        "compaction request fields": names("responses_request"),
    },
    "anthropic": {
        "stream events": names("messages"),
        "content blocks": either(names("messages"), _is_result_block),
        "deltas": names("messages"),
        "message fields": names(*_MESSAGES),
        "message_delta fields": names(*_MESSAGES),
        "stop reasons": stops("messages"),
        "citations": lambda word, _: word.endswith("_location"),
        "usage fields": names(*_MESSAGES, "service_tier"),
        "iterations": lambda word, _: word in ("message", "compaction") or word.endswith("_message"),
        "request fields": fields,
        "input blocks": either(types("messages"), names("messages", "messages_request"), _is_result_block),
        "tool types": types("tools", absent="custom"),
        "tool choices": types("tool_choice"),
        "thinking": types("thinking"),
        "context edits": types("context_management"),
        "errors": names("errors"),
    },
    "gemini": {
        "response fields": names(*_GEMINI),
        "candidate fields": names(*_GEMINI),
        "parts": names(*_GEMINI),
        "call fields": names(*_GEMINI, "json_path"),
        "finish reasons": stops("gemini", "FINISH_REASON_UNSPECIFIED"),
        "block reasons": stops("gemini"),
        "grounding fields": names(*_GEMINI),
        "grounding chunks": names(*_GEMINI),
        "usage fields": names(*_GEMINI),
        "request fields": fields,
        "tool types": keys("tools"),
        "tool config fields": keys("toolConfig"),
        "tool choices": keys("toolConfig"),
        "thinking fields": keys("generationConfig"),
    },
    "bedrock": {
        "stream events": names(*_CONVERSE),
        "block starts": names("converse"),
        "block deltas": names("converse"),
        "result deltas": names("converse"),
        "reasoning deltas": names("converse"),
        "citation locations": names("converse"),
        "stop reasons": stops("converse"),
        "usage fields": names("converse"),
        "metadata fields": names("converse"),
        "request fields": fields,
        "inference fields": keys("inferenceConfig"),
        "input blocks": keys("messages", "system"),
        "result blocks": keys("messages"),
        "tool types": keys("toolConfig"),
        "tool choices": keys("toolConfig"),
        "output fields": keys("outputConfig"),
    },
    "ollama": {
        "line fields": names("ollama", "logprobs"),
        "message fields": either(names("ollama"), keys("messages")),
        "request fields": fields,
        "options": keys("options"),
    },
}
"""Where the words of each group of an SDK are known."""
PROVIDERS = {
    "openai-chat": ("openai-chat",),
    "openai-responses": ("openai",),
    "anthropic": ("anthropic", "bedrock-anthropic", "vertex-anthropic"),
    "gemini": ("gemini",),
    "mistral": ("mistral",),
    "groq": ("groq",),
    "bedrock": ("bedrock",),
    "ollama": ("ollama",),
}
"""The providers whose request bodies show the words of an SDK."""
