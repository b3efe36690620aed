"""A request to a session, for the function that makes the `deps` of its tools."""

import inspect
from collections.abc import Awaitable, Callable
from contextvars import ContextVar

import msgspec
from starlette.requests import HTTPConnection
from starlette.types import Scope

from heald.sessions.session_info import SessionInfo

current_scope: ContextVar[Scope | None] = ContextVar("heald_server_scope", default=None)
"""The request that is being answered, as the ASGI server gave it."""


class SessionRequest(msgspec.Struct, frozen=True):
    """A request that starts an exchange in a session."""

    session: SessionInfo
    """The session: its id, owner and title. The owner is the one that `auth` returned."""
    connection: HTTPConnection | None
    """The HTTP request or WebSocket, with its headers, cookies and state. None for an exchange that is continued after
    a restart."""

    @property
    def owner(self) -> str:
        """The owner of the session."""
        return self.session.owner


MakeDeps = Callable[[SessionRequest], Awaitable[object] | object]
"""Returns what the tools of an exchange get as `ToolContext.deps`. It may be a coroutine function."""


async def deps_of(make_deps: MakeDeps | None, info: SessionInfo, *, is_continued: bool = False) -> object:
    """Return the `deps` of an exchange that the current request starts, or of one that is continued."""
    if make_deps is None:
        return None
    scope = current_scope.get() if not is_continued else None
    made = make_deps(SessionRequest(info, HTTPConnection(scope) if scope is not None else None))
    return await made if inspect.isawaitable(made) else made
