"""A log as people read it: who said what, a line for each tool, what it came to."""

from weft.cli.paint import BOLD, DIM, GREEN, RED, Paint, dollars, seconds
from weft.core.content import File, Image
from weft.core.envelope import Event
from weft.core.events import (
    AssistantMessage,
    ErrorMessage,
    ExchangeResponse,
    SessionRewound,
    ToolCompleted,
    ToolExecuting,
    ToolFailed,
    UserMessage,
)
from weft.core.messages import Message
from weft.tools.printable import printable


class Transcript:
    """Feed it a session's events in order; it gives the lines to show for each."""

    def __init__(self, paint: Paint) -> None:
        self._paint = paint
        self._session = ""
        self._asked: dict[str, str] = {}

    def lines(self, event: Event) -> list[str]:
        self._session = self._session or event.session
        if event.session != self._session:
            return []  # one that works for it: its call says what came of it
        match event.data:
            case UserMessage(message=message):
                return ["", *(self._paint(line, BOLD) for line in _prompt(message))]
            case AssistantMessage(message=message) if message.text.strip():
                return ["", *printable(message.text.strip()).splitlines()]
            case ToolExecuting(id=call, summary=summary):
                self._asked[call] = summary
                return []
            case ToolCompleted(id=call, name=name, duration_ms=took, summary=said):
                return [self._tool("✓", GREEN, call, name, took, said)]
            case ToolFailed(id=call, name=name, status=status, duration_ms=took, summary=said):
                return [self._tool("✗", RED, call, name, took, f"{status}: {said}")]
            case ErrorMessage(error=error):
                return [self._paint(printable(error.message), RED)]
            case ExchangeResponse():
                return [self._paint(ending(event.data), DIM)]
            case SessionRewound(seq=seq):
                return [self._paint(f"(the conversation went back to event {seq})", DIM)]
            case _:
                return []

    def _tool(self, mark: str, colour: str, call: str, name: str, took: float, said: str) -> str:
        asked = self._asked.pop(call, "")
        return f"{self._paint(mark, colour)} {tool_line(name, asked, took, said)}"


def tool_line(name: str, asked: str, took: float, said: str) -> str:
    """A call that is over, in one line."""
    return " ".join(printable(f"{name} {asked} ({seconds(took / 1000)}) {said}").split())


def ending(response: ExchangeResponse) -> str:
    """What an exchange came to."""
    usage = response.usage
    parts = [f"{_count(usage.total_input)} in", f"{_count(usage.total_output)} out", dollars(response.cost_usd)]
    parts += [seconds(response.duration_ms / 1000)]
    parts += [f"{response.turns} turns"] * (response.turns > 1)
    parts += [response.status] * (response.status != "completed")
    note = f". {response.note}" if response.note is not None else ""
    return f"({', '.join(parts)}{note})"


def _prompt(message: Message) -> list[str]:
    pictures = sum(isinstance(block, Image | File) for block in message.content)
    more = [f"({pictures} picture{'s' * (pictures != 1)} or files)"] * bool(pictures)
    first, *rest = [*printable(message.words).splitlines(), *more] or [""]
    return [f"› {first}", *(f"  {line}" for line in rest)]


def _count(tokens: int | None) -> str:
    return "unknown" if tokens is None else f"{tokens:,}"
