"""The parts that a session gets from its folder: notes for agents, skills, hooks and a description of it."""

from collections.abc import Callable
from dataclasses import dataclass

from weft.agent.agent import Agent
from weft.sessions.settings import SessionSettings
from weft.tools.function_tools import ToolLike
from weft.tools.runtime import Middleware


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderExtras:
    """The parts that a folder and the settings of the user add to an agent."""

    instructions: tuple[str, ...] = ()
    """All instructions, those of the session's settings among them. If empty, those of the settings count."""
    tools: tuple[ToolLike, ...] = ()
    middleware: tuple[Middleware, ...] = ()
    """Around the calls of the agent and of its subagents."""
    equip: Callable[[Agent, object], None] = lambda _agent, _model: None
    """Completes an agent, which has this model, when it is open: the description of the folder, the way it edits."""

    def complete(self, agent: Agent, model: object) -> None:
        """Add what an agent can get only when it is open."""
        agent.runtime.shared_middleware = [*agent.runtime.shared_middleware, *self.middleware]
        self.equip(agent, model)


FindExtras = Callable[[str | None, SessionSettings], FolderExtras]
"""Finds what a folder, or none, adds to a session with these settings."""
