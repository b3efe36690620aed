"""What the SDK is told: the new messages of the user, and what it has not seen of the conversation, as text.

The SDK keeps its own history. What happened elsewhere (another model, another machine) can only be told to it: texts,
pictures, and calls with their results as lines. Thinking, signatures and the calls as calls do not carry over.
"""

from collections.abc import Sequence

from weft.core.content import File, Image, Text
from weft.core.json import JsonObject, encode_text
from weft.core.messages import Block, Message
from weft.core.tools import ToolCall, ToolResult
from weft.wires.messages.request import content_part

_BEFORE = "What was said before, as far as it can be told here:\n\n"
_NOW = "\n\nThat was before. Now:\n\n"
_GO_ON = "Go on from where this ended."
_MAX_RESULT = 4000


def prompt_of(unseen: Sequence[Message]) -> list[JsonObject]:
    """The content of one user message that says all of it."""
    new = len(unseen)
    while new and unseen[new - 1].role == "user":
        new -= 1
    now = [content_part(block) for message in unseen[new:] for block in message.content]
    if not new:
        return now
    before = [part for message in unseen[:new] for part in _told(message)]
    return [_text(_BEFORE), *before, _text(_NOW), *(now or [_text(_GO_ON)])]


def _told(message: Message) -> list[JsonObject]:
    who = {"user": "User", "assistant": "Assistant", "tool": "Results"}[message.role]
    said = [part for block in message.content if (part := _said(block)) is not None]
    return [_text(f"{who}: "), *said, _text("\n")] if said else []


def _said(block: Block) -> JsonObject | None:
    match block:
        case Text(text=text):
            return _text(text)
        case Image() | File():
            return content_part(block)
        case ToolCall(name=name, input=arguments):
            return _text(f"[called {name} with {encode_text(arguments)[:_MAX_RESULT]}]")
        case ToolResult(name=name, status=status):
            return _text(f"[{name}: {status}: {block.text[:_MAX_RESULT]}]")
        case _:
            return None


def _text(text: str) -> JsonObject:
    return {"type": "text", "text": text}
