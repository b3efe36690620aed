"""What can go wrong with a store. Each error says what to do; none names a path of this machine."""

from typing import ClassVar

from weft.core.errors import NotFound, WeftError


class StoreError(WeftError):
    """Something could not be stored or read. What was acknowledged before is safe."""

    happened: ClassVar[str] = "The session could not be stored"
    """What is said of it afterwards, as the beginning of a sentence."""


class StoreFull(StoreError):
    """No room is left."""

    happened = "There was no room left to store the session"


class StoreLocked(StoreError):
    """Another process kept the database to itself for too long."""

    happened = "Another process kept the sessions locked"


class StoreCorrupt(StoreError):
    """The file is no database of ours, or is damaged."""


class NoSuchSession(NotFound, StoreError):
    def __init__(self, session: str) -> None:
        super().__init__(f"There is no session {session[:100]!r}; list the sessions to see which there are.")


class NoSuchBlob(NotFound, StoreError):
    def __init__(self, digest: str) -> None:
        super().__init__(f"The session has no blob {digest[:80]!r}.")


class SessionExists(StoreError):
    code = "invalid_request"


class SessionBusy(StoreError):
    """Another writer has the session open."""

    code = "invalid_request"


class Fenced(StoreError):
    """Another writer has taken the session over; this one may write no more."""


class BadPlace(StoreError):
    """The place in a list where somebody wants to go on is none."""

    code = "invalid_request"


class BadArchive(StoreError):
    """What was to be imported is no session, or too large to be one."""

    code = "invalid_request"
