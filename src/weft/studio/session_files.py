"""Keeps the files of sessions that were read last: a preview asks for each of its files alone."""

from collections import OrderedDict
from collections.abc import Mapping
from typing import NamedTuple

from weft.sessions.store import Store
from weft.studio.variants import read_session_files

_MAX_SESSIONS = 16
_MAX_BYTES = 48_000_000


class _Kept(NamedTuple):
    last_seq: int
    """The last event of the session before its files were read."""
    files: Mapping[str, bytes]

    @property
    def size(self) -> int:
        return sum(map(len, self.files.values()))


class SessionFiles:
    """The files of sessions, as long as nothing has happened in them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: OrderedDict[str, _Kept] = OrderedDict()

    async def read(self, session: str) -> Mapping[str, bytes]:
        """Return the current files of a session. Those of one that is at work are read anew."""
        info = await self._store.info(session)
        if info.work != "idle":
            return await read_session_files(self._store, session)
        kept = self._kept.get(session)
        if kept is None or kept.last_seq != info.last_seq:
            kept = self._kept[session] = _Kept(info.last_seq, await read_session_files(self._store, session))
        self._kept.move_to_end(session)
        while len(self._kept) > _MAX_SESSIONS or sum(each.size for each in self._kept.values()) > _MAX_BYTES:
            self._kept.popitem(last=False)
        return kept.files
