"""A session's title, where nobody gave it one."""

from weft.core.messages import Message

TITLE = 80
"""Characters of a title."""


def title_of(message: Message) -> str:
    """The beginning of the first request, on one line."""
    words = " ".join(message.words.split())
    return words if len(words) <= TITLE else f"{words[: TITLE - 1].rstrip()}…"
