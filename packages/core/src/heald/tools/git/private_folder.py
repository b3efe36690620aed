"""A git folder of Heald's own in front of a repository.

It holds settings of its own and links to the refs; the objects and the index are those of the repository. Git that is
started on it never reads the repository's `config`, `config.worktree`, hooks or grafts.
"""

import os
import shutil
import stat
import tempfile
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from heald.tools.git.repository import GitRepository

_LINKED = ("refs", "packed-refs", "shallow", "reftable")
_MAX_BYTES = 1_000_000
"""Bytes of a file of the repository that is copied."""


class PrivateGitFolder:
    """The folder, which exists for the duration of the block."""

    def __init__(self, repository: "GitRepository") -> None:
        self._repository = repository
        self.path = ""

    def __enter__(self) -> "PrivateGitFolder":
        self.path = os.path.realpath(tempfile.mkdtemp(prefix="heald-git-"))
        try:
            self._fill()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.path, ignore_errors=True)

    @property
    def variables(self) -> Mapping[str, str]:
        """The variables that make git use the folder."""
        repository = self._repository
        return {
            "GIT_DIR": self.path,
            "GIT_WORK_TREE": repository.top,
            "GIT_INDEX_FILE": os.path.join(repository.git_dir, "index"),
            "GIT_OBJECT_DIRECTORY": repository.objects,
        }

    def _fill(self) -> None:
        git_dir, common = self._repository.git_dir, self._repository.common_dir
        os.mkdir(os.path.join(self.path, "info"))
        for name in _LINKED:
            if os.path.exists(os.path.join(common, name)):
                os.symlink(os.path.join(common, name), os.path.join(self.path, name))
        for entry in os.listdir(git_dir):
            if entry.startswith("sharedindex."):
                os.symlink(os.path.join(git_dir, entry), os.path.join(self.path, entry))
        head = os.path.join(git_dir, "HEAD")
        text = f"ref: {os.readlink(head)}\n".encode() if os.path.islink(head) else read_bounded(head)
        self._write("HEAD", text)
        self._write("config", (self._repository.format_text + exclude_setting(self._repository.excludes)).encode())
        self._write("info/attributes", read_bounded(os.path.join(common, "info", "attributes")))
        self._write("info/sparse-checkout", read_bounded(os.path.join(git_dir, "info", "sparse-checkout")))
        self._write("info/exclude", self._list_excluded())

    def _list_excluded(self) -> bytes:
        """The names that the repository ignores without a `.gitignore`, and this folder where it is in the tree."""
        text = read_bounded(os.path.join(self._repository.common_dir, "info", "exclude"))
        top = self._repository.top.rstrip("/")
        if self.path.startswith(f"{top}/"):
            text += b"\n/" + os.fsencode(self.path.removeprefix(f"{top}/")) + b"/\n"
        return text

    def _write(self, name: str, content: bytes) -> None:
        if not content and name != "HEAD":
            return
        with open(os.path.join(self.path, name), "wb") as file:
            file.write(content)


def exclude_setting(path: str) -> str:
    """Return the setting, as text of a `config`, that names the user's own file of ignored names."""
    quoted = (path or os.devnull).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'[core]\n\texcludesFile = "{quoted}"\n'


def read_bounded(path: str) -> bytes:
    """Return the content of a regular file; nothing of one that is missing, large or of another kind."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe would block
    except OSError:
        return b""
    try:
        status = os.fstat(descriptor)
        is_copied = stat.S_ISREG(status.st_mode) and status.st_size <= _MAX_BYTES
        return os.read(descriptor, _MAX_BYTES) if is_copied else b""
    except OSError:
        return b""
    finally:
        os.close(descriptor)
