"""The tables of `heald.toml` that belong to no command: its top, agents, providers and MCP servers.

A key at the top of a file counts for every command that has it. `heald.config.command_tables` has the tables of the
commands.
"""

from typing import Literal

from heald.config.table import Amount, Table, list_fields, option
from heald.config.work_tables import DATA, KEY_ENV, MODEL, STORE, WorkTable, wire_names
from heald.wires.request import Quirks

AuthName = Literal["bearer", "x-api-key", "x-goog-api-key", "api-key", "aws", "google", "azure", "none"]
PROVIDERS = "providers"
MCP = "mcp"
OWN_TOOLS = ("tools", "tool", "mcp_server")
"""Settings that name tools of one's own. The place of each is part of its meaning."""


class Everywhere(WorkTable):
    """At the top of the file: for every command that has such a flag."""

    model: str = MODEL
    data: str = DATA
    store: str = STORE


class AgentTable(Table):
    """Instructions for every agent, those of your own programs included."""

    instructions: str = option("a text")
    instructions_file: str = option("a text file beside this one", path=True)


class ProviderTable(Table):
    """An endpoint of your own, named as NAME/model."""

    wire: str = option("API of the endpoint", required=True, choices=wire_names)
    base_url: str = option("its address", required=True)
    api_key_env: str = KEY_ENV
    auth: AuthName = option("how the key is sent", without="as usual for the wire")
    headers: dict[str, str] = option("sent with every request; no header may hold a key")
    quirks: Quirks = option("peculiarities of the server")


class McpTable(Table):
    """An MCP server, whose tools are offered as NAME__tool by `run`, `chat`, `serve` and `acp`. `${VARIABLE}` in a text
    stands for an environment variable."""

    command: str = option("program to start; or `url`")
    args: list[str] = option("its arguments")
    env: dict[str, str] = option("its environment variables besides PATH, HOME and LANG")
    cwd: str = option("folder to start it in", without="the project, or the working folder", path=True)
    url: str = option("address of an HTTP server; or `command`")
    transport: Literal["http", "sse"] = option("streamable HTTP, or the older server-sent events", default="http")
    headers: dict[str, str] = option("sent with every request to the url")
    oauth: dict[str, str] = option(
        "for a sign-in: `client_id` and `client_secret`, or `client_metadata_url`; `scope`, `callback_port`"
    )
    use_proxy: bool = option("use the proxy of the environment for the url", default=False)
    required: bool = option("end with an error if it does not start", default=False)
    connect_timeout: Amount = option("seconds to start and to list its tools", default=30.0)
    call_timeout: Amount = option("seconds for one call", default=120.0)
    task_timeout: Amount = option("seconds for one call that the server runs as a task", default=14_400.0)


TOP_KEYS = frozenset(list_fields(Everywhere))
"""The keys at the top of a file."""
