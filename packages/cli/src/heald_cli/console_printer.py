"""Prints events as text on a terminal or to a pipe."""

import sys
from time import monotonic

from heald.commands.amounts import format_seconds, format_usd
from heald.commands.terminal import DIM, RED, Colours, can_redraw, terminal_size
from heald.commands.text_columns import count_rows, truncate
from heald.core.context_events import ConversationCompacted, PromptProgress
from heald.core.envelope import Event
from heald.core.events import (
    AgentChanged,
    ApprovalRequested,
    ApprovalResolved,
    ExchangeResponse,
    MessageDiscarded,
    MessageStart,
    MessageStop,
    QuestionAnswered,
    QuestionAsked,
    RetryScheduled,
    TextDelta,
    ThinkingDelta,
    ToolCompleted,
    ToolExecuting,
    ToolFailed,
)
from heald.core.messages import ToolCall, ToolResult
from heald.core.server_tool_events import ServerToolCall
from heald.tools.sanitize import TextSanitizer, sanitize_text
from heald_cli.event_text import (
    call_line,
    describe_agent,
    describe_context,
    describe_progress,
    describe_server_call,
    format_count,
    hook_lines,
)
from heald_cli.program_lines import ProgramLines


class ConsolePrinter:
    """Prints text to standard output and all else to standard error: a line for each tool, the cost at the end.

    A terminal shows text while it arrives, and a discarded message is erased from it. A pipe gets a message when it is
    finished, so that no discarded text is in it; with `stream` it gets text while it arrives.
    """

    def __init__(self, *, stream: bool = False) -> None:
        self._paint = Colours(sys.stderr)
        self._watched = sys.stderr.isatty()
        self._redraws = can_redraw(sys.stderr)
        self._text = TextSanitizer() if sys.stdout.isatty() else None  # a pipe gets it unchanged
        self._holds = self._text is None and not stream
        self._held: dict[str, list[str]] = {}  # the text of messages that are not finished
        self._draft: list[str] = []  # the shown text and thinking of the open message, on a terminal
        self._thoughts = TextSanitizer()
        self._shown = ""  # the last text that was written to standard output
        self._thinking = False
        self._calls: dict[str, str] = {}
        self._programs = ProgramLines()
        self._activity = "waiting for the model"
        self._since = monotonic()
        self._has_status = False  # the status line is on the screen
        self._asked = 0  # questions that a person is asked now

    def tick(self) -> None:
        """Show, on a terminal, the pending operation once it takes longer than a second."""
        elapsed = monotonic() - self._since
        if (
            not self._redraws
            or self._asked
            or self._thinking
            or elapsed < 1
            or (self._shown and not self._shown.endswith("\n"))
        ):
            return
        self._has_status = True
        columns = terminal_size().columns - 1
        line = sanitize_text(truncate(f"… {self._activity}, {format_seconds(elapsed)}", columns))
        print(f"\r\x1b[K{self._paint(line, DIM)}", end="", file=sys.stderr, flush=True)

    def __call__(self, event: Event) -> None:
        if self._has_status:
            self._has_status = False
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
        if not isinstance(event.data, PromptProgress):
            self._since = monotonic()
        if isinstance(event.data, ApprovalRequested | QuestionAsked):
            self._asked += 1
        elif isinstance(event.data, ApprovalResolved | QuestionAnswered):
            self._asked -= 1
        self._print(event)

    def _print(self, event: Event) -> None:
        match event.data:
            case TextDelta(block=block, text=text) if self._holds:
                self._held.setdefault(block.rpartition(".")[0], []).append(text)
            case TextDelta(text=text):
                self._write(text)
            case PromptProgress():
                self._activity = describe_progress(event.data)
            case ThinkingDelta(text=text) if self._watched:
                self._thinking = True
                text = self._thoughts.feed(text)
                self._draft.append(text)
                print(self._paint(text, DIM), end="", file=sys.stderr, flush=True)
            case MessageStart():
                self._end_thinking()
                self._break()
                self._draft.clear()
            case MessageStop(message_id=message):
                text = "".join(self._held.pop(message, ()))
                if self._text is not None:
                    text += self._text.close()  # what looked like the start of a sequence
                if text:
                    self._write(text)
            case ToolExecuting(id=call, summary=summary):
                self._calls[call] = self._activity = summary
            case ToolCompleted() | ToolFailed():
                self._activity = "waiting for the model"
                line = call_line(event.data, self._calls.pop(event.data.id, ""), self._paint)
                self._note(self._programs.place(event.data.id, line))
            case ToolResult():
                for line in hook_lines(event.data):
                    self._note(self._paint(line, DIM))
            case ToolCall(parent=str(parent)):
                if line := self._programs.begin(event.data, self._calls.get(parent, "")):
                    self._note(self._paint(line, DIM))
            case ServerToolCall(name=name, input=arguments):
                self._activity = "waiting for a tool of the provider"
                self._note(self._paint(describe_server_call(name, arguments), DIM))
            case ConversationCompacted():  # that a request was withdrawn is in the error that follows
                self._note(self._paint(describe_context(event.data), DIM))
            case AgentChanged():
                self._note(self._paint(describe_agent(event.data), DIM))
            case RetryScheduled(attempt=attempt, delay_s=delay, error=error):
                self._note(sanitize_text(f"heald: {error.message} Attempt {attempt} in {delay:.1f} s."))
            case MessageDiscarded(message_id=message, error=error):
                self._held.pop(message, None)
                if error.code != "cancelled":
                    self._discard()
            case ExchangeResponse() if event.data:
                self._end(event.data)
            case _:
                pass

    def _write(self, text: str) -> None:
        self._end_thinking()
        text = self._text.feed(text) if self._text is not None else text
        self._shown = text or self._shown
        self._draft.append(text)
        print(text, end="", flush=True)

    def _discard(self) -> None:
        """Erase the text of a discarded message from the terminal. Text that scrolled away is marked instead."""
        draft = "".join(self._draft)
        self._draft.clear()
        if not draft or self._holds:
            return
        self._thinking = False
        size = terminal_size()
        rows = count_rows(draft, size.columns)
        if can_redraw(sys.stdout) and rows < size.lines:
            print(f"\x1b[{rows - 1}A" * (rows > 1) + "\r\x1b[J", end="", flush=True)
            self._shown = ""
            return
        self._break()
        self._note(self._paint("heald: The text above broke off and does not count.", RED))

    def _end(self, response: ExchangeResponse) -> None:
        self._end_thinking()
        if self._shown or response.status == "completed":
            print(flush=True)
            self._shown = ""
        if response.usage.total is None and not response.turns:
            return
        usage = response.usage
        parts = [
            f"{format_count(usage.total_input)} in",
            f"{format_count(usage.total_output)} out",
            format_usd(response.cost_usd),
        ]
        parts += [f"{response.turns} turns"] * (response.turns > 1)
        parts += [response.status] * (response.status not in ("completed", "failed"))
        parts += [response.stop_reason] * (response.stop_reason not in ("end_turn", "tool_use", "error"))
        note = f" {sanitize_text(response.note)}" if response.note is not None else ""
        print(f"heald: {', '.join(parts)}{'.' if note else ''}{note}", file=sys.stderr)

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
            self._draft.append("\n")
            self._thinking = False
