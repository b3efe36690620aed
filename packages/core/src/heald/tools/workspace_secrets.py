"""The secret values of a workspace: those in its files that hold secrets, and those of the environment.

Files that hold secrets are found by name. Folders are listed again only when they have changed, so that looking for
new values before and after each call costs one system call for each folder. A value that was seen once stays hidden,
also when its file is changed or deleted. Workspaces of the same folder share their values.
"""

import asyncio
import os
import threading
import time
from collections import deque
from functools import cache
from itertools import islice
from weakref import WeakValueDictionary

import msgspec

from heald.core.json import encode
from heald.tools.secret_mask import MAX_VALUES, SecretMask, find_marks
from heald.tools.secret_values import ENVIRONMENT, SecretValue, environment_values, file_values
from heald.tools.secrets import OLD_MARK, is_secret_file
from heald.tools.skipped_folders import SKIPPED
from heald.tools.workspace.base import Identity, Workspace
from heald.tools.workspace.contents import decode_text
from heald.tools.workspace.memory import MemoryWorkspace
from heald.tools.workspace.paths import PathFault

MAX_FOLDERS = 2_000
"""Folders of a workspace that are searched, those near the top first."""
_MAX_ENTRIES = 10_000
_MAX_BYTES = 1 << 20
"""Bytes of the largest file that values are read from."""
_SECONDS = 1.0
_QUICK = 0.002
"""Seconds of a search that need not run in a thread."""
_CLOCK_STEP_NS = 3_000_000_000
"""Two changes within this time may have the same time stamps."""
_ADDRESSES_ONLY = ".git/config"
"""A file that is not secret, but may hold an address with a password."""


@cache
def environment_mask() -> SecretMask:
    """The mask for the environment of this process, which is read once."""
    return SecretMask(environment_values(os.environ))


def hide_everywhere(text: str) -> str:
    """Hide the values of the environment and of every open workspace, for logs and errors of this process."""
    text = environment_mask().hide(text)
    for secrets in list(_folders.values()):
        text = secrets.mask.hide(text)
    return text


class _Folder(msgspec.Struct):
    """A folder as it was listed."""

    changed_ns: int
    subfolders: list[str]
    """Their paths, which end in a slash."""
    files: list[str]
    """Paths of files that hold secrets."""


class WorkspaceSecrets:
    """The secret values of one workspace. `mask` hides those that are known; `refresh` looks for new ones."""

    def __init__(self) -> None:
        self.mask = environment_mask()
        self._lock = threading.Lock()
        self._values: dict[tuple[str, str], SecretValue] = {}
        self._folders: dict[str, _Folder] = {}
        self._read: dict[str, Identity] = {}
        self._contents: dict[str, bytes] = {}
        self._seconds: float | None = None  # of the last search

    async def refresh(self, workspace: Workspace) -> None:
        """Look for new values. A search that takes long runs in a thread."""
        if workspace.is_project or (self._seconds is not None and self._seconds < _QUICK):
            self.find(workspace)
        else:
            await asyncio.to_thread(self.find, workspace)

    def find(self, workspace: Workspace) -> None:
        """Look for new values now. Blocks."""
        with self._lock:
            begin = time.monotonic()
            paths = _project_files(workspace) if workspace.is_project else self._find_files(workspace.root)
            values = [value for path in paths for value in self._new_values(workspace, path)]
            added = {(value.before, value.text): value for value in values}
            if added.keys() - self._values.keys():
                self._values = dict(list({**added, **self._values}.items())[:MAX_VALUES])
                self.mask = SecretMask([*self._values.values(), *environment_mask().values])
            self._seconds = time.monotonic() - begin

    def find_mark(self, arguments: object, workspace: Workspace) -> str:
        """Return a mark in the arguments of a call that stands for a value of this workspace; empty if none does."""
        json = encode(arguments)
        if b"[hidden" not in json:
            return ""
        text = json.decode()
        if OLD_MARK in text:
            return OLD_MARK
        for name, source in find_marks(text):
            if source == ENVIRONMENT or (is_secret_file(source) and _exists(workspace, source)):
                return f"[hidden: {name} of {source}]"
        return ""

    def _find_files(self, root: str) -> list[str]:
        """Return the paths of the files that hold secrets, the ones near the top first."""
        end, paths = time.monotonic() + _SECONDS, [_ADDRESSES_ONLY]
        waiting, folders = deque([""]), dict[str, _Folder]()
        while waiting and len(folders) < MAX_FOLDERS and time.monotonic() < end:
            path = waiting.popleft()
            place = f"{root}/{path}"
            try:
                changed_ns = os.stat(place).st_mtime_ns
                folder = self._folders.get(path)
                if folder is None or folder.changed_ns != changed_ns:
                    folder = _list_folder(place, path, changed_ns)
            except OSError:
                continue  # deleted in the meantime, or not readable
            folders[path] = folder
            paths += folder.files
            waiting += folder.subfolders
        self._folders = folders
        return paths

    def _new_values(self, workspace: Workspace, path: str) -> list[SecretValue]:
        """Return the values of a file, or nothing if it has not changed since it was read."""
        try:
            identity = workspace.identity(path)
            if identity is not None and self._read.get(path) == identity:
                return []
            content = workspace.read(path, limit=_MAX_BYTES, remember=False)
        except PathFault:
            return []
        if identity is not None:
            self._read[path] = identity
        if self._contents.get(path) == content:
            return []
        self._contents[path] = content
        text = decode_text(content)
        if text is None:
            return []
        if path == _ADDRESSES_ONLY:
            text = "\n".join(line.partition("=")[2].strip() for line in text.splitlines() if "://" in line)
        name = os.path.basename(workspace.root)  # many a password of a test database is the name of the project
        return [value for value in file_values(text, path) if value.text.lower() != name.lower()]


_folders: WeakValueDictionary[str, WorkspaceSecrets] = WeakValueDictionary()
_folders_lock = threading.Lock()


def secrets_of(workspace: Workspace) -> WorkspaceSecrets:
    """Return the secrets of a workspace, which those of the same folder share."""
    if workspace.is_project or not workspace.root:
        return WorkspaceSecrets()
    with _folders_lock:
        return _folders.setdefault(os.path.realpath(workspace.root), WorkspaceSecrets())


def _list_folder(place: str, path: str, changed_ns: int) -> _Folder:
    """List a folder. Environments of Python are not entered, whatever their names are."""
    folder = _Folder(changed_ns if time.time_ns() - changed_ns > _CLOCK_STEP_NS else 0, [], [])
    with os.scandir(place) as entries:
        for entry in islice(entries, _MAX_ENTRIES):
            if entry.name == "pyvenv.cfg":
                return _Folder(folder.changed_ns, [], [])
            if is_secret_file(f"{path}{entry.name}"):
                folder.files.append(f"{path}{entry.name}")
            if entry.name not in SKIPPED and entry.is_dir(follow_symlinks=False):
                folder.subfolders.append(f"{path}{entry.name}/")
    return folder


def _project_files(workspace: Workspace) -> list[str]:
    if isinstance(workspace, MemoryWorkspace):
        return [path for path in workspace.paths if is_secret_file(path)]
    entries = workspace.list("", depth=None, sizes=False)
    return [entry.path for entry in entries if entry.kind == "file" and is_secret_file(entry.path)]


def _exists(workspace: Workspace, path: str) -> bool:
    try:
        return workspace.exists(path)
    except PathFault:
        return False
