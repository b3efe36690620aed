"""Rows of `heald doctor` about the optional dependencies of the core."""

from importlib.util import find_spec

from heald.commands.finding import Findings, missing, ok
from heald.core.distribution import DISTRIBUTION, install_advice

_EXTRAS = {
    "mcp": ("mcp", "mcp", "tools of MCP servers are used"),
    "claude": ("claude_agent_sdk", "claude-agent-sdk", "the Claude Agent SDK is used as a model"),
    "keyring": ("keyring", "keyring", "keys are stored in the keyring of the system"),
    "sign": ("cryptography", "cryptography", "exported sessions are signed and verified"),
}
"""Extras: a module and the package that has it, and the purpose."""


def check() -> Findings:
    for extra, (module, package, purpose) in _EXTRAS.items():
        name = f"{DISTRIBUTION}[{extra}]"
        if find_spec(module) is None:
            yield missing(name, f"without {package}; with it {purpose}", install_advice(extra))
        else:
            yield ok(name, purpose)
