"""Agents that a user writes as markdown: `agents/NAME.md` has the settings of an agent and its instructions."""

import sys
from pathlib import Path

from heald.agent.agent_files import AgentFiles
from heald.config.paths import display_path
from heald.core.errors import ConfigurationError
from heald_cli.folder_files import AGENTS, find_project_folders, folder_files, project_folder_state, usable_folders


def load_agents(folder: str | Path | None) -> AgentFiles:
    """Return the user's agents and the trusted ones of a project, which win by name."""
    agents = AgentFiles()
    for place in usable_folders(folder):
        agents = read_agents(place).over(agents)
    return agents


def read_agents(place: Path) -> AgentFiles:
    """Read the agents of a folder such as `.heald` or `.claude`, or of the user's settings, trusted or not."""
    return AgentFiles.read(path for path in folder_files(place) if path.parent == place / AGENTS)


def choose_agents(name: str, folder: str | Path | None) -> AgentFiles:
    """Return the agents, among them the one of this name. On a terminal the user is asked about a project's agents that
    are not trusted. Raises ConfigurationError if there is no such agent, or if it is not trusted."""
    agents = load_agents(folder)
    for project in find_project_folders(folder):
        if name in agents.by_name or project_folder_state(project) == "trusted":
            continue
        untrusted = read_agents(project)
        if name in untrusted.by_name or name in untrusted.faults:
            _ask_trust(name, project)
            agents = load_agents(folder)
    agents.find(name)
    return agents


def _ask_trust(name: str, project: Path) -> None:
    state = project_folder_state(project)
    if state != "refused" and sys.stdin.isatty() and sys.stderr.isatty():
        from heald_cli.trust_question import ask_trust

        if ask_trust(project):
            return
    raise ConfigurationError(
        f"The agent {name!r} is in {display_path(project)}, which is not trusted; `heald trust {project.parent}` "
        "decides that."
    )
