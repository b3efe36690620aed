"""A program that speaks ACP: how it is started, and what it gets of the environment."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from heald.core.errors import ConfigurationError
from heald.tools.process_environment import environment_of

_PASSED_ON = (
    *("HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR"),
    *("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "SYSTEMROOT", "APPDATA", "LOCALAPPDATA", "USERPROFILE"),
)
"""Variables without secrets that every agent gets."""

Unasked = Literal["stop", "report"]
"""What happens if an agent runs a call without asking that the permissions do not allow: it is ended, or the call is
only recorded."""


@dataclass(frozen=True, kw_only=True)
class AgentProgram:
    """An agent that can be started."""

    name: str
    """As in `acp/NAME`."""
    command: tuple[str, ...]
    """The program and its arguments."""
    keys: tuple[str, ...] = ()
    """Variables of the environment that it gets besides the usual ones. No other key reaches it."""
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    """Variables that are set for it."""
    mode: str = ""
    """The mode of its sessions, such as `default`; empty for its own default."""
    unasked: Unasked = "stop"
    own_reads: bool = False
    """It reads files by itself, because it does not recognise the protocol's error for a file that does not exist."""
    prices: str = ""
    """The model whose list price counts if the agent reports tokens and no cost, such as `openai/gpt-5`."""
    install: str = ""
    """How to install it, for a message."""

    def find(self) -> str | None:
        """Return the path of the program; None if it is not installed."""
        return shutil.which(self.command[0]) if self.command else None

    def argv(self) -> list[str]:
        """Return the command line. Raises ConfigurationError if the program is not installed."""
        path = self.find()
        if path is None:
            program = self.command[0] if self.command else self.name
            advice = f"install it with `{self.install}`" if self.install else "install it"
            raise ConfigurationError(
                f"acp/{self.name} needs the program {program!r}, which was not found; {advice}, or name its command "
                f"as [acp_agents.{self.name}] command in heald.toml."
            )
        return [path, *self.command[1:]]

    def environment(self) -> dict[str, str]:
        """Return the environment of the process: the usual variables, the named keys, and what its settings set."""
        keys = {name: os.environ[name] for name in self.keys if name in os.environ}
        return {**environment_of(*_PASSED_ON), **keys, **self.env}
