"""Rows about installed distributions: the rows that they offer themselves, and plugins that cannot be loaded."""

import inspect

from heald.commands.finding import DoctorFinding, Findings, missing, ok, wrong
from heald.config.command_tables import command_table, list_commands
from heald.core.distribution import DISTRIBUTION, install_advice
from heald.plugin_loader import GROUPS, installed_distributions, load_plugins, plugin_problems, record_failure

_OPTIONAL = {
    "heald-studio": ("", "pages are built from pictures"),
    "heald-local": ("local", "pages are built without any model, and text in pictures is read"),
    "heald-nodes": ("postgres", "several servers share one PostgreSQL database"),
    "heald-check": ("check", "model servers and event logs are checked"),
    "heald-evals": ("evals", "cases of agents are run and compared"),
    "heald-notify": ("notify", "webhooks and phones get what happens in sessions"),
    "heald-acp": ("acp", "external agents such as Claude Code and Codex are models"),
}
"""Distributions of Heald that may be missing: the extra that installs each, and its purpose."""


async def check_distributions() -> Findings:
    """Run the checks of installed distributions, and name those of Heald that are not installed."""
    findings: list[DoctorFinding] = []
    for name, check in load_plugins("checks").items():
        try:
            rows = check()
            findings += await rows if inspect.isawaitable(rows) else rows
        except Exception as error:  # of a plugin: it stops no other check
            findings.append(wrong(name, record_failure("checks", name, error)))
    installed = installed_distributions()
    for distribution, (extra, purpose) in _OPTIONAL.items():
        if distribution not in installed:
            name = f"{DISTRIBUTION}[{extra}]" if extra else distribution
            advice = install_advice(extra) if extra else install_advice()
            findings.append(missing(name, f"{distribution} is not installed; with it, {purpose}", advice))
    return findings


def check_plugins() -> Findings:
    """Load every plugin, and name those that cannot be loaded."""
    for group in GROUPS:
        load_plugins(group)
    for command in list_commands():
        try:
            command.load()
            command_table(command.name)
        except Exception as error:
            record_failure("commands", command.name, error)
    problems = plugin_problems()
    for problem in problems:
        yield wrong("plugin", problem, "Update or uninstall its distribution.")
    if not problems:
        yield ok("plugins", f"of {', '.join(installed_distributions())}")
