"""Declares the command of this package. `heald --help` loads this module, so it imports no command."""

from heald.config.command import Command

TEST = Command(
    "test",
    "run evaluation cases of agents, and compare with the last run",
    "heald_evals.commands.test",
    rank=145,
)
