"""The files of a session: restored from its log, also without the right to write it."""

from collections.abc import Mapping, Sequence
from contextlib import suppress

from heald.sessions.history import SessionHistory, read_history
from heald.sessions.session_info import SessionInfo
from heald.sessions.settings import SessionSettings
from heald.sessions.store import Store, list_delegates
from heald.sessions.store_errors import NoSuchBlob
from heald.tools.workspace.base import Change, Workspace
from heald.tools.workspace.disk import DiskWorkspace
from heald.tools.workspace.memory import MemoryWorkspace
from heald.tools.workspace.revisions import RevisionedWorkspace


async def read_contents(store: Store, session: str, history: SessionHistory) -> dict[str, bytes]:
    """Return the stored contents of the session's files, by hash."""
    contents: dict[str, bytes] = {}
    digests = {change.hash for change in history.changes if change.hash is not None}
    for digest in digests | set(history.settings.files.values()):
        try:
            contents[digest] = await store.blob(session, digest)
        except NoSuchBlob:
            continue
    return contents


def restore_files(workspace: Workspace, history: SessionHistory, contents: Mapping[str, bytes]) -> None:
    """Restore the revisions of a workspace, and the files of a project."""
    project = workspace if isinstance(workspace, MemoryWorkspace) else None
    if project is not None:
        for path, digest in history.settings.files.items():
            if digest in contents:
                project.put(path, contents[digest])
    if not isinstance(workspace, RevisionedWorkspace) or not history.changes:
        return
    fields = Change.__struct_fields__
    changes = [Change(**{name: getattr(change, name) for name in fields}) for change in history.changes]
    workspace.restore(changes, contents)
    if project is None:
        return
    for path, last in {change.path: change for change in changes}.items():
        if last.hash is None or last.hash in contents:
            project.put(path, contents[last.hash] if last.hash is not None else None)


async def add_delegated_changes(
    store: Store, session: str, history: SessionHistory, delegates: Sequence[SessionInfo]
) -> dict[str, bytes]:
    """Add the changes of files that delegates made to a history. Returns all stored contents, by hash."""
    contents = await read_contents(store, session, history)
    for delegate in delegates:
        theirs = await read_history(store, delegate.id, SessionSettings())
        contents |= await read_contents(store, delegate.id, theirs)
        history.changes += theirs.changes
    history.changes.sort(key=lambda change: change.revision)  # puts the changes of each file in order
    return contents


async def open_stored_files(store: Store, info: SessionInfo, folder: str | None = None) -> Workspace:
    """Return the files of a session as they are now, with their revisions. `folder` is the path of the folder that it
    works in; None for a project that is stored with the session. The caller closes the workspace."""
    history = await read_history(store, info.id, SessionSettings.of(info.settings))
    contents = await add_delegated_changes(store, info.id, history, await list_delegates(store, info.id))
    workspace = MemoryWorkspace() if folder is None else DiskWorkspace(folder)
    restore_files(workspace, history, contents)
    return workspace


async def open_initial_files(store: Store, session: str, workspace: MemoryWorkspace) -> MemoryWorkspace:
    """Return the files of a project as they were before the log of its session. `workspace` has them as they are."""
    history = await read_history(store, session, SessionSettings())
    await add_delegated_changes(store, session, history, await list_delegates(store, session))
    files = {path: workspace.read(path, remember=False) for path in workspace.paths}
    for change in reversed(history.changes):
        files.pop(change.path, None)
        if change.found is not None:
            with suppress(NoSuchBlob):
                files[change.path] = await store.blob(session, change.found)
    return MemoryWorkspace(files)
