"""The title of a session, from its first request."""

from heald.core.messages import Message

TITLE_LENGTH = 80
"""Characters of a title."""


def make_title(message: Message) -> str:
    """Return the beginning of the first request, on one line."""
    words = " ".join(message.words.split())
    return words if len(words) <= TITLE_LENGTH else f"{words[: TITLE_LENGTH - 1].rstrip()}…"
