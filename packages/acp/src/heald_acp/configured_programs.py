"""The agents of `heald.toml`, on top of the known ones."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from heald.config.paths import has_config_files
from heald.core.errors import ConfigurationError, UnknownProvider
from heald_acp.known_programs import KNOWN_PROGRAMS
from heald_acp.program import AgentProgram

_TABLE = "acp_agents"


def list_programs() -> Mapping[str, AgentProgram]:
    """Return all agents by name: the known ones, changed and completed by the settings."""
    programs = dict(KNOWN_PROGRAMS)
    if not has_config_files():
        return programs
    from heald.config.sources import active_documents

    for document in active_documents():
        for name, table in cast("dict[str, dict[str, Any]]", document.table(_TABLE)).items():
            programs[name] = _merge(programs.get(name) or AgentProgram(name=name, command=()), table)
            if not programs[name].command:
                raise ConfigurationError(f"{document.where(_TABLE, name)}: [{_TABLE}.{name}] lacks 'command'.")
    return programs


def find_program(name: str) -> AgentProgram:
    """Return the agent of a name. Raises UnknownProvider if there is none."""
    programs = list_programs()
    if name in programs:
        return programs[name]
    raise UnknownProvider(
        f"There is no agent {name!r} for acp/{name}; known are {', '.join(programs)}. "
        f"Any other is named with its command as [{_TABLE}.{name}] in heald.toml."
    )


def _merge(program: AgentProgram, table: Mapping[str, Any]) -> AgentProgram:
    changes = dict(table)
    for name in ("command", "keys"):
        if name in changes:
            changes[name] = tuple(changes[name])
    if "env" in changes:
        changes["env"] = {**program.env, **changes["env"]}
    return replace(program, **changes)
