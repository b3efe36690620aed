"""The text of sessions, for searching in all of it."""

from collections import OrderedDict
from typing import NamedTuple

from heald.core.events import AssistantMessage, ToolUseMessage, UserMessage
from heald.core.json import encode_text
from heald.core.messages import Message, Text
from heald.sessions.session_info import SessionInfo
from heald.sessions.store import Store, iterate_events

_MAX_CACHED = 32_000_000  # characters of all sessions in memory
_MAX_ENTRY = 200_000  # characters of one message that are searched


class TextEntry(NamedTuple):
    """The text of one message or call, and its place in the log."""

    seq: int
    role: str
    text: str
    folded: str
    """The text without case."""


class SessionTexts:
    """Reads the texts of sessions. Those that were read last stay in memory until their log grows."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._cached: OrderedDict[str, tuple[int, list[TextEntry], int]] = OrderedDict()
        self._characters = 0

    async def read(self, info: SessionInfo) -> list[TextEntry]:
        """Return the messages and calls of a session, in their order."""
        cached = self._cached.get(info.id)
        if cached is not None and cached[0] == info.last_seq:
            self._cached.move_to_end(info.id)
            return cached[1]
        entries = [
            entry async for event in iterate_events(self._store, info.id) if (entry := _entry_of(event.seq, event.data))
        ]
        self._forget(info.id)
        size = sum(len(entry.text) + len(entry.folded) for entry in entries)
        self._cached[info.id] = info.last_seq, entries, size
        self._characters += size
        while self._characters > _MAX_CACHED and len(self._cached) > 1:
            self._forget(next(iter(self._cached)))
        return entries

    def _forget(self, session: str) -> None:
        cached = self._cached.pop(session, None)
        if cached is not None:
            self._characters -= cached[2]


def _entry_of(seq: int, data: object) -> TextEntry | None:
    match data:
        case UserMessage(message=message):
            role, text = "user", message.said or _text_of(message)
        case AssistantMessage(message=message):
            role, text = "assistant", _text_of(message)
        case ToolUseMessage(call=call, result=result) if result is not None:
            parts = [part.text for part in result.content if isinstance(part, Text)]
            role, text = "tool", "\n".join([call.name, encode_text(call.input), *parts])
        case _:
            return None
    text = text[:_MAX_ENTRY]
    return TextEntry(seq, role, text, text.casefold()) if text.strip() else None


def _text_of(message: Message) -> str:
    return "\n".join(block.text for block in message.content if isinstance(block, Text))
