"""Recognises answers of small models that speak of a call instead of making it."""

import re

from weft.core.lazy import lazy_pattern

UNREAD_CALL = (
    "Your last message holds a call that could not be read, so nothing was run. Call one of the tools with arguments "
    "that are valid JSON for its schema, or answer in plain text."
)
ANNOUNCED = (
    "Your last message announces a step, and no tool was called, so nothing was done. Call the tool now; if the work "
    "is done, give the final answer."
)
UNCHANGED = (
    "You have written what the file holds already, so nothing has changed. Find the line that must be different, then "
    "write the complete file with that line changed. If the file is right as it is, explain why."
)
_STEP = lazy_pattern(
    r"(?:(?:first|now|next|then|so|okay|ok|sure)[,.!]?\s+)*(?:I(?:'ll|’ll|\s+will|\s+am\s+going\s+to|'m\s+going\s+to)"
    r"|let\s+me|let's)\s+(?:now\s+|first\s+|start\s+by\s+|begin\s+by\s+|proceed\s+to\s+|go\s+ahead\s+and\s+)?"
    r"(?:read|open|look|check|search|list|find|writ|creat|edit|updat|chang|add|run|execut|call|us|modify|fix|inspect"
    r"|examin|view|fetch)(?:e|s|ing|ning)?\b",
    re.I,
)
_LAST = 240


def announces_step(text: str) -> bool:
    """Return whether the last sentence of an answer announces something that only a tool can do."""
    end = text.rstrip()[-_LAST:]
    if end.endswith("```"):
        return False
    sentences = [part for part in re.split(r"(?<=[.!?:…])\s+|\n+", end) if part.strip()]
    return bool(sentences) and _STEP.match(sentences[-1].strip()) is not None
