"""Builds the prompt of an agent from the messages that it has not seen."""

from collections.abc import Iterable, Sequence

from heald.core.json import JsonObject, as_object, encode_text
from heald.core.messages import Block, File, Image, Message, Text, ToolCall, ToolResult

_INSTRUCTIONS = "Instructions for this conversation:\n\n"
_BEFORE = "The conversation so far, as text:\n\n"
_NOW = "\n\nThat was before. Now:\n\n"
_GO_ON = "Go on from where this ended."
_MAX_RESULT = 4000


def build_prompt(unseen: Sequence[Message], instructions: str, capabilities: JsonObject) -> list[JsonObject]:
    """Return the content of one prompt. Earlier messages are sent as text, and instructions once, before them."""
    first = len(unseen)
    while first and unseen[first - 1].role == "user":
        first -= 1
    has_images = bool(as_object(capabilities.get("promptCapabilities")).get("image"))
    parts: list[JsonObject] = []
    if instructions.strip():
        parts.append(_text(f"{_INSTRUCTIONS}{instructions.strip()}\n\n"))
    if first:
        before = "".join(_describe_message(message) for message in unseen[:first])
        parts.append(_text(f"{_BEFORE}{before}{_NOW}"))
    now = [part for message in unseen[first:] for block in message.content for part in _encode(block, has_images)]
    return [*parts, *(now or [_text(_GO_ON)])]


def _encode(block: Block, has_images: bool) -> Iterable[JsonObject]:
    match block:
        case Text(text=text):
            yield _text(text)
        case Image(data=str(data), media_type=media_type) if has_images:
            yield {"type": "image", "data": data, "mimeType": media_type}
        case Image(url=str(url)) | File(url=str(url)):
            yield {"type": "resource_link", "uri": url, "name": url}
        case File(data=str(data), media_type=media_type, name=name):
            uri = f"heald:///{name or 'file'}"
            yield {"type": "resource", "resource": {"uri": uri, "mimeType": media_type, "blob": data}}
        case Image():
            yield _text("[A picture that this agent cannot be shown.]")
        case _:
            return


def _describe_message(message: Message) -> str:
    who = {"user": "User", "assistant": "Assistant", "tool": "Results"}[message.role]
    parts = "".join(_describe_block(block) for block in message.content)
    return f"{who}: {parts}\n" if parts else ""


def _describe_block(block: Block) -> str:
    match block:
        case Text(text=text):
            return text
        case ToolCall(name=name, input=arguments):
            return f"[called {name} with {encode_text(arguments)[:_MAX_RESULT]}]"
        case ToolResult(name=name, status=status):
            return f"[{name}: {status}: {block.text[:_MAX_RESULT]}]"
        case Image() | File():
            return "[a picture or file]"
        case _:
            return ""


def _text(text: str) -> JsonObject:
    return {"type": "text", "text": text}
