"""The deltas of a process that are in its journal and not yet in SQLite.

A commit for each delta would be most of what serving one costs, and a client would wait for it. So deltas of a message
that still streams are stored in the journal, which survives the death of the process, and go to SQLite together: before
anything else is written there, and after `COMMIT_SECONDS` at the latest. Until then readers get them here.
"""

import asyncio
from collections.abc import Callable, Sequence
from threading import Lock
from time import monotonic
from typing import Any

from msgspec.structs import replace

from heald.core.envelope import Event
from heald.core.events import InputJsonDelta, TextDelta, ThinkingDelta
from heald.core.json import encode
from heald.sessions.commit_clock import JOURNAL_PACING, clock_of
from heald.sessions.delta_journal import DeltaJournal
from heald.sessions.event_codec import MAX_TEXT
from heald.sessions.journal_recovery import MAX_UNSYNCED
from heald.sessions.leases import Lease
from heald.sessions.sqlite_log import PendingDeltas
from heald.sessions.store import PAGE, EncodedEvents
from heald.sessions.store_errors import Fenced, NoSuchSession

COMMIT_SECONDS = 0.25
"""The longest time that a delta is only in the journal."""
SHARED_COMMIT_SECONDS = 0.045
"""The same while other processes share the file: their readers read SQLite."""
SLOW_SECONDS = 0.02
"""A write that takes so long waits for the disk. The next ones are left to the thread of the database, for a second."""
_SLOW_PAUSE = 1.0

_SHARED_PAUSE = 0.01
"""Seconds of a pause between commits from which on so many deltas share a commit that it costs less than a journal."""

_DELTAS = frozenset({TextDelta, ThinkingDelta, InputJsonDelta})
_TYPES = frozenset({kind.type for kind in _DELTAS} | {"file_preview"})

OnGroupStored = Callable[[PendingDeltas, EncodedEvents, Exception | None], object]
CommitGroup = Callable[[asyncio.AbstractEventLoop, Sequence[PendingDeltas], OnGroupStored], object]


class JournaledDeltas:
    """Stores deltas in a journal, and has them committed later. Sessions of several event loops may share it."""

    def __init__(
        self,
        journal: DeltaJournal,
        *,
        has_other_processes: Callable[[], bool],
        run: Callable[[Callable[[], object]], "asyncio.Future[Any]"],
        commit: CommitGroup,
    ) -> None:
        """`has_other_processes` returns whether others use the same file. `run` runs a function in a thread that may
        wait for the disk. `commit` queues a transaction of deltas."""
        self._journal = journal
        self._has_other_processes = has_other_processes
        self._run = run
        self._commit = commit
        self._lock = Lock()
        self._opening: asyncio.Future[Any] | None = None
        self._waiting: dict[asyncio.AbstractEventLoop, dict[tuple[str, int], tuple[PendingDeltas, list[Event]]]] = {}
        """By loop, then by session and epoch, whose deltas are one append."""
        self._uncommitted: dict[str, list[Event]] = {}  # by session
        self._lost: set[str] = set()  # sessions with deltas that could not be committed
        self._verified: dict[str, tuple[int, bytes]] = {}
        self._slow_until = 0.0

    # --- leases ------------------------------------------------------------------------------------------------------

    @property
    def generation(self) -> bytes:
        """That of the journal. It must be read before a lease is checked."""
        return self._journal.generation

    def verify(self, lease: Lease, generation: bytes) -> None:
        """Note that a commit has checked a lease. It stays valid while the journal has that generation."""
        self._verified[lease.session] = (lease.epoch, generation)

    def is_lost(self, session: str) -> bool:
        """Whether deltas of a session are in the journal only, because they could not be committed."""
        return session in self._lost

    def forget(self, lease: Lease) -> None:
        """Note that the journal has nothing of a session that its log lacks: it was acquired or released. A writer that
        was replaced releases nothing of its successor's."""
        session = lease.session
        with self._lock:
            if self._verified.get(session, (0, b""))[0] > lease.epoch:
                return
            self._verified.pop(session, None)
            self._uncommitted.pop(session, None)
            self._lost.discard(session)

    # --- deltas ------------------------------------------------------------------------------------------------------

    def store(self, pending: PendingDeltas, loop: asyncio.AbstractEventLoop) -> EncodedEvents:
        """Store deltas of a loop in the journal. Returns None where they must be committed instead."""
        lease, events = pending.lease, pending.events
        clock = clock_of(loop)
        clock.pacing = JOURNAL_PACING
        began = monotonic()
        if clock.pause >= _SHARED_PAUSE or began < self._slow_until or not self._accepts(pending):
            return None
        bodies: list[bytes] = []
        for event in events:
            body = encode(event)
            if len(body) > MAX_TEXT:
                return None
            bodies.append(body)
        with self._lock:
            if not self._journal.append(lease.session, lease.epoch, bodies) or not self._is_verified(lease):
                return None
            waiting = self._waiting.get(loop)
            if waiting is None:
                waiting = self._waiting[loop] = {}
                delay = SHARED_COMMIT_SECONDS if self._has_other_processes() else COMMIT_SECONDS
                loop.call_later(delay, self._commit_loop, loop)
            key = lease.session, lease.epoch
            append = waiting.get(key)
            if append is None:
                append = waiting[key] = (pending, [])
            append[1].extend(events)
            uncommitted = self._uncommitted.get(lease.session)
            if uncommitted is None:
                uncommitted = self._uncommitted[lease.session] = []
            uncommitted.extend(events)
        if (now := monotonic()) - began > SLOW_SECONDS:
            self._slow_until = now + _SLOW_PAUSE
        return bodies

    def _accepts(self, pending: PendingDeltas) -> bool:
        """Whether events are deltas of a message that still streams, and this process holds the session.

        Previews accompany the arguments of a call; alone, they may belong to one that is complete."""
        lease, events = pending.lease, pending.events
        if not pending.generation:
            self._open()
            return False
        if self._verified.get(lease.session) != (lease.epoch, pending.generation):
            return False
        if len(self._uncommitted.get(lease.session, ())) + len(events) > MAX_UNSYNCED:
            return False
        has_delta = False
        for event in events:
            if event.type not in _TYPES:
                return False
            has_delta = has_delta or type(event.data) in _DELTAS
        return has_delta

    def _is_verified(self, lease: Lease) -> bool:
        """Whether no other process has taken a session over since a commit checked its lease."""
        return self._verified.get(lease.session) == (lease.epoch, self._journal.generation)

    def _open(self) -> None:
        """Open the journal, once. The first deltas do so, and are committed meanwhile."""
        if self._opening is None:
            self._opening = self._run(self._journal.open)
            self._opening.add_done_callback(lambda opening: opening.cancelled() or opening.exception())

    @property
    def is_empty(self) -> bool:
        """Whether all deltas are committed."""
        return not self._uncommitted

    def uncommitted(self, session: str) -> Sequence[Event]:
        """Return the deltas at the end of a log that may be missing in SQLite. To be called before it is read."""
        with self._lock:
            return tuple(self._uncommitted.get(session, ()))

    def commit(self) -> None:
        """Queue the transaction of all deltas that wait. What is queued after it finds them in SQLite."""
        if not self._waiting:
            return
        for loop in list(self._waiting):
            self._commit_loop(loop)

    def _commit_loop(self, loop: asyncio.AbstractEventLoop) -> None:
        with self._lock:
            waiting = self._waiting.pop(loop, None)
            if waiting:
                group = [replace(pending, events=events) for pending, events in waiting.values()]
                self._commit(loop, group, self._on_committed)

    def close(self) -> None:
        """Delete the journal, unless it has something that SQLite lacks. The next process reads it then."""
        with self._lock:
            self._journal.close(is_needed=bool(self._uncommitted))

    def _on_committed(self, pending: PendingDeltas, _: EncodedEvents, error: Exception | None) -> None:
        """Note that deltas are in SQLite, or why not: they stay in the journal then, and their writer must stop."""
        session = pending.lease.session
        with self._lock:
            is_replaced = isinstance(error, Fenced | NoSuchSession)  # its successor has read them
            events = self._uncommitted.get(session)
            if error is not None and not is_replaced:
                self._lost.add(session)
            elif events is not None and session not in self._lost and events[0].seq == pending.events[0].seq:
                del events[: len(pending.events)]
                if not events:
                    del self._uncommitted[session]
            if not self._uncommitted:
                self._journal.reset()
        if error is not None:
            pending.on_done(None, error)


def add_deltas(
    events: Sequence[Event], deltas: Sequence[Event], *, after: int, upto: int | None = None, limit: int = PAGE
) -> Sequence[Event]:
    """Add the deltas that continue a page of a log, if there is room for them."""
    last = events[-1].seq if events else after
    following = [event for event in deltas if event.seq > last and (upto is None or event.seq <= upto)]
    if not following or following[0].seq != last + 1:
        return events
    return [*events, *following[: max(limit - len(events), 0)]]
