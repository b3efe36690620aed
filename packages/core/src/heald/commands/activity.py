"""Describes what an agent does, in a few words."""

from heald.core.events import FilePreview, MessageStart, RetryScheduled, TextDelta, ThinkingDelta, ToolExecuting
from heald.core.payload import Payload
from heald.tools.sanitize import sanitize_text


def describe_activity(payload: Payload) -> str:
    """Describe in a few words what an agent does from this event on; empty if the event does not show it."""
    match payload:
        case MessageStart() | ThinkingDelta():
            return "thinking"
        case TextDelta():
            return "writing text"
        case FilePreview(path=path, offset=offset, text=text):
            return f"writing {sanitize_text(path)}, {offset + len(text):,} characters"
        case ToolExecuting(name=name, summary=summary):
            return sanitize_text(" ".join(f"{name} {summary}".split()))
        case RetryScheduled(delay_s=delay, error=error):
            return sanitize_text(f"waiting {delay:.0f} s: {error.message}")
        case _:
            return ""
