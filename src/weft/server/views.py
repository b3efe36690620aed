"""Request and response types of the API. The OpenAPI document is made from them."""

from typing import Annotated, Any, Literal

import msgspec

from weft.agent.tracker import Budget
from weft.core.events import ApprovalRequested, ClientToolRequested, QuestionAsked
from weft.core.json import JsonObject
from weft.core.messages import Message
from weft.core.turn import Reason
from weft.server.models import ModelView, ProviderView
from weft.sessions.session import Session
from weft.sessions.settings import SessionSettings
from weft.sessions.store import SessionInfo
from weft.tools.definitions import Effect
from weft.tools.permissions import Mode
from weft.tools.workspace.diff import Hunk

Title = Annotated[str, msgspec.Meta(max_length=500)]
Name = Annotated[str, msgspec.Meta(max_length=200)]
Digest = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$")]
Number = Annotated[int, msgspec.Meta(ge=0, le=10**6)]
Seq = Annotated[int, msgspec.Meta(ge=0, le=2**53 - 1)]


_RESERVED = frozenset(
    {"model", "messages", "input", "contents", "system", "systemInstruction", "instructions", "stream", "n", "store"}
)
_MAX_EXTRA = 64 * 1024


class Body(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class _SettingsBody(Body, frozen=True, kw_only=True):
    """Settings of a session that a client may set; others keep the server's defaults."""

    model: Name | msgspec.UnsetType = msgspec.UNSET
    tools: Annotated[list[Name], msgspec.Meta(max_length=100)] | msgspec.UnsetType = msgspec.UNSET
    instructions: str | msgspec.UnsetType = msgspec.UNSET
    permissions: Mode | msgspec.UnsetType = msgspec.UNSET
    rules: Annotated[list[Name], msgspec.Meta(max_length=200)] | msgspec.UnsetType = msgspec.UNSET
    workspace: Name | msgspec.UnsetType | None = msgspec.UNSET
    """The name of one of the server's folders; null is a project that the session stores."""
    budget: Budget | msgspec.UnsetType | None = msgspec.UNSET
    temperature: Annotated[float, msgspec.Meta(ge=0, le=2)] | msgspec.UnsetType | None = msgspec.UNSET
    max_output_tokens: Annotated[int, msgspec.Meta(ge=1, le=10**7)] | msgspec.UnsetType | None = msgspec.UNSET
    reasoning: Reason | msgspec.UnsetType | None = msgspec.UNSET
    extra: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
    """Parameters that are merged into every request to the model, except the model itself and the conversation."""
    cache: bool | msgspec.UnsetType = msgspec.UNSET
    """Whether equal reads of unchanged files are one read."""
    client_tools: list[Any] | msgspec.UnsetType = msgspec.UNSET
    """Tools that clients run: objects with name, description and input_schema."""

    def __post_init__(self) -> None:
        if isinstance(self.extra, dict):
            reserved = next((name for name in self.extra if name in _RESERVED), None)
            if reserved is not None:
                raise ValueError(f"extra may not hold {reserved!r}, which the session itself sends")
            if len(msgspec.json.encode(self.extra)) > _MAX_EXTRA:
                raise ValueError(f"extra may have {_MAX_EXTRA // 1024} KiB at most")

    def settings(self) -> JsonObject:
        """The settings that the client set, without the client tools, which are checked with the session."""
        given = msgspec.to_builtins(self)
        known = SessionSettings.__struct_fields__
        return {name: value for name, value in given.items() if name in known and name != "client_tools"}


class NewSession(_SettingsBody, frozen=True, kw_only=True):
    title: Title = ""


class SessionChange(_SettingsBody, frozen=True, kw_only=True):
    title: Title | msgspec.UnsetType = msgspec.UNSET


class SettingsView(msgspec.Struct, frozen=True, kw_only=True):
    model: str
    tools: list[str]
    instructions: str
    permissions: Mode
    rules: list[str]
    workspace: str | None
    budget: Budget | None
    temperature: float | None
    max_output_tokens: int | None
    reasoning: Reason | None
    extra: JsonObject
    cache: bool
    client_tools: list[str]
    """The names of tools that clients run."""


class SessionView(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    title: str
    created: float
    updated: float
    last_seq: int
    parent: str | None
    parent_seq: int | None
    settings: SettingsView
    busy: bool
    """Whether an exchange runs, or a request waits for a server that runs it."""
    queued: int
    client_calls: list[str]
    """Calls that wait for a client. `pending` has them with their arguments."""


class SessionsView(msgspec.Struct, frozen=True):
    sessions: list[SessionView]
    next: str | None


class ListQuery(msgspec.Struct, frozen=True, kw_only=True):
    search: Name = ""
    limit: Annotated[int, msgspec.Meta(ge=1, le=200)] = 50
    after: Name | None = None


class LogQuery(msgspec.Struct, frozen=True, kw_only=True):
    after: Seq = 0
    limit: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 500


class FileQuery(msgspec.Struct, frozen=True, kw_only=True):
    revision: Annotated[int, msgspec.Meta(ge=0, le=2**31)] | None = None


class StreamQuery(msgspec.Struct, frozen=True, kw_only=True):
    dialect: Name = "native"
    after: str | None = None


class CancelBody(Body, frozen=True, kw_only=True):
    exchange: Name | None = None
    reason: Title = ""


class DecisionBody(Body, frozen=True, kw_only=True):
    decision: Literal["approve", "deny"]
    digest: Name | None = None
    """Digest of the call as it was shown; a call that changed since is not approved."""
    always: bool = False
    arguments: JsonObject | None = None
    reason: Title = ""


class AnswerBody(Body, frozen=True, kw_only=True):
    answer: Annotated[str, msgspec.Meta(max_length=100_000)]


class ForkBody(Body, frozen=True, kw_only=True):
    at: Seq | None = None
    title: Title | None = None


class RewindBody(Body, frozen=True, kw_only=True):
    seq: Seq


class LoginBody(Body, frozen=True, kw_only=True):
    token: Annotated[str, msgspec.Meta(max_length=16_384)]
    """A token of the server, or a signed one."""


class MessagesView(msgspec.Struct, frozen=True):
    messages: list[Message]
    seq: int


class PendingView(msgspec.Struct, frozen=True):
    approvals: list[ApprovalRequested]
    questions: list[QuestionAsked]
    client_calls: list[ClientToolRequested] = []
    """Calls that wait for a client to run them."""


class FileView(msgspec.Struct, frozen=True):
    path: str
    size: int
    revision: int
    """0 for a file that this session has not changed."""


class FilesView(msgspec.Struct, frozen=True):
    files: list[FileView]
    cut: bool
    """There are more than are listed."""


class RevisionView(msgspec.Struct, frozen=True):
    revision: int
    hash: str | None
    size: int
    diff: str


class RevisionsView(msgspec.Struct, frozen=True):
    revisions: list[RevisionView]


class ChangeView(msgspec.Struct, frozen=True, kw_only=True):
    """A file that the session changed."""

    path: str
    kind: Literal["created", "changed", "deleted"]
    base: str | None
    """The SHA-256 of the content before; null if there was no file."""
    hash: str | None
    """The SHA-256 of the content now; null if it is deleted."""
    problem: str
    """Why it cannot be compared; empty if it can."""


class ChangesView(msgspec.Struct, frozen=True):
    changes: list[ChangeView]


class HunksView(ChangeView, frozen=True, kw_only=True):
    hunks: list[Hunk] | None
    """The hunks, in order; null for a file that can only be accepted or reverted as a whole."""


class JudgementBody(Body, frozen=True, kw_only=True):
    """A decision on a change. `base` and `hash` identify the contents that were shown."""

    decision: Literal["accept", "revert"]
    base: Digest | None
    hash: Digest | None
    hunks: Annotated[list[Number], msgspec.Meta(min_length=1, max_length=10_000)] | None = None
    """Indexes of hunks, from 0; all hunks if omitted."""


class BlobView(msgspec.Struct, frozen=True):
    blob: str


class LogView(msgspec.Struct, frozen=True):
    events: list[msgspec.Raw]
    last_seq: int


class DelegateView(msgspec.Struct, frozen=True):
    session: str
    call: str
    """The tool call that it worked for."""
    last_seq: int


class DelegatesView(msgspec.Struct, frozen=True):
    delegates: list[DelegateView]


class ToolView(msgspec.Struct, frozen=True):
    name: str
    description: str
    effect: Effect
    schema: JsonObject


class ToolsView(msgspec.Struct, frozen=True):
    tools: list[ToolView]
    families: dict[str, list[str]]


class ModelsView(msgspec.Struct, frozen=True):
    models: list[str]
    """Names, which a session or a project may give."""
    default: str
    details: list[ModelView]
    """The same models, described."""
    stacks: list[str]
    """Names of the stacks that projects may have; empty without a studio."""
    fixed: bool = False
    """The program that runs the server defines the agent: sessions have no settings to choose."""


class ProvidersView(msgspec.Struct, frozen=True):
    providers: list[ProviderView]


class WorkspacesView(msgspec.Struct, frozen=True):
    workspaces: list[str]


class HealthView(msgspec.Struct, frozen=True, omit_defaults=True):
    status: str
    version: str | None = None
    sandbox: str | None = None
    exchanges: int | None = None


class ReadyView(msgspec.Struct, frozen=True):
    node: str
    """The name of the server among those that share its store."""


class TokenView(msgspec.Struct, frozen=True):
    token: str


class ForgottenView(msgspec.Struct, frozen=True):
    forgotten: int
    """The number of calls that had been allowed."""


class Empty(msgspec.Struct, frozen=True):
    """An empty object."""


def session_view(info: SessionInfo, session: Session | None) -> SessionView:
    settings = SessionSettings.of(info.settings)
    return SessionView(
        id=info.id,
        title=info.title,
        created=info.created,
        updated=info.updated,
        last_seq=max(info.last_seq, session.bus.seq if session is not None else 0),
        parent=info.parent,
        parent_seq=info.parent_seq,
        settings=_settings_view(settings),
        busy=session.engine.current is not None if session is not None else info.work != "idle",
        queued=session.engine.waiting if session is not None else 0,
        client_calls=[request.id for request in session.client_calls] if session is not None else [],
    )


def _settings_view(settings: SessionSettings) -> SettingsView:
    shown: dict[str, Any] = {name: getattr(settings, name) for name in SettingsView.__struct_fields__}
    shown["client_tools"] = [tool.name for tool in settings.client_tools]
    return SettingsView(**shown)
