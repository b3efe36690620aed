"""A session without its log, and a page of sessions."""

from collections.abc import Sequence
from typing import Any

import msgspec

from heald.core.json import JsonObject, as_object, loads
from heald.sessions.store_errors import BadCursor, StoreCorrupt
from heald.sessions.work import Work


class SessionInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A session without its log."""

    id: str
    owner: str = ""
    """The user who may see it, if several users share a store."""
    kind: str = ""
    """The purpose of the session, set by its creator; empty for a plain conversation."""
    title: str = ""
    created: float = 0.0
    updated: float = 0.0
    last_seq: int = 0
    epoch: int = 0
    parent: str | None = None
    """The session that it was forked from, at `parent_seq`, or that it works for."""
    parent_seq: int | None = None
    cause: str | None = None
    """The call of its parent that it works for, if it is a delegate."""
    work: Work = "idle"
    """Whether an exchange is open in it, or requests wait."""
    settings: JsonObject = {}
    """Empty in a list, if those of the session are damaged; `info` reports it."""


INFO_COLUMNS = "id, owner, kind, title, created, updated, last_seq, epoch, parent, parent_seq, cause, work, settings"
_INFO_NAMES = INFO_COLUMNS.split(", ")[:-1]


def read_info(row: Sequence[Any], *, is_listed: bool = False) -> SessionInfo:
    """Build a session from `INFO_COLUMNS` of a table. Raises StoreCorrupt if its settings are damaged."""
    *head, settings = row
    fields = dict(zip(_INFO_NAMES, head, strict=True))
    try:
        return SessionInfo(**fields, settings=as_object(loads(settings)))
    except ValueError:
        if is_listed:  # one damaged session does not hide the others
            return SessionInfo(**fields)
        raise StoreCorrupt("The settings of the session are damaged; restore a backup of the store.") from None


class SessionPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page of sessions, the last changed first."""

    sessions: list[SessionInfo]
    next: str | None = None
    """The cursor of the next page; None at the end."""


def parse_cursor(text: str) -> tuple[float, str]:
    """Return the update time and the id of the last session of a page."""
    updated, _, session = text.partition(":")
    try:
        return float.fromhex(updated), session
    except (ValueError, OverflowError):
        raise BadCursor("This is not a cursor of a list of sessions; start over without one.") from None


def make_page(sessions: list[SessionInfo], limit: int) -> SessionPage:
    """Build a page from a list with one session more than the page may hold."""
    more = len(sessions) > limit
    sessions = sessions[:limit]
    return SessionPage(
        sessions=sessions, next=f"{sessions[-1].updated.hex()}:{sessions[-1].id}" if more and sessions else None
    )
