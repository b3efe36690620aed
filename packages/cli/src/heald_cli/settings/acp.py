"""The settings of `heald acp`: the table `[acp]`."""

from typing import Literal

from heald.config.table import Names, option
from heald.config.work_tables import DATA, MODEL, TOOLS, WorkTable
from heald_cli.settings.common import CHECKS, LOG, MEMORY, REPO_MAP, LevelName


class AcpTable(WorkTable):
    """`heald acp`."""

    model: str = MODEL
    repo_map: bool = REPO_MAP
    memory: bool = MEMORY
    checks: bool = CHECKS
    tools: Names = option(TOOLS, "tools", default="all", metavar="NAMES")
    editor_files: bool = option(
        "read and write files through the editor, with its unsaved changes", "tools", default=True
    )
    terminal: Literal["sandbox", "editor"] = option(
        "where commands run; the editor's terminal has no sandbox", "tools", default="sandbox", user_only=True
    )
    server: str = option(
        "server whose sessions the editor joins, as http://127.0.0.1:7878; HEALD_TOKEN has its token",
        without="the sessions of this machine",
        metavar="URL",
        user_only=True,
    )
    data: str = DATA
    log: LevelName = LOG
