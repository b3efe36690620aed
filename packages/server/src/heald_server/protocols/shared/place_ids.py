"""Ids that name an event of a session, such as `resp_1f…_12`: an id that a client sends back finds its place."""

SESSION_PREFIX = "ses_"
"""The beginning of the id of every session."""


def place_id(prefix: str, session: str | None, seq: int) -> str:
    """The id of what began with an event of a session."""
    return f"{prefix}_{(session or '').removeprefix(SESSION_PREFIX)}_{seq}"


def parse_place_id(name: str) -> tuple[str, int] | None:
    """Return the session and the seq that an id names; None for an id of another make."""
    _, _, rest = name.partition("_")
    session, _, seq = rest.rpartition("_")
    if not session or not (seq.isascii() and seq.isdecimal()) or len(seq) > 15 or seq != str(int(seq)):
        return None
    return f"{SESSION_PREFIX}{session}", int(seq)
