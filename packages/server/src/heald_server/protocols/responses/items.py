"""The objects of OpenAI's Responses API: responses, their output items, and the events of an item."""

from collections.abc import Iterator
from typing import Any

import msgspec

from heald.core.json import JsonObject, as_object, as_objects, encode_text
from heald.core.turn import Usage
from heald_server.protocols.shared.place_ids import place_id

_PREFIXES = {
    "output_text": "msg",
    "refusal": "msg",
    "reasoning": "rs",
    "function_call": "fc",
    "mcp_call": "mcp",
    "mcp_approval_request": "mcpr",
}
_DELTAS = {
    "output_text": "response.output_text.delta",
    "refusal": "response.refusal.delta",
    "reasoning": "response.reasoning_summary_text.delta",
    "function_call": "response.function_call_arguments.delta",
}
_DEFAULTS: JsonObject = {  # clients of Open Responses require every field
    "object": "response",
    "background": False,
    "conversation": None,
    "frequency_penalty": 0.0,
    "instructions": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "presence_penalty": 0.0,
    "previous_response_id": None,
    "prompt_cache_key": None,
    "reasoning": {"effort": None, "summary": None},
    "safety_identifier": None,
    "service_tier": "default",
    "store": True,
    "temperature": 1.0,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "top_logprobs": 0,
    "top_p": 1.0,
    "truncation": "disabled",
    "user": None,
}

Named = tuple[str, JsonObject]
"""The name of an event and its fields."""


def item_id(kind: str, session: str | None, seq: int) -> str:
    """The id of an item. It names the session and the event with which the item began."""
    return place_id(_PREFIXES[kind], session, seq)


def response_id(session: str, seq: int) -> str:
    """The id of the response that was requested with an event."""
    return place_id("resp", session, seq)


class OpenItem(msgspec.Struct):
    """An output item while its content arrives."""

    kind: str
    id: str
    index: int
    call: str = ""
    name: str = ""
    parts: list[str] = []
    annotations: list[JsonObject] = []
    value_of: JsonObject | None = None
    """The item itself, if it has no content that arrives in pieces."""

    @property
    def text(self) -> str:
        return "".join(self.parts)

    @property
    def delta_kind(self) -> str:
        """The name of the event that brings a piece of the content."""
        return _DELTAS[self.kind]

    @property
    def at(self) -> JsonObject:
        """The position of the content that arrives."""
        place: JsonObject = {"item_id": self.id, "output_index": self.index}
        match self.kind:
            case "reasoning":
                return place | {"summary_index": 0}
            case "output_text" | "refusal":
                return place | {"content_index": 0}
            case _:
                return place

    @property
    def no_logprobs(self) -> JsonObject:
        return {"logprobs": []} if self.kind == "output_text" else {}

    def cite(self, title: str, url: str) -> JsonObject:
        """Add a source of the text so far. Returns the fields of its event."""
        cited = {"type": "url_citation", "title": title, "url": url, "start_index": 0, "end_index": len(self.text)}
        self.annotations.append(cited)
        return {**self.at, "annotation_index": len(self.annotations) - 1, "annotation": cited}

    def value(self, status: str) -> JsonObject:
        """The item with the content so far."""
        match self.kind:
            case "reasoning":
                return {"id": self.id, "type": "reasoning", "summary": [self._part()]}
            case "function_call":
                call = {"call_id": self.call, "name": self.name, "arguments": self.text}
                return {"id": self.id, "type": "function_call", "status": status, **call}
            case _:
                return self._message(status, [self._part()])

    def _message(self, status: str, content: list[JsonObject]) -> JsonObject:
        return {"id": self.id, "type": "message", "role": "assistant", "status": status, "content": content}

    def _part(self) -> JsonObject:
        match self.kind:
            case "reasoning":
                return {"type": "summary_text", "text": self.text}
            case "refusal":
                return {"type": "refusal", "refusal": self.text}
            case _:
                annotations = list(self.annotations)
                return {"type": "output_text", "text": self.text, "annotations": annotations, "logprobs": []}

    def begin(self) -> Iterator[Named]:
        """The events with which the item begins."""
        match self.kind:
            case "reasoning":
                empty: JsonObject = {"id": self.id, "type": "reasoning", "summary": []}
            case "function_call":
                empty = self.value("in_progress")
            case _:
                empty = self._message("in_progress", [])
        yield "response.output_item.added", {"output_index": self.index, "item": empty}
        if self.kind == "reasoning":
            yield "response.reasoning_summary_part.added", {**self.at, "part": self._part()}
        elif self.kind != "function_call":
            yield "response.content_part.added", {**self.at, "part": self._part()}

    def end(self, status: str) -> Iterator[Named]:
        """The events with which the item ends."""
        text = self.text
        match self.kind:
            case "reasoning":
                yield "response.reasoning_summary_text.done", {**self.at, "text": text}
                yield "response.reasoning_summary_part.done", {**self.at, "part": self._part()}
            case "function_call":
                done = {"name": self.name, "arguments": text}
                yield "response.function_call_arguments.done", {**self.at, **done}
            case "refusal":
                yield "response.refusal.done", {**self.at, "refusal": text}
                yield "response.content_part.done", {**self.at, "part": self._part()}
            case _:
                yield "response.output_text.done", {**self.at, "text": text, "logprobs": []}
                yield "response.content_part.done", {**self.at, "part": self._part()}
        yield "response.output_item.done", {"output_index": self.index, "item": self.value(status)}


def call_item(name: str, label: str, tool: str, value: object, status: str, approval: str | None) -> JsonObject:
    """A call of one of the agent's tools."""
    return {
        "id": name,
        "type": "mcp_call",
        "server_label": label,
        "name": tool,
        "arguments": encode_text(value or {}),
        "approval_request_id": approval,
        "output": None,
        "error": None,
        "status": status,
    }


def call_error(message: str) -> JsonObject:
    """The error of a call of one of the agent's tools."""
    return {"type": "mcp_tool_execution_error", "content": [{"type": "text", "text": message}]}


def call_error_text(error: object) -> str:
    """The text of a call's error, as a client sends it back."""
    parts = as_objects(as_object(error).get("content"))
    return "\n".join(str(part.get("text", "")) for part in parts) if parts else str(error)


def response_object(
    head: JsonObject,
    status: str,
    output: list[JsonObject],
    *,
    error: JsonObject | None,
    incomplete: str | None,
    usage: JsonObject | None,
    completed: int | None,
) -> JsonObject:
    """A response. `head` has its id, its time and the parameters that it repeats."""
    return {
        **_DEFAULTS,
        **head,
        "status": status,
        "output": output,
        "error": error,
        "incomplete_details": {"reason": incomplete} if incomplete is not None else None,
        "usage": usage,
        "completed_at": completed,
    }


def encode_response_usage(usage: Usage) -> JsonObject:
    """Usage as that API counts it."""
    cached: dict[str, Any] = {"cached_tokens": usage.cache_read or 0, "cache_write_tokens": usage.cache_write or 0}
    return {
        "input_tokens": usage.total_input or 0,
        "input_tokens_details": cached,
        "output_tokens": usage.total_output or 0,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning or 0},
        "total_tokens": usage.total or 0,
    }
