"""Repositories in every form that git makes: each is described, saved and restored, in the sandbox and without it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from git_commands import git
from heald.tools.git import sandbox as git_sandbox
from heald.tools.git.repository import find_repository
from heald_cli.repository.applied_attempts import AppliedAttempts
from heald_cli.repository.checkpoints import open_checkpoints
from heald_cli.repository.status import describe_repository
from heald_cli.repository.worktrees import Worktrees


def commit(folder: Path, *more: str) -> Path:
    (folder / "a.txt").write_text("one\n")
    (folder / "kept").mkdir(exist_ok=True)
    (folder / "kept" / "b.txt").write_text("b\n")
    git(folder, "add", "-A")
    git(folder, *more, "commit", "-qm", "First")
    return folder


def plain(place: Path) -> Path:
    git(place, "init", "-q", "plain")
    return commit(place / "plain")


def sha256(place: Path) -> Path:
    git(place, "init", "-q", "--object-format=sha256", "sha256")
    return commit(place / "sha256")


def packed(place: Path) -> Path:
    folder = plain(place)
    git(folder, "gc", "-q")
    git(folder, "pack-refs", "--all")
    return folder


def detached(place: Path) -> Path:
    folder = plain(place)
    git(folder, "checkout", "-q", "--detach")
    return folder


def split_index(place: Path) -> Path:
    folder = plain(place)
    git(folder, "update-index", "--split-index")
    return folder


def shallow(place: Path) -> Path:
    source = plain(place)
    git(source, "commit", "-q", "--allow-empty", "-m", "First of the shallow clone")
    git(place, "clone", "-q", "--depth=1", f"file://{source}", "shallow")
    return place / "shallow"


def shared(place: Path) -> Path:
    """Its objects are those of another repository."""
    git(place, "clone", "-q", "--shared", str(plain(place)), "shared")
    return place / "shared"


def sparse(place: Path) -> Path:
    folder = plain(place)
    git(folder, "sparse-checkout", "set", "--no-cone", "/a.txt")
    return folder


def partial(place: Path) -> Path:
    source = plain(place)
    git(source, "config", "uploadpack.allowFilter", "true")
    git(place, "clone", "-q", "--filter=blob:none", f"file://{source}", "partial")
    return place / "partial"


def odd_name(place: Path) -> Path:
    git(place, "init", "-q", 'an "odd": näme')
    return commit(place / 'an "odd": näme')


FORMS: list[Callable[[Path], Path]] = [
    *(plain, sha256, packed, detached, split_index, shallow, shared, sparse, partial, odd_name),
]


def no_sandbox(*_: object, **__: object) -> None:
    """Stands for a machine where git runs in no sandbox."""


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
@pytest.mark.parametrize("is_sandboxed", [True, False], ids=["sandbox", "no sandbox"])
def test_each_form_is_described_saved_and_restored(
    form: Callable[[Path], Path], is_sandboxed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = form(tmp_path)
    if not is_sandboxed:
        monkeypatch.setattr(git_sandbox.GitSandbox, "make", no_sandbox)
    before_status = git(folder, "status", "--porcelain")
    repository = find_repository(folder)
    assert repository is not None
    assert "First" in describe_repository(repository)
    (folder / "a.txt").write_text("one\ntwo\n")
    assert " M a.txt +1 −0" in describe_repository(repository)
    (folder / "new.txt").write_text("new\n")
    checkpoints = open_checkpoints(str(folder), "ses_1", tmp_path / "data")
    assert checkpoints is not None
    before = checkpoints.save("before")
    (folder / "a.txt").unlink()
    (folder / "new.txt").write_text("changed\n")
    after = checkpoints.save("after")
    assert checkpoints.changed(before, after) == {"a.txt", "new.txt"}
    checkpoints.restore(before, ["a.txt", "new.txt"])
    assert (folder / "a.txt").read_text() == "one\ntwo\n"
    worktrees = Worktrees(repository, tmp_path / "data")
    worktrees.create(AppliedAttempts(repository, tmp_path / "data").save_base(), 1)
    assert (Path(worktrees.made[0].top) / "new.txt").read_text() == "new\n"
    assert " M a.txt" in git(worktrees.made[0].top, "status", "--porcelain")
    worktrees.remove()
    (folder / "a.txt").write_text("one\n")
    (folder / "new.txt").unlink()
    assert git(folder, "status", "--porcelain") == before_status
