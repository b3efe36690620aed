"""The checks of an append that all stores share."""

from collections.abc import Mapping, Sequence
from hashlib import sha256

from heald.core.envelope import Event
from heald.sessions.leases import Lease
from heald.sessions.store_errors import StoreError


def check_next(lease: Lease, last_seq: int, events: Sequence[Event]) -> None:
    """Check that events belong to the session, continue its log, and are not of a later epoch than the lease."""
    for seq, event in enumerate(events, last_seq + 1):
        if event.session != lease.session:
            raise StoreError(f"An event of {event.session!r} does not belong into the log of {lease.session!r}.")
        if event.seq != seq:
            raise StoreError(f"The log of {lease.session!r} continues with {seq}, not with {event.seq}; read it again.")
        if event.epoch > lease.epoch:
            raise StoreError(f"The event {event.seq} is of epoch {event.epoch}, above that of its writer.")


def check_blobs(blobs: Mapping[str, bytes]) -> None:
    for digest, data in blobs.items():
        if sha256(data).hexdigest() != digest:
            raise StoreError(f"The blob {digest[:80]!r} does not have that SHA-256.")
