"""What every store holds an append and a cursor against."""

from collections.abc import Mapping, Sequence
from hashlib import sha256

from weft.core.envelope import Event
from weft.sessions.errors import BadPlace, StoreError
from weft.sessions.lease import Lease
from weft.sessions.store import SessionInfo, SessionPage


def check_next(lease: Lease, last_seq: int, events: Sequence[Event]) -> None:
    """The events are the session's own and go on where its log ends; their epoch is not above the lease's."""
    for seq, event in enumerate(events, last_seq + 1):
        if event.session != lease.session:
            raise StoreError(f"An event of {event.session!r} does not belong into the log of {lease.session!r}.")
        if event.seq != seq:
            raise StoreError(f"The log of {lease.session!r} goes on with {seq}, not with {event.seq}; read it again.")
        if event.epoch > lease.epoch:
            raise StoreError(f"The event {event.seq} is of epoch {event.epoch}, above that of its writer.")


def check_blobs(blobs: Mapping[str, bytes]) -> None:
    for digest, data in blobs.items():
        if sha256(data).hexdigest() != digest:
            raise StoreError(f"The blob {digest[:80]!r} does not have that SHA-256.")


def cursor_of(text: str) -> tuple[float, str]:
    """Where a page ended: when its last session was changed, and its id."""
    updated, _, session = text.partition(":")
    try:
        return float.fromhex(updated), session
    except (ValueError, OverflowError):
        raise BadPlace("This is no cursor of a list of sessions; begin again without one.") from None


def page_of(found: list[SessionInfo], limit: int) -> SessionPage:
    """The page, from one session more than it may hold."""
    more = len(found) > limit
    found = found[:limit]
    return SessionPage(sessions=found, next=f"{found[-1].updated.hex()}:{found[-1].id}" if more and found else None)
