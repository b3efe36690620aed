"""`McpServer`, the configuration of an MCP server, and `McpFault`."""

import re
from dataclasses import dataclass, field
from typing import Literal

from heald.core.errors import ConfigurationError
from heald.core.messages import ToolStatus
from heald.tools.tool_fault import ToolFault

_NAME = re.compile(r"[a-zA-Z0-9-]+(?:_[a-zA-Z0-9-]+)*")
_OAUTH = ("client_id", "client_secret", "client_metadata_url", "scope", "callback_port")
_DOCUMENT = re.compile(r"https://[^/\s]+/[^\s]+")
_SPACES = re.compile(r"[ \t\n]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServer:
    """The configuration of an MCP server: a `command` to start, or the `url` of an HTTP server.

    A started server gets PATH, HOME, LANG and the variables in `env`, and no other environment variables.
    """

    name: str
    """The prefix of the names of its tools: letters, digits, dashes and single underscores."""
    command: str | None = None
    args: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict[str, str], repr=False)
    cwd: str | None = None
    url: str | None = None
    headers: dict[str, str] = field(default_factory=dict[str, str], repr=False)
    transport: Literal["http", "sse"] = "http"
    """The transport of the URL: streamable HTTP, or the older HTTP with server-sent events."""
    oauth: dict[str, str] = field(default_factory=dict[str, str], repr=False)
    """For a sign-in: `client_id` and `client_secret` of a registered client, or `client_metadata_url`, the HTTPS
    address of a client metadata document; `scope`, `callback_port`."""
    use_proxy: bool = False
    """Whether to use the proxy settings of the environment for the URL."""
    required: bool = False
    """Whether a failed start is an error. Otherwise its tools are missing."""
    connect_timeout: float = 30.0
    """Seconds to start, negotiate the protocol version and list the tools."""
    call_timeout: float = 120.0
    task_timeout: float = 4 * 3600.0
    """Seconds that a call may take which the server runs as a task."""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or len(self.name) > 32:
            raise ConfigurationError(
                f"The MCP server name {self.name[:60]!r} is not valid: use up to 32 letters, digits, dashes and single "
                "underscores between them."
            )
        if (self.command is None) == (self.url is None):
            raise ConfigurationError(f"The MCP server {self.name!r} needs either a command or a url, and not both.")
        if self.url is not None and not self.url.startswith(("http://", "https://")):
            raise ConfigurationError(f"The url of the MCP server {self.name!r} must begin with http:// or https://.")
        if self.transport not in ("http", "sse"):
            raise ConfigurationError(f"The transport of the MCP server {self.name!r} must be http or sse.")
        if unknown := self.oauth.keys() - _OAUTH:
            raise ConfigurationError(
                f"The oauth settings of the MCP server {self.name!r} have no {min(unknown)!r}; there are "
                f"{', '.join(_OAUTH)}."
            )
        document = self.oauth.get("client_metadata_url")
        if document is not None and not _DOCUMENT.fullmatch(document):
            raise ConfigurationError(
                f"The client_metadata_url of the MCP server {self.name!r} must be an https:// address with a path."
            )
        if min(self.connect_timeout, self.call_timeout, self.task_timeout) <= 0:
            raise ConfigurationError(f"The timeouts of the MCP server {self.name!r} must be more than 0 seconds.")


class McpFault(ToolFault):
    """A server failed. `log` is the end of its standard error, for operators; it is not sent to models."""

    def __init__(self, message: str, kind: str = "mcp_server", *, status: ToolStatus = "error", log: str = "") -> None:
        super().__init__(message, kind, status=status)
        self.log = log


def cut_words(text: object, limit: int) -> str:
    """Return a text that the user decides on, on one line. Only plain spaces are merged, and a cut is counted."""
    words = _SPACES.sub(" ", str(text)).strip(" ")
    return words if len(words) <= limit else f"{words[:limit]}… ({len(words) - limit:,} more characters)"


def shorten(text: object, limit: int = 500) -> str:
    """Return the text on one line, cut to `limit` characters."""
    words = " ".join(str(text).split())
    return words if len(words) <= limit else words[:limit] + "…"
