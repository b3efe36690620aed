"""Claude as the Claude Agent SDK runs it, under the name `claude-agent/MODEL`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from weft.core.errors import ConfigurationError
from weft.core.messages import Message
from weft.core.settings import Settings
from weft.core.tools import ToolDefinition
from weft.providers.base import ProviderSession

if TYPE_CHECKING:
    from claude_agent_sdk import ClaudeAgentOptions, Transport

PROVIDER = "claude-agent"


@dataclass(frozen=True, kw_only=True)
class ClaudeAgent:
    """A model whose loop is the SDK's. Nothing of the SDK is loaded before the first turn."""

    model: str | None = None
    """Such as `claude-sonnet-4-6`. None: the one that Claude Code itself would take."""
    sdk_tools: Sequence[str] = ()
    """Tools of the SDK that the model may use as well, such as `Read` and `Bash`. Weft's permissions hold for them."""
    options: "ClaudeAgentOptions | None" = None
    """More for the SDK: `cwd`, `env`, `agents`, `mcp_servers`, a `system_prompt` preset. Weft sets the rest."""
    transport: "Callable[[ClaudeAgentOptions], Transport] | None" = None
    """Where Claude Code is, if it is not a process on this machine."""

    @property
    def name(self) -> str:
        return f"{PROVIDER}/{self.model or 'default'}"

    @classmethod
    def named(cls, model: str) -> "ClaudeAgent":
        """From what stands behind the slash."""
        return cls(model=None if model == "default" else model)

    def open_session(
        self, *, messages: list[Message], tools: list[ToolDefinition], settings: Settings
    ) -> ProviderSession:
        if find_spec("claude_agent_sdk") is None or find_spec("mcp") is None:
            raise ConfigurationError(f'{self.name} needs the Claude Agent SDK; pip install "weft[claude]".')
        from weft.providers.claude_agent.session import ClaudeAgentSession

        return ClaudeAgentSession(self, messages, tools, settings)
