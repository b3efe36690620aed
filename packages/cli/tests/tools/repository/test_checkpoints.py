"""Checkpoints in real git repositories: what they hold, what they restore, and that the user's state stays as it is."""

import os
from pathlib import Path

import pytest

from git_commands import git
from heald.tools.git.program import GitFailed
from heald.tools.git.repository import find_repository
from heald.tools.shell.protected_paths import ProtectedPaths
from heald_cli.repository import checkpoints as module
from heald_cli.repository.checkpoint_store import KEPT_SECONDS
from heald_cli.repository.checkpoints import Checkpoints, open_checkpoints
from heald_cli.repository.status import describe_outside_changes, describe_repository


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init")
    (folder / "a.txt").write_text("one\n")
    (folder / ".gitignore").write_text("*.log\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-m", "First")
    return folder


def opened(repo: Path, session: str = "ses_1") -> Checkpoints:
    checkpoints = open_checkpoints(str(repo), session, repo.parent / "data")
    assert checkpoints is not None
    return checkpoints


def user_state(repo: Path) -> tuple[bytes, str, str, str]:
    """What belongs to the user: the index byte for byte, HEAD, branches and stash."""
    index = (repo / ".git" / "index").read_bytes()
    heads = git(repo, "for-each-ref", "refs/heads", "refs/tags", "refs/stash")
    return index, (repo / ".git" / "HEAD").read_text(), heads, git(repo, "reflog")


def test_a_checkpoint_restores_tracked_untracked_and_deleted_files(repo: Path) -> None:
    (repo / "untracked.txt").write_text("mine\n")
    (repo / "staged.txt").write_text("staged\n")
    git(repo, "add", "staged.txt")
    before_state = user_state(repo)
    points = opened(repo)
    before = points.save("before")
    (repo / "a.txt").write_text("two\n")
    (repo / "untracked.txt").unlink()
    (repo / "new").mkdir()
    (repo / "new" / "made.txt").write_text("made\n")
    after = points.save("after")
    assert points.changed(before, after) == {"a.txt", "untracked.txt", "new/made.txt"}
    points.restore(before, points.changed(before, after))
    assert (repo / "a.txt").read_text() == "one\n"
    assert (repo / "untracked.txt").read_text() == "mine\n"
    assert not (repo / "new").exists()
    points.restore(after, points.changed(before, after))
    assert (repo / "a.txt").read_text() == "two\n"
    assert (repo / "new" / "made.txt").read_text() == "made\n"
    assert user_state(repo) == before_state


def test_ignored_files_are_not_in_it_but_tracked_ones_are(repo: Path) -> None:
    (repo / "kept.log").write_text("kept\n")
    git(repo, "add", "-f", "kept.log")
    (repo / "noise.log").write_text("noise\n")
    (repo / ".git" / "info" / "exclude").write_text("private.txt\n")
    (repo / "private.txt").write_text("private\n")
    points = opened(repo)
    assert points.files(points.save("one")) == {".gitignore", "a.txt", "kept.log"}
    (repo / "kept.log").write_text("changed\n")
    saved = points.list()[0]
    assert points.changed(saved, points.save("two")) == {"kept.log"}


def test_bytes_modes_and_links_are_exact(repo: Path) -> None:
    """Attributes of the project convert line ends; a checkpoint does not."""
    (repo / ".gitattributes").write_text("* text=auto eol=lf\n*.sh filter=broken\n")
    git(repo, "config", "filter.broken.clean", "false")
    git(repo, "config", "core.autocrlf", "true")
    content = b"one\r\ntwo\n\xff\x00"
    (repo / "mixed.txt").write_bytes(b"a\r\nb\r\n")
    (repo / "run.sh").write_bytes(content)
    (repo / "run.sh").chmod(0o755)
    (repo / "link").symlink_to("a.txt")
    points = opened(repo)
    before = points.save("before")
    for name in ("mixed.txt", "run.sh", "link"):
        (repo / name).unlink()
    points.restore(before, ["mixed.txt", "run.sh", "link"])
    assert (repo / "mixed.txt").read_bytes() == b"a\r\nb\r\n"
    assert (repo / "run.sh").read_bytes() == content
    assert os.access(repo / "run.sh", os.X_OK)
    assert (repo / "link").readlink() == Path("a.txt")


def test_odd_names_and_nested_repositories(repo: Path) -> None:
    names = [":(glob)*", "a b\nc", "-x", "ü.txt", "*.txt"]
    for name in names:
        (repo / name).write_text(name)
    nested = repo / "nested"
    nested.mkdir()
    git(nested, "init")
    (nested / "inner.txt").write_text("inner")
    points = opened(repo)
    before = points.save("before")
    assert points.files(before) == {".gitignore", "a.txt", *names}
    for name in names:
        (repo / name).write_text("changed")
    points.save("after")
    points.restore(before, ["*.txt", ":(glob)*"])
    assert (repo / "*.txt").read_text() == "*.txt"
    assert (repo / "ü.txt").read_text() == "changed"


def test_a_folder_below_the_top_has_its_own_checkpoints(repo: Path) -> None:
    below = repo / "sub"
    below.mkdir()
    (below / "b.txt").write_text("b")
    points = opened(below)
    before = points.save("before")
    assert points.files(before) == {"b.txt"}
    (below / "b.txt").write_text("changed")
    (repo / "a.txt").write_text("by the user")
    after = points.save("after")
    assert points.changed(before, after) == {"b.txt"}
    points.restore(before, ["b.txt"])
    assert (below / "b.txt").read_text() == "b"
    assert (repo / "a.txt").read_text() == "by the user"


def test_a_linked_worktree_and_an_empty_repository(repo: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    git(repo, "worktree", "add", str(other))
    points = opened(other, "ses_2")
    before = points.save("before")
    (other / "a.txt").write_text("two")
    points.save("after")
    points.restore(before, ["a.txt"])
    assert (other / "a.txt").read_text() == "one\n"
    empty = tmp_path / "empty"
    empty.mkdir()
    git(empty, "init")
    assert opened(empty).files(opened(empty).save("none")) == frozenset()


def test_large_files_and_heald_own_data_are_left_out(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_BYTES", 100)
    (repo / "large.bin").write_bytes(b"x" * 101)
    checkpoints = open_checkpoints(str(repo), "ses_1", repo / "data")
    assert checkpoints is not None
    checkpoints.save("one")
    assert checkpoints.files(checkpoints.save("two")) == {".gitignore", "a.txt"}
    monkeypatch.setattr(module, "MAX_FILES", 1)
    (repo / "b.txt").write_text("b")
    (repo / "c.txt").write_text("c")
    with pytest.raises(GitFailed, match="more than 1 files"):
        checkpoints.save("three")


def test_hooks_of_the_repository_do_not_run(repo: Path) -> None:
    hooks = repo / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("reference-transaction", "post-checkout", "post-index-change"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {repo}/ran-{name}\n")
        (hooks / name).chmod(0o755)
    points = opened(repo)
    before = points.save("before")
    (repo / "a.txt").write_text("two")
    points.save("after")
    points.restore(before, ["a.txt"])
    assert not list(repo.glob("ran-*"))


def test_old_checkpoints_are_deleted_and_the_others_stay(repo: Path) -> None:
    opened(repo, "ses_old").save("old")
    points = opened(repo, "ses_new")
    (repo / "b.txt").write_text("b")
    before = points.save("before")
    points.delete_old()
    assert [checkpoint.label for checkpoint in opened(repo, "ses_old").list()] == ["old"]
    points.delete_old(now=4_000_000_000.0)
    assert opened(repo, "ses_old").list() == []
    assert KEPT_SECONDS > 86_400
    (repo / "b.txt").unlink()
    points.save("after")
    git(repo, "gc", "--prune=now", "--quiet")
    points.restore(before, ["b.txt"])
    assert (repo / "b.txt").read_text() == "b"
    assert [checkpoint.label for checkpoint in points.list()] == ["after", "before"]


def test_variables_of_a_hook_do_not_name_another_repository(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    assert opened(repo).files(opened(repo).save("one")) == {".gitignore", "a.txt"}
    assert not (tmp_path / "index").exists()


def test_a_folder_without_a_repository_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    plain = tmp_path / "plain"
    plain.mkdir()
    assert find_repository(plain) is None
    assert find_repository(None) is None


def test_the_state_is_described_in_few_words(repo: Path) -> None:
    (repo / "a.txt").write_text("one\ntwo\n")
    for number in range(60):
        (repo / f"n{number}.txt").write_text("x")
    repository = find_repository(repo)
    assert repository is not None
    text = describe_repository(repository)
    assert "Branch: main" in text
    assert " M a.txt +1 −0" in text
    assert "… and 41 more" in text
    assert "First" in text
    assert len(text) < 2_000


def test_changes_by_others_are_described_with_their_diff(repo: Path) -> None:
    points = opened(repo)
    before = points.save("before")
    assert describe_outside_changes(points, before, points.save("same")) == ""
    (repo / "a.txt").write_text("two\n")
    text = describe_outside_changes(points, before, points.save("now"))
    assert "  a.txt" in text
    assert "-one\n+two" in text
    (repo / "a.txt").write_text("long\n" * 5_000)
    long = describe_outside_changes(points, before, points.save("long"))
    assert "The diff is long" in long
    assert len(long) < 500


def test_placeholders_of_a_running_command_are_in_no_checkpoint(repo: Path) -> None:
    points = opened(repo)
    before = points.save("before")
    folder = os.open(repo, os.O_PATH | os.O_DIRECTORY)
    shield = ProtectedPaths(folder)
    os.close(folder)
    assert (repo / ".envrc").exists()
    during = points.save("during")
    shield.close()
    assert points.changed(before, during) == set()
    (repo / ".envrc").write_text("")  # one of the user's, empty as it is
    assert points.changed(before, points.save("after")) == {".envrc"}
