"""Checks what an editor sends, and makes errors of its requests."""

import posixpath
import re
from collections.abc import Awaitable, Sequence
from datetime import UTC, datetime
from os.path import isdir, realpath
from typing import TYPE_CHECKING, Any, TypeVar, cast

from acp import RequestError, schema

from heald.core.errors import ConfigurationError, HealdError
from heald.core.messages import ToolDefinition
from heald.sessions.session_info import SessionInfo
from heald.tools.client_tools import read_client_tools

if TYPE_CHECKING:
    from heald.tools.mcp import McpServer, McpServers


T = TypeVar("T")
McpConfig = schema.HttpMcpServer | schema.SseMcpServer | schema.AcpMcpServer | schema.McpServerStdio
KEY_METHOD = "heald-key"
INVALID_PARAMS = -32602
NOT_FOUND = -32002
AUTH_REQUIRED = -32000
_FAILED = -32603
_AUTH_CODES = ("missing_key", "authentication", "unknown_provider")


async def answered(work: Awaitable[T]) -> T:
    """Await work for a request. An error of Heald becomes the error of the request, with its sentence."""
    try:
        return await work
    except ConfigurationError as error:
        raise refusal(str(error)) from None
    except HealdError as error:
        code = AUTH_REQUIRED if error.code in _AUTH_CODES else _FAILED
        code = INVALID_PARAMS if error.code == "invalid_request" else code
        raise RequestError(code, str(error), {"code": error.code}) from None


def refusal(text: str) -> RequestError:
    return RequestError(INVALID_PARAMS, text)


def key_method() -> schema.AuthMethodAgent:
    return schema.AuthMethodAgent(
        id=KEY_METHOD,
        name="API key",
        description="Set a key such as ANTHROPIC_API_KEY in the environment of the editor, or store it with "
        "`heald key set anthropic` in a terminal; then try again.",
    )


def client_tools_of(meta: dict[str, Any]) -> list[ToolDefinition] | None:
    """Read the tools that the client runs itself: `_meta: {"heald": {"tools": [...]}}`. None if it names none."""
    extension = meta.get("heald")
    if extension is None:
        return None
    if not isinstance(extension, dict) or not isinstance(cast("dict[str, Any]", extension).get("tools"), list):
        raise refusal("The _meta of heald must be an object with the list `tools`.")
    try:
        return read_client_tools(cast("dict[str, Any]", extension)["tools"])
    except ConfigurationError as error:
        raise refusal(str(error)) from None


def check_folders(cwd: str, more: list[str] | None) -> str:
    """Return the folder of a session without links. Raises if it cannot be used."""
    if more:
        raise refusal("Sessions work in one folder; open the session without additional directories.")
    if not posixpath.isabs(cwd):
        raise refusal(f"The folder {cwd[:200]!r} is not an absolute path; give one.")
    if not isdir(cwd):
        raise refusal(f"There is no folder {cwd[:200]!r} to work in; create it first.")
    return realpath(cwd)


def mcp_servers_of(configs: Sequence[McpConfig], folder: str) -> "McpServers":
    """Return the MCP servers of the editor, to be started. Their package is large, so that it is loaded only here."""
    from heald.tools.mcp import McpServers

    return McpServers([_mcp_server(config) for config in configs], folders=[folder])


def _mcp_server(config: McpConfig) -> "McpServer":
    """Return the configuration of an MCP server of the editor. Its name is shortened to what names of tools allow."""
    from heald.tools.mcp import McpServer

    name = re.sub(r"_{2,}", "_", re.sub(r"[^a-zA-Z0-9_-]+", "-", config.name)).strip("-_")[:32].strip("-_")
    match config:
        case schema.McpServerStdio():
            env = {variable.name: variable.value for variable in config.env}
            return McpServer(name=name, command=config.command, args=tuple(config.args), env=env)
        case schema.HttpMcpServer() | schema.SseMcpServer():
            headers = {header.name: header.value for header in config.headers}
            transport = "sse" if isinstance(config, schema.SseMcpServer) else "http"
            return McpServer(name=name, url=config.url, headers=headers, transport=transport)
        case _:
            raise ConfigurationError(
                f"The MCP server {config.name[:60]!r} has a transport that is not supported; use stdio, http or sse."
            )


def describe_session(info: SessionInfo, place: str) -> schema.SessionInfo:
    updated = datetime.fromtimestamp(info.updated, UTC).isoformat()
    return schema.SessionInfo(session_id=info.id, cwd=place, title=info.title or None, updated_at=updated)
