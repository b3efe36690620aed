"""Loads an agent from a file for a program."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from heald.agent.agent import Agent
from heald.agent.agent_files import AgentFiles, AgentSetup
from heald.agent.agent_form import read_agent_file
from heald.agent.budget import Budget
from heald.agent.instructions import Instructions, as_list
from heald.agent.model_chain import ModelLike
from heald.agent.request_callbacks import default_mode
from heald.core.arguments import checked
from heald.tools.families import named_tools
from heald.tools.permissions import Mode, Permissions
from heald.tools.registry import Registry, ToolLike


@checked
def load_agent(
    path: str | PathLike[str],
    *,
    model: ModelLike | None = None,
    tools: Sequence[ToolLike | str] = (),
    instructions: Instructions = None,
    permissions: Permissions | Mode | None = None,
    budget: Budget | None = None,
    **options: Any,
) -> Agent[None]:
    """Make the agent of a file such as `agents/billing.md`.

    The agents that it hands over to are the files beside it. Raises ConfigurationError with the file and the line of a
    mistake. The file is trusted: a program that loads those of others asks its user first.

    Args:
        path: The file.
        model: The model of agents whose files name none.
        tools: Tools that files may name besides the built-in ones. An agent whose file has no `tools` gets all of them.
        instructions: Instructions that all agents get after their own.
        permissions: The permissions of the session. Those of a file restrict them.
        budget: The budget of each exchange. That of a file restricts it.
        options: Further options of `heald.Agent`, such as `workspace` and `on_approval`, for the first agent.
    """
    place = Path(path)
    file = read_agent_file(place)
    files = AgentFiles([file])
    if file.handoffs:
        files = files.over(AgentFiles.read(_find_beside(place)))
    if permissions is None:
        permissions = default_mode(options.get("on_approval"))
    setup = AgentSetup(
        model=model,
        find_tools=_ToolNames(tools).find,
        instructions=as_list(instructions),
        permissions=permissions if isinstance(permissions, Permissions) else Permissions(permissions),
        budget=budget,
    )
    return Agent(**files.agent_options(file.name, setup), **options)


def _find_beside(path: Path) -> list[Path]:
    return [other for other in sorted(path.parent.glob(f"*{path.suffix}")) if other != path and other.is_file()]


class _ToolNames:
    """Tools of a program by name, before the built-in ones."""

    def __init__(self, tools: Sequence[ToolLike | str]) -> None:
        program_tools = [tool for tool in tools if not isinstance(tool, str)]
        self._tools: list[ToolLike] = [
            *named_tools(tool for tool in tools if isinstance(tool, str)),
            *program_tools,
        ]
        self._by_name = {tool.name: tool for tool in Registry(program_tools)}

    def find(self, names: Sequence[str] | None) -> list[ToolLike]:
        if names is None:
            return self._tools
        builtin = named_tools(name for name in names if name not in self._by_name)
        return [*builtin, *(self._by_name[name] for name in names if name in self._by_name)]
