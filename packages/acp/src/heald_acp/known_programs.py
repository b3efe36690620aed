"""The agents that need no settings: their commands, the variables that they read, and how they come to ask.

Heald decides on a call if the agent asks. Where an agent does not ask by default, its entry makes it ask.
"""

from heald_acp.program import AgentProgram

_CLAUDE = (
    *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL"),
    *("CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_EXECUTABLE"),
)
_OPENCODE_ASKS = (
    '{"edit":"ask","bash":"ask","webfetch":"ask","websearch":"ask","task":"allow","external_directory":"ask"}'
)

_PROGRAMS = (
    AgentProgram(
        name="claude",
        command=("claude-agent-acp",),
        keys=_CLAUDE,
        mode="default",
        install="npm install -g @agentclientprotocol/claude-agent-acp",
    ),
    AgentProgram(
        name="codex",
        command=("codex-acp",),
        keys=(
            *("OPENAI_API_KEY", "OPENAI_BASE_URL", "CODEX_API_KEY", "CODEX_HOME", "CODEX_PATH", "CODEX_CONFIG"),
            "MODEL_PROVIDER",
        ),
        mode="read-only",
        unasked="report",  # its own sandbox confines what it runs without asking
        install="npm install -g @agentclientprotocol/codex-acp",
    ),
    AgentProgram(
        name="opencode",
        command=("opencode", "acp"),
        keys=("OPENCODE_API_KEY", "OPENCODE_CONFIG", "OPENCODE_CONFIG_CONTENT", "OPENCODE_CONFIG_DIR"),
        env={"OPENCODE_PERMISSION": _OPENCODE_ASKS},
        install="npm install -g opencode-ai",
    ),
    AgentProgram(
        name="gemini",
        command=("gemini", "--acp"),
        keys=("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_CLOUD_PROJECT"),
        mode="default",
        own_reads=True,  # it reads a file before it writes it, and could create none
        install="npm install -g @google/gemini-cli",
    ),
    AgentProgram(
        name="qwen",
        command=("qwen", "--acp"),
        keys=("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "DASHSCOPE_API_KEY"),
        mode="default",
        install="npm install -g @qwen-code/qwen-code",
    ),
    AgentProgram(
        name="goose",
        command=("goose", "acp"),
        keys=("GOOSE_PROVIDER", "GOOSE_MODEL"),
        env={"GOOSE_MODE": "approve"},
        install="brew install block-goose-cli",
    ),
    AgentProgram(name="cline", command=("cline", "--acp"), install="npm install -g cline"),
    AgentProgram(name="kimi", command=("kimi", "acp"), keys=("KIMI_API_KEY",), install="uv tool install kimi-cli"),
    AgentProgram(
        name="copilot",
        command=("copilot", "--acp"),
        keys=("GH_TOKEN", "GITHUB_TOKEN"),
        install="npm install -g @github/copilot",
    ),
    AgentProgram(
        name="auggie",
        command=("auggie", "--acp"),
        keys=("AUGMENT_SESSION_AUTH",),
        install="npm install -g @augmentcode/auggie",
    ),
)

KNOWN_PROGRAMS = {program.name: program for program in _PROGRAMS}
"""By name."""
