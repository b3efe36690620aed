"""The store of checkpoints: it is outside of `.git`, bounded, and survives kills and the user's own `git gc`."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from git_commands import git
from heald.tools.git.program import GitFailed
from heald_cli.repository import checkpoint_store as store_module
from heald_cli.repository import checkpoints as module
from heald_cli.repository.checkpoint_store import FOLDER, MEGABYTE, CheckpointLimits, list_stores
from heald_cli.repository.checkpoints import Checkpoints, open_checkpoints
from heald_cli.repository.exchange_checkpoints import ExchangeCheckpoints


def make_repository(folder: Path) -> Path:
    folder.mkdir()
    git(folder, "init")
    (folder / "a.txt").write_text("one\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-m", "First")
    return folder


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "repo")


def opened(repo: Path, session: str = "ses_1", limits: CheckpointLimits | None = None) -> Checkpoints:
    checkpoints = open_checkpoints(str(repo), session, repo.parent / "data", limits)
    assert checkpoints is not None
    return checkpoints


def bytes_below(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def git_state(repo: Path) -> list[tuple[str, int]]:
    """Every file of `.git` with its size."""
    return sorted((str(path), path.stat().st_size) for path in (repo / ".git").rglob("*") if path.is_file())


def noise(seed: int, size: int) -> bytes:
    """Bytes that no compression makes smaller."""
    return random.Random(seed).randbytes(size)


def test_nothing_is_written_to_the_users_repository(repo: Path) -> None:
    (repo / "large.bin").write_bytes(noise(0, 300_000))
    before = git_state(repo)
    points = opened(repo)
    for number in range(8):
        (repo / "large.bin").write_bytes(noise(number, 300_000))
        points.save(f"number {number}")
    points.tidy()
    points.restore(points.list()[-1], ["large.bin"])
    assert (repo / "large.bin").read_bytes() == noise(0, 300_000)
    points.delete_old()
    assert git_state(repo) == before


def test_what_did_not_change_is_stored_once_and_what_is_committed_not_at_all(repo: Path) -> None:
    (repo / "committed.bin").write_bytes(noise(1, 500_000))
    git(repo, "add", "-A")
    git(repo, "commit", "-m", "Second")
    (repo / "untracked.bin").write_bytes(noise(2, 300_000))
    points = opened(repo)
    for number in range(8):
        (repo / "a.txt").write_text(f"{number}\n")
        points.save(f"number {number}")
    assert 300_000 < points.store.measure().total < 320_000


def test_versions_of_a_file_are_compressed_against_each_other(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "_LOOSE_BYTES", 1_000_000)
    points = opened(repo)
    content = noise(3, 400_000)
    for number in range(8):
        content = content[:-4] + number.to_bytes(4, "big")
        (repo / "data.db").write_bytes(content)
        points.save(f"number {number}")
    points.tidy()
    assert points.store.measure().total < 500_000
    points.restore(points.list()[-1], ["data.db"])
    assert (repo / "data.db").read_bytes()[-4:] == (0).to_bytes(4, "big")


def test_the_oldest_checkpoints_are_removed_first_and_the_newest_still_restore(repo: Path) -> None:
    points = opened(repo, limits=CheckpointLimits(repository=1_000_000))
    for number in range(12):
        (repo / "large.bin").write_bytes(noise(number, 150_000))
        points.save(f"number {number}")
        assert points.store.measure().total <= 1_000_000
    labels = [checkpoint.label for checkpoint in points.list()]
    assert labels == [f"number {number}" for number in range(11, 11 - len(labels), -1)]
    assert 3 <= len(labels) <= 7
    oldest = points.list()[-1]
    points.restore(oldest, ["large.bin"])
    assert (repo / "large.bin").read_bytes() == noise(12 - len(labels), 150_000)
    points.restore(points.list()[0], ["large.bin"])
    assert (repo / "large.bin").read_bytes() == noise(11, 150_000)


def test_all_repositories_share_one_bound_and_the_least_recent_gives_first(tmp_path: Path) -> None:
    limits = CheckpointLimits(total=1_000_000, repository=900_000)
    points: list[Checkpoints] = []
    for name in ("old", "middle", "new"):
        repo = make_repository(tmp_path / name)
        points.append(opened(repo, limits=limits))
        for number in range(2):
            (repo / "large.bin").write_bytes(noise(hash(name) + number, 200_000))
            points[-1].save(f"number {number}")
        stores = list_stores(tmp_path / "data" / FOLDER, limits)
        assert sum(store.measure().total for store in stores) <= 1_000_000
    assert [len(checkpoints.list()) for checkpoints in points] == [0, 2, 2]


def test_a_state_that_does_not_fit_is_refused_before_it_is_written(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_COUNTED_BYTES", 100_000)
    points = opened(repo, limits=CheckpointLimits(repository=MEGABYTE))
    points.save("small")
    for number in range(3):
        (repo / f"{number}.bin").write_bytes(noise(number, 400_000))
    with pytest.raises(GitFailed, match=r"in no commit have 1 MB, and checkpoints of a repository may have 1 MB"):
        points.save("large")
    assert points.store.measure().total < 10_000
    git(repo, "add", "-A")
    git(repo, "commit", "-m", "Committed files cost nothing")
    assert points.files(points.save("committed")) >= {"0.bin", "1.bin", "2.bin"}
    assert points.store.measure().total < 10_000


def test_a_file_that_is_too_large_is_named_once(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_BYTES", 100)
    (repo / "large.bin").write_bytes(b"x" * 101)
    saved = ExchangeCheckpoints(opened(repo))
    assert saved.checkpoints is not None
    saved.checkpoints.save("one")
    assert [note.partition(" (")[0] for note in saved.collect_notes()] == ["large.bin"]
    assert saved.collect_notes() == []


def test_checkpoints_of_an_older_version_are_read_and_their_refs_deleted_in_time(repo: Path) -> None:
    """Older versions wrote a branch per session below `refs/heald` of the user's repository."""
    (repo / "b.txt").write_text("b\n")
    git(repo, "add", "-A")
    tree = git(repo, "write-tree").strip()
    commit = git(repo, "commit-tree", tree, "-m", "before exc_1").strip()
    git(repo, "reset", "-q")
    for session in ("ses_1", "ses_other"):
        git(repo, "update-ref", f"refs/heald/{session}", commit)
    git(repo, "pack-refs", "--all")
    (repo / "b.txt").write_text("changed\n")
    points = opened(repo)
    points.save("after exc_1")
    assert [checkpoint.label for checkpoint in points.list()] == ["after exc_1", "before exc_1"]
    points.restore(points.list()[1], ["b.txt"])
    assert (repo / "b.txt").read_text() == "b\n"
    assert points.delete_old() == 0
    assert points.delete_old(now=4_000_000_000.0) == 1
    assert git(repo, "for-each-ref", "--format=%(refname)", "refs/heald").split() == ["refs/heald/ses_1"]
    assert "1 old conversations are deleted from .git" in ExchangeCheckpoints(points, 1).collect_notes()[0]


def test_objects_that_the_users_gc_removed_are_stored_by_the_next_checkpoint(repo: Path) -> None:
    (repo / "staged.txt").write_text("staged\n")
    git(repo, "add", "staged.txt")  # its object is in the user's repository only
    points = opened(repo)
    points.save("one")
    git(repo, "reset", "-q")
    git(repo, "gc", "--prune=now", "--quiet")
    saved = points.save("two")
    (repo / "staged.txt").write_text("changed\n")
    points.restore(saved, ["staged.txt"])
    assert (repo / "staged.txt").read_text() == "staged\n"
    points.store._collect()  # pyright: ignore[reportPrivateUsage]  # the first one lacked an object
    assert points.files(saved) == {"a.txt", "staged.txt"}


def test_a_process_that_is_killed_while_it_saves_leaves_a_store_that_works(repo: Path) -> None:
    for number in range(200):
        (repo / f"{number}.txt").write_bytes(noise(number, 20_000))
    points = opened(repo)
    script = (
        "import sys; from pathlib import Path; from heald_cli.repository.checkpoints import open_checkpoints\n"
        "points = open_checkpoints(sys.argv[1], 'ses_1', Path(sys.argv[2]))\n"
        "print('ready', flush=True)\n"
        "number = 0\n"
        "while True:\n"
        "    number += 1\n"
        "    (Path(sys.argv[1]) / 'counter.txt').write_text(str(number))\n"
        "    points.save(f'number {number}')\n"
    )
    for kill in range(4):
        process = subprocess.Popen(
            [sys.executable, "-c", script, str(repo), str(repo.parent / "data")], stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        index = next(iter((points.store.path / "folders").glob("*/index*")), None)
        while index is None:  # until it is in the middle of a save
            index = next(iter((points.store.path / "folders").glob("*/index*")), None)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        (repo / "0.txt").write_text(f"kill {kill}")
        saved = points.save(f"after kill {kill}")
        (repo / "0.txt").write_text("changed")
        points.restore(saved, ["0.txt"])
        assert (repo / "0.txt").read_text() == f"kill {kill}"
    state = next((points.store.path / "folders").iterdir())
    (state / "index.lock").write_text("")  # what a kill at the worst moment leaves
    points.save("with a stale lock")
    assert points.list()[0].label == "with a stale lock"


def test_a_store_that_cannot_be_read_is_begun_anew(repo: Path) -> None:
    points = opened(repo, limits=CheckpointLimits(repository=200_000))
    (repo / "large.bin").write_bytes(noise(1, 150_000))
    points.save("one")
    for path in (points.store.path / "objects").rglob("*"):
        if path.is_file() and path.name != "alternates":
            path.chmod(0o600)
            path.write_bytes(b"damaged")
    (repo / "large.bin").write_bytes(noise(2, 250_000))
    (points.store.path / "folders").rename(points.store.path / "moved")
    later = opened(repo, limits=CheckpointLimits(repository=300_000))
    later.save("two")
    (repo / "large.bin").write_bytes(noise(3, 250_000))
    later.save("three")
    assert later.store.measure().total <= 300_000
    assert [checkpoint.label for checkpoint in later.list()] in ([], ["three"], ["three", "two"])
