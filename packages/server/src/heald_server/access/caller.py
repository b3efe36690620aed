"""The client of a request, and the function that identifies it."""

from collections.abc import Awaitable, Callable

import msgspec
from starlette.requests import HTTPConnection
from starlette.types import Scope

Authenticate = Callable[[HTTPConnection], Awaitable[str | None] | str | None]
"""Returns the owner of a request's sessions, or None to reject the request."""


class Caller(msgspec.Struct, frozen=True):
    """The client of a request."""

    owner: str
    token_id: bytes | None = None
    """None where the request carries no token of this server."""
    root_path: str = ""
    """The path that the server is mounted under, as the client sees it."""
    link: str = ""
    """The id of the link by which the request acts for `owner`, as `AdmitCaller` decided. Empty without a link."""

    @property
    def is_guest(self) -> bool:
        """Whether the request acts for `owner` by a link that the owner made."""
        return bool(self.link)


AdmitCaller = Callable[[Caller, Scope, str], Awaitable[Caller]]
"""Returns the caller of a request to a path, or another one, as which it is answered. Raises `ApiError` to reject."""
WatchCaller = Callable[[Caller, Callable[[], object]], Callable[[], object]]
"""Calls back when a caller loses the access that `AdmitCaller` gave it. Returns a function that unsubscribes."""
