"""Shows the events of a session on the chat screen."""

from collections import deque
from time import monotonic
from typing import TYPE_CHECKING

from heald.commands.amounts import format_seconds
from heald.commands.terminal import BOLD, CYAN, DIM, RED, YELLOW, Colours
from heald.commands.text_columns import truncate
from heald.core.context_events import ConversationCompacted, PromptProgress, RequestWithdrawn
from heald.core.envelope import Event
from heald.core.events import (
    AgentChanged,
    ApprovalRequested,
    ApprovalResolved,
    AssistantMessage,
    ErrorMessage,
    ExchangeRequest,
    ExchangeResponse,
    FileChanged,
    FilePreview,
    MessageDiscarded,
    MessageStart,
    QuestionAsked,
    RetryScheduled,
    TextContentBlockStop,
    TextDelta,
    ThinkingDelta,
    ToolCompleted,
    ToolExecuting,
    ToolFailed,
    ToolOutputDelta,
    ToolUseContentBlockStart,
    UserMessage,
)
from heald.core.messages import Message, Text, ToolCall, ToolResult
from heald.core.server_tool_events import ServerToolCall
from heald.tools.files.access import count_changes
from heald.tools.sanitize import sanitize_text
from heald.tools.visible_text import describe_hidden, escape_line, whole_rows
from heald_cli.approval_view import diff_lines, show_approval
from heald_cli.chat.planning import PLAN_KEYS
from heald_cli.chat.screen import ChatScreen
from heald_cli.chat.subagents import Subagents
from heald_cli.escaped_rows import lay_out, note_lines
from heald_cli.event_text import (
    call_line,
    describe_agent,
    describe_context,
    describe_exchange,
    describe_progress,
    describe_server_call,
    failed_command,
    hook_lines,
)
from heald_cli.program_lines import ProgramLines
from heald_cli.question_view import question_lines

if TYPE_CHECKING:
    from heald_cli.chat.markdown import MarkdownStream

_DECISIONS = (ApprovalRequested, ApprovalResolved, QuestionAsked)
_MAX_TODO_ROWS = 8
_MAX_OUTPUT_LINES = 8
"""Lines of the output of a failed command that are shown."""
_MAX_OUTPUTS = 20
"""Outputs of commands that can be shown whole."""
_MAX_OPENED_LINES = 1_000
_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class EventDisplay:
    """Receives the events of a session and prints them on the screen."""

    def __init__(self, screen: ChatScreen, paint: Colours) -> None:
        self.approval: ApprovalRequested | None = None
        """The call that waits for a decision."""
        self.approval_since = 0.0
        self.left_out = 0
        """The characters of that call which the screen does not show."""
        self.is_refusing = False
        """Whether the person denies that call and types the reason."""
        self.question: QuestionAsked | None = None
        self.session = ""
        """The session of the conversation. Events of other sessions are those of its subagents."""
        self.planning = False
        self.plan: str | None = None
        """The plan that waits for a decision, as the person edited it."""
        self.original_plan: str | None = None
        self._todo: list[str] = []
        self._outputs: deque[tuple[str, str]] = deque(maxlen=_MAX_OUTPUTS)  # commands and what they wrote
        self._opened = 0  # how many of the last outputs were shown whole
        self._commands: dict[str, str] = {}  # command lines by call, until their result is there
        self._subagents = Subagents(paint)
        self._last_text = ""
        self.usd = 0.0
        """The known cost of the exchanges since the start."""
        self._screen = screen
        self._paint = paint
        self._waiting: list[ApprovalRequested] = []
        self._text: MarkdownStream | None = None
        self._text_changed = False
        self._has_answer = False  # whether the model has begun to answer
        self._tail: list[str] = []
        self._next_render = 0.0
        self._asked: dict[str, str] = {}
        self._decided: dict[str, str] = {}  # diffs that the person saw before a decision, by call
        self._changes: dict[str, list[FileChanged]] = {}  # by call, until its line is printed
        self._programs = ProgramLines()
        self._activity = ""
        self._since: float | None = None  # when the exchange began, or when its conversation was resumed

    def offer_plan(self, plan: str) -> None:
        """Ask the person what to do with a plan. A plan with hidden characters is shown as text."""
        self.plan, self.approval_since = plan, monotonic()
        if describe_hidden(plan):
            self.show_plan()

    def show_plan(self) -> None:
        """Print the plan as text, with nothing formatted away."""
        if self.plan is None:
            return
        columns = self._screen.columns
        lines = lay_out(whole_rows(self.plan), "  │ ", self._paint, columns)
        self._screen.print_rows([*lines, *note_lines(describe_hidden(self.plan), self._paint, columns, YELLOW)])

    def show_whole_call(self) -> None:
        """Print all of the call that waits for a decision."""
        if self.approval is None:
            return
        self._screen.print_rows(show_approval(self.approval, self._paint, self._screen.columns, whole=True).lines)
        self.approval_since = monotonic()

    def on_event(self, event: Event) -> None:
        if self.session and event.session != self.session and not isinstance(event.data, _DECISIONS):
            self._screen.print(*self._subagents.lines_of(event))
            return
        match event.data:
            case ExchangeRequest():
                self._since, self._activity = monotonic(), "waiting for the model"
                self.plan, self._last_text, self._todo = None, "", []
            case UserMessage(message=message) if (message.said or "").startswith("!"):
                pass  # a command of the person, which was shown with its output
            case UserMessage(message=message) if (message.said or "").startswith("Reminded "):
                self._note(f"({message.said})")  # not the words of the person
            case UserMessage(message=message) if message.role == "user":
                self._screen.print("", *self._user_lines(message))
            case MessageStart():
                self._activity = "thinking"
                self._has_answer = False
                self._screen.mark()
            case PromptProgress():
                self._activity = describe_progress(event.data)
            case ThinkingDelta():
                self._activity = "thinking"
            case TextDelta(text=text):
                self._has_answer = True
                self._write(text)
            case TextContentBlockStop():
                self._end_text()
            case MessageDiscarded(error=error):
                if error.code == "cancelled":
                    self._end_text()
                else:
                    self._discard_text()
            case ToolUseContentBlockStart(name=name):
                self._has_answer = True
                self._activity = sanitize_text(name)
            case FilePreview(path=path, offset=offset, text=text):
                self._activity = f"writes {sanitize_text(path)}, {offset + len(text):,} characters"
            case ToolExecuting(id=call, name=name, summary=summary):
                self._asked[call] = self._commands[call] = summary
                self._activity = sanitize_text(f"{name} {summary}")
            case ToolOutputDelta(text=text) if text.strip():
                self._activity = sanitize_text(text.strip().splitlines()[-1])
            case ToolCompleted() | ToolFailed():
                self._show_call(event.data)
            case ToolCall(parent=str(parent)):
                if line := self._programs.begin(event.data, self._asked.get(parent, "")):
                    self._screen.print(self._paint(line, DIM))
            case ToolResult(name="todo_list", status="ok"):
                self._todo = sanitize_text(event.data.text).splitlines()[1:]
            case AssistantMessage(message=message):
                self._last_text = message.text
            case ToolResult() if lines := hook_lines(event.data):
                self._screen.print(*(self._paint(line, DIM) for line in lines))
            case ToolResult(name="run_command"):
                self._show_output(event.data)
            case ConversationCompacted() | RequestWithdrawn():
                self._note(describe_context(event.data))
            case AgentChanged():
                self._note(describe_agent(event.data))
            case FileChanged(cause=call) if call in self._asked:
                self._changes.setdefault(call, []).append(event.data)
            case FileChanged():
                self._screen.print(*self._change_lines(event.data))
            case ServerToolCall(name=name, input=arguments):
                self._activity = "waiting for a tool of the provider"
                self._screen.print(self._paint(describe_server_call(name, arguments), DIM))
            case RetryScheduled(attempt=attempt, delay_s=delay, error=error):
                self._note(f"{sanitize_text(error.message)} Attempt {attempt} in {delay:.1f} s.")
            case ApprovalRequested():
                self._waiting.append(event.data)
                self._next_approval()
            case ApprovalResolved(approval=approval, decision=decision):
                self._resolve_approval(approval, decision)
            case QuestionAsked():
                self._ask(event.data)
            case ErrorMessage(error=error):
                self._end_text()
                self._screen.print(self._paint(sanitize_text(error.message), RED))
            case ExchangeResponse():
                self.usd += event.data.cost_usd or 0.0
                self._since = None
                self._end_text()
                self.question = None
                self._asked.clear()
                self._commands.clear()
                self._decided.clear()
                self._subagents.clear()
                self._screen.print(*self._todo_rows(), self._paint(describe_exchange(event.data), DIM))
                self._todo = []
                if self.planning and event.data.status == "completed" and self._last_text.strip():
                    self.original_plan = self._last_text.strip()
                    self.offer_plan(self.original_plan)
            case _:
                pass

    def _show_call(self, call: ToolCompleted | ToolFailed) -> None:
        """Print the line of a finished call and what it changed, without what the person saw before a decision."""
        asked = self._asked.pop(call.id, "")
        changes = self._changes.pop(call.id, [])
        decided = self._decided.pop(call.id, None)
        line = call_line(call, asked if decided is None else "", self._paint)
        self._screen.print(self._programs.place(call.id, line))
        if decided and decided == "".join(change.diff for change in changes):
            return
        for change in changes:
            self._screen.print(*self._change_lines(change, has_head=len(changes) > 1 or change.path not in asked))

    def _change_lines(self, change: FileChanged, *, has_head: bool = True) -> list[str]:
        head = f"✎ {sanitize_text(change.path)} {self._paint(count_changes(change.diff), DIM)}"
        return [*([head] if has_head else []), *diff_lines(change.diff, self._paint)]

    def _show_output(self, result: ToolResult) -> None:
        """Show the end of the output of a command that failed, and of any other how long it is."""
        lines = _lines_of(result.text)
        command = self._commands.pop(result.id, "")
        if not lines:
            return
        self._outputs.append((command, result.text))
        self._opened = 0
        if failed_command(result.summary):
            self._screen.print(*_output_lines(lines, self._paint))
        else:
            what = (
                "1 line of output; Ctrl-O shows it"
                if len(lines) == 1
                else f"{len(lines)} lines of output; Ctrl-O shows them"
            )
            self._note(f"  … {what}")

    def show_answer(self, text: str) -> None:
        """Print an earlier answer as Markdown."""
        self._write(text.strip())
        self._end_text()
        self._activity = ""

    def open_output(self) -> None:
        """Print the whole output of the last command; called again, that of the command before it."""
        if self._opened >= len(self._outputs):
            self._note("There is no output of an earlier command." if self._outputs else "No command has run yet.")
            return
        self._opened += 1
        command, text = self._outputs[-self._opened]
        lines = sanitize_text(text).splitlines()
        left = len(lines) - _MAX_OPENED_LINES
        rest = [f"  … {left} more lines"] if left > 0 else []
        head = sanitize_text(" ".join(f"$ {command}".split()))
        self._screen.print(self._paint(head, BOLD), *(f"  {line}" for line in lines[:_MAX_OPENED_LINES]), *rest)

    @property
    def tail(self) -> list[str]:
        """Rows of the answer that are not finished, of subagents at work, and of the todo list."""
        return [*self._text_rows(), *self._subagents.rows, *self._todo_rows()]

    def _text_rows(self) -> list[str]:
        if self._text is None:
            return []
        started = monotonic()
        if self._text_changed and started >= self._next_render:
            self._text_changed, self._tail = False, self._text.partial
            self._next_render = started + 4 * (monotonic() - started)  # a fifth of the time, at most
        return self._tail

    def _todo_rows(self) -> list[str]:
        """The todo list: finished items dim, the current one bold."""
        colours = {"[x]": DIM, "[>]": BOLD}
        left = len(self._todo) - _MAX_TODO_ROWS
        visible = [row for row in self._todo if left <= 0 or not row.startswith("[x]")][:_MAX_TODO_ROWS]
        more = (
            [self._paint(f"  … {len(self._todo) - len(visible)} more", DIM)] if len(visible) < len(self._todo) else []
        )
        rows = [row if len(row) < 76 else f"{row[:75]}…" for row in visible]
        return [
            *(self._paint(f"  {row}", colours[row[:3]]) if row[:3] in colours else f"  {row}" for row in rows),
            *more,
        ]

    def status(self, *, busy: bool, waiting: int, has_text: bool) -> str:
        """Return the line above the input."""
        if self.approval is not None and self.is_refusing:
            text = "Why not? Enter denies the call, with what you type as the reason · Esc stop"
            return self._paint(text, YELLOW, BOLD)
        if self.approval is not None:
            more = f" · v view all ({self.left_out:,} characters are left out)" if self.left_out else ""
            keys = f"y yes · n no · a always this{more} · Esc stop"
            keys = f"Clear the line first (Ctrl-U); then {keys}" if has_text else keys
            return self._paint(f"Allow {escape_line(self.approval.name)}? {keys}", YELLOW, BOLD)
        if self.question is not None:
            return self._paint("Answer the question, by a number or in your own words.", YELLOW, BOLD)
        if self.plan is not None and not busy:
            keys = "Clear the line first (Ctrl-U)" if has_text else PLAN_KEYS
            return self._paint(f"The plan: {keys}", YELLOW, BOLD)
        if not busy:
            return ""
        if self._since is None:
            self._since = monotonic()
        elapsed = monotonic() - self._since
        turn = _SPINNER[int(elapsed * 10) % len(_SPINNER)]
        queue = f", {waiting} waiting" if waiting else ""
        activity = truncate(self._activity, 22 if has_text else 60)  # one row of 80 columns
        keys = "Enter queues · ^S steers · ^X interrupts" if has_text else "Esc interrupts"
        rest = f"{format_seconds(elapsed)}{queue} · {keys}"
        return f"{self._paint(turn, CYAN)} {activity} {self._paint(rest, DIM)}"

    # --- text --------------------------------------------------------------------------------------------------------

    def _write(self, text: str) -> None:
        if self._text is None:
            from heald_cli.chat.markdown import MarkdownStream  # loads rich

            self._text = MarkdownStream(self._screen.renderer)
            self._screen.print("")
        self._activity = "answers"
        rows = self._text.feed(text)
        self._text_changed = True
        if rows:
            self._next_render = 0.0  # the tail must lose what is printed now
            self._screen.tail = self.tail
            self._screen.print_rows(rows)

    def _end_text(self) -> None:
        if self._text is None:
            return
        rows = self._text.close()
        self._text = None
        self._screen.tail = []
        self._screen.print_rows(rows)

    def _discard_text(self) -> None:
        """Erase the text of a discarded message. Text that scrolled away is marked instead."""
        self._text = None
        self._screen.tail = self._tail = []
        erased = self._screen.erase_to_mark()
        if not self._has_answer:
            return
        self._note("(the answer broke off)" if erased else "(the answer above broke off and does not count)")

    def _user_lines(self, message: Message) -> list[str]:
        """Format a request, with the number of its attachments."""
        texts = [block.text for block in message.content if isinstance(block, Text)]
        text = message.said if message.said is not None else texts[0] if texts else "(a picture)"
        first, *rest = sanitize_text(text).splitlines() or [""]
        more = len(message.content) - 1
        lines = [f"› {first}", *(f"  {line}" for line in rest)]
        lines += [f"  ({more} attached)"] if more > 0 else []
        return [self._paint(line, BOLD) for line in lines]

    def _note(self, text: str) -> None:
        self._screen.print(self._paint(text, DIM))

    # --- decisions and questions -------------------------------------------------------------------------------------

    def _next_approval(self) -> None:
        if self.approval is not None or not self._waiting:
            return
        self.approval = request = self._waiting[0]
        self.approval_since = monotonic()
        view = show_approval(request, self._paint, self._screen.columns)
        self.left_out = view.left_out
        self._screen.print_rows([self._paint(f"? {escape_line(request.name)}", YELLOW, BOLD), *view.lines])

    def _resolve_approval(self, approval: str, decision: str) -> None:
        self._waiting = [request for request in self._waiting if request.approval != approval]
        if self.approval is not None and self.approval.approval == approval:
            self._decided[self.approval.call_id] = self.approval.diff
            self._note(f"  {decision}")
            self.approval, self.is_refusing = None, False
        self._next_approval()

    def _ask(self, question: QuestionAsked) -> None:
        self.question = question
        self._screen.print_rows(question_lines(question, "? ", self._paint, self._screen.columns))


def _lines_of(text: str) -> list[str]:
    """The lines of the output of a command that are not empty, without the first, which says how it ended."""
    return [line for line in sanitize_text(text).splitlines()[1:] if line.strip()]


def _output_lines(lines: list[str], paint: Colours) -> list[str]:
    """The last lines of the output of a command."""
    left = len(lines) - _MAX_OUTPUT_LINES
    head = [paint(f"  … {left} lines before; Ctrl-O shows all", DIM)] if left > 0 else []
    return [*head, *(paint(f"  {line}", DIM) for line in lines[-_MAX_OUTPUT_LINES:])]
