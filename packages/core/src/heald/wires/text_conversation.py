"""The conversation of a model that writes files as text."""

import re
from collections.abc import Mapping

import msgspec

from heald.core.json import encode_text
from heald.core.messages import Message, Text, ToolResult
from heald.wires.pytest_report import shorten_report
from heald.wires.text_edits import FILES_HEADING

_LINE_END = "\n"


def text_conversation(
    messages: list[Message], attached: str, *, short_reports: bool = False, drops_answer: bool = False
) -> list[Message]:
    """Return a conversation without calls: files are written out, results are words of the user.

    The attached files stand with the last request. Messages of one role that follow each other become one. Reports of
    tests can be shortened to their failures, and the answer before the last request left out.
    """
    if drops_answer:
        messages = _without_answer(messages)
    plain: list[Message] = []
    for message in messages:
        text = _plain_text(message)
        role = "user" if message.role == "tool" else message.role
        if short_reports and role == "user":
            text = shorten_report(text)
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


def _without_answer(messages: list[Message]) -> list[Message]:
    """The conversation without the answer before the last request, and its results."""
    users = [at for at, message in enumerate(messages) if message.role == "user"]
    if len(users) <= 1:
        return messages
    return [*messages[: users[-2] + 1], *messages[users[-1] :]]


def describe_files(texts: Mapping[str, str]) -> str:
    """Show files to the model, as the example does."""
    parts = [_written_file(path, text) for path, text in texts.items()]
    return "\n\n".join([FILES_HEADING, *parts]) if parts else ""


def _written_file(path: str, text: str) -> str:
    """A file as the model writes it. The fence is longer than those inside the file."""
    marks = "`" * max([3, *(len(run) + 1 for run in re.findall(r"^[ \t]{0,3}(`{3,})", text, re.M))])
    text = text.replace("\r\n", "\n").removesuffix(_LINE_END)
    return f"{path}\n{marks}\n{text}{_LINE_END}{marks}"


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
        return _written_file(path, content)
    if isinstance(path, str) and isinstance(edits, list):
        parts = [
            f"<<<<<<< SEARCH\n{edit.get('old_text', '')}\n=======\n{edit.get('new_text', '')}\n>>>>>>> REPLACE"
            for edit in msgspec.convert(edits, list[dict[str, object]])
        ]
        return f"{path}\n```\n" + "\n".join(parts) + "\n```"
    if isinstance(patch := arguments.get("patch"), str):
        return f"```diff\n{patch.removesuffix(_LINE_END)}\n```"
    return f"[{name} was called with {encode_text(arguments)[:400]}]"
