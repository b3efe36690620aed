"""The tables of `heald.toml` that commands have: their own, and those that several of them share.

Distributions declare them with their commands (`heald.commands`) and as tables of several commands (`heald.settings`).
"""

from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, cast

from heald.config.schema import AgentTable
from heald.config.shared_tables import SHARED
from heald.config.table import Table
from heald.core.distribution import install_advice
from heald.entry_points import import_reference
from heald.plugin_loader import PluginFailed, has_plugin, load_plugin, load_plugins

if TYPE_CHECKING:
    from heald.config.command import Command
    from heald.config.settings_table import SettingsTable

AGENT = "agent"
_DISTRIBUTIONS = {
    **dict.fromkeys(("serve", "chat", "acp", "run", "review", "commit", "pr"), ("heald-cli", install_advice())),
    **dict.fromkeys(("build", "eval", "push", "studio"), ("heald-studio", install_advice())),
    **dict.fromkeys(("check", "conform"), ("heald-check", install_advice("check"))),
    "test": ("heald-evals", install_advice("evals")),
    "webhooks": ("heald-notify", install_advice("notify")),
    "acp_agents": ("heald-acp", install_advice("acp")),
}
"""Commands and tables of Heald's own distributions, for the message about one that is not installed."""


def find_command(name: str) -> "Command | None":
    """Return the declaration of a command. None if no distribution offers it, or it cannot be loaded."""
    if not has_plugin("commands", name):
        return None
    try:
        return cast("Command", load_plugin("commands", name))
    except PluginFailed:
        return None


@cache
def command_table(command: str) -> type[Table] | None:
    """Return the table of a command's own settings. Raises PluginFailed if it cannot be imported."""
    declared = find_command(command)
    return _import_table(declared.table) if declared is not None and declared.table else None


def list_commands() -> "list[Command]":
    """Return the declarations of all commands that can be loaded, in the order of `heald --help`."""
    commands = cast("list[Command]", list(load_plugins("commands").values()))
    return sorted(commands, key=lambda command: (command.rank, command.name))


@cache
def command_tables() -> dict[str, type[Table]]:
    """Return the tables of all commands that have one."""
    tables: dict[str, type[Table]] = {}
    for command in list_commands():
        with suppress(PluginFailed):
            table = command_table(command.name)
            if table is not None:
                tables[command.name] = table
    return tables


@cache
def settings_tables() -> "dict[str, SettingsTable]":
    """Return the declared tables of several commands, besides those of the core."""
    return cast("dict[str, SettingsTable]", load_plugins("settings"))


def shared_tables(command: str) -> Iterator[tuple[str, type[Table], tuple[str, ...] | None]]:
    """Yield the shared tables of a command: the name, the table, and the keys that the command has (None: all)."""
    declared = find_command(command)
    if declared is None:
        return
    for name, table in settings_tables().items() if declared.extensible else ():
        if command in table.commands:
            yield name, _import_table(table.table), table.commands[command]
    for name in declared.shared:
        yield name, SHARED[name], None


def find_table(name: str) -> type[Table] | None:
    """Return the table of a name in `heald.toml`. None if no distribution has one. Raises PluginFailed if it cannot be
    imported."""
    if name == AGENT:
        return AgentTable
    if name in SHARED:
        return SHARED[name]
    if has_plugin("settings", name):
        declared: SettingsTable = load_plugin("settings", name)
        return _import_table(declared.table)
    return command_table(name)


def is_named_table(name: str) -> bool:
    """Whether a table holds one table for each name that the user gives."""
    table = settings_tables().get(name)
    return table is not None and table.is_named


def table_names() -> list[str]:
    """Return the names of all tables with fixed keys."""
    return [AGENT, *command_tables(), *settings_tables(), *SHARED]


def describe_missing(name: str) -> str:
    """Describe which distribution of Heald has a table or a command of this name; "" if it is installed or none has."""
    if name not in _DISTRIBUTIONS or has_plugin("commands", name) or has_plugin("settings", name):
        return ""
    distribution, advice = _DISTRIBUTIONS[name]
    return f"{distribution} is not installed; {advice}"


@cache
def _import_table(reference: str) -> type[Table]:
    try:
        return cast("type[Table]", import_reference(reference))
    except Exception as error:
        raise PluginFailed(
            f"The table of settings {reference} cannot be loaded: {type(error).__name__}: {error}"
        ) from error
