"""The settings of `heald serve`: the table `[serve]`."""

from typing import Literal

from heald.config.table import Amount, Count, Names, Port, option
from heald.config.work_tables import (
    BEST,
    CACHE,
    DATA,
    MCP_SERVER,
    PERMISSIONS,
    STORE,
    TOOL,
    TOOLS,
    UNSANDBOXED,
    EndpointTable,
    ModeName,
)
from heald_cli.settings.common import (
    AFTER_CRASH,
    CHECKS,
    LOG,
    MEMORY,
    REPO_MAP,
    SERVER_AGENT,
    AfterCrashName,
    LevelName,
)

_USERS = "users"
_CLIENT = "limits for each client"
_NODES = "several servers on one store"


class ServeTable(EndpointTable):
    """`heald serve`."""

    model: str = option("model of sessions that name none", "model", without=BEST)
    agent: str = SERVER_AGENT
    external_agents: Names = option(
        "external agents (ACP) that sessions and variants may use, such as claude,opencode; they run outside of the "
        "sandbox",
        "model",
        metavar="NAMES",
        user_only=True,
    )
    host: str = option("address to listen on", "connection", default="127.0.0.1", user_only=True)
    port: Port = option("0 chooses a free port", "connection", default=7878)
    workers: Count = option(
        "processes that share the port and the store, on Linux", "connection", default=1, metavar="N"
    )
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
        without="as in the issuer's configuration",
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
    open_metrics: bool = option(
        "programs of this machine read /metrics without a token", "telemetry", default=False, user_only=True
    )
    data: str = DATA
    workspace: list[str] = option("folder that sessions may work in", "tools", metavar="DIR", path=True)
    tools: Names = option(TOOLS, "tools", default="files,todo,ask", metavar="NAMES")
    tool: list[str] = TOOL
    mcp_server: list[str] = MCP_SERVER
    repo_map: bool = REPO_MAP
    memory: bool = MEMORY
    checks: bool = CHECKS
    cache: bool = CACHE
    permissions: ModeName = PERMISSIONS
    unsandboxed: bool = UNSANDBOXED
    show_tools: bool = option("show clients of /v1 the agent's own calls, as reasoning", "tools", default=False)
    client_tools: Literal["only", "beside"] = option(
        "whether tools that a request of /v1 brings are the only ones or beside the agent's", "tools", default="only"
    )
    client_tool_timeout: Amount = option(
        "seconds that a call waits for the client that runs it", "tools", default=600.0, metavar="SECONDS"
    )
    max_exchanges: Count = option(
        "exchanges at once, each a request and everything until its answer", _CLIENT, default=16, metavar="N"
    )
    max_tokens_per_day: Count = option("tokens in a day", _CLIENT, metavar="N")
    max_usd_per_day: Amount = option("dollars in a day", _CLIENT, metavar="N")
    after_crash: AfterCrashName = AFTER_CRASH
    store: str = STORE
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
        "carries news between servers: nats://host:4222, or a direct address of a database behind a pooler",
        _NODES,
        without="the database carries them",
        metavar="URL",
        user_only=True,
    )
    keep_deltas: Amount = option(
        "hours after which the deltas of an idle session are joined", without="never", metavar="HOURS"
    )
    open: bool = option("open the page in a browser", default=True)
    log: LevelName = LOG
