"""The settings that are stored with a session."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import msgspec

from heald.agent.budget import Budget
from heald.agent.folder_extras import FolderExtras
from heald.agent.request_callbacks import OnApproval, default_mode
from heald.agent.text_editing import EditFormat
from heald.agent.tool_search import SHARE
from heald.core.errors import ConfigurationError
from heald.core.json import JsonObject
from heald.core.messages import Message, ToolDefinition
from heald.core.turn import Reason, Settings
from heald.tools.client_tools import ClientPrecedence
from heald.tools.compact import ToolProfile
from heald.tools.permissions import Mode

if TYPE_CHECKING:
    from heald.agent.agent_files import AgentFiles
    from heald.tools.memory.fact_books import FactBooks


class SessionSettings(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Models and tools are stored by name. Functions, keys and scripted models are given when the session is opened."""

    model: str = ""
    agent: str = ""
    """The agent of a file that begins the conversation: `agents/NAME.md`."""
    tools: list[str] = []
    instructions: str = ""
    permissions: Mode | None = None
    """None: `ask` if the session is opened with `on_approval`, else `auto`."""
    rules: list[str] = []
    planning: bool = False
    """Whether only reading is permitted until a person approves the plan."""
    workspace: str | None = None
    """A folder; None for a project that is stored with the session."""
    sees_folder: bool = True
    """Whether the model is told about the folder: its notes, the state of its repository and the map of its code."""
    budget: Budget | None = None
    temperature: float | None = None
    max_output_tokens: int | None = None
    reasoning: Reason | None = None
    extra: dict[str, Any] = {}
    """Merged into every request to the model."""
    cache: bool = False
    """Whether the results of pure tools are cached."""
    tool_profile: ToolProfile = "auto"
    tool_search: float | None = SHARE
    edit_format: EditFormat = "auto"
    history: list[Message] = []
    """Messages before the beginning of the log, from a conversation that a client brought along."""
    files: dict[str, str] = {}
    """The initial files of a project: paths, and the digests of their contents."""
    client_tools: list[ToolDefinition] = []
    """Tools that clients run."""
    client_precedence: ClientPrecedence = "distinct"
    """How they stand to the agent's own."""
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
        """Return the arguments of `heald.Agent` for these settings, except for the permissions."""
        return {
            "tools": self.tools,
            "instructions": self.instructions or None,
            "workspace": self.workspace,
            "budget": self.budget,
            "temperature": self.temperature,
            "max_output_tokens": self.max_output_tokens,
            "reasoning": self.reasoning,
            "settings": Settings(extra=self.extra) if self.extra else None,
            "cache": self.cache,
            "tool_profile": self.tool_profile,
            "tool_search": self.tool_search,
            "edit_format": self.edit_format,
        }

    def mode(self, on_approval: OnApproval | None = None) -> Mode:
        """Return the permission mode of a session that is opened with this callback."""
        return self.permissions or default_mode(on_approval)

    def is_dropped(self, seq: int) -> bool:
        return bool(self.dropped) and any(after < seq <= upto for after, upto in self.dropped)

    def data(self) -> JsonObject:
        return cast(JsonObject, msgspec.to_builtins(self))

    @classmethod
    def of(cls, data: JsonObject) -> "SessionSettings":
        try:
            return msgspec.convert(data, cls)
        except msgspec.ValidationError as error:
            raise ConfigurationError(f"The settings of the session cannot be read: {error}.") from None


FindAgents = Callable[[str | None], "AgentFiles"]
"""Finds the agents of files that a session in a folder, or in none, may have."""
FindExtras = Callable[[str | None, SessionSettings, str], FolderExtras]
"""Finds what a folder, or none, adds to a session with these settings of an owner."""
FindMemory = Callable[[str, str], "FactBooks | None"]
"""Finds the facts about a folder for an owner of sessions."""
