"""The conversation of a model that writes files as text."""

from collections.abc import Mapping

import msgspec

from heald.core.json import encode_text
from heald.core.messages import Message, Text, ToolResult
from heald.wires.text_edits import FILES_HEADING

_LINE_END = "\n"


def text_conversation(messages: list[Message], attached: str) -> list[Message]:
    """Return a conversation without calls: files are written out, results are words of the user.

    The attached files stand with the last request. Messages of one role that follow each other become one.
    """
    plain: list[Message] = []
    for message in messages:
        text = _plain_text(message)
        role = "user" if message.role == "tool" else message.role
        media = [block for block in message.content if not isinstance(block, Text) and role == "user"]
        media = [block for block in media if not isinstance(block, ToolResult)]
        if not text and not media:
            continue
        if plain and plain[-1].role == role:
            before = plain.pop()
            earlier_media = [block for block in before.content if not isinstance(block, Text)]
            text, media = "\n\n".join(part for part in (before.text, text) if part), [*earlier_media, *media]
        plain.append(Message(role=role, content=[*media, *([Text(text)] if text else [])]))
    for place in range(len(plain) - 1, -1, -1):
        if plain[place].role == "user" and attached:
            content = plain[place].content
            plain[place] = Message(role="user", content=[Text(f"{attached}\n\n"), *content])
            break
    return plain


def describe_files(texts: Mapping[str, str]) -> str:
    """Show files to the model, as the example does."""
    parts = [f"{path}\n```\n{text.removesuffix(_LINE_END)}{_LINE_END}```" for path, text in texts.items()]
    return "\n\n".join([FILES_HEADING, *parts]) if parts else ""


def _plain_text(message: Message) -> str:
    if message.role == "tool":
        failed = [block for block in message.content if isinstance(block, ToolResult) and block.status != "ok"]
        return "\n".join(f"That could not be done: {result.text}" for result in failed)
    parts = [message.text.strip()]
    parts += [_written_call(call.name, call.input) for call in message.tool_calls]
    return "\n\n".join(part for part in parts if part)


def _written_call(name: str, arguments: Mapping[str, object]) -> str:
    path, content, edits = arguments.get("path"), arguments.get("content"), arguments.get("edits")
    if isinstance(path, str) and isinstance(content, str):
        return f"{path}\n```\n{content}```" if content.endswith("\n") else f"{path}\n```\n{content}\n```"
    if isinstance(path, str) and isinstance(edits, list):
        parts = [
            f"<<<<<<< SEARCH\n{edit.get('old_text', '')}\n=======\n{edit.get('new_text', '')}\n>>>>>>> REPLACE"
            for edit in msgspec.convert(edits, list[dict[str, object]])
        ]
        return f"{path}\n```\n" + "\n".join(parts) + "\n```"
    return f"[{name} was called with {encode_text(arguments)[:400]}]"
