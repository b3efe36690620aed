"""Log messages for the client of an MCP request, at the level that it asked for."""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, get_args

import mcp_types as types
from mcp.server.connection import allowed_log_levels
from mcp.server.context import ServerRequestContext
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

_LEVELS: tuple[types.LoggingLevel, ...] = get_args(types.LoggingLevel)
_DEFAULT: types.LoggingLevel = "info"
_MAX_CONNECTIONS = 1000
_SESSION_HEADER = "mcp-session-id"


class LogLevels:
    """The levels that connections of protocol 2025 set. A request of protocol 2026 names its level itself."""

    def __init__(self) -> None:
        self._levels: OrderedDict[str, types.LoggingLevel] = OrderedDict()

    async def set_level(
        self, request: ServerRequestContext[Any, Any], params: types.SetLevelRequestParams
    ) -> types.EmptyResult:
        """Answer `logging/setLevel`."""
        self._levels[connection_of(request)] = params.level
        self._levels.move_to_end(connection_of(request))
        if len(self._levels) > _MAX_CONNECTIONS:
            self._levels.popitem(last=False)
        return types.EmptyResult()

    def permits(self, request: ServerRequestContext[Any, Any], level: types.LoggingLevel) -> bool:
        """Return whether a message of a level may be sent during a request."""
        lowest = self._levels.get(connection_of(request), _DEFAULT)
        is_high_enough = _LEVELS.index(level) >= _LEVELS.index(lowest)
        names_level = request.protocol_version in MODERN_PROTOCOL_VERSIONS
        return level in allowed_log_levels(request.protocol_version, request.meta) and (names_level or is_high_enough)


@dataclass(frozen=True, slots=True)
class ClientLog:
    """Sends log messages on the stream of a request."""

    request: ServerRequestContext[Any, Any]
    levels: LogLevels

    async def send(self, level: types.LoggingLevel, text: str) -> None:
        """Send a message, if the client asked for its level."""
        if self.levels.permits(self.request, level):
            params = types.LoggingMessageNotificationParams(level=level, logger="heald", data=text)
            message = types.LoggingMessageNotification(params=params)
            await self.request.session.send_notification(message, self.request.request_id)


def connection_of(request: ServerRequestContext[Any, Any]) -> str:
    """Identify the connection of a client of protocol 2025; empty over pipes, where there is one."""
    headers = getattr(request.request, "headers", None)
    return str(headers.get(_SESSION_HEADER, "")) if headers is not None else ""
