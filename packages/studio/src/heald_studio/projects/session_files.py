"""The files of a variant's session, read from its store; those read last are cached."""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from typing import NamedTuple

from heald.sessions.session_files import open_stored_files
from heald.sessions.store import Store
from heald.tools.workspace.base import Workspace

_MAX_SESSIONS = 16
_MAX_BYTES = 48_000_000


class _CachedFiles(NamedTuple):
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
        self._cache: OrderedDict[str, _CachedFiles] = OrderedDict()

    async def read(self, session: str) -> Mapping[str, bytes]:
        """Return the current files of a session. Those of one that is at work are read anew."""
        info = await self._store.info(session)
        if info.work != "idle":
            return await read_session_files(self._store, session)
        cached = self._cache.get(session)
        if cached is None or cached.last_seq != info.last_seq:
            cached = self._cache[session] = _CachedFiles(info.last_seq, await read_session_files(self._store, session))
        self._cache.move_to_end(session)
        while len(self._cache) > _MAX_SESSIONS or sum(item.size for item in self._cache.values()) > _MAX_BYTES:
            self._cache.popitem(last=False)
        return cached.files


async def read_session_files(store: Store, session: str) -> Mapping[str, bytes]:
    """Read all files of a session's workspace. No lease and no model is needed."""
    workspace = await open_stored_files(store, await store.info(session))
    return await asyncio.to_thread(_read_workspace, workspace)


def _read_workspace(workspace: Workspace) -> dict[str, bytes]:
    paths = [entry.path for entry in workspace.list(depth=None) if entry.kind == "file"]
    return {path: workspace.read(path, remember=False) for path in paths}
