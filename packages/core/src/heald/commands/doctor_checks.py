"""Rows of `heald doctor` about the optional dependencies of the core."""

from importlib.util import find_spec

from heald.commands.finding import DoctorFinding, Findings, missing, ok
from heald.config.paths import display_path
from heald.core.distribution import DISTRIBUTION, install_advice
from heald.providers.key_file import SECRET_VARIABLE, encrypts_keys, key_file_path
from heald.providers.key_store import missing_keyring

_EXTRAS = {
    "mcp": ("mcp", "mcp", "tools of MCP servers are used"),
    "claude": ("claude_agent_sdk", "claude-agent-sdk", "the Claude Agent SDK is used as a model"),
    "sign": ("cryptography", "cryptography", "exported sessions are signed and verified"),
}
"""Extras: a module and the package that has it, and the purpose."""


def check() -> Findings:
    for extra, (module, package, purpose) in _EXTRAS.items():
        name = f"{DISTRIBUTION}[{extra}]"
        if find_spec(module) is None:
            yield missing(name, f"{package} is not installed; with it, {purpose}", install_advice(extra))
        else:
            yield ok(name, purpose)
    yield check_key_store()


def check_key_store() -> DoctorFinding:
    """Tell where `heald key set` and the settings of the page store a key."""
    reason = missing_keyring()
    if not reason:
        return ok("key store", "keys are stored in the keyring of the system")
    path = display_path(key_file_path())
    if encrypts_keys():
        return ok("key store", f"{reason}; keys are stored in {path}, encrypted with {SECRET_VARIABLE}")
    fix = f"Set {SECRET_VARIABLE} to encrypt them" if find_spec("keyring") else install_advice("keyring")
    return missing("key store", f"{reason}; keys are stored in {path}, which only its owner may read", fix)
