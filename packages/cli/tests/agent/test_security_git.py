"""Repositories that try to run a program through Heald's own git: none of them runs, and none sees the key."""

import json
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from cli_bench import run_process, run_with
from git_commands import git
from heald.core.errors import HealdError
from heald.testing.server import ScriptedServer
from heald.testing.streams import wire_reply
from heald.tools.git import sandbox as git_sandbox
from heald.tools.git.program import GitAccess, run_git
from heald.tools.git.repository import find_repository
from heald_cli.repository.applied_attempts import AppliedAttempts
from heald_cli.repository.checkpoints import open_checkpoints
from heald_cli.repository.ignored_files import find_ignored
from heald_cli.repository.status import describe_repository
from heald_cli.repository.worktrees import Worktrees
from hostile_repositories import ATTACKS, make_repository, nested_gitlink, touch_files

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
KEY = "sk-CANARY-0123456789"
REFUSED = {"bare-in-a-clone", "commondir"}
"""Folders that count as no repository."""


@pytest.fixture
def payload(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], str]:
    """A program that writes down its environment. Returns what it wrote so far."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("PATH", f".:bin:{tmp_path}/unpacked/bin:{os.environ['PATH']}")
    marker = tmp_path / "marker"
    (tmp_path / "payload").write_text(f"#!/bin/sh\nenv >> {marker}\n")
    (tmp_path / "payload").chmod(0o755)
    return lambda: marker.read_text() if marker.exists() else ""


def no_sandbox(*_: object, **__: object) -> None:
    """Stands for a machine where git runs in no sandbox."""


@pytest.fixture(params=["sandbox", "no sandbox"])
def walls(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With bubblewrap and without: what git is given must be enough by itself."""
    if request.param == "no sandbox":
        monkeypatch.setattr(git_sandbox.GitSandbox, "make", no_sandbox)
    elif shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    return request.param


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_repository_runs_a_program(
    attack: str, walls: str, tmp_path: Path, payload: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = ATTACKS[attack](tmp_path, str(tmp_path / "payload"))
    (tmp_path / "marker").unlink(missing_ok=True)  # making the repository may have run it
    monkeypatch.chdir(folder)
    repository = find_repository(folder)
    assert (repository is None) == (attack in REFUSED)
    if repository is not None:
        assert "Branch: main" in describe_repository(repository)
        checkpoints = open_checkpoints(str(folder), "ses_1", tmp_path / "data")
        assert checkpoints is not None
        before = checkpoints.save("before")
        (folder / "a.txt").write_text("six\n")
        after = checkpoints.save("after")
        assert "+six" in checkpoints.diff(before, after)
        checkpoints.restore(before, ["a.txt"])
        assert (folder / "a.txt").read_text() == "two\n" or attack.startswith(("nested", "submodule"))
        checkpoints.delete_old()
        checkpoints.store._collect()  # pyright: ignore[reportPrivateUsage]
        find_ignored(repository, str(tmp_path / "data"))
        worktrees = Worktrees(repository, tmp_path / "data")
        worktrees.create(AppliedAttempts(repository, tmp_path / "data").save_base(), 1)
        worktrees.made[0].save()
        worktrees.remove()
    assert payload() == ""


def test_the_attacks_do_run_a_program_in_plain_git(tmp_path: Path, payload: Callable[[], str]) -> None:
    """Otherwise the tests above would show nothing."""
    ran: set[str] = set()
    for name, build in ATTACKS.items():
        place = tmp_path / name
        place.mkdir()
        folder = build(place, str(tmp_path / "payload"))
        if (place / "gitconfig").exists():
            shutil.copy(place / "gitconfig", tmp_path / "gitconfig")
        (tmp_path / "marker").unlink(missing_ok=True)
        for words in (("status",), ("diff", "HEAD"), ("log", "-1", "-p"), ("checkout", "--", ".")):
            if words[0] == "checkout":
                (folder / "a.txt").unlink(missing_ok=True)
            with suppress(Exception):
                git(folder, *words)
        ran |= {name} if KEY in payload() else set()
    assert ran >= set(ATTACKS) - {"git-in-the-folder"}


@pytest.mark.parametrize("words", [("--permissions", "read-only"), ("--tools", "none")])
@pytest.mark.parametrize("attack", ["nested-gitlink", "bare-in-a-clone", "process-gitattributes", "promisor-ext"])
async def test_a_run_in_a_hostile_folder_runs_nothing(
    attack: str, words: tuple[str, ...], tmp_path: Path, payload: Callable[[], str]
) -> None:
    folder = ATTACKS[attack](tmp_path, str(tmp_path / "payload"))
    (tmp_path / "marker").unlink(missing_ok=True)
    async with ScriptedServer(lambda _: wire_reply("chat", text="Hello.")) as server:
        done = await run_process(*run_with(server, "Hi", "--workspace", str(folder), *words), env=os.environ)
        assert done.code == 0, done.err
        request = json.dumps(server.requests[0].body)
    assert payload() == ""
    assert KEY not in request


def test_a_gitfile_does_not_show_another_repository_of_the_user(tmp_path: Path) -> None:
    """A model that may write files could point `.git` at a repository that it cannot read."""
    private = make_repository(tmp_path / "private")
    git(private, "commit", "--allow-empty", "-qm", "The secret plan")
    folder = tmp_path / "workspace"
    folder.mkdir()
    for link in (f"gitdir: {private}/.git\n", "gitdir: ../private/.git\n"):
        (folder / ".git").write_text(link)
        assert git(folder, "log", "-1", "--format=%s") == "The secret plan\n"
        assert find_repository(folder) is None
        (folder / ".git").unlink()
    (folder / ".git").symlink_to(private / ".git")
    assert find_repository(folder) is None


def test_worktrees_submodules_and_separate_git_folders_are_found(tmp_path: Path) -> None:
    library = make_repository(tmp_path / "library")
    outer = make_repository(tmp_path / "outer")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library), "lib")
    git(outer, "worktree", "add", "-q", "--detach", str(tmp_path / "tree"))
    git(tmp_path, "init", "-q", "--separate-git-dir", str(tmp_path / "metadata"), str(tmp_path / "separate"))
    for folder in (outer, outer / "lib", tmp_path / "tree", tmp_path / "separate"):
        repository = find_repository(folder)
        assert repository is not None, folder
        assert repository.top == str(folder)
        assert describe_repository(repository).startswith("The folder is in a git repository.")


def test_the_upstream_ignored_names_and_line_ends_of_the_user_still_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    source = make_repository(tmp_path / "source")
    git(tmp_path, "clone", "-q", str(source), "clone")
    folder = tmp_path / "clone"
    git(folder, "commit", "--allow-empty", "-qm", "Second")
    (tmp_path / "ignored").write_text("*.swp\n")
    (tmp_path / "gitconfig").write_text(f"[core]\n\texcludesFile = {tmp_path}/ignored\n\tautocrlf = input\n")
    (folder / "x.swp").write_text("")
    (folder / "a.txt").write_bytes(b"one\r\n")  # with autocrlf as before
    repository = find_repository(folder)
    assert repository is not None
    text = describe_repository(repository)
    assert "Branch: main...origin/main [ahead 1]" in text
    assert "x.swp" not in text
    assert "+1" not in text
    checkpoints = open_checkpoints(str(folder), "ses_1", tmp_path / "data")
    assert checkpoints is not None
    assert checkpoints.files(checkpoints.save("one")) == {"a.txt"}


def test_git_sees_no_other_folder_and_no_network(tmp_path: Path, walls: str) -> None:
    if walls == "no sandbox":
        return
    repository = find_repository(make_repository(tmp_path / "repo"))
    assert repository is not None
    (tmp_path / "outside").write_text("secret\n")
    with pytest.raises(HealdError):
        repository.run("diff", "--no-index", f"{tmp_path}/outside", "/dev/null")
    with pytest.raises(HealdError, match=r"Read-only|unable to create|could not lock"):
        repository.run("update-ref", "refs/heads/new", "HEAD")
    with pytest.raises(ValueError, match="not in the table"):
        run_git(str(tmp_path), ("fetch", "origin"), access=GitAccess())


def test_a_sandboxed_command_cannot_plant_a_program_for_a_later_run(tmp_path: Path, payload: Callable[[], str]) -> None:
    """What a command of a model can write: a nested repository, named by the index as a gitlink."""
    folder = nested_gitlink(tmp_path, str(tmp_path / "payload"))
    (tmp_path / "marker").unlink(missing_ok=True)
    touch_files(folder)
    repository = find_repository(folder)
    assert repository is not None
    assert " M a.txt" in describe_repository(repository)
    assert payload() == ""
