"""The error for a session that another node holds."""

from heald.sessions.store_errors import SessionBusy
from heald_server.http.errors import ApiError


class HeldElsewhere(ApiError, SessionBusy):  # pyright: ignore[reportIncompatibleVariableOverride]
    """Another node holds the session and works in it, so the operation belongs there."""

    def __init__(self, session: str) -> None:
        super().__init__(
            "unavailable",
            "Another node works in the session and does not answer; ask again in a moment.",
            headers={"Retry-After": "2"},
        )
        self.session = session
