"""Ignored files: the rules agree with git's own, and listing, searching and completion follow them."""

import random
import subprocess
from pathlib import Path

import pytest

from files_bench import Bench
from heald.tools.files.ignore import IgnoredFiles
from heald.tools.files.listing import find_file, glob, list_files
from heald.tools.files.ripgrep import Ripgrep
from heald.tools.files.search import search_files
from heald.tools.files.walk import Deadline, Walk
from heald.tools.workspace.disk import DiskWorkspace
from heald.tools.workspace.memory import MemoryWorkspace
from heald_cli.chat.attachments import complete_mention

NAMES = ["a", "b", "c.log", "d.txt", "build", "a b", "#x", "!y", "x{1}"]
PATTERNS = [
    "*.log", "/a", "a/", "b/", "!c.log", "build", "a/b", "a/**", "**/b", "/a/*", "!/a/b", "d.?xt", "[ab]", "[!a]",
    "\\#x", "\\!y", "# comment", "", "   ", "a\\ b", "*/d.txt", "**/a/**/b", "x{1}", "c.log ", "/", "*", "!*.txt",
    "!*/", "a//b", "build/**/*.txt",
]  # fmt: skip


def git(folder: Path, *words: str) -> bytes:
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True).stdout


def make_tree(folder: Path, chance: random.Random) -> None:
    for first in NAMES:
        for second in chance.sample(NAMES, 4):
            place = folder / first
            if place.is_file():
                break
            place.mkdir(exist_ok=True)
            if chance.random() < 0.3:
                (place / second).mkdir(exist_ok=True)
                (place / second / chance.choice(NAMES)).write_text("x")
            elif not (place / second).exists():
                (place / second).write_text("x")
    for name in ("top.log", "d.txt", "z"):
        if not (folder / name).exists():
            (folder / name).write_text("x")


@pytest.mark.parametrize("seed", range(40))
def test_the_rules_agree_with_git(tmp_path: Path, seed: int) -> None:
    top = tmp_path / "repository"
    top.mkdir()
    chance = random.Random(seed)
    git(top, "init", "-q")
    make_tree(top, chance)
    for place in (top, top / "a", top / "build"):
        (place / ".gitignore").write_text("\n".join(chance.sample(PATTERNS, 6)) + "\n")
    listed = git(top, "ls-files", "-z", "-o", "--exclude-standard").decode().split("\0")
    walk = Walk(DiskWorkspace(top), deadline=Deadline(30))
    assert sorted(item.path for item in walk if item.kind == "file") == sorted(name for name in listed if name)


def test_rules_above_the_workspace_count_up_to_the_repository(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*\n")  # above the repository
    top = tmp_path / "repo"
    (top / "sub").mkdir(parents=True)
    git(top, "init", "-q")
    (top / ".gitignore").write_text("*.log\n/sub/x\n")
    for name in ("a.log", "x", "y"):
        (top / "sub" / name).write_text("text")
    ignored = IgnoredFiles(DiskWorkspace(top / "sub"))
    assert [ignored.is_ignored(name, is_folder=False) for name in ("a.log", "x", "y")] == [True, True, False]


@pytest.fixture(params=["disk", "memory"])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Bench:
    folder = tmp_path / "workspace"
    folder.mkdir()
    made = Bench(DiskWorkspace(folder) if request.param == "disk" else MemoryWorkspace())
    made.put(".gitignore", "dist/\n*.log\n")
    for path in ("src/app.py", "dist/app.js", "dist/deep/b.js", "run.log", "src/run.log"):
        made.put(path, "needle\n")
    return made


async def test_tools_leave_ignored_files_out(bench: Bench) -> None:
    assert (await bench.run(list_files)).lines == [".gitignore", "dist/ (not listed)", "src/", "src/app.py"]
    assert (await bench.run(glob, pattern="*.js")).lines == [
        "No file matches.", "[3 files and folders in .gitignore were not looked at.]",
    ]  # fmt: skip
    assert (await bench.run(find_file, query="runlog")).text == "No file is like that."
    assert (await bench.run(search_files, pattern="needle")).lines == ["src/app.py:1: needle"]


async def test_an_ignored_folder_or_file_that_is_named_is_used(bench: Bench) -> None:
    assert (await bench.run(list_files, path="dist")).lines == ["dist/app.js", "dist/deep/", "dist/deep/b.js"]
    assert (await bench.run(search_files, pattern="needle", path="dist")).lines == [
        "dist/app.js:1: needle", "dist/deep/b.js:1: needle",
    ]  # fmt: skip
    assert (await bench.run(search_files, pattern="needle", path="run.log")).lines == ["run.log:1: needle"]


async def test_both_engines_leave_them_out(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    first = await bench.run(search_files, pattern="needle")
    monkeypatch.setattr(Ripgrep, "candidates", lambda *_, **__: None)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    assert first.text == (await bench.run(search_files, pattern="needle")).text


def test_completion_leaves_ignored_files_out(bench: Bench) -> None:
    assert complete_mention("see @", bench.workspace)[1] == ["src/"]
    assert complete_mention("see @di", bench.workspace)[1] == ["dist/"]
    assert complete_mention("see @dist/a", bench.workspace)[1] == ["dist/app.js"]
