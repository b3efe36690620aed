"""Shows the subagents of a conversation: a row for each that works, and a line for each of its finished calls."""

from heald.commands.terminal import DIM, Colours
from heald.commands.text_columns import truncate
from heald.core.envelope import Event
from heald.core.events import (
    ErrorMessage,
    ExchangeRequest,
    ExchangeResponse,
    MessageStart,
    TextDelta,
    ToolCompleted,
    ToolExecuting,
    ToolFailed,
)
from heald.tools.sanitize import sanitize_text
from heald_cli.event_text import call_line

_MARK = "↳"
_MAX_ROWS = 6
_COLUMNS = 35


class Subagents:
    """The subagents at work, by their sessions."""

    def __init__(self, paint: Colours) -> None:
        self._paint = paint
        self._tasks: dict[str, str] = {}
        self._activities: dict[str, str] = {}
        self._asked: dict[str, str] = {}

    @property
    def rows(self) -> list[str]:
        """One row for each subagent that works: its task and what it does now."""
        rows = [f"  {_MARK} {task}: {self._activities.get(name, 'begins')}" for name, task in self._tasks.items()]
        more = [f"  {_MARK} and {len(rows) - _MAX_ROWS} more"] if len(rows) > _MAX_ROWS else []
        return [self._paint(row, DIM) for row in [*rows[:_MAX_ROWS], *more]]

    def clear(self) -> None:
        self._tasks.clear()
        self._activities.clear()
        self._asked.clear()

    def lines_of(self, event: Event) -> list[str]:
        """Follow an event of a subagent. Returns the lines to print."""
        session = event.session
        match event.data:
            case ExchangeRequest(message=message):
                self._tasks[session] = _one_line(message.words)
            case MessageStart():
                self._activities[session] = "thinking"
            case TextDelta():
                self._activities[session] = "answers"
            case ToolExecuting(id=call, name=name, summary=summary):
                self._asked[call] = summary
                self._activities[session] = _one_line(f"{name} {summary}")
            case ToolCompleted() | ToolFailed():
                line = call_line(event.data, self._asked.pop(event.data.id, ""), self._paint)
                return [f"  {_MARK} {line}"]
            case ErrorMessage(error=error):
                return [f"  {_MARK} {sanitize_text(error.message)}"]
            case ExchangeResponse(status=status):
                task = self._tasks.pop(session, "a subagent")
                self._activities.pop(session, None)
                return [self._paint(f"  {_MARK} {task}: {status}", DIM)]
            case _:
                pass
        return []


def _one_line(text: str) -> str:
    return truncate(" ".join(sanitize_text(text).split()), _COLUMNS)
