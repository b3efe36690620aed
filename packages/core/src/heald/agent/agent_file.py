"""An agent as a file: `agents/NAME.md` with its settings in the front matter and its instructions below."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from heald.agent.budget import Budget
from heald.config.paths import display_path
from heald.core.errors import ConfigurationError
from heald.tools.permissions import Mode, Permissions

_MAX_BYTES = 200_000


class AgentFile(msgspec.Struct, frozen=True, kw_only=True):
    """What a file says about an agent. What it does not say is that of the session."""

    name: str
    description: str = ""
    model: str = ""
    tools: tuple[str, ...] | None = None
    """Names of tools and families; None: those of the session."""
    without_tools: tuple[str, ...] = ()
    """Names of tools that it does not get, although the session has them."""
    mode: Mode | None = None
    rules: tuple[str, ...] = ()
    budget: Budget | None = None
    handoffs: tuple[str, ...] = ()
    """The names of agents that it may hand the conversation over to."""
    instructions: str = ""
    path: Path
    lines: Mapping[str, int] = {}
    """The lines of the fields, for errors."""

    @property
    def permissions(self) -> Permissions | None:
        """The permissions that it restricts itself to, if it does."""
        if self.mode is None and not self.rules:
            return None
        return Permissions(self.mode or "auto", self.rules)

    def where(self, field: str) -> str:
        """Return the place of a field, for errors."""
        return f"{display_path(self.path)}:{self.lines.get(field, 1)}"


def read_agent_text(path: Path) -> str:
    """Read a file of an agent. Raises ConfigurationError if that is not possible."""
    where = display_path(path)
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise ConfigurationError(f"{where}: the agent cannot be read: {error.strerror}.") from None
    if len(content) > _MAX_BYTES:
        raise ConfigurationError(f"{where}: the agent has more than {_MAX_BYTES:,} bytes; shorten its instructions.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ConfigurationError(f"{where}:{line}: the agent is not UTF-8 text.") from None
