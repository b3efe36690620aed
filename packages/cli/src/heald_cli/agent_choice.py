"""Applies the agent that `--agent` names to the options of a command."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from heald.commands.options import flags_of
from heald.core.distribution import install_advice
from heald.core.errors import ConfigurationError, UnknownProvider
from heald.providers.families import find_family
from heald_cli.project_agents import choose_agents, load_agents

_ENDPOINT = ("base_url", "wire", "api_key_env")
_FOREIGN = "acp"
"""The family of models that are external agents."""


def use_agent(options: argparse.Namespace, folder: str | Path) -> None:
    """Use the model of the agent that the options name, unless the command line names another one. An external agent
    is a model, and no agent of a file remains. Raises ConfigurationError if there is no such agent, or if it is not
    trusted."""
    name: str = options.agent
    if (foreign := find_foreign_agent(name, folder)) is not None:
        _use_model(options, foreign)
        options.agent = None
        return
    try:
        agent = choose_agents(name, folder).find(name)
    except ConfigurationError as error:
        if find_family(_FOREIGN) is not None:
            raise
        advice = f"External agents, such as claude and codex, need {install_advice(_FOREIGN)}."
        raise ConfigurationError(f"{error} {advice}") from None
    if agent.model and "model" not in flags_of(options):
        _use_model(options, agent.model)


def find_foreign_agent(name: str, folder: str | Path) -> str | None:
    """Return the model that is the external agent of this name; None if there is none, or an agent of a file has it."""
    family = find_family(_FOREIGN)
    if family is None or name in load_agents(folder).by_name:
        return None
    try:
        family.named(name)
    except UnknownProvider:
        return None
    return f"{_FOREIGN}/{name}"


def name_foreign_agents(names: Sequence[str]) -> list[str]:
    """Return the models that are the external agents of these names. Raises ConfigurationError if there is none."""
    family = find_family(_FOREIGN)
    if names and family is None:
        raise ConfigurationError(f"External agents, such as claude and codex, need {install_advice(_FOREIGN)}.")
    agents = [name.removeprefix(f"{_FOREIGN}/") for name in names]
    if family is not None:
        for name in agents:
            family.named(name)  # raises if it is unknown
    return [f"{_FOREIGN}/{name}" for name in agents]


def _use_model(options: argparse.Namespace, model: str) -> None:
    options.model = [model] if isinstance(options.model, list) else model
    for name in _ENDPOINT:
        setattr(options, name, None)  # it counts for the model of the settings
