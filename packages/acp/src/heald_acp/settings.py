"""The settings of one agent: the tables `[acp_agents.NAME]`."""

from heald.config.table import Table, option
from heald_acp.program import Unasked


class AcpAgentTable(Table):
    """An external agent that speaks ACP, the model `acp/NAME`. What is not set is that of the known agent of this name
    ([the list](providers.md#external-agents))."""

    command: list[str] = option("the program and its arguments", user_only=True)
    keys: list[str] = option("environment variables that it gets besides the usual ones; no other key", user_only=True)
    env: dict[str, str] = option("environment variables that are set for it", user_only=True)
    mode: str = option("mode of its sessions, by its own name for it", user_only=True)
    unasked: Unasked = option(
        "what happens if it runs something without asking that the permissions do not allow: it is ended, or the call "
        "is only recorded",
        default="stop",
        user_only=True,
    )
    prices: str = option("model whose list price counts if it reports tokens and no cost", user_only=True)
