"""Reads a prompt: the message that an exchange begins with, and the messages before it if there are any.

A prompt is a text, a part (an image, a file), a list of texts and parts, one message, or a list of messages that ends
with one of the user or with the results of calls. Messages may be ours or those of other programs; `message_forms` has
the forms.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

from heald.core.errors import ConfigurationError
from heald.core.json import JsonObject
from heald.core.message_forms import read_messages, read_parts, system_texts
from heald.core.messages import Block, File, Image, Message, Text, ToolResult
from heald.tools.result_text import plain_text

Prompt = str | Message | JsonObject | Sequence[str | Text | Image | File | Message | JsonObject]
"""A text, a message, a list of texts, images and files, or a list of messages; messages may have the forms of other
programs."""

_FORMS = "give a text, a message, a list of texts, images and files, or a list of messages"
_EMPTY = "The prompt is empty; give a text, an image or a file."
_PARTS = (str, Text, Image, File)


class ReadPrompt(msgspec.Struct, frozen=True):
    """A prompt as messages."""

    message: Message
    history: list[Message] = []
    """The messages before the request."""
    system: list[str] = []
    """The texts of the system messages."""

    @property
    def is_conversation(self) -> bool:
        """Whether it brings more than the request."""
        return bool(self.history or self.system)


def read_prompt(prompt: Prompt) -> ReadPrompt:
    """Read a prompt. Raises ConfigurationError for anything else than the forms of a prompt."""
    if isinstance(prompt, str):
        if not prompt:
            raise ConfigurationError(_EMPTY)
        return ReadPrompt(Message(role="user", content=[Text(plain_text(prompt))]))
    items = _items(prompt)
    if all(map(_is_message, items)):
        return _read_conversation(items)
    if not all(isinstance(item, _PARTS) or _is_part(item) for item in items):
        if isinstance(prompt, Mapping):
            raise ConfigurationError(f"The prompt is an object without a role or a type; {_FORMS}.")
        kinds = dict.fromkeys(type(item).__name__ for item in items)
        raise ConfigurationError(f"The prompt is a list of {' and '.join(kinds)}; {_FORMS}.")
    content = read_parts(plain_text(item) if isinstance(item, str) else item for item in items)
    return ReadPrompt(_request(Message(role="user", content=content)))


def _items(prompt: object) -> list[Any]:
    if isinstance(prompt, (Message, Mapping, *_PARTS)):
        items: list[Any] = [prompt]
    elif isinstance(prompt, list | tuple):
        items = list(cast("Sequence[Any]", prompt))
    else:
        raise ConfigurationError(f"The prompt is {_kind(prompt)}; {_FORMS}.")
    if not items:
        raise ConfigurationError(_EMPTY)
    return items


def _kind(prompt: object) -> str:
    return "None" if prompt is None else f"of the type {type(prompt).__name__}"


def _is_message(item: object) -> bool:
    return isinstance(item, Message) or (isinstance(item, Mapping) and "role" in item)


def _is_part(item: object) -> bool:
    return isinstance(item, Mapping) and ("type" in item or "text" in item)


def _read_conversation(items: Sequence[Message | Mapping[str, Any]]) -> ReadPrompt:
    messages = read_messages(items)
    if not messages or messages[-1].role == "assistant":
        role = messages[-1].role if messages else "system"
        raise ConfigurationError(
            f"An exchange begins with a user message, not with one of role {role!r}; put the request at the end."
        )
    return ReadPrompt(_request(messages[-1]), messages[:-1], system_texts(items))


def _request(message: Message) -> Message:
    """Return a message that an exchange can begin with."""
    if message.role == "tool":
        if not message.content or not all(isinstance(block, ToolResult) for block in message.content):
            raise ConfigurationError("A message of role 'tool' holds the results of calls and nothing else.")
    elif not any(_has_content(block) for block in message.content):
        raise ConfigurationError(_EMPTY)
    return message


def _has_content(block: Block) -> bool:
    return not isinstance(block, Text) or bool(block.text)


def as_request_message(prompt: Prompt) -> Message:
    """Return the one message that an exchange begins with: one of the user, or the results of the last calls."""
    request = read_prompt(prompt)
    if request.is_conversation:
        raise ConfigurationError(
            "Earlier messages and system messages cannot be sent here; give them to the agent, as history= and "
            "instructions=, and send the last message."
        )
    return request.message


def as_user_message(prompt: Prompt) -> Message:
    """Return the one message of the user that a prompt is."""
    message = as_request_message(prompt)
    if message.role != "user":
        raise ConfigurationError(f"An exchange begins with a user message, not with one of role {message.role!r}.")
    return message


def check_continues(messages: Sequence[Message], message: Message) -> None:
    """Raise ConfigurationError if a message of results does not answer the calls of the last message."""
    if message.role != "tool":
        return
    calls = (
        {call.id for call in messages[-1].tool_calls} if messages and messages[-1].role == "assistant" else set[str]()
    )
    results = [block.id for block in message.content if isinstance(block, ToolResult)]
    if not calls or set(results) != calls or len(results) != len(calls):
        raise ConfigurationError(
            "The results do not belong to the last message; a conversation continues with one result for each of its "
            "calls."
        )
