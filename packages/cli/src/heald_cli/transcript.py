"""Prints the stored events of a session as the transcript of a conversation."""

from heald.commands.terminal import BOLD, DIM, RED, Colours
from heald.core.context_events import ConversationCompacted, RequestWithdrawn
from heald.core.envelope import Event
from heald.core.events import (
    AgentChanged,
    AssistantMessage,
    ErrorMessage,
    ExchangeResponse,
    SessionForked,
    SessionRewound,
    ToolCompleted,
    ToolExecuting,
    ToolFailed,
    UserMessage,
)
from heald.core.messages import File, Image, Message
from heald.tools.sanitize import sanitize_text
from heald_cli.event_text import call_line, describe_agent, describe_context, describe_exchange

_MAX_COMMAND_LINES = 6
"""Lines of what the model was shown of a command of the person."""


class Transcript:
    """Turns the events of a session, in order, into the lines of a conversation."""

    def __init__(self, paint: Colours) -> None:
        self._paint = paint
        self._session = ""
        self._asked: dict[str, str] = {}

    def lines(self, event: Event) -> list[str]:
        self._session = self._session or event.session
        if event.session != self._session:
            return []  # of a subagent: its call has the result
        match event.data:
            case UserMessage(message=message) if message.role == "user":
                rows = [self._paint(line, DIM) for line in _command_lines(message)]
                return ["", *(self._paint(line, BOLD) for line in _request_lines(message)), *rows]
            case AssistantMessage(message=message) if message.text.strip():
                return ["", *sanitize_text(message.text.strip()).splitlines()]
            case ToolExecuting(id=call, summary=summary):
                self._asked[call] = summary
                return []
            case ToolCompleted() | ToolFailed():
                return [call_line(event.data, self._asked.pop(event.data.id, ""), self._paint)]
            case ErrorMessage(error=error):
                return [self._paint(sanitize_text(error.message), RED)]
            case ExchangeResponse():
                return [self._paint(describe_exchange(event.data), DIM)]
            case ConversationCompacted() | RequestWithdrawn():
                return [self._paint(describe_context(event.data), DIM)]
            case SessionForked(parent=parent, seq=seq, changed=changed):
                what = f"another {' and '.join(changed)}" if changed else "the turn requested again"
                return [self._paint(f"(forked from {sanitize_text(parent)} at event {seq}: {what})", DIM)]
            case AgentChanged():
                return [self._paint(describe_agent(event.data), DIM)]
            case SessionRewound(seq=seq):
                return [self._paint(f"(the conversation went back to event {seq})", DIM)]
            case _:
                return []


def _request_lines(message: Message) -> list[str]:
    pictures = sum(isinstance(block, Image | File) for block in message.content)
    plural = "s" * (pictures != 1)
    more = [f"({pictures} picture{plural} or file{plural})"] * bool(pictures)
    first, *rest = [*sanitize_text(message.words).splitlines(), *more] or [""]
    return [f"› {first}", *(f"  {line}" for line in rest)]


def _command_lines(message: Message) -> list[str]:
    """Return what the model was shown of a command such as `!git status` or of a sub-agent that ended."""
    if not (message.said or "").startswith("!"):
        return []
    lines = [line for line in sanitize_text(message.text).splitlines() if line.strip()]
    left = len(lines) - _MAX_COMMAND_LINES
    rest = [f"  … {left} more line{'s' * (left != 1)}"] if left > 0 else []
    return [*(f"  {line}" for line in lines[:_MAX_COMMAND_LINES]), *rest]
