"""The settings that are stored with a session, and the calls that were allowed in it."""

from collections.abc import Awaitable, Callable
from copy import copy
from typing import Any, cast

import msgspec

from weft.agent.agent import Agent, FolderExtras
from weft.agent.engine import EditFormat
from weft.agent.tracker import Budget
from weft.core.envelope import Event
from weft.core.errors import ConfigurationError
from weft.core.events import ApprovalRequested, ApprovalResolved
from weft.core.json import JsonObject
from weft.core.messages import Message, ToolCall, ToolDefinition
from weft.core.turn import Reason, Settings
from weft.tools.compact import ToolProfile
from weft.tools.permissions import Mode, Permissions
from weft.tools.results import ToolFault
from weft.tools.runtime import ToolRuntime


class SessionSettings(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Models and tools are stored by name. Functions, keys and scripted models are given when the session is opened."""

    model: str = ""
    tools: list[str] = []
    instructions: str = ""
    permissions: Mode = "auto"
    rules: list[str] = []
    planning: bool = False
    """Whether only reading is permitted until a person approves the plan."""
    workspace: str | None = None
    """A folder; None for a project that is stored with the session."""
    budget: Budget | None = None
    temperature: float | None = None
    max_output_tokens: int | None = None
    reasoning: Reason | None = None
    extra: dict[str, Any] = {}
    """Merged into every request to the model."""
    cache: bool = False
    """Whether the results of pure tools are cached."""
    tool_profile: ToolProfile = "auto"
    edit_format: EditFormat = "auto"
    history: list[Message] = []
    """Messages before the beginning of the log, from a conversation that a client brought along."""
    files: dict[str, str] = {}
    """The initial files of a project: paths, and the digests of their contents."""
    client_tools: list[ToolDefinition] = []
    """Tools that clients run."""
    always: list[str] = []
    """Digests of the calls that a person allowed for the rest of the session."""
    deleted_responses: list[int] = []
    """Responses of `/v1/responses` that a client deleted, by the seq of their request."""
    request: dict[str, Any] = {}
    """The parameters of the last request of `/v1`, which a process that continues it applies too."""
    dropped: list[tuple[int, int]] = []
    """Parts of the log that are not in the conversation: after the first seq, up to the second. Only in sessions from
    before the event `session_rewound`."""

    def options(self) -> dict[str, Any]:
        """Return the arguments of `weft.Agent` for these settings."""
        return {
            "tools": self.tools,
            "instructions": self.instructions or None,
            "permissions": Permissions(self.permissions, self.rules),
            "workspace": self.workspace,
            "budget": self.budget,
            "temperature": self.temperature,
            "max_output_tokens": self.max_output_tokens,
            "reasoning": self.reasoning,
            "settings": Settings(extra=self.extra) if self.extra else None,
            "cache": self.cache,
            "tool_profile": self.tool_profile,
            "edit_format": self.edit_format,
        }

    def is_dropped(self, seq: int) -> bool:
        return any(after < seq <= upto for after, upto in self.dropped)

    def data(self) -> JsonObject:
        return cast(JsonObject, msgspec.to_builtins(self))

    @classmethod
    def of(cls, data: JsonObject) -> "SessionSettings":
        try:
            return msgspec.convert(data, cls)
        except msgspec.ValidationError as error:
            raise ConfigurationError(f"The settings of the session cannot be read: {error}.") from None


def apply_request_settings(agent: Agent, request: JsonObject) -> None:
    """Apply the parameters of a request from the next turn on, over the settings of the agent."""
    given = msgspec.convert(request, Settings)
    changes = {name: getattr(given, name) for name in request}
    if given.extra:
        changes["extra"] = {**agent.settings.extra, **given.extra}
    engine = agent.engine
    engine.settings = msgspec.structs.replace(agent.settings, **changes)
    if engine.current is not None:
        opened = engine.session
        opened.settings = msgspec.structs.replace(engine.settings, output_schema=opened.settings.output_schema)


def add_allowed(permissions: Permissions, digests: list[str]) -> Permissions:
    """Copy permissions for one session, with the calls that were allowed in it."""
    own = copy(permissions)
    own.always = {*permissions.always, *digests}
    return own


class AllowedCalls:
    """A reactor that calls `keep` with the digest of each call that is allowed for the rest of the session."""

    def __init__(self, session: str, runtime: ToolRuntime, keep: Callable[[str], Awaitable[None]]) -> None:
        self._session = session
        self._runtime = runtime
        self._keep = keep
        self._asked: dict[str, ApprovalRequested] = {}

    def on_approval_requested(self, event: Event) -> None:
        if event.session == self._session and isinstance(event.data, ApprovalRequested):
            self._asked[event.data.approval] = event.data

    async def on_approval_resolved(self, event: Event) -> None:
        resolved = event.data
        if not isinstance(resolved, ApprovalResolved):
            return
        asked = self._asked.pop(resolved.approval, None)
        if asked is None or not resolved.always:
            return
        digest = self._digest(asked, resolved)
        if digest in self._runtime.permissions.always:
            await self._keep(digest)

    def _digest(self, asked: ApprovalRequested, resolved: ApprovalResolved) -> str:
        """Return the digest of the call as it was allowed, with the arguments of the approver if there are any."""
        if resolved.input is None:
            return asked.digest
        planned = self._runtime.plan(ToolCall(id=asked.call, name=asked.name, input=resolved.input))
        if isinstance(planned, ToolFault):
            return ""
        return self._runtime.digest(planned)


FindExtras = Callable[[str | None, SessionSettings], FolderExtras]
"""Finds what a folder, or none, adds to a session with these settings."""
