"""Reads the bodies of clients of other protocols: their JSON, their messages and their pictures."""

from collections.abc import Sequence
from typing import Any

import msgspec
from starlette.requests import Request

from heald.core.errors import ConfigurationError
from heald.core.json import JsonObject, as_list, as_object, as_objects
from heald.core.message_forms import read_messages
from heald.core.messages import File, Image, Message, ToolDefinition, ToolResult
from heald.core.ui_messages import NO_RESULT
from heald.tools.client_tools import read_client_tools
from heald_server.http.errors import ApiError
from heald_server.http.json_body import parse_json, require_json
from heald_server.routes.client_media import decode_media, sniff_image

_any: "msgspec.json.Decoder[Any]" = msgspec.json.Decoder()


async def read_body(request: Request) -> JsonObject:
    """Read a JSON object with a list of messages."""
    return check_body(await read_json(request))


async def read_json(request: Request) -> Any:
    """Read a JSON body."""
    require_json(request)
    data = await request.body()
    body = parse_json(_any, data)
    if b"\\u" in data:
        msgspec.json.encode(body)  # an unpaired surrogate can be decoded, but not stored
    return body


def check_body(body: Any) -> JsonObject:
    fields = as_object(body)
    if not isinstance(fields.get("messages"), list):
        raise ApiError("invalid", "The body is an object with a list of messages.")
    if objects_in(fields["messages"]) is None:
        raise ApiError("invalid", "Each message is an object.")
    return fields


def objects_in(value: Any) -> list[JsonObject] | None:
    """The objects of a list; None if the value is not a list, or holds anything else."""
    objects = as_objects(value)
    return objects if isinstance(value, list) and len(objects) == len(as_list(value)) else None


def text_field(body: JsonObject, name: str) -> str | None:
    value = body.get(name)
    return value if isinstance(value, str) and value else None


def read_conversation_messages(messages: Sequence[JsonObject]) -> list[Message]:
    """Convert the messages of a client. The last one is a request or the results of calls."""
    return with_all_results(convert_messages(messages))


def convert_messages(messages: Sequence[JsonObject]) -> list[Message]:
    """Convert messages that end with a request or with the results of calls, which may be calls of other messages."""
    try:
        read = read_messages(messages)
    except ConfigurationError as error:
        raise ApiError("invalid", str(error)) from None
    if not read or read[-1].role == "assistant":
        raise ApiError("invalid", "The last message must be the request, of role 'user'; put it at the end.")
    if not read[-1].content:
        raise ApiError("invalid", "The last message is empty.")
    _check_media(read[-1])
    return read


def with_all_results(messages: Sequence[Message]) -> list[Message]:
    """Add a result for every call that the client has none for: a model accepts no call without one."""
    complete: list[Message] = []
    for number, message in enumerate(messages):
        following = messages[number + 1] if number + 1 < len(messages) else None
        if message.role == "tool" and not (complete and complete[-1].tool_calls):
            raise ApiError("invalid", f"Message {number} holds results, but the message before it has no calls.")
        complete.append(message)
        if not message.tool_calls:
            continue
        if following is not None and following.role == "tool":
            _check_calls(following, message, number + 1)
        blocks = following.content if following is not None and following.role == "tool" else []
        answered_ids = {block.id for block in blocks if isinstance(block, ToolResult)}
        missing = [
            ToolResult(id=call.id, name=call.name, status="cancelled", content=NO_RESULT)
            for call in message.tool_calls
            if call.id not in answered_ids
        ]
        if missing and following is not None and following.role == "tool":
            raise ApiError("invalid", f"The call {missing[0].id[:80]!r} has no result; answer all calls of a message.")
        if missing:
            complete.append(Message(role="tool", content=[*missing]))
    return complete


def _check_calls(results: Message, asked: Message, number: int) -> None:
    """Raise unless each result is the only one of a call in the message before it."""
    calls = {call.id for call in asked.tool_calls}
    for block in results.content:
        if isinstance(block, ToolResult) and block.id not in calls:
            why = f"Message {number} holds a result of {block.id[:80]!r}, which the message before it did not call, "
            raise ApiError("invalid", f"{why}or holds it twice.")
        calls.discard(block.id if isinstance(block, ToolResult) else "")


def _check_media(message: Message) -> None:
    for block in message.content:
        if not isinstance(block, Image | File):
            continue
        if block.data is not None:
            raw = decode_media(block.data)
            if isinstance(block, Image):
                sniff_image(raw)
        elif block.url is None or not block.url.startswith(("https://", "http://")):
            raise ApiError(
                "invalid", "A picture or file is a data: address, or one that begins with https:// or http://."
            )


def split_tools(body: JsonObject) -> tuple[list[JsonObject], list[str]]:
    """Split the tools of a body into functions, and the types of all others, which only a provider can host."""
    if body.get("tools") is None:
        return [], []
    tools = objects_in(body["tools"])
    if tools is None:
        raise ApiError("invalid", "tools is a list of tools.", param="tools")
    types = [str(tool.get("type"))[:40] for tool in tools if _is_hosted(tool)]
    return [tool for tool in tools if not _is_hosted(tool)], types


def _is_hosted(tool: JsonObject) -> bool:
    """Whether a tool is of another type than a function, and does not have its fields either."""
    return tool.get("type") not in (None, "function") and not isinstance(tool.get("function"), dict)


def read_tools(body: JsonObject) -> list[ToolDefinition] | None:
    """The client's own tools; None if the body does not name any."""
    if body.get("tools") is None:
        return None
    if not isinstance(body["tools"], list):
        raise ApiError("invalid", "tools is a list of tools.")
    return read_client_tools(as_list(body["tools"]))
