"""The settings of `heald run`: the table `[run]`."""

from heald.config.table import Amount, Count, Names, option
from heald.config.work_tables import TOOLS, WorkTable
from heald_cli.settings.common import AGENT, CHECKS, MEMORY, REPO_MAP


class RunTable(WorkTable):
    """`heald run`."""

    agent: str = AGENT
    repo_map: bool = REPO_MAP
    memory: bool = MEMORY
    checks: bool = CHECKS
    record: bool = option(
        "store the conversation at its end, so that --resume continues it", default=True, at_top=False
    )
    max_output: Count = option("tokens that the model may write in one turn", "model", metavar="TOKENS")
    tools: Names = option(TOOLS, "tools", without="all with --workspace, otherwise none", metavar="NAMES")
    workspace: str = option(
        "folder that tools work in", "tools", without="files stay in memory", metavar="DIR", path=True
    )
    max_turns: Count = option("turns of the exchange", "limits", default=20, metavar="N")
    max_tokens: Count = option("tokens of all turns together", "limits", metavar="N")
    max_usd: Amount = option("cost of the exchange", "limits", metavar="N")
    max_seconds: Amount = option("duration of the exchange", "limits", metavar="N")
