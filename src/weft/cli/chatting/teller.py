"""Events as they are told on the screen."""

from time import monotonic

from weft.cli.chatting.diff import counted, diff_lines
from weft.cli.chatting.markdown import Markdown
from weft.cli.chatting.screen import Screen
from weft.cli.paint import BOLD, CYAN, DIM, GREEN, RED, YELLOW, Paint, seconds
from weft.cli.transcript import ending, tool_line
from weft.core.content import Text
from weft.core.envelope import Event
from weft.core.events import (
    ApprovalRequested,
    ApprovalResolved,
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
from weft.core.messages import Message
from weft.tools.printable import printable

_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class Teller:
    """Hears a session and writes on the screen."""

    def __init__(self, screen: Screen, paint: Paint) -> None:
        self.approval: ApprovalRequested | None = None
        """The call that waits for a person now."""
        self.approval_since = 0.0
        self.question: QuestionAsked | None = None
        self._screen = screen
        self._paint = paint
        self._waiting: list[ApprovalRequested] = []
        self._text: Markdown | None = None
        self._asked: dict[str, str] = {}
        self._doing = ""
        self._since = 0.0

    def hear(self, event: Event) -> None:
        match event.data:
            case ExchangeRequest():
                self._since, self._doing = monotonic(), "asks the model"
            case UserMessage(message=message):
                self._screen.say("", *self._said(message))
            case MessageStart() | ThinkingDelta():
                self._doing = "thinks"
            case TextDelta(text=text):
                self._write(text)
            case TextContentBlockStop():
                self._end_text()
            case MessageDiscarded():
                self._end_text()
                self._note("(the answer broke off and is asked for again)")
            case ToolUseContentBlockStart(name=name):
                self._doing = printable(name)
            case FilePreview(path=path, offset=offset, text=text):
                self._doing = f"writes {printable(path)}, {offset + len(text):,} characters"
            case ToolExecuting(id=call, name=name, summary=summary):
                self._asked[call] = summary
                self._doing = printable(f"{name} {summary}")
            case ToolOutputDelta(text=text) if text.strip():
                self._doing = printable(text.strip().splitlines()[-1])
            case ToolCompleted(id=call, name=name, duration_ms=took, summary=said):
                self._tool("✓", GREEN, call, name, took, said)
            case ToolFailed(id=call, name=name, status=status, duration_ms=took, summary=said):
                self._tool("✗", RED, call, name, took, f"{status}: {said}")
            case FileChanged(path=path, diff=diff):
                head = f"✎ {printable(path)} {self._paint(counted(diff), DIM)}"
                self._screen.say(head, *diff_lines(diff, self._paint))
            case RetryScheduled(attempt=attempt, delay_s=delay, error=error):
                self._note(f"{printable(error.message)} Attempt {attempt} in {delay:.1f} s.")
            case ApprovalRequested():
                self._waiting.append(event.data)
                self._next_approval()
            case ApprovalResolved(approval=approval, decision=decision):
                self._resolved(approval, decision)
            case QuestionAsked():
                self._ask(event.data)
            case ErrorMessage(error=error):
                self._end_text()
                self._screen.say(self._paint(printable(error.message), RED))
            case ExchangeResponse():
                self._end_text()
                self.question = None
                self._asked.clear()
                self._screen.say(self._paint(ending(event.data), DIM))
            case _:
                pass

    @property
    def tail(self) -> str:
        """The line of an answer that is being written."""
        return self._text.partial if self._text is not None else ""

    def status(self, *, busy: bool, waiting: int) -> str:
        """What stands above the line that is typed."""
        if self.approval is not None:
            keys = "y yes · n no · a always this · Esc stop"
            keys = f"Clear the line first (Ctrl-U); then {keys}" if self._screen.line.text else keys
            return self._paint(f"Allow {printable(self.approval.name)}? {keys}", YELLOW, BOLD)
        if self.question is not None:
            return self._paint("Answer the question, by a number or in your own words.", YELLOW, BOLD)
        if not busy:
            return ""
        took = monotonic() - self._since
        turn = _SPINNER[int(took * 10) % len(_SPINNER)]
        queue = f", {waiting} waiting" if waiting else ""
        doing = self._doing if len(self._doing) < 60 else f"{self._doing[:59]}…"
        return f"{self._paint(turn, CYAN)} {doing} {self._paint(f'{seconds(took)}{queue} · Esc interrupts', DIM)}"

    # --- text --------------------------------------------------------------------------------------------------------

    def _write(self, text: str) -> None:
        if self._text is None:
            self._text = Markdown(self._paint)
            self._screen.say("")
        self._doing = "answers"
        lines = self._text.feed(text)
        if lines:
            self._screen.tail = self._text.partial
            self._screen.say(*lines)

    def _end_text(self) -> None:
        if self._text is None:
            return
        rest = self._text.close()
        self._text = None
        self._screen.tail = ""
        self._screen.say(*rest)

    def _said(self, message: Message) -> list[str]:
        """What a person asked; what was brought along is named by them already."""
        texts = [block.text for block in message.content if isinstance(block, Text)]
        said = message.said if message.said is not None else texts[0] if texts else "(a picture)"
        first, *rest = printable(said).splitlines() or [""]
        more = len(message.content) - 1
        lines = [f"› {first}", *(f"  {line}" for line in rest)]
        lines += [f"  ({more} sent along)"] if more > 0 else []
        return [self._paint(line, BOLD) for line in lines]

    def _note(self, text: str) -> None:
        self._screen.say(self._paint(text, DIM))

    def _tool(self, mark: str, colour: str, call: str, name: str, took: float, said: str) -> None:
        line = tool_line(name, self._asked.pop(call, ""), took, said)
        self._screen.say(f"{self._paint(mark, colour)} {line}")

    # --- what waits for a person -------------------------------------------------------------------------------------

    def _next_approval(self) -> None:
        if self.approval is not None or not self._waiting:
            return
        self.approval = request = self._waiting[0]
        self.approval_since = monotonic()
        lines = [f"  {line}" for line in printable(request.summary).splitlines()]
        self._screen.say(self._paint(f"? {printable(request.name)}", YELLOW, BOLD), *lines)

    def _resolved(self, approval: str, decision: str) -> None:
        self._waiting = [request for request in self._waiting if request.approval != approval]
        if self.approval is not None and self.approval.approval == approval:
            self._note(f"  {decision}")
            self.approval = None
        self._next_approval()

    def _ask(self, question: QuestionAsked) -> None:
        self.question = question
        choices = [f"  {number}. {printable(each)}" for number, each in enumerate(question.suggestions, 1)]
        self._screen.say(self._paint(f"? {printable(question.text)}", YELLOW, BOLD), *choices)
