"""Invariants of the revisions of files, over all sessions."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from heald.core import events as ev

RevisionFault = tuple[str, int, str]
"""The session, the seq and the message."""


class _Revision(NamedTuple):
    session: str
    seq: int
    number: int
    hash: str | None
    prev_hash: str | None


class RevisionCheck:
    """I40 over all sessions: a delegated agent may share the workspace, and so the revisions, of its parent.

    Collects the revisions of all files and checks them at the end.
    """

    def __init__(self) -> None:
        self._paths: dict[str, dict[str, list[_Revision]]] = {}  # by session
        self._started: dict[str, list[str]] = {}  # the sessions that started a call, by its id
        self._cause: dict[str, str] = {}  # the call that a session works for

    def add_change(self, session: str, seq: int, data: ev.FileChanged) -> None:
        revision = _Revision(session, seq, data.revision, data.hash, data.prev_hash)
        self._paths.setdefault(session, {}).setdefault(data.path, []).append(revision)

    def add_start(self, session: str, call: str) -> None:
        self._started.setdefault(call, []).append(session)

    def add_delegate(self, session: str, cause: str) -> None:
        """Record that the session works for a call of another session."""
        self._cause[session] = cause

    def find_faults(self) -> Iterator[RevisionFault]:
        groups: dict[str, dict[str, list[list[_Revision]]]] = {}
        for session, paths in self._paths.items():
            group = groups.setdefault(self._root_session(session), {})
            for path, revisions in paths.items():
                group.setdefault(path, []).append(revisions)
        for group in groups.values():
            for path, chains in group.items():
                yield from _check_chains(path, chains)

    def _root_session(self, session: str) -> str:
        """Return the topmost session that this one works for, as far as the logs are known."""
        visited = {session}
        while (cause := self._cause.get(session)) is not None:
            parent = next((name for name in self._started.get(cause, ()) if name not in visited), None)
            if parent is None:
                break
            visited.add(parent)
            session = parent
        return session


def _check_chains(path: str, chains: Sequence[list[_Revision]]) -> Iterator[RevisionFault]:
    """Check the revisions as one chain for each session, or as one chain of all sessions together."""
    faults = [fault for chain in chains for fault in _check_chain(path, chain)]
    if not faults or len(chains) == 1:
        yield from faults
        return
    for chain in chains:
        for before, after in pairwise(chain):
            if after.number <= before.number:
                yield after.session, after.seq, f"revision {after.number} of {path!r} follows {before.number}"
    yield from _check_chain(path, sorted((revision for chain in chains for revision in chain), key=lambda r: r.number))


def _check_chain(path: str, revisions: Sequence[_Revision]) -> Iterator[RevisionFault]:
    """Check one chain of revisions; the first has no previous hash."""
    number, prev_hash = 0, None
    for revision in revisions:
        if revision.number != number + 1:
            yield revision.session, revision.seq, f"revision {revision.number} of {path!r} follows {number}"
        elif revision.prev_hash != prev_hash:
            message = f"the prev_hash of revision {revision.number} of {path!r} is not the hash before it"
            yield revision.session, revision.seq, message
        number, prev_hash = revision.number, revision.hash
