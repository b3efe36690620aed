"""Positions in the log of a session, as clients name them."""

from typing import Literal

import msgspec

from heald.sessions.session_info import SessionInfo

BadCursor = Literal["garbage", "future", "other_session"]

_MAX_LENGTH = 200


class StreamCursor(msgspec.Struct, frozen=True):
    """A position in a session's log, after `seq`. `bad` is the reason that a client's cursor cannot be used."""

    seq: int
    bad: BadCursor | None = None


def read_cursor(cursor: str | int | None, info: SessionInfo) -> StreamCursor:
    """Parse a cursor: the seq or id of the last event that a client has, or "now" for the end of the log."""
    if cursor is None or cursor == "":
        return StreamCursor(0)
    if cursor == "now":
        return StreamCursor(info.last_seq)
    if isinstance(cursor, str):
        return _parse_text(cursor, info)
    if isinstance(cursor, bool) or cursor < 0:
        return StreamCursor(info.last_seq, "garbage")
    return StreamCursor(cursor) if cursor <= info.last_seq else StreamCursor(info.last_seq, "future")


def _parse_text(cursor: str, info: SessionInfo) -> StreamCursor:
    if len(cursor) > _MAX_LENGTH or not cursor.isascii():
        return StreamCursor(info.last_seq, "garbage")
    session, _, rest = cursor.partition("-")
    if rest:  # an event's id: session-epoch-seq
        if session != info.id:
            return StreamCursor(info.last_seq, "other_session" if session.startswith("ses_") else "garbage")
        cursor = rest.rpartition("-")[2]
    if not cursor.isdigit() or len(cursor) > 18:
        return StreamCursor(info.last_seq, "garbage")
    return read_cursor(int(cursor), info)
