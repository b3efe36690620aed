"""Settings that several commands of this package have."""

from typing import Literal

from heald.config.table import option

AfterCrashName = Literal["continue", "close"]
LevelName = Literal["debug", "info", "warning", "error"]

AGENT = option(
    "agent that is defined in a file, agents/NAME.md, or an external one by ACP, such as claude or opencode",
    "model",
    metavar="NAME",
    at_top=False,
)
SERVER_AGENT = option(
    "agent that is defined in a file, agents/NAME.md; its model, tools and instructions count",
    "model",
    metavar="NAME",
    at_top=False,
)
REPO_MAP = option("give the model a map of the folder's code, if its context has room", "tools", default=True)
MEMORY = option("remember facts of conversations, and give the model those that a request needs", "tools", default=True)
CHECKS = option(
    "after an edit, report new errors that installed language servers find, and format as the folder is configured",
    "tools",
    default=True,
)
AFTER_CRASH = option(
    "continue an exchange (a request and everything until its answer) whose process ended, or close it as failed",
    default="continue",
)
LOG = option("minimum level of log messages", default="warning")
