"""The agents that may continue one conversation: the one that begins it, and all that it can be handed over to."""

from collections.abc import Sequence

from heald.agent.agent_profile import AgentProfile
from heald.core.arguments import nearest_or_all
from heald.core.errors import ConfigurationError


class AgentGroup:
    """Agents by name. The first one begins the conversation."""

    def __init__(self, first: AgentProfile) -> None:
        self.first = first
        self._agents: dict[str, AgentProfile] = {}
        self._add(first)

    def _add(self, agent: AgentProfile) -> None:
        earlier = self._agents.get(agent.name)
        if earlier is agent:
            return
        if earlier is not None:
            raise ConfigurationError(
                f"Agent: two agents that hand over to each other are named {agent.name!r}; give each its own name=."
            )
        self._agents[agent.name] = agent
        for other in agent.handoffs:
            if not isinstance(other, str):
                self._add(other)

    def find(self, name: str) -> AgentProfile | None:
        return self._agents.get(name)

    @property
    def names(self) -> Sequence[str]:
        return list(self._agents)

    @property
    def others(self) -> Sequence[AgentProfile]:
        """All agents but the first."""
        return [agent for agent in self._agents.values() if agent is not self.first]

    def targets(self, agent: AgentProfile) -> list[AgentProfile]:
        """Return the agents that an agent may hand over to."""
        return [target for name in agent.handoff_names if (target := self._agents.get(name)) is not None]

    def check(self) -> None:
        """Raise ConfigurationError for a name in `handoffs` that no agent of the group has."""
        for agent in self._agents.values():
            for name in agent.handoff_names:
                if name not in self._agents:
                    raise ConfigurationError(
                        f"The agent {agent.name!r} hands over to {name!r}, which is not an agent here; "
                        f"{nearest_or_all(name, [other for other in self._agents if other])}"
                    )
