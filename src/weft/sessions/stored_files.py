"""The files of a session, read from its log and blobs without the right to write it."""

from weft.sessions.history import SessionHistory, read_contents, read_history
from weft.sessions.recorder import iterate_delegates
from weft.sessions.resumption import restore_files
from weft.sessions.settings import SessionSettings
from weft.sessions.store import SessionInfo, Store
from weft.tools.workspace.base import Workspace
from weft.tools.workspace.disk import DiskWorkspace
from weft.tools.workspace.memory import MemoryWorkspace


async def add_delegated_changes(store: Store, session: str, history: SessionHistory) -> dict[str, bytes]:
    """Add the changes of files that delegates made to a history. Returns all stored contents, by hash."""
    contents = await read_contents(store, session, history)
    async for delegate in iterate_delegates(store, session):
        theirs = await read_history(store, delegate.id, SessionSettings())
        contents |= await read_contents(store, delegate.id, theirs)
        history.changes += theirs.changes
    history.changes.sort(key=lambda change: change.revision)  # puts the changes of each file in order
    return contents


async def open_stored_files(store: Store, info: SessionInfo, folder: str | None = None) -> Workspace:
    """Return the files of a session as they are now, with their revisions. `folder` is the path of the folder that it
    works in; None for a project that is stored with the session. The caller closes the workspace."""
    history = await read_history(store, info.id, SessionSettings.of(info.settings))
    contents = await add_delegated_changes(store, info.id, history)
    workspace = MemoryWorkspace() if folder is None else DiskWorkspace(folder)
    restore_files(workspace, history, contents)
    return workspace
