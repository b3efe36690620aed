"""Declares every setting once. Flags, environment variables, `weft.toml` and docs/configuration.md are made from it.

A setting is a field of a table: its type, and its `option`. The field's name is the key in `weft.toml`; with dashes
it is the flag, in capitals the variable (`WEFT_PORT`, `WEFT_SERVE_PORT`). A key at the top of a file counts for every
command that has it.
"""

from typing import Any, Literal

from weft.config.shared_tables import (
    Amount,
    Count,
    HooksTable,
    Natural,
    OtelTable,
    Port,
    RequestTable,
    RetryTable,
    StudioTable,
    Table,
    Temperature,
    TimeoutsTable,
    WebTable,
    list_fields,
    option,
)
from weft.core.messages import WireName
from weft.core.turn import ReasoningEffort
from weft.wires.request import Quirks

AuthName = Literal["bearer", "x-api-key", "x-goog-api-key", "api-key", "aws", "google", "azure", "none"]
ModeName = Literal["read-only", "ask", "auto"]
LevelName = Literal["debug", "info", "warning", "error"]
AfterCrashName = Literal["continue", "close"]
Names = str | list[str]
"""One name or several; its flag can be repeated, or holds names separated by commas."""
_TOOLS = "tools or families: files, read, shell, web, todo, ask, all, none; or your own, as in my_tools:weather"
_BEST = "the strongest model that has a key"
_USERS = "users"
_CLIENT = "limits for each client"
_NODES = "several servers on one store"
_MODEL = option("provider/model, or with --base-url the name there", "model", without=_BEST)
_KEY_ENV = option("variable, or name in the keyring, that holds that endpoint's key", "model", metavar="NAME")
_PERMISSIONS = option("which calls run without a question", "tools", default="ask")
_UNSANDBOXED = option(
    "run commands without a sandbox; every result mentions it", "tools", default=False, user_only=True
)
_TOOL = option(
    "tools of your own besides: my_tools:weather, a module, or a folder such as ./tools; all places count together",
    "tools",
    metavar="NAME",
)
_MCP_SERVER = option(
    "tools of an MCP server: NAME=COMMAND or NAME=URL; all places count together",
    "tools",
    metavar="SERVER",
    aliases=("--mcp",),
)
_REPO_MAP = option("give the model a map of the folder's code, if its context has room", "tools", default=True)
_CACHE = option("equal reads of unchanged files are one read", "tools", default=False)
_DATA = option("folder that sessions are stored in", without="~/.local/share/weft", metavar="DIR", path=True)
_AFTER_CRASH = option("continue an exchange whose process ended, or close it as failed", default="continue")
_STORE = option(
    "store that several servers share, as postgresql://user@host/database",
    without="a file in the data folder",
    metavar="URL",
    user_only=True,
)


class EndpointTable(Table):
    """Models and their endpoint."""

    model: Names = option("provider/model; several are separated by commas", "model", without=_BEST, metavar="NAMES")
    base_url: str = option("endpoint for the model; its name is sent unchanged", "model", metavar="URL")
    wire: WireName = option("API of that endpoint", "model", without="chat")
    api_key_env: str = _KEY_ENV
    effort: ReasoningEffort = option("how much the model thinks", "model")
    thinking_budget: Natural = option("tokens that the model may think", "model", metavar="TOKENS")
    temperature: Temperature = option("randomness of the answers", "model", metavar="N")
    extra: dict[str, Any] = option(
        "parameters that are merged into every request: NAME=VALUE, a.b=VALUE or a JSON object; all places count",
        "model",
        metavar="VALUES",
    )


class WorkTable(EndpointTable):
    """Models and what they may do."""

    system: str = option("instructions above the conversation", "model", default="")
    tools: Names = option(_TOOLS, "tools", metavar="NAMES")
    permissions: ModeName = _PERMISSIONS
    rule: list[str] = option(
        "such as 'deny run_command(rm *)'; rules of all places count together", "tools", metavar="RULE"
    )
    tool: list[str] = _TOOL
    mcp_server: list[str] = _MCP_SERVER
    tool_profile: Literal["auto", "full", "compact"] = option(
        "how tools are described; auto: compact for a model with a small context", "tools", default="auto"
    )
    edit_format: Literal["auto", "tools", "text"] = option(
        "how a model changes files; auto: a small one writes them as text", "tools", default="auto"
    )
    cache: bool = _CACHE
    unsandboxed: bool = _UNSANDBOXED


class Everywhere(WorkTable):
    """At the top of the file: for every command that has such a flag."""

    model: str = _MODEL
    data: str = _DATA
    store: str = _STORE


class AgentTable(Table):
    """Instructions for every agent, those of your own programs included."""

    instructions: str = option("a text")
    instructions_file: str = option("a text file beside this one", path=True)


class ProviderTable(Table):
    """An endpoint of your own, named as NAME/model."""

    wire: WireName = option("API of the endpoint", required=True)
    base_url: str = option("its address", required=True)
    api_key_env: str = _KEY_ENV
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
        "of a registered client, for a sign-in: `client_id`, `client_secret`, `scope`, `callback_port`"
    )
    use_proxy: bool = option("use the proxy of the environment for the url", default=False)
    required: bool = option("end with an error if it does not start", default=False)
    connect_timeout: Amount = option("seconds to start and to list its tools", default=30.0)
    call_timeout: Amount = option("seconds for one call", default=120.0)


class ServeTable(EndpointTable):
    """`weft serve`."""

    model: str = option("model of sessions that name none", "model", without=_BEST)
    host: str = option("address to listen on", "connection", default="127.0.0.1", user_only=True)
    port: Port = option("0 chooses a free port", "connection", default=7878)
    no_token: bool = option("accept every program of this machine", "connection", default=False, user_only=True)
    users: str = option(
        "file of users, with their tokens and limits", _USERS, metavar="FILE", path=True, user_only=True
    )
    jwt_issuer: str = option(
        "accept signed tokens of this OpenID Connect issuer", _USERS, metavar="URL", user_only=True
    )
    jwt_audience: str = option("audience that a signed token must name", _USERS, metavar="NAME", user_only=True)
    jwt_jwks: str = option(
        "address of its keys (JWKS)",
        _USERS,
        without="as the issuer's configuration says",
        metavar="URL",
        user_only=True,
    )
    jwt_algorithms: Names = option(
        "algorithms of signed tokens", _USERS, default="RS256,ES256", metavar="NAMES", user_only=True
    )
    jwt_owner: str = option(
        "claim that names the owner of sessions", _USERS, default="sub", metavar="CLAIM", user_only=True
    )
    allow_origin: list[str] = option(
        "origin of a web page that may use the server", "connection", metavar="ORIGIN", user_only=True
    )
    public_url: str = option(
        "address of the server behind a proxy, with its path", "connection", metavar="URL", user_only=True
    )
    eval_pictures: str = option(
        "folder of pictures for evaluations in the browser",
        "studio",
        without="built-in examples",
        metavar="DIR",
        path=True,
    )
    open_metrics: bool = option(
        "programs of this machine read /metrics without a token", "telemetry", default=False, user_only=True
    )
    data: str = _DATA
    workspace: list[str] = option("folder that sessions may work in", "tools", metavar="DIR", path=True)
    tools: Names = option(_TOOLS, "tools", default="files,todo,ask", metavar="NAMES")
    tool: list[str] = _TOOL
    mcp_server: list[str] = _MCP_SERVER
    repo_map: bool = _REPO_MAP
    cache: bool = _CACHE
    permissions: ModeName = _PERMISSIONS
    unsandboxed: bool = _UNSANDBOXED
    show_tools: bool = option("show clients of /v1 the agent's own calls, as reasoning", "tools", default=False)
    client_tool_timeout: Amount = option(
        "seconds that a call waits for the client that runs it", "tools", default=600.0, metavar="SECONDS"
    )
    max_exchanges: Count = option(
        "exchanges at once, each a request and everything until its answer", _CLIENT, default=16, metavar="N"
    )
    max_tokens_per_day: Count = option("tokens in a day", _CLIENT, metavar="N")
    max_usd_per_day: Amount = option("dollars in a day", _CLIENT, metavar="N")
    after_crash: AfterCrashName = _AFTER_CRASH
    store: str = _STORE
    node: str = option(
        "name of this server among those that share the store", _NODES, without="a new one", metavar="NAME"
    )
    room: Count = option("exchanges that run here at once before others get the work", _NODES, default=200, metavar="N")
    placement: str = option(
        "what decides where requests run: store, temporal://host:7233/namespace, or module:name of your own",
        _NODES,
        default="store",
        metavar="ADDRESS",
        user_only=True,
    )
    news: str = option(
        "NATS server that carries news between servers, as nats://host:4222",
        _NODES,
        without="the database carries them",
        metavar="URL",
        user_only=True,
    )
    keep_deltas: Amount = option(
        "hours after which the deltas of an idle session are joined", without="never", metavar="HOURS"
    )
    open: bool = option("open the page in a browser", default=True)
    log: LevelName = option("least level that is logged", default="warning")


class BuildTable(EndpointTable):
    """`weft build`."""

    design_system: str = option("text file about colours, fonts and components", "input", metavar="FILE", path=True)
    stack: str = option("technology of the page; any other word lists them", "variants", default="html_tailwind")
    variants: Count = option("agents that work side by side", "variants", without="one for each model", metavar="N")
    score: bool = option("render the pages and compare them with the picture", "variants", default=True)
    output: str = option("folder to write to", "output", default="out", metavar="DIR", aliases=("-o",), path=True)
    data: str = option(
        "keep the project there; the `data` at the top does not count", "output", metavar="DIR", path=True
    )


class ChatTable(WorkTable):
    """`weft chat`."""

    model: str = _MODEL
    theme: Literal["auto", "dark", "light"] = option(
        "colours for a dark or a light background; auto: as the terminal reports it", default="auto"
    )
    tools: Names = option(_TOOLS, "tools", default="all", metavar="NAMES")
    plan: bool = option("begin in plan mode: only reading until you approve a plan", "tools", default=False)
    repo_map: bool = _REPO_MAP
    after_crash: AfterCrashName = _AFTER_CRASH
    data: str = _DATA


class AcpTable(WorkTable):
    """`weft acp`."""

    model: str = _MODEL
    repo_map: bool = _REPO_MAP
    tools: Names = option(_TOOLS, "tools", default="all", metavar="NAMES")
    editor_files: bool = option(
        "read and write files through the editor, with its unsaved changes", "tools", default=True
    )
    terminal: Literal["sandbox", "editor"] = option(
        "where commands run; the editor's terminal has no sandbox", "tools", default="sandbox", user_only=True
    )
    data: str = _DATA
    log: LevelName = option("least level that is logged", default="warning")


class RunTable(WorkTable):
    """`weft run`."""

    repo_map: bool = _REPO_MAP
    max_output: Count = option("tokens that the model may write in one turn", "model", metavar="TOKENS")
    tools: Names = option(_TOOLS, "tools", without="all with --workspace, otherwise none", metavar="NAMES")
    workspace: str = option(
        "folder that tools work in", "tools", without="files stay in memory", metavar="DIR", path=True
    )
    max_turns: Count = option("turns of the exchange", "limits", default=20, metavar="N")
    max_tokens: Count = option("tokens of all turns together", "limits", metavar="N")
    max_usd: Amount = option("cost of the exchange", "limits", metavar="N")
    max_seconds: Amount = option("duration of the exchange", "limits", metavar="N")


class EvalTable(EndpointTable):
    """`weft eval`."""

    model: Names = option(
        "provider/model; several are separated by commas",
        "model",
        without=_BEST,
        metavar="NAMES",
        aliases=("--models",),
    )
    stacks: Names = option("technologies of the pages", default="html_css", metavar="NAMES")
    seconds: Amount = option("for one conversion, without --batch", default=600.0, metavar="N")
    batch: bool = option("send requests as batches of OpenAI or Anthropic: half the price, within a day", default=False)
    batch_poll: Amount = option("seconds between two looks at a batch", default=30.0, metavar="SECONDS")
    output: str = option(
        "folder that the report is written to", default="report", metavar="DIR", aliases=("-o",), path=True
    )
    resume: bool = option("keep the finished pages of an earlier run", default=False)
    share: str = option("only this share of the pictures, such as 1/2, and no report", default="", metavar="K/N")


COMMANDS: dict[str, type[Table]] = {
    "serve": ServeTable,
    "build": BuildTable,
    "chat": ChatTable,
    "acp": AcpTable,
    "run": RunTable,
    "eval": EvalTable,
}
"""Commands with a table of their own."""
DATA_COMMANDS: dict[str, tuple[str, ...]] = {
    "sessions": ("data", "store"),
    "push": ("data", "store"),
    "store": ("data", "store"),
    "tokens": ("data", "store"),
    "replay": ("data",),
    "doctor": ("data",),
}
"""Commands without a table, and the keys of the top that they have."""
SHARED: dict[str, tuple[type[Table], tuple[str, ...]]] = {
    "studio": (StudioTable, ("build", "serve", "eval")),
    "web": (WebTable, ("build", "chat", "run", "acp", "serve")),
    "hooks": (HooksTable, ("chat", "run", "acp", "serve")),
    "retry": (RetryTable, tuple(COMMANDS)),
    "timeouts": (TimeoutsTable, tuple(COMMANDS)),
    "request": (RequestTable, tuple(COMMANDS)),
    "otel": (OtelTable, ("serve", "run")),
}
"""Tables that several commands share: the table and the commands. `[studio] prompts` is `options.studio_prompts`."""
TABLES: dict[str, type[Table]] = {
    "agent": AgentTable,
    **COMMANDS,
    **{name: table for name, (table, _) in SHARED.items()},
}
PROVIDERS = "providers"
MCP = "mcp"
OWN_TOOLS = ("tools", "tool", "mcp_server")
"""Settings that name tools of one's own. The place of each is part of its meaning."""

_EVERYWHERE = frozenset(list_fields(Everywhere))


def counts_everywhere(command: str, key: str) -> bool:
    """Whether a key at the top of a file counts for a command."""
    return key in _EVERYWHERE and (command, key) != ("build", "data")
