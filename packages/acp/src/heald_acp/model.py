"""`acp/NAME`: the models that are external agents."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from heald.core.messages import Message, ToolDefinition
from heald.core.turn import Settings
from heald.providers.base import ProviderSession
from heald.providers.families import OfferedModel
from heald.tools.shell.sandbox import Sandbox
from heald_acp.configured_programs import find_program, list_programs
from heald_acp.program import AgentProgram
from heald_acp.updates import TOOL_NAMES

PROVIDER = "acp"


@dataclass(frozen=True, kw_only=True)
class AcpAgent:
    """An external agent as a model. Its program is started with the first turn."""

    program: AgentProgram
    model: str = ""
    """The model that the agent uses, by the agent's own name for it; empty for its default."""
    sandbox: Sandbox = field(default_factory=Sandbox)
    """Runs the commands that the agent runs in a terminal of Heald."""
    hosts_tools: ClassVar[bool] = True
    """It has tools of its own."""
    is_agent: ClassVar[bool] = True
    """It uses no tools of Heald, and reads the notes of its folder itself."""

    default_turns: ClassVar[int] = 500
    """Each of its calls is a turn, and it has limits of its own."""

    @property
    def name(self) -> str:
        return f"{PROVIDER}/{self.program.name}{f'/{self.model}' if self.model else ''}"

    def open_session(
        self, *, messages: list[Message], tools: list[ToolDefinition], settings: Settings
    ) -> ProviderSession:
        from heald_acp.session import AcpSession

        return AcpSession(self, messages, tools, settings)


class AcpAgents:
    """The family of these models."""

    hosted_tools: ClassVar[Sequence[str]] = TOOL_NAMES
    """The names of their tools, which rules may have."""

    @staticmethod
    def named(name: str) -> AcpAgent:
        """Return the model of a name such as `opencode`, or `opencode/openai/gpt-5` with the model that it uses."""
        program, _, model = name.partition("/")
        return AcpAgent(program=find_program(program), model=model)

    @staticmethod
    def list_models() -> Sequence[OfferedModel]:
        """Return the agents that are installed."""
        installed = [program for program in list_programs().values() if program.find() is not None]
        return [OfferedModel(f"{PROVIDER}/{program.name}", f"{program.name} (ACP)") for program in installed]
