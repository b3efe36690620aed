"""A conversation as its log tells it: messages, tools, files, what waits, what it took. A pure fold over events."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from weft.agent.assembler import MessageAssembler
from weft.core.envelope import Event
from weft.core.errors import ErrorInfo
from weft.core.events import (
    ApprovalRequested,
    ApprovalResolved,
    AssistantMessage,
    ConversationDequeued,
    ConversationInterrupted,
    ConversationQueued,
    ConversationResponding,
    ConversationThinking,
    ErrorOccurred,
    ExchangeRequest,
    ExchangeResponse,
    FileChanged,
    MessageDiscarded,
    QuestionAnswered,
    QuestionAsked,
    SessionRewound,
    ToolExecuting,
    ToolFailed,
    UserMessage,
)
from weft.core.messages import Message, assistant, tool_results
from weft.core.tools import ToolCall, ToolResult
from weft.core.usage import Usage

Status = Literal["idle", "thinking", "responding", "working", "waiting"]
ToolPhase = Literal["planned", "running", "done", "failed"]
Spans = tuple[tuple[int, int | None], ...]
"""Parts of a log, each behind the first seq and up to the second; None is its end."""


@dataclass(slots=True)
class ToolState:
    """A call and what became of it."""

    call: ToolCall
    phase: ToolPhase = "planned"
    summary: str = ""
    result: ToolResult | None = None


@dataclass(slots=True)
class ConversationState:
    """Feed it a session's events in order; it is what a client shows and what a restart goes on from."""

    seq: int = 0
    status: Status = "idle"
    exchange: str | None = None
    history: Sequence[Message] = ()
    """What was said before the log begins."""
    messages: list[Message] = field(default_factory=list[Message])
    """The conversation, as the next turn would send it."""
    tools: dict[str, ToolState] = field(default_factory=dict[str, ToolState])
    files: dict[str, FileChanged] = field(default_factory=dict[str, FileChanged])
    """The last revision of each file."""
    approvals: dict[str, ApprovalRequested] = field(default_factory=dict[str, ApprovalRequested])
    questions: dict[str, QuestionAsked] = field(default_factory=dict[str, QuestionAsked])
    turns: int = 0
    usage: Usage = field(default_factory=Usage)
    cost: float | None = 0.0
    error: ErrorInfo | None = None
    """Why the last exchange failed."""
    _queue: set[str] = field(default_factory=set[str])
    _said: list[tuple[int, Message]] = field(default_factory=list[tuple[int, Message]])  # all of the log, with its seq
    _course: list[tuple[int, Spans]] = field(default_factory=list[tuple[int, Spans]])  # parts in force, since a seq
    _assembler: MessageAssembler = field(default_factory=MessageAssembler)
    _open: list[ToolCall] = field(default_factory=list[ToolCall])  # calls of the last message, until all have results

    def __post_init__(self) -> None:
        self.messages = [*self.history]

    @property
    def partial(self) -> str:
        """The text of the message that is being written."""
        return self._assembler.said

    @property
    def queued(self) -> int:
        """How many requests wait for their turn."""
        return len(self._queue)

    def feed(self, event: Event) -> None:
        payload = event.data
        self.seq = event.seq
        if payload.layer == "stream":
            self._stream(event)
            return
        match payload:
            case ExchangeRequest():
                self.exchange, self.status, self.error = event.exchange, "thinking", None
                self._queue.discard(event.exchange or "")
            case UserMessage(message=message):
                self._say(message)
            case AssistantMessage(message=message):
                self._say(message)
                self._open = list(message.tool_calls)
                self.tools.update({call.id: ToolState(call) for call in self._open})
            case ConversationThinking():
                self.status = "thinking"
            case ConversationResponding():
                self.status = "responding"
            case ConversationQueued(request=request):
                self._queue.add(request)
            case ConversationDequeued(request=request):
                self._queue.discard(request)
            case ToolExecuting(id=call, summary=summary):
                self.status = "working"
                if call in self.tools:
                    self.tools[call].phase, self.tools[call].summary = "running", summary
            case ToolFailed(id=call) if call in self.tools:
                self.tools[call].phase = "failed"
            case ApprovalRequested(approval=approval):
                self.approvals[approval] = payload
                self.status = "waiting"
            case ApprovalResolved(approval=approval):
                self.approvals.pop(approval, None)
                self.status = "working"
            case QuestionAsked(question=question):
                self.questions[question] = payload
                self.status = "waiting"
            case QuestionAnswered(question=question):
                self.questions.pop(question, None)
                self.status = "working"
            case FileChanged(path=path):
                self.files[path] = payload
            case ErrorOccurred(error=error):
                self.error = error
            case ConversationInterrupted():
                self.questions.clear()
            case ExchangeResponse():
                self._end(payload)
            case SessionRewound(seq=seq):
                self._rewind(seq)
            case _:
                pass

    def _stream(self, event: Event) -> None:
        payload = event.data
        match payload:
            case ToolCall(id=call):
                self.tools.setdefault(call, ToolState(payload))
            case ToolResult(id=call):
                tool = self.tools.get(call)
                if tool is not None:
                    tool.result = payload
                    tool.phase = "done" if payload.status == "ok" else "failed"
                self._settle()
            case MessageDiscarded(error=error):
                said = self._assembler.said
                self._assembler.feed(payload)
                if error.code == "cancelled" and said.strip():
                    self._say(assistant(said))
            case _:
                self._assembler.feed(payload)

    def _settle(self) -> None:
        """Once all calls of a message have results they go into the history together, in call order."""
        results = [self.tools[call.id].result for call in self._open]
        if self._open and all(result is not None for result in results):
            self._say(tool_results([result for result in results if result is not None]))
            self._open = []

    def _say(self, message: Message) -> None:
        self.messages.append(message)
        self._said.append((self.seq, message))

    def _rewind(self, seq: int) -> None:
        """The conversation is what it was at `seq`; rewinding may itself be undone by it."""
        before = next((spans for since, spans in reversed(self._course) if since <= seq), ((0, None),))
        spans = [(after, seq if upto is None else upto) for after, upto in before]
        self._course.append((self.seq, (*spans, (self.seq, None))))
        kept = (message for at, message in self._said if any(after < at <= upto for after, upto in spans))
        self.messages = [*self.history, *kept]
        self.error = None

    def _end(self, response: ExchangeResponse) -> None:
        self.status, self.exchange = "idle", None
        self.turns += response.turns
        self.usage += response.usage
        self.cost = None if self.cost is None or response.cost_usd is None else self.cost + response.cost_usd
