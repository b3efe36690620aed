"""`heald agents`: lists the agents that are defined in files."""

import argparse
import sys
from pathlib import Path

import msgspec

from heald.commands.terminal import BOLD, DIM, Colours, print_note
from heald.commands.text_columns import align_columns, truncate
from heald.config.paths import config_home, display_path
from heald.core.errors import ConfigurationError
from heald.core.json import encode_text
from heald.tools.sanitize import sanitize_text
from heald_cli.folder_files import find_project_folders, project_folder_state
from heald_cli.project_agents import read_agents

EXAMPLES = """examples:
  heald agents                        the agents of this folder and your own
  heald agents --json
  heald run --agent reviewer "Review the last commit"

An agent is a file: .heald/agents/NAME.md in a project, or agents/NAME.md beside your own heald.toml. Its front matter
has name, description, model, tools, permissions, budget and handoffs; the text below is its instructions. Agents of
Claude Code in .claude/agents are read too. Those of a project have no effect until you trust them: heald trust."""
_DESCRIPTION_COLUMNS = 60


class AgentRow(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    description: str
    model: str
    tools: list[str] | None
    """None: those of the session."""
    handoffs: list[str]
    file: str
    usable: bool
    """It is trusted, and no project's agent has the same name."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", nargs="?", default=".", metavar="DIR", help="project (the current folder)")
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")


def run(options: argparse.Namespace) -> int:
    if not Path(options.folder).is_dir():
        raise ConfigurationError(f"There is no folder {options.folder!r}.")
    rows, faults, notes = _list_agents(options.folder)
    if options.json:
        for row in rows:
            print(encode_text(row))
    elif rows:
        _print_rows(rows)
    else:
        print_note("There are no agents; write one as .heald/agents/NAME.md. `heald agents --help` shows how.")
    for sentence in (*faults, *notes):
        print_note(sanitize_text(sentence))
    return 1 if faults else 0


def _list_agents(folder: str) -> tuple[list[AgentRow], list[str], list[str]]:
    """Return the agents, the errors of faulty files, and notes on what has no effect."""
    projects = find_project_folders(folder)
    rows: list[AgentRow] = []
    faults: list[str] = []
    notes: list[str] = []
    for place in (*reversed(projects), config_home()):
        agents = read_agents(place)
        is_trusted = place not in projects or project_folder_state(place) == "trusted"
        names = {row.name for row in rows if row.usable}
        rows += [
            AgentRow(
                name=agent.name,
                description=agent.description,
                model=agent.model,
                tools=list(agent.tools) if agent.tools is not None else None,
                handoffs=list(agent.handoffs),
                file=display_path(agent.path),
                usable=is_trusted and agent.name not in names,
            )
            for agent in agents.by_name.values()
        ]
        faults += [str(fault) for fault in agents.faults.values()]
        if not is_trusted and agents.by_name:
            notes.append(f"{display_path(place)} is not trusted; `heald trust {folder}` decides that.")
    return rows, faults, notes


def _print_rows(rows: list[AgentRow]) -> None:
    paint = Colours(sys.stdout)
    lines = align_columns([["agent", "model", "description", "file"], *(_cells(row) for row in rows)])
    print(paint(lines[0], BOLD))
    for line, row in zip(lines[1:], rows, strict=True):
        print(line if row.usable else paint(line, DIM))


def _cells(row: AgentRow) -> list[str]:
    description = truncate(sanitize_text(row.description), _DESCRIPTION_COLUMNS)
    return [row.name, sanitize_text(row.model) or "any", description, sanitize_text(row.file)]
