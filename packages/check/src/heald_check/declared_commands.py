"""Declares the commands of this package. `heald --help` loads this module, so it imports no command."""

from heald.config.command import Command

CHECK = Command(
    "check",
    "check the event logs of sessions for damage and broken rules",
    "heald_check.commands.check",
    keys=("data", "store"),
    rank=85,
)
CONFORM = Command(
    "conform",
    "test a model server for errors in its API",
    "heald_check.commands.conform",
    rank=190,
)
VERIFY = Command(
    "verify",
    "verify a signed export of a session: who approved what, on which model, at which cost",
    "heald_check.commands.verify",
    keys=("data",),
    rank=86,
)
