"""Whether there are configuration files: what is found is remembered for a moment."""

from pathlib import Path

import pytest

from heald.config import paths


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, with an empty home folder."""
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.chdir(project)
    return project


def test_a_new_file_is_found_after_a_moment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(paths, "monotonic", lambda: now[0])
    monkeypatch.setattr(paths, "LOOK_SECONDS", 0.1)
    monkeypatch.setattr(paths, "_last_look", (0.0, "", False))
    assert not paths.has_config_files()
    (folder / paths.CONFIG_FILE).write_text("")
    assert not paths.has_config_files()
    now[0] += 0.1
    assert paths.has_config_files()


def test_what_was_found_counts_for_its_folder_only(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "LOOK_SECONDS", 60.0)
    monkeypatch.setattr(paths, "_last_look", (0.0, "", False))
    assert not paths.has_config_files()
    other = folder.parent / "other"
    other.mkdir()
    (other / paths.CONFIG_FILE).write_text("")
    monkeypatch.chdir(other)
    assert paths.has_config_files()


def test_a_removed_working_folder_has_no_files(folder: Path) -> None:
    folder.rmdir()
    assert not paths.has_config_files()
