"""A conversation that no longer fits, made shorter where it hurts least: old results of tools, and old pictures.

No message goes, so no call loses its result and no answer its question.
"""

from collections.abc import Sequence

import msgspec

from weft.core.content import File, Image, Text
from weft.core.messages import Block, Message
from weft.core.tools import ToolResult

_KEPT = 300
"""Characters of an old result that stay."""
_RECENT = 4
"""Messages at the end that are left as they are."""
_WORTH_IT = 0.1
"""The share of the whole that must go, or another try would bring the same."""


def compact(messages: Sequence[Message]) -> list[Message] | None:
    """The conversation with old results and pictures shortened. None if that would not help."""
    shorter = [_shortened(message) for message in messages[:-_RECENT]] + list(messages[-_RECENT:])
    before, after = sum(map(_size, messages)), sum(map(_size, shorter))
    return shorter if before - after >= before * _WORTH_IT else None


def _shortened(message: Message) -> Message:
    if message.role == "assistant":
        return message
    return msgspec.structs.replace(message, content=[_short(block) for block in message.content])


def _short(block: Block) -> Block:
    match block:
        case ToolResult():
            text = block.text
            media = not isinstance(block.content, str) and len(block.content) > 1
            if len(text) <= 2 * _KEPT and not media:
                return block
            left_out = f"{text[:_KEPT]}\n[… left out to save space; call the tool again if you need it]"
            return msgspec.structs.replace(block, content=left_out, truncated=True)
        case Image():
            return Text("[A picture, left out to save space.]")
        case File():
            return Text(f"[The file {block.name or 'attached'}, left out to save space.]")
        case _:
            return block


def _size(message: Message) -> int:
    return sum(map(_block_size, message.content))


def _block_size(block: Block) -> int:
    match block:
        case Image(data=data) | File(data=data):
            return len(data or "")
        case ToolResult(content=str(text)):
            return len(text)
        case ToolResult(content=list(parts)):
            return sum(_block_size(part) for part in parts)
        case Text(text=text):
            return len(text)
        case _:
            return 0
