"""An exchange as an A2A task: a fold of its events, which also yields the updates of a stream.

The task's id names the session and the exchange, so that the log of the session is the only store. Each message of
the model is an artifact, whose text grows while it arrives; a discarded attempt empties its artifact.
"""

from a2a.types import (
    Artifact,
    Message,
    Part,
    Role,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
)
from google.protobuf.timestamp_pb2 import Timestamp

from heald.core.envelope import Event
from heald.core.events import (
    ApprovalRequested,
    ApprovalResolved,
    AssistantMessage,
    ConversationQueued,
    ExchangeRequest,
    ExchangeResponse,
    FileChanged,
    MessageDiscarded,
    MessageStart,
    QuestionAnswered,
    QuestionAsked,
    TextDelta,
)
from heald.tools.visible_text import cut_line, escape_line, excerpt

Update = TaskStatusUpdateEvent | TaskArtifactUpdateEvent
TERMINAL = frozenset(
    {
        TaskState.TASK_STATE_COMPLETED,
        TaskState.TASK_STATE_FAILED,
        TaskState.TASK_STATE_CANCELED,
        TaskState.TASK_STATE_REJECTED,
    }
)
_OUTCOMES: dict[str, TaskState] = {
    "completed": TaskState.TASK_STATE_COMPLETED,
    "cancelled": TaskState.TASK_STATE_CANCELED,
}
_ANSWER = "answer"


def task_id(session: str, exchange: str) -> str:
    return f"{session}.{exchange}"


class TaskFold:
    """The task of one exchange."""

    def __init__(self, session: str, exchange: str) -> None:
        self.session = session
        self.exchange = exchange
        self.seq = 0
        """The last event."""
        self.waiting: dict[str, ApprovalRequested | QuestionAsked] = {}
        """The approvals and questions that wait for the client."""
        self.files: dict[str, None] = {}
        self.task = Task(id=task_id(session, exchange), context_id=session)
        self.task.status.state = TaskState.TASK_STATE_SUBMITTED
        self._artifact: Artifact | None = None
        self._known = False

    @property
    def is_known(self) -> bool:
        """Whether the log holds the exchange."""
        return self._known

    @property
    def state(self) -> int:
        return self.task.status.state

    @property
    def is_over(self) -> bool:
        return self.state in TERMINAL

    def feed(self, event: Event) -> list[Update]:
        """Apply an event of the exchange. Returns the updates for a stream."""
        if event.exchange != self.exchange and not self._is_queued(event):
            return []
        self.seq, self._known = event.seq, True
        match event.data:
            case ExchangeRequest(message=message):
                words = Message(message_id=f"{event.id}", role=Role.ROLE_USER, parts=[Part(text=message.words)])
                self.task.history.append(self._placed(words))
                return [self._move(TaskState.TASK_STATE_WORKING, event)]
            case MessageStart(message_id=name):
                self._artifact = Artifact(artifact_id=name, name=_ANSWER)
                return []
            case TextDelta(text=text):
                return self._grow(text)
            case MessageDiscarded():
                return self._discard()
            case AssistantMessage(message=message) if message.words:
                words = Message(message_id=event.id, role=Role.ROLE_AGENT, parts=[Part(text=message.words)])
                self.task.history.append(self._placed(words))
                return []
            case ApprovalRequested(approval=name) | QuestionAsked(question=name):
                self.waiting[name] = event.data
                return [self._move(TaskState.TASK_STATE_INPUT_REQUIRED, event, _describe(event.data))]
            case ApprovalResolved(approval=name) | QuestionAnswered(question=name):
                self.waiting.pop(name, None)
                return [] if self.waiting else [self._move(TaskState.TASK_STATE_WORKING, event)]
            case FileChanged(path=path):
                self.files[path] = None
                return []
            case ExchangeResponse(status=status, error=error, note=note):
                self.waiting.clear()
                reason = error.message if error is not None else note or ""
                return [self._move(_OUTCOMES.get(status, TaskState.TASK_STATE_FAILED), event, reason)]
            case _:
                return []

    def add_artifact(self, artifact: Artifact) -> TaskArtifactUpdateEvent:
        """Add a whole artifact, and return its update."""
        self.task.artifacts.append(artifact)
        return self._artifact_update(artifact, append=False)

    def _is_queued(self, event: Event) -> bool:
        return isinstance(event.data, ConversationQueued) and event.data.request == self.exchange

    def _grow(self, text: str) -> list[Update]:
        assert self._artifact is not None
        first = not any(artifact.artifact_id == self._artifact.artifact_id for artifact in self.task.artifacts)
        if first:
            self._artifact.parts.append(Part(text=text))
            self.task.artifacts.append(self._artifact)
            self._artifact = self.task.artifacts[-1]
        else:
            self._artifact.parts[0].text += text
        piece = Artifact(artifact_id=self._artifact.artifact_id, name=_ANSWER, parts=[Part(text=text)])
        return [self._artifact_update(piece, append=not first)]

    def _discard(self) -> list[Update]:
        dropped, self._artifact = self._artifact, None
        dropped_id = dropped.artifact_id if dropped is not None else None
        remaining = [artifact for artifact in self.task.artifacts if artifact.artifact_id != dropped_id]
        if dropped is None or len(remaining) == len(self.task.artifacts):
            return []
        name = dropped.artifact_id
        del self.task.artifacts[:]
        self.task.artifacts.extend(remaining)
        return [self._artifact_update(Artifact(artifact_id=name, name=_ANSWER, parts=[Part(text="")]), append=False)]

    def _move(self, state: TaskState, event: Event, text: str = "") -> TaskStatusUpdateEvent:
        at = Timestamp()
        at.FromNanoseconds(int(event.time * 1_000_000_000))
        status = TaskStatus(state=state, timestamp=at)
        if text:
            said = Message(message_id=event.id, role=Role.ROLE_AGENT, parts=[Part(text=text)])
            status.message.CopyFrom(self._placed(said))
        self.task.status.CopyFrom(status)
        return TaskStatusUpdateEvent(task_id=self.task.id, context_id=self.session, status=status)

    def _artifact_update(self, artifact: Artifact, *, append: bool) -> TaskArtifactUpdateEvent:
        return TaskArtifactUpdateEvent(task_id=self.task.id, context_id=self.session, artifact=artifact, append=append)

    def _placed(self, message: Message) -> Message:
        message.task_id, message.context_id = self.task.id, self.session
        return message


def _describe(asked: ApprovalRequested | QuestionAsked) -> str:
    if isinstance(asked, ApprovalRequested):
        return f"May {escape_line(asked.name)} be called? Answer yes or no.\n{asked.summary}"
    suggestions = f"\nSuggested: {cut_line('; '.join(asked.suggestions))}" if asked.suggestions else ""
    return "\n".join(excerpt(asked.text).rows) + suggestions
