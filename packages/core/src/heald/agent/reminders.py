"""Reminders: asks a model that wrote about a call instead of making it to make it."""

import re

import msgspec

from heald.agent.strategy import Strategy, Verdict
from heald.core.lazy import lazy_pattern
from heald.core.messages import user_message
from heald.providers.base import ProviderTurn

UNREAD_CALL = (
    "Your last message contains a tool call that could not be parsed, so nothing was run. Call the tool again with "
    "arguments that fit its schema: an argument that is a string has one value, so call the tool once for each value. "
    "Or answer in plain text."
)
ANNOUNCED = (
    "Your last message announces a step but calls no tool, so nothing was done. Call the tool now, or give the final "
    "answer if the work is done."
)
_SAID = {
    UNREAD_CALL: "Reminded the model: it wrote a call that cannot be read.",
    ANNOUNCED: "Reminded the model: it announced a step and called no tool.",
}
"""What people see of a reminder."""
_STEP = lazy_pattern(
    r"(?:(?:first|now|next|then|so|okay|ok|sure)[,.!]?\s+)*(?:I(?:'ll|’ll|\s+will|\s+am\s+going\s+to|'m\s+going\s+to)"
    r"|let\s+me|let's)\s+(?:now\s+|first\s+|start\s+by\s+|begin\s+by\s+|proceed\s+to\s+|go\s+ahead\s+and\s+)?"
    r"(?:read|open|look|check|search|list|find|writ|creat|edit|updat|chang|add|run|execut|call|us|modify|fix|inspect"
    r"|examin|view|fetch)(?:e|s|ing|ning)?\b",
    re.I,
)
_SENTENCE_END = lazy_pattern(r"(?<=[.!?:…])\s+|\n+")
_LAST = 240  # characters of an answer, in which its last sentence is looked for


class Reminders(Strategy):
    """Reminds, once in an exchange, a model whose server does not parse all calls."""

    def __init__(self) -> None:
        self._reminded: str | None = None  # the exchange with the last reminder

    def after_turn(self, turn: ProviderTurn) -> Verdict:
        session, exchange = self.conversation.session, self.conversation.exchange
        if turn.tool_calls or self._reminded == exchange:
            return None
        if not session.tools or not getattr(session, "may_write_calls", False):
            return None
        reminder = UNREAD_CALL if turn.unread_call else ANNOUNCED if announces_step(turn.text) else None
        if reminder is None:
            return None
        self._reminded = exchange
        return msgspec.structs.replace(user_message(reminder), said=_SAID[reminder])


def announces_step(text: str) -> bool:
    """Return whether the last sentence of an answer announces something that only a tool can do."""
    end = text.rstrip()[-_LAST:]
    if end.endswith("```"):
        return False
    sentences = [part for part in _SENTENCE_END.split(end) if part.strip()]
    return bool(sentences) and _STEP.match(sentences[-1].strip()) is not None
