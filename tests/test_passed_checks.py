"""A check is repeated when what it reads has changed, and only then."""

from pathlib import Path

import pytest

import passed_checks
from passed_checks import STORED, PassedChecks, digest_files


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passed_checks, "ROOT", tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("HEALD_ALL_CHECKS", raising=False)


def test_the_digest_depends_on_contents_names_and_facts(tmp_path: Path) -> None:
    first, second = tmp_path / "a.ts", tmp_path / "b.ts"
    first.write_text("let a;")
    digest = digest_files([first], "tsc")
    assert digest_files([first], "tsc") == digest
    second.write_text("let a;")
    others = [digest_files([second], "tsc"), digest_files([first], "vitest"), digest_files([first, second], "tsc")]
    assert len({digest, *others}) == 4
    assert digest_files([second, first], "tsc") == digest_files([first, second], "tsc")
    first.write_text("let b;")
    assert digest_files([first], "tsc") != digest


def test_what_has_passed_is_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "0a" not in PassedChecks("page")
    PassedChecks("page").add("0a")
    assert "0a" in PassedChecks("page")
    assert "0a" not in PassedChecks("programs")
    monkeypatch.setenv("HEALD_ALL_CHECKS", "1")
    assert "0a" not in PassedChecks("page")


def test_only_the_newest_are_stored(tmp_path: Path) -> None:
    passed = PassedChecks("page")
    for number in range(STORED + 5):
        passed.add(f"{number:04}")
    assert len(list((tmp_path / "cache").rglob("0*"))) == STORED
    assert f"{STORED + 4:04}" in passed
