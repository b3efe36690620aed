"""What a session is set to, as data: kept with it, and in force again when it is opened."""

from typing import Any, cast

import msgspec

from weft.agent.budget import Budget
from weft.core.errors import ConfigurationError
from weft.core.json import JsonObject
from weft.core.messages import Message
from weft.core.settings import Reason
from weft.tools.permissions import Mode, Permissions


class SessionSettings(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Models and tools are kept by name. Keys, functions and scripted models are not data: give them at opening."""

    model: str = ""
    tools: list[str] = []
    instructions: str = ""
    permissions: Mode = "auto"
    rules: list[str] = []
    workspace: str | None = None
    """A folder; None is a project that the session keeps itself."""
    budget: Budget | None = None
    temperature: float | None = None
    max_output_tokens: int | None = None
    reasoning: Reason | None = None
    history: list[Message] = []
    """What was said before the log begins: of a conversation that a client brought along."""
    files: dict[str, str] = {}
    """The files that a project of the session begins with: paths, and the blobs that hold their contents."""
    always: list[str] = []
    """Digests of the calls that a person allowed for the rest of the session."""
    dropped: list[tuple[int, int]] = []
    """Parts of an old log that are no longer in the conversation: behind the first seq, up to the second. Today the log
    itself says so, by `session_rewound`."""

    def options(self) -> dict[str, Any]:
        """How an agent is made of it."""
        return {
            "tools": self.tools,
            "instructions": self.instructions or None,
            "permissions": Permissions(self.permissions, self.rules),
            "workspace": self.workspace,
            "budget": self.budget,
            "temperature": self.temperature,
            "max_output_tokens": self.max_output_tokens,
            "reasoning": self.reasoning,
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
