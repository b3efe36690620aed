"""Requests and responses of the routes for sessions."""

from typing import Annotated, Any

import msgspec

from heald.agent.budget import Budget
from heald.core.json import JsonObject
from heald.core.turn import Reason
from heald.sessions.session import Session
from heald.sessions.session_info import SessionInfo
from heald.sessions.settings import SessionSettings
from heald.tools.permissions import Mode
from heald_server.routes.fields import Body, Name, Seq, Title

_RESERVED = frozenset(
    {"model", "messages", "input", "contents", "system", "systemInstruction", "instructions", "stream", "n", "store"}
)
_MAX_EXTRA = 64 * 1024


class _SettingsBody(Body, frozen=True, kw_only=True):
    """Settings of a session that a client may set; others keep the server's defaults."""

    model: Name | msgspec.UnsetType = msgspec.UNSET
    agent: Name | msgspec.UnsetType = msgspec.UNSET
    """The name of one of the server's agents, as in `agents`; empty for none."""
    tools: Annotated[list[Name], msgspec.Meta(max_length=100)] | msgspec.UnsetType = msgspec.UNSET
    instructions: str | msgspec.UnsetType = msgspec.UNSET
    permissions: Mode | msgspec.UnsetType = msgspec.UNSET
    rules: Annotated[list[Name], msgspec.Meta(max_length=200)] | msgspec.UnsetType = msgspec.UNSET
    workspace: Name | msgspec.UnsetType | None = msgspec.UNSET
    """The name of one of the server's folders; null keeps the files in the session."""
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
        fields = msgspec.to_builtins(self)
        names = SessionSettings.__struct_fields__
        return {name: value for name, value in fields.items() if name in names and name != "client_tools"}


class NewSession(_SettingsBody, frozen=True, kw_only=True):
    title: Title = ""


class SessionChange(_SettingsBody, frozen=True, kw_only=True):
    title: Title | msgspec.UnsetType = msgspec.UNSET


class SettingsView(msgspec.Struct, frozen=True, kw_only=True):
    model: str
    agent: str
    """The agent that begins the conversation; empty for none."""
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


class LogQuery(msgspec.Struct, frozen=True, kw_only=True):
    after: Seq = 0
    limit: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 500


class RewindBody(Body, frozen=True, kw_only=True):
    seq: Seq
    files: bool = False
    """Also restore the files that the session changed as they were at that event."""


class LogView(msgspec.Struct, frozen=True):
    events: list[msgspec.Raw]
    last_seq: int


class DelegateView(msgspec.Struct, frozen=True):
    session: str
    call_id: str
    """The tool call that it worked for."""
    last_seq: int


class DelegatesView(msgspec.Struct, frozen=True):
    delegates: list[DelegateView]


def session_view(info: SessionInfo, session: Session | None) -> SessionView:
    settings = SessionSettings.of(info.settings)
    return SessionView(
        id=info.id,
        title=info.title,
        created=info.created,
        updated=info.updated,
        last_seq=max(info.last_seq, session.last_seq if session is not None else 0),
        parent=info.parent,
        parent_seq=info.parent_seq,
        settings=_settings_view(settings),
        busy=session.current is not None if session is not None else info.work != "idle",
        queued=session.queued if session is not None else 0,
        client_calls=[request.id for request in session.client_calls] if session is not None else [],
    )


def _settings_view(settings: SessionSettings) -> SettingsView:
    fields: dict[str, Any] = {name: getattr(settings, name) for name in SettingsView.__struct_fields__}
    fields["permissions"] = settings.mode()
    fields["client_tools"] = [tool.name for tool in settings.client_tools]
    return SettingsView(**fields)
