"""Prints events: as text on a terminal, as JSON lines, or as the transcript of a session."""

import sys
from collections.abc import Callable
from time import monotonic

from weft.cli.terminal import (
    BOLD,
    DIM,
    GREEN,
    RED,
    Colours,
    can_redraw,
    count_rows,
    format_seconds,
    format_usd,
    terminal_size,
    truncate,
)
from weft.core.context_events import ConversationCompacted, PromptProgress, RequestWithdrawn
from weft.core.envelope import Event
from weft.core.events import (
    ApprovalRequested,
    ApprovalResolved,
    AssistantMessage,
    ErrorMessage,
    ExchangeResponse,
    FilePreview,
    MessageDiscarded,
    MessageStart,
    MessageStop,
    QuestionAnswered,
    QuestionAsked,
    RetryScheduled,
    SessionRewound,
    TextDelta,
    ThinkingDelta,
    ToolCompleted,
    ToolExecuting,
    ToolFailed,
    UserMessage,
)
from weft.core.json import JsonObject, encode_text
from weft.core.messages import File, Image, Message
from weft.core.payload import Payload
from weft.core.server_tool_events import ServerToolCall
from weft.tools.sanitize import TextSanitizer, sanitize_text

_ENDS = {
    "cancelled": "cancelled; what was done until then is kept",
    "limit": "stopped by a limit; what was done until then is kept",
    "failed": "failed",
}
"""The words for exchanges that did not complete. The error of a failed one is printed before."""


class OutputGuard:
    """Cancels the work when its output cannot be written: a reader has closed the pipe, or the disk is full."""

    def __init__(self, show: Callable[[Event], None], cancel: Callable[[str], object]) -> None:
        self._show = show
        self._cancel = cancel
        self._error: OSError | None = None

    def __call__(self, event: Event) -> None:
        if self._error is not None:
            return
        try:
            self._show(event)
        except OSError as error:
            self._error = error
            self._cancel("The output cannot be written.")

    def check(self) -> None:
        """Raise the error of the output, if there was one."""
        if self._error is not None:
            raise self._error


class JsonPrinter:
    """Prints every event as one line of JSON."""

    def __call__(self, event: Event) -> None:
        print(encode_text(event), flush=True)


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
        self._activity = "asks the model"
        self._since = monotonic()
        self._has_status = False  # the status line is on the screen
        self._asked = 0  # questions that a person is asked now

    def tick(self) -> None:
        """Show, on a terminal, the pending operation once it takes longer than a second."""
        took = monotonic() - self._since
        if (
            not self._redraws
            or self._asked
            or self._thinking
            or took < 1
            or (self._shown and not self._shown.endswith("\n"))
        ):
            return
        self._has_status = True
        columns = terminal_size().columns - 1
        line = sanitize_text(truncate(f"… {self._activity}, {format_seconds(took)}", columns))
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
            case MessageStop(message=message):
                if text := "".join(self._held.pop(message, ())):
                    self._write(text)
            case ToolExecuting(id=call, summary=summary):
                self._calls[call] = self._activity = summary
            case ToolCompleted() | ToolFailed():
                self._activity = "asks the model"
                self._note(call_line(event.data, self._calls.pop(event.data.id, ""), self._paint))
            case ServerToolCall(name=name, input=arguments):
                self._activity = "waits for a tool of the provider"
                self._note(self._paint(describe_server_call(name, arguments), DIM))
            case ConversationCompacted():  # that a request was withdrawn is in the error that follows
                self._note(self._paint(describe_context(event.data), DIM))
            case RetryScheduled(attempt=attempt, delay_s=delay, error=error):
                self._note(sanitize_text(f"weft: {error.message} Attempt {attempt} in {delay:.1f} s."))
            case MessageDiscarded(message=message, error=error):
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
        self._note(self._paint("weft: The text above broke off and does not count.", RED))

    def _end(self, response: ExchangeResponse) -> None:
        self._end_thinking()
        if self._shown or response.status == "completed":
            print(flush=True)
            self._shown = ""
        if response.usage.total is None and not response.turns:
            return
        usage = response.usage
        parts = [f"{_count(usage.total_input)} in", f"{_count(usage.total_output)} out", format_usd(response.cost_usd)]
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
            self._draft.append("\n")
            self._thinking = False


def _count(tokens: int | None) -> str:
    return "unknown" if tokens is None else f"{tokens:,}"


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
                return ["", *(self._paint(line, BOLD) for line in _request_lines(message))]
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
            case SessionRewound(seq=seq):
                return [self._paint(f"(the conversation went back to event {seq})", DIM)]
            case _:
                return []


def call_line(call: ToolCompleted | ToolFailed, asked: str, paint: Colours) -> str:
    """Describe a finished call in one line. `asked` is the summary of its arguments."""
    mark, colour, text = "✓", GREEN, call.summary
    if isinstance(call, ToolCompleted) and call.name == "run_command" and failed_command(call.summary):
        mark, colour = "✗", RED
    elif isinstance(call, ToolFailed):
        mark, colour, text = "✗", RED, f"{call.status}: {call.summary}"
    line = sanitize_text(f"{call.name} {asked} ({format_seconds(call.duration_ms / 1000)}) {text}")
    return f"{paint(mark, colour)} {' '.join(line.split())}"


def failed_command(summary: str) -> bool:
    """Return whether the summary of a command says that it failed."""
    return summary.startswith("stopped") or (
        summary.startswith("exit code ") and not summary.startswith(("exit code 0,", "exit code None"))
    )


def describe_progress(progress: PromptProgress) -> str:
    """Describe how much of a request the model has read."""
    return "thinks" if progress.percent == 100 else f"reads the prompt, {progress.percent} %"


def describe_activity(payload: Payload) -> str:
    """Describe in a few words what an agent does from this event on; empty if the event does not show it."""
    match payload:
        case MessageStart() | ThinkingDelta():
            return "thinks"
        case TextDelta():
            return "writes text"
        case FilePreview(path=path, offset=offset, text=text):
            return f"writes {sanitize_text(path)}, {offset + len(text):,} characters"
        case ToolExecuting(name=name, summary=summary):
            return sanitize_text(" ".join(f"{name} {summary}".split()))
        case RetryScheduled(delay_s=delay, error=error):
            return sanitize_text(f"waits {delay:.0f} s: {error.message}")
        case _:
            return ""


def describe_context(payload: ConversationCompacted | RequestWithdrawn) -> str:
    """Describe a change of the context in one line."""
    if isinstance(payload, RequestWithdrawn):
        return f"({payload.reason})"
    how = {"model": "; the model summarised the beginning", "rule": "; the beginning was removed"}
    written = how.get(payload.written_by or "", "; old results were cut")
    return f"(compacted: {payload.tokens_before:,} → {payload.tokens_after:,} tokens{written})"


def describe_server_call(name: str, arguments: JsonObject) -> str:
    """Describe a call that the provider runs itself in one line."""
    text = " ".join(sanitize_text(encode_text(arguments)).split()) if arguments else ""
    return truncate(f"⌕ {sanitize_text(name)} {text}".rstrip(), 120)


def describe_exchange(response: ExchangeResponse) -> str:
    """Describe tokens, cost, duration and outcome of an exchange."""
    usage = response.usage
    parts = [f"{_count(usage.total_input)} in", f"{_count(usage.total_output)} out", format_usd(response.cost_usd)]
    parts += [format_seconds(response.duration_ms / 1000)]
    parts += [f"{response.turns} turns"] * (response.turns > 1)
    parts += [_ENDS[response.status]] if response.status in _ENDS else []
    note = f". {response.note}" if response.note is not None else ""
    return f"({', '.join(parts)}{note})"


def _request_lines(message: Message) -> list[str]:
    pictures = sum(isinstance(block, Image | File) for block in message.content)
    more = [f"({pictures} picture{'s' * (pictures != 1)} or files)"] * bool(pictures)
    first, *rest = [*sanitize_text(message.words).splitlines(), *more] or [""]
    return [f"› {first}", *(f"  {line}" for line in rest)]
