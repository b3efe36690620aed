"""The state of a conversation: messages, tools, files, approvals, usage. A pure fold over the events of its log."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct, field

from heald.agent.assembler import DELTAS, MessageAssembler
from heald.agent.compaction import fold_context
from heald.core.context_events import ConversationCompacted, ConversationRestored, RequestWithdrawn
from heald.core.envelope import Event
from heald.core.errors import ErrorInfo
from heald.core.events import (
    AgentChanged,
    ApprovalRequested,
    ApprovalResolved,
    AssistantMessage,
    ClientToolRequested,
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
    MessageStop,
    QuestionAnswered,
    QuestionAsked,
    SessionRewound,
    ToolExecuting,
    ToolFailed,
    UserMessage,
)
from heald.core.messages import Message, ToolCall, ToolResult, assistant, tool_results
from heald.core.payload import Payload
from heald.core.turn import Usage

Status = Literal["idle", "thinking", "responding", "working", "waiting"]
ToolPhase = Literal["planned", "running", "done", "failed"]
ContextEntry = Message | ConversationCompacted | RequestWithdrawn
Spans = tuple[tuple[int, int | None], ...]
"""Parts of a log, each after the first seq and up to the second; None is its end."""


class ToolState(Struct):
    """A call and its progress."""

    call: ToolCall
    phase: ToolPhase = "planned"
    summary: str = ""
    result: ToolResult | None = None


class ConversationState(Struct):
    """The state that a client shows and that a restart continues from. Feed it the events of a session in order."""

    seq: int = 0
    status: Status = "idle"
    exchange: str | None = None
    history: Sequence[Message] = ()
    """Messages from before the beginning of the log."""
    messages: list[Message] = field(default_factory=list[Message])
    """The conversation, every message of it."""
    context: list[Message] = field(default_factory=list[Message])
    """The conversation as the next turn sends it: a compaction has shortened it."""
    compacted_at: int | None = None
    """The seq of the last compaction that holds."""
    agent: str | None = None
    """The agent that speaks, once the conversation was handed over; None while it is the one that began."""
    next_agent: str | None = None
    """The agent that speaks from the next turn on: the calls of the message that handed over still run."""
    tools: dict[str, ToolState] = field(default_factory=dict[str, ToolState])
    files: dict[str, FileChanged] = field(default_factory=dict[str, FileChanged])
    """The last revision of each file."""
    approvals: dict[str, ApprovalRequested] = field(default_factory=dict[str, ApprovalRequested])
    questions: dict[str, QuestionAsked] = field(default_factory=dict[str, QuestionAsked])
    client_calls: dict[str, ClientToolRequested] = field(default_factory=dict[str, ClientToolRequested])
    """Calls that wait for a client, by their id."""
    turns: int = 0
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = 0.0
    error: ErrorInfo | None = None
    """The error of the last exchange."""
    _queue: set[str] = field(default_factory=set[str])
    _entries: list[tuple[int, ContextEntry]] = field(default_factory=list[tuple[int, ContextEntry]])  # with seq
    _restored: set[int] = field(default_factory=set[int])  # compactions that were undone
    _spans: list[tuple[int, Spans]] = field(default_factory=list[tuple[int, Spans]])  # valid parts, since a seq
    _agents: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])  # that came to speak, with seq
    _assembler: MessageAssembler = field(default_factory=MessageAssembler)
    _open: list[ToolCall] = field(default_factory=list[ToolCall])  # calls of the last message, until all have results

    def __post_init__(self) -> None:
        self.messages = [*self.history]
        self.context = [*self.history]

    @property
    def partial(self) -> str:
        """The text of the message that is being written."""
        return self._assembler.text

    @property
    def queued(self) -> int:
        """The number of queued requests."""
        return len(self._queue)

    def feed(self, event: Event) -> None:
        payload = event.data
        self.seq = event.seq
        if type(payload) in DELTAS:
            self._assembler.feed(payload)
            return
        if payload.layer == "stream":
            self._feed_stream(event)
        elif payload.layer == "state":
            self._feed_state(payload)
        else:
            self._feed_message(event)

    def _feed_message(self, event: Event) -> None:
        payload = event.data
        match payload:
            case ExchangeRequest():
                self.exchange, self.status, self.error = event.exchange, "thinking", None
                self._queue.discard(event.exchange or "")
            case ExchangeResponse():
                self._end(payload)
            case UserMessage(message=message):
                self._append(message)
            case AssistantMessage(message=message):
                self._append(message)
                self._open = list(message.tool_calls)
                self.tools.update({call.id: ToolState(call) for call in self._open})
            case _:
                pass

    def _feed_state(self, payload: Payload) -> None:
        match payload:
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
            case ClientToolRequested(id=call):
                self.client_calls[call] = payload
                self.status = "waiting"
            case AgentChanged(agent=agent):
                self._agents.append((self.seq, agent))
                self.next_agent = agent
                self._change_agent()
            case FileChanged(path=path):
                self.files[path] = payload
            case ErrorOccurred(error=error):
                self.error = error
            case ConversationInterrupted():
                self.questions.clear()
            case SessionRewound(seq=seq):
                self._rewind(seq)
            case ConversationCompacted() | RequestWithdrawn():
                self._entries.append((self.seq, payload))
                self._fold_context()
            case ConversationRestored(seq=seq):
                self._restored.add(seq)
                self._fold_context()
            case _:
                pass

    def _feed_stream(self, event: Event) -> None:
        payload = event.data
        match payload:
            case ToolCall(id=call):
                self.tools.setdefault(call, ToolState(payload))
            case ToolResult(id=call):
                if self.questions:  # of a program that ended before the answer
                    self.questions = {name: asked for name, asked in self.questions.items() if asked.call_id != call}
                if self.client_calls.pop(call, None) is not None:
                    self.status = "waiting" if self.client_calls else "working"
                tool = self.tools.get(call)
                if tool is not None:
                    tool.result = payload
                    tool.phase = "done" if payload.status == "ok" else "failed"
                self._append_results()
            case MessageDiscarded(error=error):
                text = self._assembler.text
                self._assembler.feed(payload)
                if error.code == "cancelled" and text.strip():
                    self._append(assistant(text))
            case MessageStop():
                self._assembler.reset()  # the log has the message as an event of its own
            case _:
                self._assembler.feed(payload)

    def _append_results(self) -> None:
        """Append the results of a message together, in call order, once all calls have one."""
        results = [self.tools[call.id].result for call in self._open]
        if self._open and all(result is not None for result in results):
            self._append(tool_results([result for result in results if result is not None]))
            self._open = []
            self._change_agent()

    def _change_agent(self) -> None:
        """Let the next agent speak, if there is one and no call of the last one is open."""
        if self.next_agent is not None and not self._open:
            self.agent, self.next_agent = self.next_agent, None

    def _append(self, message: Message) -> None:
        self.messages.append(message)
        self.context.append(message)
        self._entries.append((self.seq, message))

    def _rewind(self, seq: int) -> None:
        """Restore the conversation at `seq`. That may undo an earlier rewind."""
        before = next((spans for since, spans in reversed(self._spans) if since <= seq), ((0, None),))
        spans = [(after, seq if upto is None else upto) for after, upto in before]
        self._spans.append((self.seq, (*spans, (self.seq, None))))
        self._fold_context()
        self.messages = [*self.history, *(entry for _, entry in self._valid() if isinstance(entry, Message))]
        spoken = [agent for at, agent in self._agents if self._is_valid(at)]
        self.agent, self.next_agent = spoken[-1] if spoken else None, None
        self.error = None

    def _valid(self) -> list[tuple[int, ContextEntry]]:
        """The entries that no rewind has dropped."""
        if not self._spans:
            return self._entries
        return [(at, entry) for at, entry in self._entries if self._is_valid(at)]

    def _is_valid(self, at: int) -> bool:
        """Return whether no rewind has dropped the event of this seq."""
        if not self._spans:
            return True
        return any(after < at and (upto is None or at <= upto) for after, upto in self._spans[-1][1])

    def _fold_context(self) -> None:
        entries = [(at, entry) for at, entry in self._valid() if at not in self._restored]
        self.context = fold_context(self.history, [entry for _, entry in entries])
        compactions = [at for at, entry in entries if isinstance(entry, ConversationCompacted)]
        self.compacted_at = compactions[-1] if compactions else None

    def _end(self, response: ExchangeResponse) -> None:
        self.status, self.exchange = "idle", None
        self.turns += response.turns
        self.usage += response.usage
        total = self.cost_usd
        self.cost_usd = None if total is None or response.cost_usd is None else total + response.cost_usd
