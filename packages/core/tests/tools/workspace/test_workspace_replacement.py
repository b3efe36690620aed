"""All or none: groups of changes that fail half-way."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from heald.tools.workspace import file_replacement
from heald.tools.workspace.base import Change, FileEdit
from heald.tools.workspace.disk import DiskWorkspace
from heald.tools.workspace.paths import PathFault

EDITS = [
    FileEdit(path="changed", content=b"new"),
    FileEdit(path="made/here/file", content=b"made"),
    FileEdit(path="deleted", content=None),
    FileEdit(path="second", content=b"new"),
]


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[DiskWorkspace]:
    for name in ("changed", "deleted", "second"):
        (tmp_path / name).write_text(f"{name} before")
        (tmp_path / name).chmod(0o640)
    workspace = DiskWorkspace(tmp_path)
    yield workspace
    workspace.close()


def snapshot(folder: Path) -> dict[str, Any]:
    return {
        str(path.relative_to(folder)): (path.stat().st_ino, path.stat().st_mode, path.is_file() and path.read_bytes())
        for path in folder.rglob("*")
    }


class _FailingOs:
    """The system, with one call that fails at its n-th use: what a full or broken disk does."""

    def __init__(self, call: str, at: int, number: int) -> None:
        self._call, self._at, self._number = call, at, number

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name != self._call:
            return real

        def call(*args: Any, **named: Any) -> Any:
            self._at -= 1
            if self._at == 0:
                raise OSError(self._number, os.strerror(self._number))
            return real(*args, **named)

        return call


@pytest.mark.parametrize(
    ("call", "at", "number", "kind"),
    [
        ("open", 1, errno.ENOSPC, "io_error"),
        ("open", 3, errno.EDQUOT, "io_error"),
        ("write", 1, errno.ENOSPC, "io_error"),
        ("write", 2, errno.EIO, "io_error"),
        ("fsync", 1, errno.EIO, "io_error"),
        ("fsync", 3, errno.ENOSPC, "io_error"),
        ("fchmod", 2, errno.EPERM, "not_permitted"),
        ("rename", 1, errno.EACCES, "not_permitted"),
        ("rename", 2, errno.EIO, "io_error"),
        ("unlink", 1, errno.EACCES, "not_permitted"),
    ],
)
def test_a_failure_anywhere_puts_everything_back(
    workspace: DiskWorkspace,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    call: str,
    at: int,
    number: int,
    kind: str,
) -> None:
    before, changes = snapshot(tmp_path), list[Change]()
    with monkeypatch.context() as patch:
        patch.setattr(file_replacement, "os", _FailingOs(call, at, number))
        with pytest.raises(PathFault) as caught:
            workspace.write_all(EDITS, on_change=changes.append)
    assert caught.value.kind == kind
    assert str(tmp_path) not in str(caught.value)
    assert snapshot(tmp_path) == before
    assert changes == []
    assert len(workspace.write_all(EDITS, on_change=changes.append)) == 4


def test_without_second_names_a_copy_is_put_back(
    workspace: DiskWorkspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: Any, **__: Any) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    failing = _FailingOs("rename", 3, errno.EIO)
    monkeypatch.setattr(failing, "link", no_links, raising=False)
    with monkeypatch.context() as patch:
        patch.setattr(file_replacement, "os", failing)
        with pytest.raises(PathFault):
            workspace.write_all(EDITS, on_change=id)
    assert sorted(os.listdir(tmp_path)) == ["changed", "deleted", "second"]
    for name in ("changed", "deleted", "second"):
        assert (tmp_path / name).read_text() == f"{name} before"
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o640
    with monkeypatch.context() as patch:
        failing = _FailingOs("", 0, 0)
        monkeypatch.setattr(failing, "link", no_links, raising=False)
        patch.setattr(file_replacement, "os", failing)
        assert len(workspace.write_all(EDITS, on_change=id)) == 4
    assert sorted(os.listdir(tmp_path)) == ["changed", "made", "second"]


def test_a_folder_that_appears_in_between(
    workspace: DiskWorkspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real failure of a rename: the name became a folder after everything was prepared."""
    real = os.link

    def link(src: str, dst: str, **named: Any) -> None:
        if dst == "file":
            (tmp_path / "second").unlink()
            (tmp_path / "second").mkdir()
        real(src, dst, **named)

    monkeypatch.setattr(os, "link", link)
    with pytest.raises(PathFault) as caught:
        workspace.write_all(EDITS, on_change=id)
    assert caught.value.kind == "is_a_folder"
    assert sorted(os.listdir(tmp_path)) == ["changed", "deleted", "second"]
    assert (tmp_path / "changed").read_text() == "changed before"
    assert (tmp_path / "deleted").read_text() == "deleted before"


def test_a_file_that_appears_in_between_is_not_replaced(
    workspace: DiskWorkspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.link

    def link(src: str, dst: str, **named: Any) -> None:
        (tmp_path / "fresh").write_text("theirs")
        real(src, dst, **named)

    monkeypatch.setattr(os, "link", link)
    with pytest.raises(PathFault) as caught:
        workspace.write("fresh", "mine", on_change=id)
    assert caught.value.kind == "exists"
    assert (tmp_path / "fresh").read_text() == "theirs"
    assert sorted(os.listdir(tmp_path)) == ["changed", "deleted", "fresh", "second"]


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="there is no /proc here")
def test_the_temporary_is_private_and_beside_the_file(
    workspace: DiskWorkspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[str, int, list[str]]] = []
    real = os.fchmod

    def fchmod(fd: int, mode: int) -> None:
        seen.append((os.readlink(f"/proc/self/fd/{fd}"), os.fstat(fd).st_mode & 0o777, os.listdir(tmp_path / "d")))
        real(fd, mode)

    (tmp_path / "d").mkdir()
    monkeypatch.setattr(os, "fchmod", fchmod)
    workspace.write("d/one", "x", on_change=id)
    workspace.write("d/one", "y", on_change=id)
    assert [mode for _, mode, _ in seen] == [0o600, 0o600]
    assert all(Path(name).parent == tmp_path / "d" for name, _, _ in seen)
    assert len({name for name, _, _ in seen}) == 2
