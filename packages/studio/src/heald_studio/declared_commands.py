"""Declares the commands of the studio. `heald --help` loads this module, so it imports no command."""

from heald.config.command import REQUEST_TABLES, Command

_SETTINGS = "heald_studio.commands.settings"

BUILD = Command(
    "build",
    "build a page from a picture, a text, a web address or a recording",
    "heald_studio.commands.build",
    table=f"{_SETTINGS}:BuildTable",
    shared=("web", *REQUEST_TABLES),
    extensible=True,
    rank=10,
)
PUSH = Command(
    "push",
    "push a project of the studio to a git remote",
    "heald_studio.commands.push",
    keys=("data", "store"),
    rank=120,
)
EVAL = Command(
    "eval",
    "measure how well models rebuild pictures",
    "heald_studio.commands.eval",
    table=f"{_SETTINGS}:EvalTable",
    shared=REQUEST_TABLES,
    extensible=True,
    rank=140,
)
