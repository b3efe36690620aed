"""Who makes an attempt: a model in Heald's own loop, an agent of a file, or an external agent."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from heald.agent.model_chain import ModelLike
from heald_cli.agent_choice import find_foreign_agent
from heald_cli.project_agents import choose_agents

OURS = "ours"
"""The name of Heald's own agent in a list of agents."""


@dataclass(frozen=True, slots=True)
class Entrant:
    """An agent that makes attempts."""

    name: str
    """As it is shown."""
    model: ModelLike
    agent: str | None = None
    """The agent of a file that uses the model."""


def choose_entrants(
    names: Sequence[str], folder: str | Path, *, our_model: Callable[[], str], find_model: Callable[[str], ModelLike]
) -> list[Entrant]:
    """Return the agents of these names. `our_model` is the name of the model of Heald's own agent, and of the agents of
    files that name none. Raises ConfigurationError for a name that no agent has."""
    entrants: list[Entrant] = []
    for name in names:
        if name == OURS:
            model = our_model()
            entrants.append(Entrant(f"{OURS} ({model})", find_model(model)))
        elif (foreign := find_foreign_agent(name, folder)) is not None:
            entrants.append(Entrant(name, find_model(foreign)))
        else:
            model = choose_agents(name, folder).find(name).model or our_model()
            entrants.append(Entrant(f"{name} ({model})", find_model(model), name))
    return entrants
