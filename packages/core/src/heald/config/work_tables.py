"""The settings that most commands have: the model, its endpoint, and what it may do."""

from collections.abc import Sequence
from typing import Any, Literal

from heald.config.table import Names, Natural, Share, Table, Temperature, option
from heald.core.turn import ReasoningEffort

ModeName = Literal["read-only", "ask", "inside", "auto"]
TOOLS = (
    "tools or families: files, read, shell, web, todo, ask, code, all (without code), none; or your own, as in "
    "my_tools:weather"
)
BEST = "the strongest model that has a key"
MODEL = option("provider/model, or with --base-url the name there", "model", without=BEST)
KEY_ENV = option("variable, or name in the keyring, that holds that endpoint's key", "model", metavar="NAME")
PERMISSIONS = option(
    "which calls run without a question; inside: those that stay in the folder and the sandbox", "tools", default="ask"
)
UNSANDBOXED = option("run commands without a sandbox; every result mentions it", "tools", default=False, user_only=True)
TOOL = option(
    "tools of your own besides: my_tools:weather, a module, or a folder such as ./tools; all places count together",
    "tools",
    metavar="NAME",
)
MCP_SERVER = option(
    "tools of an MCP server: NAME=COMMAND or NAME=URL; all places count together",
    "tools",
    metavar="SERVER",
    aliases=("--mcp",),
)
CACHE = option("equal reads of unchanged files are one read", "tools", default=False)
DATA = option("folder that sessions are stored in", without="~/.local/share/heald", metavar="DIR", path=True)
STORE = option(
    "store that several servers share, as postgresql://user@host/database",
    without="a file in the data folder",
    metavar="URL",
    user_only=True,
)


def wire_names() -> Sequence[str]:
    """Return the names of all wires."""
    from heald.plugin_loader import plugin_names

    return plugin_names("wires")


class EndpointTable(Table):
    """Models and their endpoint."""

    model: Names = option("provider/model; several are separated by commas", "model", without=BEST, metavar="NAMES")
    base_url: str = option("endpoint for the model; its name is sent unchanged", "model", metavar="URL")
    wire: str = option("API of that endpoint", "model", without="chat", choices=wire_names)
    api_key_env: str = KEY_ENV
    effort: ReasoningEffort = option("reasoning effort", "model")
    thinking_budget: Natural = option("maximum reasoning tokens", "model", metavar="TOKENS")
    temperature: Temperature = option("randomness of the answers", "model", metavar="N")
    extra: dict[str, Any] = option(
        "parameters that are merged into every request: NAME=VALUE, a.b=VALUE or a JSON object; all places count",
        "model",
        metavar="VALUES",
    )


class WorkTable(EndpointTable):
    """Models and what they may do."""

    system: str = option("instructions above the conversation", "model", default="")
    tools: Names = option(TOOLS, "tools", metavar="NAMES")
    permissions: ModeName = PERMISSIONS
    rule: list[str] = option(
        "such as 'deny run_command(rm *)'; rules of all places count together", "tools", metavar="RULE"
    )
    tool: list[str] = TOOL
    mcp_server: list[str] = MCP_SERVER
    tool_profile: Literal["auto", "full", "compact"] = option(
        "how tools are described; auto: compact for a model with a small context", "tools", default="auto"
    )
    tool_search: Share = option(
        "share of the model's context above which tools are found by a search, not all described; 1 for never",
        "tools",
        default=0.1,
    )
    edit_format: Literal["auto", "tools", "text"] = option(
        "how a model changes files; auto: a small one writes them as text", "tools", default="auto"
    )
    cache: bool = CACHE
    unsandboxed: bool = UNSANDBOXED
