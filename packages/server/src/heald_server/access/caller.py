"""The client of a request, and the function that identifies it."""

from collections.abc import Awaitable, Callable

import msgspec
from starlette.requests import HTTPConnection
from starlette.types import Scope

Authenticate = Callable[[HTTPConnection], Awaitable[str | None] | str | None]
"""Returns the owner of a request's sessions, or None to reject the request."""


OPERATOR = "operator"
"""The name in logs of the person who runs the server, whose token names no user."""

_LINK_DIGITS = 8


class Caller(msgspec.Struct, frozen=True):
    """The client of a request."""

    owner: str
    token_id: bytes | None = None
    """None where the request carries no token of this server."""
    root_path: str = ""
    """The path that the server is mounted under, as the client sees it."""
    link: str = ""
    """The id of the link by which the request acts for `owner`, as `AdmitCaller` decided. Empty without a link."""
    guest: str = ""
    """The user who follows the link."""

    @property
    def is_guest(self) -> bool:
        """Whether the request acts for `owner` by a link that the owner made."""
        return bool(self.link)

    @property
    def name(self) -> str:
        """The name of the caller in logs: that of the user or the operator, and the link of a guest."""
        if self.is_guest:
            return f"{self.guest or OPERATOR} (link {self.link[:_LINK_DIGITS]})"
        return self.owner or OPERATOR


AdmitCaller = Callable[[Caller, Scope, str], Awaitable[Caller]]
"""Returns the caller of a request to a path, or another one, as which it is answered. Raises `ApiError` to reject."""
WatchCaller = Callable[[Caller, Callable[[], object]], Callable[[], object]]
"""Calls back when a caller loses the access that `AdmitCaller` gave it. Returns a function that unsubscribes."""
