"""Declares every setting once. Flags, environment variables, `weft.toml` and docs/configuration.md are made from it.

A setting is a field of a table. The field's name is the key in `weft.toml`; with dashes it is the flag, in capitals
the variable (`WEFT_PORT`, `WEFT_SERVE_PORT`). A key at the top of a file counts for every command that has it.
"""

from typing import Annotated, Any, Literal

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
_Model = Annotated[str, option("provider/model, or with --base-url the name there", "model", without=_BEST)]
_Models = Annotated[
    Names, option("provider/model; several are separated by commas", "model", without=_BEST, metavar="NAMES")
]
_KeyEnv = Annotated[
    str, option("variable, or name in the keyring, that holds that endpoint's key", "model", metavar="NAME")
]
_Permissions = Annotated[ModeName, option("which calls run without a question", "tools", default="ask")]
_Unsandboxed = Annotated[
    bool, option("run commands without a sandbox; every result mentions it", "tools", default=False, user_only=True)
]
_Tool = Annotated[
    list[str],
    option(
        "tools of your own besides: my_tools:weather, a module, or a folder such as ./tools; all places count together",
        "tools",
        metavar="NAME",
    ),
]
_McpServer = Annotated[
    list[str],
    option(
        "tools of an MCP server: NAME=COMMAND or NAME=URL; all places count together",
        "tools",
        metavar="SERVER",
        aliases=("--mcp",),
    ),
]
_EditFormat = option("how a model changes files; auto: a small one writes them as text", "tools", default="auto")
_Profile = option("how tools are described; auto: compact for a model with a small context", "tools", default="auto")
_RepoMap = Annotated[
    bool, option("give the model a map of the folder's code, if its context has room", "tools", default=True)
]
_Cache = Annotated[bool, option("equal reads of unchanged files are one read", "tools", default=False)]
_Data = Annotated[
    str, option("folder that sessions are stored in", without="~/.local/share/weft", metavar="DIR", path=True)
]


_AfterCrash = Annotated[
    AfterCrashName,
    option("continue an exchange whose process ended, or close it as failed", default="continue"),
]


_Store = Annotated[
    str,
    option(
        "store that several servers share, as postgresql://user@host/database",
        without="a file in the data folder",
        metavar="URL",
        user_only=True,
    ),
]


class EndpointTable(Table, frozen=True, kw_only=True):
    """Models and their endpoint."""

    model: _Models
    base_url: Annotated[str, option("endpoint for the model; its name is sent unchanged", "model", metavar="URL")]
    wire: Annotated[WireName, option("API of that endpoint", "model", without="chat")]
    api_key_env: _KeyEnv
    effort: Annotated[ReasoningEffort, option("how much the model thinks", "model")]
    thinking_budget: Annotated[Natural, option("tokens that the model may think", "model", metavar="TOKENS")]
    temperature: Annotated[Temperature, option("randomness of the answers", "model", metavar="N")]
    extra: Annotated[
        dict[str, Any],
        option(
            "parameters that are merged into every request: NAME=VALUE, a.b=VALUE or a JSON object; all places count",
            "model",
            metavar="VALUES",
        ),
    ]


class WorkTable(EndpointTable, frozen=True, kw_only=True):
    """Models and what they may do."""

    system: Annotated[str, option("instructions above the conversation", "model", default="")]
    tools: Annotated[Names, option(_TOOLS, "tools", metavar="NAMES")]
    permissions: _Permissions
    rule: Annotated[
        list[str],
        option("such as 'deny run_command(rm *)'; rules of all places count together", "tools", metavar="RULE"),
    ]
    tool: _Tool
    mcp_server: _McpServer
    tool_profile: Annotated[Literal["auto", "full", "compact"], _Profile]
    edit_format: Annotated[Literal["auto", "tools", "text"], _EditFormat]
    cache: _Cache
    unsandboxed: _Unsandboxed


class Everywhere(WorkTable, frozen=True, kw_only=True):
    """At the top of the file: for every command that has such a flag."""

    model: _Model
    data: _Data
    store: _Store


class AgentTable(Table, frozen=True, kw_only=True):
    """Instructions for every agent, those of your own programs included."""

    instructions: Annotated[str, option("a text")]
    instructions_file: Annotated[str, option("a text file beside this one", path=True)]


class ProviderTable(Table, frozen=True, kw_only=True):
    """An endpoint of your own, named as NAME/model."""

    wire: Annotated[WireName, option("API of the endpoint", required=True)]
    base_url: Annotated[str, option("its address", required=True)]
    api_key_env: _KeyEnv
    auth: Annotated[AuthName, option("how the key is sent", without="as usual for the wire")]
    headers: Annotated[dict[str, str], option("sent with every request; no header may hold a key")]
    quirks: Annotated[Quirks, option("peculiarities of the server")]


class McpTable(Table, frozen=True, kw_only=True):
    """An MCP server, whose tools are offered as NAME__tool by `run`, `chat`, `serve` and `acp`. `${VARIABLE}` in a text
    stands for an environment variable."""

    command: Annotated[str, option("program to start; or `url`")]
    args: Annotated[list[str], option("its arguments")]
    env: Annotated[dict[str, str], option("its environment variables besides PATH, HOME and LANG")]
    cwd: Annotated[str, option("folder to start it in", without="the project, or the working folder", path=True)]
    url: Annotated[str, option("address of an HTTP server; or `command`")]
    transport: Annotated[
        Literal["http", "sse"], option("streamable HTTP, or the older server-sent events", default="http")
    ]
    headers: Annotated[dict[str, str], option("sent with every request to the url")]
    oauth: Annotated[
        dict[str, str],
        option("of a registered client, for a sign-in: `client_id`, `client_secret`, `scope`, `callback_port`"),
    ]
    use_proxy: Annotated[bool, option("use the proxy of the environment for the url", default=False)]
    required: Annotated[bool, option("end with an error if it does not start", default=False)]
    connect_timeout: Annotated[Amount, option("seconds to start and to list its tools", default=30.0)]
    call_timeout: Annotated[Amount, option("seconds for one call", default=120.0)]


class ServeTable(EndpointTable, frozen=True, kw_only=True):
    """`weft serve`."""

    model: Annotated[str, option("model of sessions that name none", "model", without=_BEST)]
    host: Annotated[str, option("address to listen on", "connection", default="127.0.0.1", user_only=True)]
    port: Annotated[Port, option("0 chooses a free port", "connection", default=7878)]
    no_token: Annotated[
        bool, option("accept every program of this machine", "connection", default=False, user_only=True)
    ]
    users: Annotated[
        str, option("file of users, with their tokens and limits", _USERS, metavar="FILE", path=True, user_only=True)
    ]
    jwt_issuer: Annotated[
        str, option("accept signed tokens of this OpenID Connect issuer", _USERS, metavar="URL", user_only=True)
    ]
    jwt_audience: Annotated[
        str, option("audience that a signed token must name", _USERS, metavar="NAME", user_only=True)
    ]
    jwt_jwks: Annotated[
        str,
        option(
            "address of its keys (JWKS)",
            _USERS,
            without="as the issuer's configuration says",
            metavar="URL",
            user_only=True,
        ),
    ]
    jwt_algorithms: Annotated[
        Names, option("algorithms of signed tokens", _USERS, default="RS256,ES256", metavar="NAMES", user_only=True)
    ]
    jwt_owner: Annotated[
        str, option("claim that names the owner of sessions", _USERS, default="sub", metavar="CLAIM", user_only=True)
    ]
    allow_origin: Annotated[
        list[str],
        option("origin of a web page that may use the server", "connection", metavar="ORIGIN", user_only=True),
    ]
    public_url: Annotated[
        str,
        option("address of the server behind a proxy, with its path", "connection", metavar="URL", user_only=True),
    ]
    eval_pictures: Annotated[
        str,
        option(
            "folder of pictures for evaluations in the browser",
            "studio",
            without="built-in examples",
            metavar="DIR",
            path=True,
        ),
    ]
    open_metrics: Annotated[
        bool,
        option("programs of this machine read /metrics without a token", "telemetry", default=False, user_only=True),
    ]
    data: _Data
    workspace: Annotated[list[str], option("folder that sessions may work in", "tools", metavar="DIR", path=True)]
    tools: Annotated[Names, option(_TOOLS, "tools", default="files,todo,ask", metavar="NAMES")]
    tool: _Tool
    mcp_server: _McpServer
    repo_map: _RepoMap
    cache: _Cache
    permissions: _Permissions
    unsandboxed: _Unsandboxed
    show_tools: Annotated[
        bool, option("show clients of /v1 the agent's own calls, as reasoning", "tools", default=False)
    ]
    client_tool_timeout: Annotated[
        Amount,
        option("seconds that a call waits for the client that runs it", "tools", default=600.0, metavar="SECONDS"),
    ]
    max_exchanges: Annotated[
        Count,
        option("exchanges at once, each a request and everything until its answer", _CLIENT, default=16, metavar="N"),
    ]
    max_tokens_per_day: Annotated[Count, option("tokens in a day", _CLIENT, metavar="N")]
    max_usd_per_day: Annotated[Amount, option("dollars in a day", _CLIENT, metavar="N")]
    after_crash: _AfterCrash
    store: _Store
    node: Annotated[
        str, option("name of this server among those that share the store", _NODES, without="a new one", metavar="NAME")
    ]
    room: Annotated[
        Count,
        option("exchanges that run here at once before others get the work", _NODES, default=200, metavar="N"),
    ]
    placement: Annotated[
        str,
        option(
            "what decides where requests run: store, temporal://host:7233/namespace, or module:name of your own",
            _NODES,
            default="store",
            metavar="ADDRESS",
            user_only=True,
        ),
    ]
    news: Annotated[
        str,
        option(
            "NATS server that carries news between servers, as nats://host:4222",
            _NODES,
            without="the database carries them",
            metavar="URL",
            user_only=True,
        ),
    ]
    keep_deltas: Annotated[
        Amount,
        option("hours after which the deltas of an idle session are joined", without="never", metavar="HOURS"),
    ]
    open: Annotated[bool, option("open the page in a browser", default=True)]
    log: Annotated[LevelName, option("least level that is logged", default="warning")]


class BuildTable(EndpointTable, frozen=True, kw_only=True):
    """`weft build`."""

    design_system: Annotated[
        str, option("text file about colours, fonts and components", "input", metavar="FILE", path=True)
    ]
    stack: Annotated[
        str, option("technology of the page; any other word lists them", "variants", default="html_tailwind")
    ]
    variants: Annotated[
        Count, option("agents that work side by side", "variants", without="one for each model", metavar="N")
    ]
    score: Annotated[bool, option("render the pages and compare them with the picture", "variants", default=True)]
    output: Annotated[
        str, option("folder to write to", "output", default="out", metavar="DIR", aliases=("-o",), path=True)
    ]
    data: Annotated[
        str, option("keep the project there; the `data` at the top does not count", "output", metavar="DIR", path=True)
    ]


class ChatTable(WorkTable, frozen=True, kw_only=True):
    """`weft chat`."""

    model: _Model
    theme: Annotated[
        Literal["auto", "dark", "light"],
        option("colours for a dark or a light background; auto: as the terminal reports it", default="auto"),
    ]
    tools: Annotated[Names, option(_TOOLS, "tools", default="all", metavar="NAMES")]
    plan: Annotated[bool, option("begin in plan mode: only reading until you approve a plan", "tools", default=False)]
    repo_map: _RepoMap
    after_crash: _AfterCrash
    data: _Data


class AcpTable(WorkTable, frozen=True, kw_only=True):
    """`weft acp`."""

    model: _Model
    repo_map: _RepoMap
    tools: Annotated[Names, option(_TOOLS, "tools", default="all", metavar="NAMES")]
    editor_files: Annotated[
        bool, option("read and write files through the editor, with its unsaved changes", "tools", default=True)
    ]
    terminal: Annotated[
        Literal["sandbox", "editor"],
        option("where commands run; the editor's terminal has no sandbox", "tools", default="sandbox", user_only=True),
    ]
    data: _Data
    log: Annotated[LevelName, option("least level that is logged", default="warning")]


class RunTable(WorkTable, frozen=True, kw_only=True):
    """`weft run`."""

    repo_map: _RepoMap
    max_output: Annotated[Count, option("tokens that the model may write in one turn", "model", metavar="TOKENS")]
    tools: Annotated[Names, option(_TOOLS, "tools", without="all with --workspace, otherwise none", metavar="NAMES")]
    workspace: Annotated[
        str, option("folder that tools work in", "tools", without="files stay in memory", metavar="DIR", path=True)
    ]
    max_turns: Annotated[Count, option("turns of the exchange", "limits", default=20, metavar="N")]
    max_tokens: Annotated[Count, option("tokens of all turns together", "limits", metavar="N")]
    max_usd: Annotated[Amount, option("cost of the exchange", "limits", metavar="N")]
    max_seconds: Annotated[Amount, option("duration of the exchange", "limits", metavar="N")]


class EvalTable(EndpointTable, frozen=True, kw_only=True):
    """`weft eval`."""

    model: Annotated[
        Names,
        option(
            "provider/model; several are separated by commas",
            "model",
            without=_BEST,
            metavar="NAMES",
            aliases=("--models",),
        ),
    ]
    stacks: Annotated[Names, option("technologies of the pages", default="html_css", metavar="NAMES")]
    seconds: Annotated[Amount, option("for one conversion, without --batch", default=600.0, metavar="N")]
    batch: Annotated[
        bool, option("send requests as batches of OpenAI or Anthropic: half the price, within a day", default=False)
    ]
    batch_poll: Annotated[Amount, option("seconds between two looks at a batch", default=30.0, metavar="SECONDS")]
    output: Annotated[
        str, option("folder that the report is written to", default="report", metavar="DIR", aliases=("-o",), path=True)
    ]
    resume: Annotated[bool, option("keep the finished pages of an earlier run", default=False)]
    share: Annotated[
        str, option("only this share of the pictures, such as 1/2, and no report", default="", metavar="K/N")
    ]


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


def counts_everywhere(command: str, key: str) -> bool:
    """Whether a key at the top of a file counts for a command."""
    return key in Everywhere.__struct_fields__ and (command, key) != ("build", "data")
