"""Claude through the Claude Agent SDK, which runs its own loop: its messages become the same events.

The two loops work in step (see `ToolHost` in `heald.providers.base`). One exchange is one query: each message of the
model is a turn, Heald runs or permits the calls in it, and the SDK continues once it has their results.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, ClassVar

from heald.core.distribution import install_advice
from heald.core.errors import ConfigurationError
from heald.core.messages import Message, ToolDefinition
from heald.core.turn import Settings
from heald.providers.base import ProviderSession

if TYPE_CHECKING:
    from claude_agent_sdk import ClaudeAgentOptions, Transport

PROVIDER = "claude-agent"


@dataclass(frozen=True, kw_only=True)
class ClaudeAgent:
    """A model that runs in the SDK's loop. The SDK is not loaded before the first turn."""

    model: str | None = None
    """Such as `claude-sonnet-4-6`. None: Claude Code's default."""
    sdk_tools: Sequence[str] = ()
    """Tools of the SDK that the model may use as well, such as `Read` and `Bash`. Heald's permissions hold for them."""
    options: "ClaudeAgentOptions | None" = None
    """More for the SDK: `cwd`, `env`, `agents`, `mcp_servers`, a `system_prompt` preset. Heald sets the rest."""
    transport: "Callable[[ClaudeAgentOptions], Transport] | None" = None
    """The connection to Claude Code, if it is not a process on this machine."""
    hosts_tools: ClassVar[bool] = True
    """It has tools of its own."""
    hosted_tools: ClassVar[Sequence[str]] = (
        *("Bash", "Edit", "Glob", "Grep", "LS", "NotebookEdit"),
        *("Read", "TodoWrite", "WebFetch", "WebSearch", "Write"),
    )
    """Their names, which rules may have."""

    @property
    def name(self) -> str:
        return f"{PROVIDER}/{self.model or 'default'}"

    @classmethod
    def named(cls, model: str) -> "ClaudeAgent":
        """Make the model of a name after the slash."""
        return cls(model=None if model == "default" else model)

    def open_session(
        self, *, messages: list[Message], tools: list[ToolDefinition], settings: Settings
    ) -> ProviderSession:
        if find_spec("claude_agent_sdk") is None or find_spec("mcp") is None:
            raise ConfigurationError(f"{self.name} needs the Claude Agent SDK; {install_advice('claude')}.")
        from heald.providers.claude_agent.session import ClaudeAgentSession

        return ClaudeAgentSession(self, messages, tools, settings)


__all__ = ["ClaudeAgent"]
