"""Cursors: how far a client has got, in its own words, and what becomes of those that cannot be served."""

from typing import Literal

import msgspec

from weft.sessions.store import SessionInfo

BadCursor = Literal["garbage", "future", "other_session"]

_LONGEST = 200


class Cursor(msgspec.Struct, frozen=True):
    """A place in a session's log: behind `seq`, or none, and why."""

    seq: int
    bad: BadCursor | None = None


def read_cursor(given: str | int | None, info: SessionInfo) -> Cursor:
    """The seq of the last event that a client has, or its id. `now` is the end of the log, nothing its beginning."""
    if given is None or given == "":
        return Cursor(0)
    if given == "now":
        return Cursor(info.last_seq)
    if isinstance(given, str):
        return _read_text(given, info)
    if isinstance(given, bool) or given < 0:
        return Cursor(info.last_seq, "garbage")
    return Cursor(given) if given <= info.last_seq else Cursor(info.last_seq, "future")


def _read_text(given: str, info: SessionInfo) -> Cursor:
    if len(given) > _LONGEST or not given.isascii():
        return Cursor(info.last_seq, "garbage")
    session, _, rest = given.partition("-")
    if rest:  # an event's id: session-epoch-seq
        if session != info.id:
            return Cursor(info.last_seq, "other_session" if session.startswith("ses_") else "garbage")
        given = rest.rpartition("-")[2]
    if not given.isdigit() or len(given) > 18:
        return Cursor(info.last_seq, "garbage")
    return read_cursor(int(given), info)
