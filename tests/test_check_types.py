"""The cache of the type check: what is not checked again cannot have got a fault since."""

import ast
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from repository import ROOT

sys.path.insert(0, str(ROOT / "scripts"))

import check_types
from check_types import FaultlessFiles, Project, check

SETTINGS = """
[tool.pyright]
include = ["src", "tests"]
extraPaths = ["src"]
typeCheckingMode = "strict"

[tool.pyrefly]
search-path = ["src"]
enable-fallback-search-path = true
"""
FILES = {
    "src/loom/__init__.py": "",
    "src/loom/thread.py": "def length() -> int:\n    return 1\n",
    "src/loom/cloth.py": "from loom import (  # (both)\n    thread,\n)\n\nwidth: int = thread.length()\n",
    "src/loom/near.py": "from . import cloth\n\nwidth = cloth.width\n",
    "src/loom/alone.py": "number = 1\n",
    "tests/bench.py": "if True:\n    import loom.cloth as cloth\n\nwidth = cloth.width\n",
    "tests/test_cloth.py": "from bench import *\n\nassert width\n",
}
ON_THREAD = {"thread.py", "cloth.py", "near.py", "bench.py", "test_cloth.py"}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    root = tmp_path / "project"
    for name, text in (FILES | {"pyproject.toml": SETTINGS}).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    return Project(root)


def changed(project: Project, name: str, text: str) -> set[str]:
    """The files whose digest changes with the text of one."""
    before = project.digests()
    (project.root / name).parent.mkdir(exist_ok=True)
    (project.root / name).write_text(text, "utf-8")
    after = project.digests()
    return {path.name for path in before.keys() | after.keys() if before.get(path) != after.get(path)}


def test_a_change_reaches_every_file_that_imports_it(project: Project) -> None:
    assert changed(project, "src/loom/thread.py", "length = 1\n") == ON_THREAD
    assert changed(project, "src/loom/alone.py", "number = 2\n") == {"alone.py"}
    assert changed(project, "tests/bench.py", "width = 1\n") == {"bench.py", "test_cloth.py"}
    (project.root / "tests" / "bench.py").write_text(FILES["tests/bench.py"], "utf-8")
    assert changed(project, "src/loom/thread/__init__.py", "") >= ON_THREAD - {"thread.py"}


def test_settings_reach_every_file_and_a_package_those_that_name_it(project: Project) -> None:
    names = {Path(name).name for name in FILES}
    assert changed(project, "src/loom/__init__.py", "x = 1\n") == names - {"alone.py", "thread.py"}
    assert changed(project, "pyproject.toml", SETTINGS.replace("strict", "basic")) == names


def test_the_place_of_the_checkout_does_not_matter(project: Project) -> None:
    digests = set(project.digests().values())
    moved = project.root.rename(project.root.with_name("elsewhere"))
    assert set(Project(moved).digests().values()) == digests


def test_only_what_may_have_a_new_fault_is_checked(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runs: list[set[str]] = []
    run_checkers = check_types.run_checkers

    def count(project: Project, files: Sequence[Path]) -> tuple[int, frozenset[Path]]:
        runs.append({path.name for path in files})
        return run_checkers(project, files)

    monkeypatch.setattr(check_types, "run_checkers", count)
    faultless = FaultlessFiles(project.root / "cache" / "faultless.json")
    assert check(project, faultless) == 0
    assert check(project, faultless) == 0
    (project.root / "src" / "loom" / "thread.py").write_text("def length() -> str:\n    return ''\n", "utf-8")
    assert check(project, faultless) == 1
    assert "cloth.py:5:14 - error" in capsys.readouterr().out
    assert runs == [{Path(name).name for name in FILES}, ON_THREAD]

    def break_off(_: Project, files: Sequence[Path]) -> tuple[int, frozenset[Path]]:
        return 3, frozenset()

    monkeypatch.setattr(check_types, "run_checkers", break_off)
    assert check(project, faultless) == 3, "a check that did not come to its end is no success"
    assert check(project, faultless, ["tests"]) == 0, "nothing there had a fault"


def test_tests_are_checked_by_the_quicker_checker(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    test = project.root / "tests" / "test_cloth.py"
    faultless = FaultlessFiles(project.root / "cache" / "faultless.json")
    test.write_text("from bench import width\n\nwidth.missing()\n", "utf-8")
    assert check(project, faultless, ["tests"]) == 1
    assert "ERROR tests/test_cloth.py:3:1" in capsys.readouterr().out
    test.write_text(FILES["tests/test_cloth.py"], "utf-8")
    assert check(project, faultless, ["tests"]) == 0
    assert "1 of 2 files to check" in capsys.readouterr().out


def test_a_quick_check_of_sources_does_not_count_as_a_strict_one(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = project.root / "src" / "loom" / "alone.py"
    alone.write_text("def first(numbers: list) -> int:\n    return numbers[0]\n", "utf-8")  # strict: a list of what?
    faultless = FaultlessFiles(project.root / "cache" / "faultless.json")
    quick = Project(project.root, is_quick=True)
    assert check(quick, faultless, ["src"]) == 0
    assert check(project, faultless, ["src"]) == 1
    assert "alone.py:1:20 - error" in capsys.readouterr().out
    alone.write_text("number: int = ''\n", "utf-8")
    assert check(quick, faultless, ["src"]) == 1
    assert "ERROR src/loom/alone.py:1:15" in capsys.readouterr().out


def test_a_file_that_is_edited_during_the_check_is_checked_again(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = project.root / "src" / "loom" / "alone.py"
    due: list[set[str]] = []

    def edit(_: Project, files: Sequence[Path]) -> tuple[int, frozenset[Path]]:
        due.append({path.name for path in files})
        alone.write_text("number = 2\n", "utf-8")
        return 0, frozenset()

    monkeypatch.setattr(check_types, "run_checkers", edit)
    faultless = FaultlessFiles(project.root / "cache" / "faultless.json")
    assert check(project, faultless) == 0
    alone.write_text(FILES["src/loom/alone.py"], "utf-8")  # as it was before, which the checker may not have seen
    assert check(project, faultless) == 0
    assert due[1] == {"alone.py"}


def test_every_import_of_a_package_is_seen() -> None:
    """By the names that Python's own parser reads."""
    files = sorted((ROOT / "packages" / "acp").rglob("*.py"))
    names = {path.stem: number for number, path in enumerate(files)}
    imports = check_types.find_imports(files, {path: path.read_text("utf-8") for path in files})
    count = 0
    for number, path in enumerate(files):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("heald_acp."):
                count += 1
                assert names[node.module.rpartition(".")[2]] in imports[number], f"{path}:{node.lineno}"
    assert count > 10
