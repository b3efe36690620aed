"""The settings of `heald chat`: the table `[chat]`."""

from typing import Literal

from heald.config.table import Names, option
from heald.config.work_tables import DATA, MODEL, TOOLS, WorkTable
from heald_cli.settings.common import AFTER_CRASH, AGENT, CHECKS, MEMORY, REPO_MAP, AfterCrashName


class ChatTable(WorkTable):
    """`heald chat`."""

    model: str = MODEL
    agent: str = AGENT
    theme: Literal["auto", "dark", "light"] = option(
        "colours for a dark or a light background; auto: as the terminal reports it", default="auto"
    )
    tools: Names = option(TOOLS, "tools", default="all", metavar="NAMES")
    plan: bool = option("begin in plan mode: only reading until you approve a plan", "tools", default=False)
    repo_map: bool = REPO_MAP
    memory: bool = MEMORY
    checks: bool = CHECKS
    after_crash: AfterCrashName = AFTER_CRASH
    data: str = DATA
