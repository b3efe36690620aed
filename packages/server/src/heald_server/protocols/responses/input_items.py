"""The input of a request: messages, calls and results, as items of the Responses API."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from heald.core.json import JsonObject, as_object, as_objects, encode_text
from heald_server.protocols.responses.items import call_error_text
from heald_server.protocols.shared.client_answers import ClientDecision
from heald_server.protocols.shared.client_bodies import objects_in
from heald_server.protocols.shared.v1_parameters import refusal

SYSTEM_ROLES = ("system", "developer")
COMPACTION_MARK = "heald1:"
"""The beginning of the content of an item that this server has compacted."""
_DROPPED = ("mcp_list_tools", "mcp_approval_request")
"""Items of our own responses that add nothing to a conversation."""
_HOSTED = ("web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "tool_search_call")
"""Calls that another provider ran itself, earlier in the conversation: its texts hold what came of them."""
_ITEMS = (
    "message, reasoning, compaction, function_call, function_call_output, mcp_call, mcp_approval_request, "
    "mcp_approval_response and item_reference"
)


@dataclass(frozen=True, slots=True)
class ResponseInput:
    """The items of a request as a conversation."""

    messages: list[JsonObject] = field(default_factory=list[JsonObject])
    """In the form that `heald.core.message_forms` reads."""
    system: list[str] = field(default_factory=list[str])
    decisions: dict[str, ClientDecision] = field(default_factory=dict[str, ClientDecision])
    """The client's answers to approvals, by the ids of their requests."""


def list_items(value: Any) -> list[JsonObject]:
    """The input of a body as a list of items."""
    if isinstance(value, str):
        return [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": value}]}]
    items = objects_in(value)
    if items is None:
        raise refusal("input", "input is a text, or a list of items.")
    return items


def read_input(items: Sequence[JsonObject]) -> ResponseInput:
    """Convert items. Those of one turn of the assistant become one message."""
    read = ResponseInput()
    for number, item in enumerate(items):
        kind = item.get("type") or ("message" if "role" in item else None)
        match kind:
            case "message":
                _read_message(read, item, number)
            case "reasoning":
                texts = [str(part.get("text", "")) for part in as_objects(item.get("summary"))]
                _add_to_assistant(read, {"type": "reasoning", "text": "\n\n".join(texts)})
            case "function_call":
                _add_call(read, item, _required(item, "call_id", number))
            case "custom_tool_call":  # of another provider, earlier in the conversation
                arguments = encode_text({"input": str(item.get("input", ""))})
                _add_call(read, item | {"arguments": arguments}, _required(item, "call_id", number))
            case "function_call_output" | "custom_tool_call_output":
                _add_result(read, _required(item, "call_id", number), _output(item, number))
            case "mcp_call":
                name = _required(item, "id", number)
                _add_call(read, item, name)
                error = item.get("error")
                _add_result(
                    read, name, call_error_text(error) if error else item.get("output") or "", failed=bool(error)
                )
            case "compaction" | "compaction_summary":
                read.messages.append({"role": "user", "content": [{"type": "text", "text": _summary(item, number)}]})
            case "mcp_approval_response":
                _read_decision(read, item, number)
            case str() if kind in (*_DROPPED, *_HOSTED):
                continue
            case _:
                raise refusal(
                    "input", f"Item {number} of the type {str(kind)[:40]!r} cannot be read; there are {_ITEMS}."
                )
    return read


def _required(item: JsonObject, name: str, number: int) -> str:
    value = item.get(name)
    if isinstance(value, str) and value:
        return value
    raise refusal("input", f"Item {number} has no {name}; give it as a text.")


def _read_message(read: ResponseInput, item: JsonObject, number: int) -> None:
    role = item.get("role")
    if role not in (*SYSTEM_ROLES, "user", "assistant"):
        raise refusal(
            "input", f"Item {number} has the role {str(role)[:40]!r}; there are user, assistant and developer."
        )
    parts = _parts(item.get("content"), number)
    if role in SYSTEM_ROLES:
        if any(part["type"] != "text" for part in parts):
            raise refusal("input", f"Item {number} has the role {role!r} and holds more than text.")
        read.system.append("\n".join(part["text"] for part in parts))
    elif role == "user":
        read.messages.append({"role": "user", "content": parts})
    else:
        for part in parts:
            _add_to_assistant(read, part)


def _add_to_assistant(read: ResponseInput, part: JsonObject) -> None:
    if not read.messages or read.messages[-1]["role"] != "assistant" or "tool_calls" in read.messages[-1]:
        read.messages.append({"role": "assistant", "content": []})
    read.messages[-1]["content"].append(part)


def _add_call(read: ResponseInput, item: JsonObject, name: str) -> None:
    if not read.messages or read.messages[-1]["role"] != "assistant":
        read.messages.append({"role": "assistant", "content": []})
    function = {"name": str(item.get("name", "")), "arguments": item.get("arguments") or "{}"}
    read.messages[-1].setdefault("tool_calls", []).append({"id": name, "type": "function", "function": function})


def _add_result(read: ResponseInput, call: str, output: Any, *, failed: bool = False) -> None:
    result = {"type": "tool_result", "tool_use_id": call, "content": output, "is_error": failed}
    if read.messages and read.messages[-1]["role"] == "tool":
        read.messages[-1]["content"].append(result)
    else:
        read.messages.append({"role": "tool", "content": [result]})


def _read_decision(read: ResponseInput, item: JsonObject, number: int) -> None:
    approve, reason = item.get("approve"), item.get("reason") or ""
    if not isinstance(approve, bool) or not isinstance(reason, str):
        raise refusal("input", f"Item {number} needs approve, which is true or false.")
    read.decisions[_required(item, "approval_request_id", number)] = ClientDecision(approve, reason[:2000])


def _summary(item: JsonObject, number: int) -> str:
    """The text of an item that stands for an earlier part of the conversation."""
    content = item.get("encrypted_content")
    if not isinstance(content, str) or not content.startswith(COMPACTION_MARK):
        raise refusal("input", f"Item {number} was compacted by another server; send the conversation itself.")
    try:
        return base64.b64decode(content.removeprefix(COMPACTION_MARK), validate=True).decode()
    except ValueError:
        raise refusal("input", f"Item {number} is damaged; send it as /v1/responses/compact returned it.") from None


def _output(item: JsonObject, number: int) -> str | list[JsonObject]:
    output = item.get("output")
    return output if isinstance(output, str) else _parts(output, number)


def _parts(content: Any, number: int) -> list[JsonObject]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    parts = objects_in(content)
    if parts is None:
        raise refusal("input", f"The content of item {number} is neither a text nor a list of parts.")
    return [_part(part, number) for part in parts]


def _part(part: Mapping[str, Any], number: int) -> JsonObject:
    match part.get("type"):
        case "input_text" | "output_text" | "text" if isinstance(part.get("text"), str):
            return {"type": "text", "text": part["text"]}
        case "refusal" if isinstance(part.get("refusal"), str):
            return {"type": "text", "text": part["refusal"]}
        case "input_image" if isinstance(part.get("image_url"), str):
            detail = {"detail": part["detail"]} if isinstance(part.get("detail"), str) else {}
            return {"type": "image_url", "image_url": {"url": part["image_url"], **detail}}
        case "input_file" if isinstance(part.get("file_url"), str):
            return {"type": "file", "url": part["file_url"], "media_type": _media_type(part["file_url"])}
        case "input_file" if isinstance(part.get("file_data"), str):
            return {"type": "file", "file": {"file_data": part["file_data"], "filename": part.get("filename")}}
        case "input_audio" if as_object(part.get("input_audio")).get("data"):
            return dict(part)
        case "input_image" | "input_file":
            raise refusal(
                "input",
                f"A file of item {number} must be sent along as data or as an address: files are not kept here.",
            )
        case kind:
            raise refusal("input", f"Item {number} has a part of the type {str(kind)[:40]!r} that cannot be read.")


def _media_type(url: str) -> str:
    path = url.partition("?")[0].partition("#")[0].lower()
    return "application/pdf" if path.endswith(".pdf") else "application/octet-stream"


_INPUT_IDS = {
    "message": "msg",
    "function_call_output": "fco",
    "function_call": "fc",
    "reasoning": "rs",
    "compaction": "cmp",
}


def listed_item(item: JsonObject, response: str, number: int) -> JsonObject:
    """An input item in the form in which the API lists it: with an id, a status, and parts instead of a text."""
    kind = str(item.get("type") or "message")
    prefix = _INPUT_IDS.get(kind, "item")
    named = {"id": f"{prefix}_{response.removeprefix('resp_')}i{number}", "type": kind, "status": "completed"}
    listed = named | {name: value for name, value in item.items() if value is not None}
    if kind != "message" or not isinstance(listed.get("content"), str):
        return listed
    if listed.get("role") == "assistant":
        return listed | {"content": [{"type": "output_text", "text": listed["content"], "annotations": []}]}
    return listed | {"content": [{"type": "input_text", "text": listed["content"]}]}
