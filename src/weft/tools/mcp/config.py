"""How a server is reached: a program that is started, or a URL."""

import re
from dataclasses import dataclass, field

from weft.core.errors import ConfigurationError

_NAME = re.compile(r"[a-zA-Z0-9-]+(?:_[a-zA-Z0-9-]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServer:
    """One server. Give a `command` for one that is started here, or a `url` for one that speaks streamable HTTP.

    A started server sees PATH, HOME, LANG and what `env` says; nothing else of this program's environment.
    """

    name: str
    """Stands before the names of its tools: letters, digits, dashes and single underscores."""
    command: str | None = None
    args: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict[str, str], repr=False)
    cwd: str | None = None
    url: str | None = None
    headers: dict[str, str] = field(default_factory=dict[str, str], repr=False)
    use_proxy: bool = False
    """Whether the URL may be reached through the proxy that the environment names."""
    required: bool = False
    """Whether nothing works without it: then a failed start is an error, otherwise its tools are missing."""
    connect_timeout: float = 30.0
    """Seconds to start, agree on a protocol and list the tools."""
    call_timeout: float = 120.0

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or len(self.name) > 32:
            raise ConfigurationError(
                f"The MCP server name {self.name[:60]!r} will not do: use up to 32 letters, digits, dashes and single "
                "underscores between them."
            )
        if (self.command is None) == (self.url is None):
            raise ConfigurationError(f"The MCP server {self.name!r} needs either a command or a url, and not both.")
        if self.url is not None and not self.url.startswith(("http://", "https://")):
            raise ConfigurationError(f"The url of the MCP server {self.name!r} must begin with http:// or https://.")
        if self.connect_timeout <= 0 or self.call_timeout <= 0:
            raise ConfigurationError(f"The timeouts of the MCP server {self.name!r} must be more than 0 seconds.")
