"""Declares the commands of this package. `heald --help` loads this module, so it imports no command."""

from heald.config.command import REQUEST_TABLES, Command

CHAT = Command(
    "chat",
    "work on a folder with a coding assistant in this terminal",
    "heald_cli.chat",
    table="heald_cli.settings.chat:ChatTable",
    shared=("web", "secrets", "hooks", "checkpoints", *REQUEST_TABLES),
    rank=20,
)
ACP = Command(
    "acp",
    "work on a folder with a coding assistant in an editor",
    "heald_cli.commands.acp",
    table="heald_cli.settings.acp:AcpTable",
    shared=("web", "secrets", "hooks", *REQUEST_TABLES),
    rank=30,
)
MCP = Command("mcp", "offer agents to MCP clients, or sign in to MCP servers", "heald_cli.commands.mcp", rank=40)
SERVE = Command(
    "serve",
    "run the server: sessions over HTTP, server-sent events and WebSocket",
    "heald_cli.commands.serve",
    table="heald_cli.settings.serve:ServeTable",
    shared=("web", "secrets", "hooks", *REQUEST_TABLES, "otel"),
    extensible=True,
    rank=50,
)
RUN = Command(
    "run",
    "run one prompt and exit; the model may call tools, and events stream",
    "heald_cli.commands.run",
    table="heald_cli.settings.run:RunTable",
    shared=("web", "secrets", "hooks", "checkpoints", *REQUEST_TABLES, "otel"),
    rank=60,
)
UNDO = Command(
    "undo",
    "undo the last applied attempt of `heald run --attempts`",
    "heald_cli.commands.undo",
    shared=("checkpoints",),
    rank=70,
)
REVIEW = Command(
    "review",
    "review the commits of a branch with a model; --post posts the comments",
    "heald_cli.commands.review",
    table="heald_cli.settings.writing:ReviewTable",
    shared=REQUEST_TABLES,
    rank=72,
)
COMMIT = Command(
    "commit",
    "commit chosen hunks with a message in the style of the repository",
    "heald_cli.commands.commit",
    table="heald_cli.settings.writing:CommitTable",
    shared=REQUEST_TABLES,
    rank=74,
)
PR = Command(
    "pr",
    "push this branch and open a pull request on GitHub, GitLab or Gitea",
    "heald_cli.commands.pr",
    table="heald_cli.settings.writing:PrTable",
    shared=REQUEST_TABLES,
    rank=76,
)
SESSIONS = Command(
    "sessions",
    "list, show, export, redact, import, fork, compare, rename and delete sessions",
    "heald_cli.commands.sessions",
    keys=("data", "store"),
    rank=80,
)
TOKENS = Command(
    "tokens",
    "create, list and revoke user tokens",
    "heald_cli.commands.tokens",
    keys=("data", "store"),
    rank=90,
)
STORE = Command(
    "store",
    "check, migrate and copy a session store",
    "heald_cli.commands.store",
    keys=("data", "store"),
    rank=100,
)
AGENTS = Command("agents", "list the agents that are defined in files", "heald_cli.commands.agents", rank=105)
EXPORT = Command(
    "export",
    "export commands, skills, agents and hooks for other coding assistants",
    "heald_cli.commands.export",
    rank=107,
)
MODELS = Command("models", "list the available models and their prices", "heald_cli.commands.models", rank=110)
REPLAY = Command(
    "replay",
    "replay a session on the terminal, or as a client receives it",
    "heald_cli.commands.replay",
    keys=("data",),
    rank=130,
)
CONFIG = Command("config", "show all settings and where each is set", "heald_cli.commands.config", rank=150)
TRUST = Command("trust", "trust or refuse the heald.toml of a project", "heald_cli.commands.trust", rank=160)
KEY = Command("key", "store API keys in the keyring, or in a private file", "heald_cli.commands.key", rank=170)
DOCTOR = Command(
    "doctor",
    "check what works on this machine, and how to get the rest",
    "heald_cli.commands.doctor",
    keys=("data",),
    rank=180,
)
DEMO = Command("demo", "turn a picture into a page, then change it; needs no key", "heald_cli.commands.demo", rank=200)
COMPLETION = Command(
    "completion", "print a completion script for your shell", "heald_cli.commands.completion", rank=210
)
