"""Worktrees in real repositories: what a copy has, what stays untouched, and that nothing is left of it."""

import json
import os
from pathlib import Path

import pytest

from git_commands import git
from heald.tools.git.repository import GitRepository, find_repository
from heald_cli.repository.applied_attempts import AppliedAttempts, ChangedMeanwhile
from heald_cli.repository.checkpoints import Checkpoint
from heald_cli.repository.ignored_files import find_ignored
from heald_cli.repository.worktrees import FOLDER, Worktrees, remove_leftovers


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    (folder / "sub").mkdir(parents=True)
    git(folder, "init")
    (folder / "a.txt").write_text("one\n")
    (folder / "sub" / "b.txt").write_text("b\n")
    (folder / ".gitignore").write_text("node_modules/\n.env\ndist/\n__pycache__/\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-m", "First")
    return folder


def repository_of(folder: Path) -> GitRepository:
    repository = find_repository(folder)
    assert repository is not None
    return repository


def user_state(repo: Path) -> tuple[bytes, str, str, str, str]:
    """What belongs to the user, and what a leftover would show up in."""
    index = (repo / ".git" / "index").read_bytes()
    refs = git(repo, "for-each-ref", "refs/heads", "refs/tags", "refs/stash")
    return index, (repo / ".git" / "HEAD").read_text(), refs, git(repo, "reflog"), git(repo, "worktree", "list")


def make(repo: Path, data: Path, count: int = 2) -> tuple[Worktrees, AppliedAttempts, Checkpoint]:
    applied = AppliedAttempts(repository_of(repo), data)
    base = applied.save_base()
    worktrees = Worktrees(repository_of(repo), data)
    worktrees.create(base, count)
    return worktrees, applied, base


def test_a_copy_has_the_present_state_and_shows_it_as_uncommitted(repo: Path, tmp_path: Path) -> None:
    (repo / "a.txt").write_text("two\n")
    (repo / "new.txt").write_text("new\n")
    (repo / "staged.txt").write_text("staged\n")
    (repo / "sub" / "b.txt").unlink()
    git(repo, "add", "staged.txt")
    before = user_state(repo)
    worktrees, _, _ = make(repo, tmp_path / "data")
    first, second = worktrees.made
    assert (Path(first.top) / "a.txt").read_text() == "two\n"
    assert (Path(second.top) / "new.txt").read_text() == "new\n"
    assert git(first.top, "status", "--short").splitlines() == [
        " M a.txt",
        " D sub/b.txt",
        "?? new.txt",
        "?? staged.txt",
    ]
    assert "First" in git(first.top, "log", "--oneline")
    (Path(first.top) / "a.txt").write_text("three\n")
    assert (Path(second.top) / "a.txt").read_text() == "two\n"
    worktrees.remove()
    assert user_state(repo) == before
    assert list((tmp_path / "data" / FOLDER).iterdir()) == []
    assert "att" not in git(repo, "for-each-ref")
    assert not (repo / ".git" / "worktrees").exists()


def test_a_repository_without_a_commit(tmp_path: Path) -> None:
    folder = tmp_path / "young"
    folder.mkdir()
    git(folder, "init")
    (folder / "a.txt").write_text("a\n")
    worktrees, _, _ = make(folder, tmp_path / "data", 1)
    assert (Path(worktrees.made[0].top) / "a.txt").read_text() == "a\n"
    worktrees.remove()
    assert git(folder, "status", "--short") == "?? a.txt\n"


def test_a_workspace_below_the_top_gets_the_whole_repository(repo: Path, tmp_path: Path) -> None:
    worktrees, _, _ = make(repo / "sub", tmp_path / "data", 1)
    worktree = worktrees.made[0]
    assert worktree.folder == f"{worktree.top}/sub"
    assert (Path(worktree.top) / "a.txt").exists()
    assert worktrees.readable == ()  # commands of the folder cannot read git's own folder either
    worktrees.remove()


def test_dependencies_are_linked_named_files_copied_and_the_rest_is_missing(repo: Path, tmp_path: Path) -> None:
    for path, text in {
        "node_modules/x/index.js": "x",
        "dist/out.js": "o",
        ".env": "KEY=1",
        "__pycache__/a.pyc": "",
    }.items():
        (repo / path).parent.mkdir(parents=True, exist_ok=True)
        (repo / path).write_text(text)
    (repo / ".worktreeinclude").write_text(".env\n")
    ignored = find_ignored(repository_of(repo), str(tmp_path / "data"))
    assert (ignored.linked, ignored.copied, ignored.missing) == (("node_modules",), (".env",), ("dist/",))
    worktrees, applied, base = make(repo, tmp_path / "data", 1)
    worktree, top = worktrees.made[0], Path(worktrees.made[0].top)
    assert (top / "node_modules" / "x" / "index.js").read_text() == "x"
    assert (top / ".env").read_text() == "KEY=1"
    assert not (top / "dist").exists()
    assert "node_modules" not in git(top, "status", "--short")
    (top / "node_modules" / "mine").write_text("added")
    assert applied.checkpoints.changed(base, worktree.save()) == set()
    worktrees.remove()
    assert (repo / "node_modules" / "x" / "index.js").read_text() == "x"
    assert not (repo / "node_modules" / "mine").exists()


def test_a_large_file_is_there_although_no_checkpoint_has_it(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("checkpoints", "worktrees"):
        monkeypatch.setattr(f"heald_cli.repository.{module}.MAX_BYTES", 1000)
    (repo / "large.bin").write_bytes(b"x" * 2000)
    worktrees, _, _ = make(repo, tmp_path / "data", 1)
    assert (Path(worktrees.made[0].top) / "large.bin").stat().st_size == 2000
    worktrees.remove()


def test_applying_and_undoing_keeps_what_the_user_changed_since(repo: Path, tmp_path: Path) -> None:
    worktrees, applied, base = make(repo, tmp_path / "data", 1)
    top = Path(worktrees.made[0].top)
    (top / "a.txt").write_text("better\n")
    (top / "made.txt").write_text("made\n")
    (top / "sub" / "b.txt").unlink()
    (top / "run.sh").write_text("#!/bin/sh\n")
    (top / "run.sh").chmod(0o755)
    saved = worktrees.made[0].save()
    assert applied.checkpoints.count_lines(base, saved) == (4, 3, 2)
    worktrees.remove()
    (repo / "own.txt").write_text("of the user\n")
    assert applied.apply(base, saved, "attempt 1") == ["a.txt", "made.txt", "run.sh", "sub/b.txt"]
    assert (repo / "a.txt").read_text() == "better\n"
    assert os.access(repo / "run.sh", os.X_OK)
    assert not (repo / "sub" / "b.txt").exists()
    (repo / "made.txt").write_text("mine now\n")
    lines = AppliedAttempts(repository_of(repo), tmp_path / "data").undo()
    assert lines[0] == "Undone: attempt 1"
    assert "made.txt stays as it is: it was changed since." in lines
    assert (repo / "a.txt").read_text() == "one\n"
    assert (repo / "sub" / "b.txt").read_text() == "b\n"
    assert (repo / "made.txt").read_text() == "mine now\n"
    assert (repo / "own.txt").exists()
    assert AppliedAttempts(repository_of(repo), tmp_path / "data").undo() == []


def test_two_applied_attempts_are_undone_one_after_the_other(repo: Path, tmp_path: Path) -> None:
    for text in ("two\n", "three\n"):
        worktrees, applied, base = make(repo, tmp_path / "data", 1)
        (Path(worktrees.made[0].top) / "a.txt").write_text(text)
        applied.apply(base, worktrees.made[0].save(), f"to {text.strip()}")
        worktrees.remove()
    applied = AppliedAttempts(repository_of(repo), tmp_path / "data")
    assert applied.undo()[0] == "Undone: to three"
    assert (repo / "a.txt").read_text() == "two\n"
    assert applied.undo()[0] == "Undone: to two"
    assert (repo / "a.txt").read_text() == "one\n"
    assert applied.undo() == []


def test_nothing_is_applied_over_a_change_of_the_user(repo: Path, tmp_path: Path) -> None:
    worktrees, applied, base = make(repo, tmp_path / "data", 1)
    top = Path(worktrees.made[0].top)
    (top / "a.txt").write_text("better\n")
    (top / "made.txt").write_text("made\n")
    saved = worktrees.made[0].save()
    worktrees.remove()
    (repo / "a.txt").write_text("mine\n")
    with pytest.raises(ChangedMeanwhile, match=r"a\.txt was changed while the attempts ran; nothing is applied"):
        applied.apply(base, saved, "attempt 1")
    assert (repo / "a.txt").read_text() == "mine\n"
    assert not (repo / "made.txt").exists()
    assert applied.undo() == []


def test_leftovers_are_removed_and_those_of_others_are_not(repo: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    git(repo, "worktree", "add", "--detach", str(tmp_path / "users"))
    running, _, _ = make(repo, data, 1)
    dead, _, _ = make(repo, data, 2)
    locked = Path(dead.made[0].top) / "closed"
    locked.mkdir()
    (locked / "file").write_text("x")
    locked.chmod(0o500)
    dead._lock.close()  # pyright: ignore[reportPrivateUsage]  # as a process that was killed
    preserved, _, _ = make(repo, data, 1)
    preserved.keep()
    assert remove_leftovers(data) == 1
    listed = git(repo, "worktree", "list")
    assert dead.name not in listed
    assert all(name in listed for name in (running.name, preserved.name, "users"))
    assert dead.name not in git(repo, "for-each-ref")
    git(repo, "worktree", "remove", "--force", preserved.made[0].top)
    assert remove_leftovers(data) == 1  # the rest of what was kept
    running.remove()
    assert list((data / FOLDER).iterdir()) == []
    assert "users" in git(repo, "worktree", "list")


def test_leftovers_of_a_repository_that_is_missing(repo: Path, tmp_path: Path) -> None:
    dead, _, _ = make(repo, tmp_path / "data", 1)
    note = tmp_path / "data" / FOLDER / dead.name / "repository.json"
    note.write_text(json.dumps({"common_dir": str(tmp_path / "nowhere")}))
    dead._lock.close()  # pyright: ignore[reportPrivateUsage]
    assert remove_leftovers(tmp_path / "data") == 1
    assert remove_leftovers(tmp_path / "data") == 0


def test_git_of_a_copy_is_not_that_of_a_file_which_the_model_replaced(repo: Path, tmp_path: Path) -> None:
    worktrees, _, base = make(repo, tmp_path / "data", 1)
    worktree, top = worktrees.made[0], Path(worktrees.made[0].top)
    evil = top / "evil"
    git(top, "init", "--separate-git-dir", str(evil / "git"), str(evil))
    ran = tmp_path / "ran"
    (evil / "git" / "config").write_text(f'[filter "x"]\n\tclean = touch {ran}\n')
    (top / ".gitattributes").write_text("* filter=x\n")
    (top / ".git").unlink()
    (top / ".git").write_text(f"gitdir: {evil}/git\n")
    (top / "a.txt").write_text("two\n")
    assert "a.txt" in worktree.checkpoints.changed(base, worktree.save())
    assert not ran.exists()
    worktrees.remove()
    assert "att" not in git(repo, "worktree", "list")
