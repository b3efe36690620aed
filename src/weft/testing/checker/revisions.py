"""I40 over all sessions: agents that work for one another may share a workspace, and so a file's revisions."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from weft.core.events import FileChanged

Fault = tuple[str, int, str]
"""The session, the seq and the sentence."""


class _Revision(NamedTuple):
    session: str
    seq: int
    number: int
    hash: str | None
    prev_hash: str | None


class Revisions:
    """Collects the revisions of files and judges them once all are known."""

    def __init__(self) -> None:
        self._paths: dict[str, dict[str, list[_Revision]]] = {}  # by session
        self._started: dict[str, list[str]] = {}  # the sessions that started a call of that id
        self._cause: dict[str, str] = {}

    def changed(self, session: str, seq: int, data: FileChanged) -> None:
        revision = _Revision(session, seq, data.revision, data.hash, data.prev_hash)
        self._paths.setdefault(session, {}).setdefault(data.path, []).append(revision)

    def started(self, session: str, call: str) -> None:
        self._started.setdefault(call, []).append(session)

    def delegated(self, session: str, cause: str) -> None:
        """The session works for a call of another."""
        self._cause[session] = cause

    def broken(self) -> Iterator[Fault]:
        groups: dict[str, dict[str, list[list[_Revision]]]] = {}
        for session, paths in self._paths.items():
            group = groups.setdefault(self._root(session), {})
            for path, revisions in paths.items():
                group.setdefault(path, []).append(revisions)
        for group in groups.values():
            for path, chains in group.items():
                yield from _judge(path, chains)

    def _root(self, session: str) -> str:
        """The agent that this one works for in the end, as far as its log is here."""
        seen = {session}
        while (cause := self._cause.get(session)) is not None:
            parent = next((name for name in self._started.get(cause, ()) if name not in seen), None)
            if parent is None:
                break
            seen.add(parent)
            session = parent
        return session


def _judge(path: str, chains: Sequence[list[_Revision]]) -> Iterator[Fault]:
    """Each session's revisions may stand for themselves; if one's do not, they must make one chain together."""
    faults = [fault for chain in chains for fault in _chain(path, chain)]
    if not faults or len(chains) == 1:
        yield from faults
        return
    for chain in chains:
        for before, after in pairwise(chain):
            if after.number <= before.number:
                yield after.session, after.seq, f"revision {after.number} of {path!r} follows {before.number}"
    yield from _chain(path, sorted((revision for chain in chains for revision in chain), key=lambda r: r.number))


def _chain(path: str, revisions: Sequence[_Revision]) -> Iterator[Fault]:
    """The first revision names no hash before it."""
    number, prev_hash = 0, None
    for revision in revisions:
        if revision.number != number + 1:
            yield revision.session, revision.seq, f"revision {revision.number} of {path!r} follows {number}"
        elif revision.prev_hash != prev_hash:
            told = f"revision {revision.number} of {path!r} does not name the hash before it as prev_hash"
            yield revision.session, revision.seq, told
        number, prev_hash = revision.number, revision.hash
