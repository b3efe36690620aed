"""The errors of session stores."""

from typing import ClassVar

from heald.core.errors import HealdError, NotFound


class StoreError(HealdError):
    """Something could not be stored or read. Events that were acknowledged before are safe."""

    happened: ClassVar[str] = "The session could not be stored"
    """The description for the log, as the beginning of a sentence."""


class StoreFull(StoreError):
    """The disk is full."""

    happened = "There was no room left to store the session"


class StoreLocked(StoreError):
    """Another process kept the database locked for too long."""

    happened = "Another process kept the sessions locked"


class StoreCorrupt(StoreError):
    """The file is not a database of Heald, or is damaged."""


class UnreadableEvent(StoreError):
    """An event holds values that could not be read again. It is not stored, and nothing after it."""

    happened = "An event could not be stored"


class DamagedFile(StoreCorrupt):
    """The file as a whole is damaged, not just one session in it. Nothing more should be written to it."""

    happened = "The file of the sessions is damaged"


class NoSuchSession(NotFound, StoreError):
    """The store has no session of that id."""

    def __init__(self, session: str) -> None:
        super().__init__(f"There is no session {session[:100]!r}; list the sessions to see which there are.")


class NoSuchBlob(NotFound, StoreError):
    """The session has no content of that digest."""

    def __init__(self, digest: str) -> None:
        super().__init__(f"The session has no blob {digest[:80]!r}.")


class SessionExists(StoreError):
    """A session of that id exists already."""

    code = "invalid_request"


class SessionBusy(StoreError):
    """Another writer has the session open."""

    code = "invalid_request"


class Fenced(StoreError):
    """Another writer has acquired the session; this one must not write any more."""


class HandedOver(StoreError):
    """The session was released while its exchange ran; another process continues it."""


class BadCursor(StoreError):
    """The cursor of a list is invalid."""

    code = "invalid_request"


class BadArchive(StoreError):
    """The imported file is not an archive of a session, or is too large."""

    code = "invalid_request"


class ForgedArchive(BadArchive):
    """The archive is not as it was signed."""

    def __init__(self, difference: str) -> None:
        super().__init__(f"The archive was changed after it was signed: {difference}.")


class NotSigned(BadArchive):
    """The archive has no signature."""

    def __init__(self) -> None:
        super().__init__("The archive is not signed; `heald sessions export --sign` signs one.")
