"""Declares the commands of this package. `heald --help` loads this module, so it imports no command."""

from heald.config.command import Command

WEBHOOKS = Command(
    "webhooks",
    "add, list and remove webhooks and phone notifications, and replay what failed",
    "heald_notify.webhooks_command",
    keys=("data", "store"),
    shared=("web",),
    rank=95,
)
