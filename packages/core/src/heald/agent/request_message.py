"""The message that an exchange begins with."""

from collections.abc import Sequence

from heald.core.errors import ConfigurationError
from heald.core.json import JsonObject
from heald.core.message_forms import read_messages
from heald.core.messages import File, Image, Message, Text, ToolResult, user_message
from heald.tools.result_text import plain_text

Prompt = str | Message | JsonObject | Sequence[str | Text | Image | File]


def as_request_message(prompt: Prompt) -> Message:
    """Return the message that an exchange begins with: one of the user, or the results of the last calls."""
    prompt = _read_prompt(prompt)
    if isinstance(prompt, Message) and prompt.role == "tool":
        if not prompt.content or not all(isinstance(block, ToolResult) for block in prompt.content):
            raise ConfigurationError("A message of role 'tool' holds the results of calls and nothing else.")
        return prompt
    return as_user_message(prompt)


def _read_prompt(prompt: Prompt) -> str | Message | Sequence[str | Text | Image | File]:
    """Convert a message of another form."""
    if not isinstance(prompt, dict):
        return prompt
    messages = read_messages([prompt])
    if len(messages) != 1:
        raise ConfigurationError("The request must be one message, of the user or with results, and no system message.")
    return messages[0]


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


def as_user_message(prompt: Prompt) -> Message:
    prompt = _read_prompt(prompt)
    if isinstance(prompt, Message):
        if prompt.role != "user":
            raise ConfigurationError(f"An exchange begins with a user message, not with one of role {prompt.role!r}.")
        return prompt
    parts = [prompt] if isinstance(prompt, str) else prompt
    return user_message(*(plain_text(part) if isinstance(part, str) else part for part in parts))
