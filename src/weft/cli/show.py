"""Events as they are shown on a terminal, or as lines of JSON."""

import shutil
import sys
from collections.abc import Callable
from time import monotonic

from weft.cli.paint import cut, has_colours, seconds
from weft.core.envelope import Event
from weft.core.events import (
    ApprovalRequested,
    ApprovalResolved,
    ExchangeResponse,
    MessageDiscarded,
    QuestionAnswered,
    QuestionAsked,
    RetryScheduled,
    TextDelta,
    ThinkingDelta,
    ToolCompleted,
    ToolExecuting,
    ToolFailed,
)
from weft.core.json import encode_text
from weft.tools.printable import PrintableStream, printable


class Reader:
    """Whoever reads what is shown. When they leave, nothing is worth going on."""

    def __init__(self, show: Callable[[Event], None], leave: Callable[[str], object]) -> None:
        self._show = show
        self._leave = leave
        self._gone: BrokenPipeError | None = None

    def __call__(self, event: Event) -> None:
        if self._gone is not None:
            return
        try:
            self._show(event)
        except BrokenPipeError as gone:
            self._gone = gone
            self._leave("Nobody reads what is written.")

    def check(self) -> None:
        """Raise what was met on the way."""
        if self._gone is not None:
            raise self._gone


class JsonLines:
    """Every event as one line of JSON on standard output."""

    def __call__(self, event: Event) -> None:
        print(encode_text(event), flush=True)


class Terminal:
    """Text to standard output, all else to standard error: a line for each tool, the cost at the end."""

    def __init__(self) -> None:
        self._colours = has_colours(sys.stderr)
        self._watched = sys.stderr.isatty()
        self._text = PrintableStream() if sys.stdout.isatty() else None  # a pipe gets it to the letter
        self._thoughts = PrintableStream()
        self._shown = ""  # the last of what was written to standard output
        self._thinking = False
        self._calls: dict[str, str] = {}
        self._doing = "asks the model"
        self._since = monotonic()
        self._waits = False  # the line that says so is on the screen
        self._asked = 0  # what a person is asked now: the line is theirs

    def tick(self) -> None:
        """On a terminal, say what is waited for, once that takes longer than a second."""
        took = monotonic() - self._since
        if (
            not self._watched
            or self._asked
            or self._thinking
            or took < 1
            or (self._shown and not self._shown.endswith("\n"))
        ):
            return
        self._waits = True
        line = printable(cut(f"… {self._doing}, {seconds(took)}", shutil.get_terminal_size().columns - 1))
        print(f"\r\x1b[K{self._colour(line, '2')}", end="", file=sys.stderr, flush=True)

    def __call__(self, event: Event) -> None:
        if self._waits:
            self._waits = False
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
        self._since = monotonic()
        if isinstance(event.data, ApprovalRequested | QuestionAsked):
            self._asked += 1
        elif isinstance(event.data, ApprovalResolved | QuestionAnswered):
            self._asked -= 1
        self._tell(event)

    def _tell(self, event: Event) -> None:
        match event.data:
            case TextDelta(text=text):
                self._end_thinking()
                text = self._text.feed(text) if self._text is not None else text
                self._shown = text or self._shown
                print(text, end="", flush=True)
            case ThinkingDelta(text=text) if self._watched:
                self._thinking = True
                print(self._colour(self._thoughts.feed(text), "2"), end="", file=sys.stderr, flush=True)
            case ToolExecuting(id=call, summary=summary):
                self._calls[call] = self._doing = summary
            case ToolCompleted(id=call, name=name, duration_ms=took, summary=said):
                self._doing = "asks the model"
                self._tool("✓", "32", call, name, took, said)
            case ToolFailed(id=call, name=name, status=status, duration_ms=took, summary=said):
                self._tool("✗", "31", call, name, took, f"{status}: {said}")
            case RetryScheduled(attempt=attempt, delay_s=delay, error=error):
                self._note(printable(f"weft: {error.message} Attempt {attempt} in {delay:.1f} s."))
            case MessageDiscarded() if self._shown and not self._shown.endswith("\n"):
                self._break()
            case ExchangeResponse() if event.data:
                self._end(event.data)
            case _:
                pass

    def _tool(self, mark: str, colour: str, call: str, name: str, took: float, said: str) -> None:
        asked = self._calls.pop(call, "")
        line = printable(f"{name} {asked} ({_time(took)}) {said}").replace("  ", " ").rstrip()
        self._note(f"{self._colour(mark, colour)} {line}")

    def _end(self, response: ExchangeResponse) -> None:
        self._end_thinking()
        if self._shown or response.status == "completed":
            print(flush=True)
            self._shown = ""
        if response.usage.total is None and not response.turns:
            return
        usage, cost = response.usage, response.cost_usd
        parts = [f"{_count(usage.total_input)} in", f"{_count(usage.total_output)} out"]
        parts.append(f"${cost:.4f}" if cost is not None else "cost unknown")
        parts += [f"{response.turns} turns"] * (response.turns > 1)
        parts += [response.status] * (response.status not in ("completed", "failed"))
        parts += [response.stop_reason] * (response.stop_reason not in ("end_turn", "tool_use", "error"))
        note = f" {response.note}" if response.note is not None else ""
        print(f"weft: {', '.join(parts)}{'.' if note else ''}{note}", file=sys.stderr)

    def _note(self, line: str) -> None:
        self._end_thinking()
        self._break()
        print(line, file=sys.stderr, flush=True)

    def _break(self) -> None:
        if self._shown and not self._shown.endswith("\n"):
            print(flush=True)
            self._shown = "\n"

    def _end_thinking(self) -> None:
        if self._thinking:
            print(file=sys.stderr)
            self._thinking = False

    def _colour(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._colours else text


def _count(tokens: int | None) -> str:
    return "unknown" if tokens is None else f"{tokens:,}"


def _time(milliseconds: float) -> str:
    return f"{milliseconds:.0f} ms" if milliseconds < 1000 else f"{milliseconds / 1000:.1f} s"
