"""The parts that a folder and the settings of the user add to an agent."""

from collections.abc import Callable

import msgspec

from heald.agent.agent import Agent
from heald.tools.registry import ToolLike
from heald.tools.runtime import Middleware


class FolderExtras(msgspec.Struct, frozen=True, kw_only=True):
    """The parts that a folder and the settings of the user add to an agent."""

    instructions: tuple[str, ...] = ()
    """All instructions, those of the session's settings among them. If empty, those of the settings count."""
    tools: tuple[ToolLike, ...] = ()
    middleware: tuple[Middleware, ...] = ()
    """Around the calls of the agent and of its subagents."""
    shows_secrets: bool = False
    """Whether the user lets models see the secret values in the files of the folder."""
    equip: Callable[[Agent, object], None] = lambda _agent, _model: None
    """Completes an agent, which has this model, when it is open: the description of the folder, the way it edits."""

    def complete(self, agent: Agent, model: object) -> None:
        """Add what an agent can get only when it is open."""
        agent.shows_secrets = self.shows_secrets
        agent.share_middleware(self.middleware)
        self.equip(agent, model)
