"""What is left of the former name is named in one sentence, and not read."""

from pathlib import Path

import pytest

from heald.config.old_name import find_old_names
from heald.config.sources import sources


def test_nothing_is_left() -> None:
    assert find_old_names() == []


def test_a_project_file_is_named_and_not_read() -> None:
    Path("weft.toml").write_text('model = "openai/gpt-5"\n')
    assert find_old_names() == ["weft.toml is not read any more; rename it to heald.toml."]
    assert sources().documents == []


def test_a_project_file_above_the_folder_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("weft.toml").write_text("")
    Path("below").mkdir()
    monkeypatch.chdir("below")
    [sentence] = find_old_names()
    assert sentence.endswith("work/weft.toml is not read any more; rename it to heald.toml.")


def test_the_settings_of_the_user_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "config" / "weft"
    folder.mkdir(parents=True)
    (folder / "weft.toml").write_text('model = "openai/gpt-5"\n')
    new = tmp_path / "config" / "heald"
    assert find_old_names() == [
        f"{folder} is not read any more; rename it to {new}, and weft.toml in it to heald.toml."
    ]
    new.mkdir()
    assert find_old_names() == [
        f"{folder} is not read any more; move what you need to {new}, and weft.toml in it to heald.toml."
    ]


def test_a_project_folder_is_named() -> None:
    Path(".weft").mkdir()
    assert find_old_names() == [".weft is not read any more; rename it to .heald."]


def test_a_store_is_named(tmp_path: Path) -> None:
    store = tmp_path / "share" / "weft"
    store.mkdir(parents=True)
    new = tmp_path / "share" / "heald"
    assert find_old_names() == [f"The sessions in {store} are not read any more; rename it to {new}."]
    new.mkdir()
    assert find_old_names() == [f"The sessions in {store} are not read any more; use it with --data {store}."]


def test_variables_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_MODEL", "openai/gpt-5")
    monkeypatch.setenv("WEFT_SERVE_PORT", "80")
    assert find_old_names() == [
        "The environment variable WEFT_MODEL is not read any more; rename it to HEALD_MODEL.",
        "The environment variable WEFT_SERVE_PORT is not read any more; rename it to HEALD_SERVE_PORT.",
    ]
