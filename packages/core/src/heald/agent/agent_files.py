"""Makes agents from files: each with its model, tools and limits, and with the agents that it hands over to."""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import Any

import msgspec

from heald.agent.agent import Agent
from heald.agent.agent_file import AgentFile
from heald.agent.agent_form import read_agent_file
from heald.agent.budget import Budget
from heald.agent.handover_tool import HAND_OVER
from heald.agent.model_chain import ModelLike
from heald.core.arguments import nearest_or_all
from heald.core.errors import ConfigurationError
from heald.providers.factory import check_model
from heald.tools.definitions import Tool
from heald.tools.families import named_tools
from heald.tools.narrowed_permissions import NarrowedPermissions
from heald.tools.permissions import PermissionRule, Permissions
from heald.tools.registry import Registry, ToolLike


class AgentSetup(msgspec.Struct, frozen=True, kw_only=True):
    """What a session gives to agents of files: what they do not say themselves, and the bounds of what they say."""

    model: ModelLike | None = None
    """The model of agents that name none."""
    is_model_fixed: bool = False
    """The model of the session counts for its first agent, whatever the file names."""
    open_model: Callable[[str], ModelLike] = lambda name: name
    """Returns the model of a name. Raises ConfigurationError for one that may not be used."""
    find_tools: Callable[[Sequence[str] | None], Sequence[ToolLike]] = lambda names: named_tools(names or ())
    """Returns the tools of these names; for None those of a session without an agent."""
    instructions: Sequence[str | Path] = ()
    """Instructions that all agents get after their own."""
    permissions: Permissions | None = None
    """The permissions of the session. Those of a file restrict them."""
    budget: Budget | None = None
    """The budget of the session. That of the first agent's file restricts it."""


class AgentFiles:
    """Agents by name. They can hand over to each other."""

    def __init__(self, files: Iterable[AgentFile] = (), faults: Mapping[str, ConfigurationError] | None = None) -> None:
        """`faults` are the errors of files that cannot be used, by the names of the files."""
        self.by_name: Mapping[str, AgentFile] = {file.name: file for file in files}
        self.faults: Mapping[str, ConfigurationError] = faults or {}

    @classmethod
    def read(cls, paths: Iterable[Path]) -> "AgentFiles":
        """Read the files of one folder. A faulty one is not an agent, and matters only to those that need it."""
        files: dict[str, AgentFile] = {}
        faults: dict[str, ConfigurationError] = {}
        for path in paths:
            try:
                file = read_agent_file(path)
            except ConfigurationError as error:
                faults[path.stem] = error
                continue
            if earlier := files.get(file.name):
                faults[path.stem] = ConfigurationError(
                    f"{file.where('name')}: the agent {file.name!r} is in {earlier.path.name} too; rename one."
                )
                continue
            files[file.name] = file
        return cls(files.values(), faults)

    def over(self, other: "AgentFiles") -> "AgentFiles":
        """Return these agents and those of another place. Of two with one name, that of these counts."""
        faults = {name: fault for name, fault in other.faults.items() if name not in self.by_name}
        return AgentFiles([*other.by_name.values(), *self.by_name.values()], faults | dict(self.faults))

    def find(self, name: str) -> AgentFile:
        """Return the file of an agent. Raises ConfigurationError if there is none, or if it is faulty."""
        file = self.by_name.get(name)
        if file is not None:
            return file
        if fault := self.faults.get(name):
            raise fault
        hint = nearest_or_all(name, list(self.by_name)) if self.by_name else "there are none."
        raise ConfigurationError(f"There is no agent {name[:80]!r}; {hint}")

    def agent_options(self, name: str, setup: AgentSetup) -> dict[str, Any]:
        """Return the options of `heald.Agent` for an agent and for those that it hands over to."""
        return _Linking(self, setup).options(self.find(name), is_first=True)


class _Linking:
    """Makes the agents that one agent leads to, each once. In a circle the names stand for the agents."""

    def __init__(self, files: AgentFiles, setup: AgentSetup) -> None:
        self._files = files
        self._setup = setup
        self._agents: dict[str, Agent[Any] | None] = {}  # None: it is being made

    def options(self, file: AgentFile, *, is_first: bool) -> dict[str, Any]:
        self._agents[file.name] = None
        setup = self._setup
        options: dict[str, Any] = {
            "model": self._find_model(file, is_first=is_first),
            "tools": self._find_tools(file),
            "instructions": [text for text in (file.instructions, *setup.instructions) if text],
            "name": file.name,
            "description": file.description,
            "handoffs": [self._find_handoff(file, name) for name in file.handoffs],
        }
        permissions, budget = file.permissions, file.budget
        if is_first:
            permissions = _narrow(setup.permissions, permissions)
            budget = budget.within(setup.budget) if budget is not None and setup.budget is not None else budget
            budget = budget or setup.budget
        return options | {"permissions": permissions, "budget": budget}

    def _find_handoff(self, file: AgentFile, name: str) -> Agent[Any] | str:
        other = self._files.by_name.get(name)
        if other is None and (fault := self._files.faults.get(name)):
            raise fault
        if other is None:
            names = [known_name for known_name in self._files.by_name if known_name != file.name]
            hint = nearest_or_all(name, names) if names else "there are no others."
            raise ConfigurationError(f"{file.where('handoffs')}: there is no agent {name!r} to hand over to; {hint}")
        if name not in self._agents:
            options = self.options(other, is_first=False)
            with _located(other, "name"):
                self._agents[name] = Agent(**options)
        return self._agents[name] or name

    def _find_model(self, file: AgentFile, *, is_first: bool) -> ModelLike:
        setup = self._setup
        if file.model and not (is_first and setup.is_model_fixed):
            with _located(file, "model"):
                model = setup.open_model(file.model)
                check_model(model)
                return model
        if setup.model is None:
            raise ConfigurationError(
                f"{file.where('model')}: the agent names no model; add one, as in model: openai/gpt-5.2."
            )
        return setup.model

    def _find_tools(self, file: AgentFile) -> Sequence[ToolLike]:
        with _located(file, "tools"):
            tools = self._setup.find_tools(file.tools)
        if file.without_tools:
            tools = [tool for tool in tools if not (isinstance(tool, Tool) and tool.name in file.without_tools)]
        if file.rules:
            with _located(file, "permissions"):
                _check_rules(file.rules, Registry(tools))
        return tools


def _check_rules(rules: Sequence[str], registry: Registry) -> None:
    """Raise ConfigurationError for a rule that matches no tool."""
    from heald.tools.rule_names import find_idle_rules

    names = [*(tool.name for tool in registry), HAND_OVER]
    find_idle_rules([PermissionRule.parse(rule) for rule in rules], names, may_grow=registry.has_sources)


@contextmanager
def _located(file: AgentFile, field: str) -> Generator[None]:
    """Begin the sentence of a configuration error with the place in a file."""
    try:
        yield
    except ConfigurationError as error:
        located = copy(error)
        located.args = (f"{file.where(field)}: {error}",)
        raise located from None


def _narrow(session_permissions: Permissions | None, permissions: Permissions | None) -> Permissions | None:
    if session_permissions is None or permissions is None:
        return session_permissions or permissions
    return NarrowedPermissions(session_permissions, permissions)
