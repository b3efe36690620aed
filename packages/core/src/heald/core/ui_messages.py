"""Converts the UI messages of the AI SDK, whose content is a list of `parts`, to messages with blocks."""

from collections.abc import Iterable, Sequence

from heald.core.errors import ConfigurationError
from heald.core.json import JsonObject, as_object, as_objects, encode_text

NO_RESULT = "The client sent no result of this call."
_DENIED = "The user denied this call."
_DISPLAYED = ("data-", "source-", "step-start", "reasoning", "custom")
"""Types of parts that are only displayed; the session has its own, with all that its provider needs."""


def from_ui_messages(messages: Sequence[JsonObject], first: int = 0) -> list[JsonObject]:
    """Convert UI messages to messages with blocks. Raises ConfigurationError for a part that cannot be read.

    `first` is the number of the first message in its conversation, for errors.
    """
    converted: list[JsonObject] = []
    for number, message in enumerate(messages, first):
        if message.get("role") == "assistant":
            converted += _assistant_messages(message)
            continue
        content = [block for part in as_objects(message.get("parts")) for block in _user_part(part, number)]
        converted.append({"role": message.get("role"), "content": content})
    return converted


def is_tool_part(part: JsonObject) -> bool:
    kind = str(part.get("type"))
    return kind.startswith("tool-") or kind == "dynamic-tool"


def file_part(url: object, media_type: object, name: object, number: int) -> JsonObject:
    """A picture or file of a client, by its address or as a data: address."""
    if not isinstance(url, str) or not isinstance(media_type, str):
        raise ConfigurationError(f"A file in message {number} has no url or no media type.")
    is_picture = media_type.startswith("image/")
    part: JsonObject = {"type": "image" if is_picture else "file", "media_type": media_type}
    head, _, data = url.partition(";base64,")
    if url.startswith("data:"):
        if not data:
            raise ConfigurationError(f"The data: address of a file in message {number} is not base64.")
        kind = head.removeprefix("data:").partition(";")[0]
        part |= {"data": data, "media_type": kind or media_type}
    elif url.startswith(("https://", "http://")):
        part["url"] = url
    else:
        raise ConfigurationError(f"A file in message {number} is a data: address, or one that begins with https://.")
    return part | ({"name": name} if isinstance(name, str) and not is_picture else {})


def _user_part(part: JsonObject, number: int) -> list[JsonObject]:
    kind = str(part.get("type"))
    if kind == "text":
        return [{"type": "text", "text": part["text"]}] if isinstance(part.get("text"), str) else []
    if kind == "file":
        return [file_part(part.get("url"), part.get("mediaType"), part.get("filename"), number)]
    if kind.startswith(_DISPLAYED):
        return []
    raise ConfigurationError(
        f"Message {number} has a part of the type {kind[:40]!r}, which a user's message cannot have."
    )


def _assistant_messages(message: JsonObject) -> list[JsonObject]:
    converted: list[JsonObject] = []
    for step in _steps(as_objects(message.get("parts"))):
        blocks: list[JsonObject] = []
        results: list[JsonObject] = []
        for part in step:
            if part.get("type") == "text" and part.get("text"):
                blocks.append({"type": "text", "text": str(part["text"])})
            elif is_tool_part(part) and isinstance(part.get("toolCallId"), str):
                name = str(part.get("toolName") or str(part["type"]).removeprefix("tool-"))
                call = {"id": part["toolCallId"], "name": name}
                blocks.append({"type": "tool_use", **call, "input": as_object(part.get("input"))})
                results.append(
                    {"type": "tool_result", "tool_use_id": part["toolCallId"], "name": name, **_result(part)}
                )
        if blocks:
            converted.append({"role": "assistant", "content": blocks})
        if results:
            converted.append({"role": "tool", "content": results})
    return converted


def _steps(parts: Iterable[JsonObject]) -> list[list[JsonObject]]:
    """The parts by step, without the steps of dropped attempts."""
    steps: list[list[JsonObject]] = [[]]
    for part in parts:
        if part.get("type") == "data-discarded":
            steps[-1] = []
        elif part.get("type") == "step-start":
            steps.append([])
        else:
            steps[-1].append(part)
    return steps


def _result(part: JsonObject) -> JsonObject:
    match part.get("state"):
        case "output-available":
            output = part.get("output")
            return {"content": output if isinstance(output, str) else encode_text(output)}
        case "output-error":
            return {"content": str(part.get("errorText") or ""), "is_error": True}
        case "output-denied":
            return {"content": _DENIED, "is_error": True}
        case _:
            return {"content": NO_RESULT, "is_error": True}
