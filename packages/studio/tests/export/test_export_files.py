"""A project as a zip and as a folder: every file, under names that lead nowhere else."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heald.core.errors import ConfigurationError
from heald.tools.workspace.paths import PathFault
from heald_studio.export.files import safe_name, write_project, zip_project
from heald_studio.stacks.installed import load_stacks

FILES: dict[str, str | bytes] = {"index.html": "<p>é</p>", "img/dot.png": b"\x89PNG", "src/a.js": "1\n"}


@pytest.mark.parametrize("name", list(load_stacks()))
def test_a_zip_holds_every_file(sample: Callable[[str], dict[str, str | bytes]], name: str) -> None:
    files = sample(name)
    with zipfile.ZipFile(io.BytesIO(zip_project(files, "My page"))) as archive:
        assert archive.testzip() is None
        members = {entry.filename: archive.read(entry) for entry in archive.infolist()}
    assert members == {
        f"My-page/{path}": text.encode() if isinstance(text, str) else text for path, text in files.items()
    }


def test_the_same_project_is_the_same_zip() -> None:
    assert zip_project(FILES) == zip_project(dict(reversed(FILES.items())))


@pytest.mark.parametrize("path", ["../x", "/etc/x", "a\\b", "a\0", "C:/x"])
def test_no_path_leads_out_of_a_zip_or_folder(tmp_path: Path, path: str) -> None:
    with pytest.raises(PathFault):
        zip_project({path: "x"})
    out = tmp_path / "out"
    with pytest.raises(PathFault):
        write_project({"index.html": "ok", path: "x"}, out)
    assert list(tmp_path.rglob("*")) == [out]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("My page", "My-page"),
        ("../../../app/static/poc.js", "app-static-poc.js"),
        ("/etc/passwd", "etc-passwd"),
        ("..", "project"),
        ("", "project"),
        (".htaccess", "htaccess"),
        ("con", "project"),
        ("NUL.txt", "project"),
        ("Überblick: Häfen", "Uberblick-Hafen"),
        ("日本", "project"),
        ("a\0b\nc", "a-b-c"),
        ("x" * 500, "x" * 80),
        ("</title><script>", "title-script"),
    ],
)
def test_names_are_made_safe(text: str, name: str) -> None:
    assert safe_name(text) == name


@settings(deadline=None)
@given(st.text())
def test_a_name_is_one_plain_component(text: str) -> None:
    name = safe_name(text)
    assert 0 < len(name) <= 80
    assert not set(name) & set('/\\:*?"<>|\0\n ')
    assert not name.startswith(".")


def test_a_folder_is_written_whole(tmp_path: Path) -> None:
    out = tmp_path / "a" / "out"
    assert write_project(FILES, out) == sorted(FILES)
    assert (out / "index.html").read_text("utf-8") == "<p>é</p>"
    assert (out / "img" / "dot.png").read_bytes() == b"\x89PNG"
    assert write_project(FILES, out) == sorted(FILES)


def test_what_is_there_is_only_replaced_if_wanted(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("mine")
    (tmp_path / "other.txt").write_text("stays")
    with pytest.raises(ConfigurationError, match=r"index\.html would be replaced; choose an empty folder"):
        write_project(FILES, tmp_path)
    assert (tmp_path / "index.html").read_text() == "mine"
    assert not (tmp_path / "src").exists()
    write_project(FILES, tmp_path, replace=True)
    assert (tmp_path / "index.html").read_text("utf-8") == "<p>é</p>"
    assert (tmp_path / "other.txt").read_text() == "stays"


def test_links_in_the_folder_are_not_followed_out(tmp_path: Path) -> None:
    out, outside = tmp_path / "out", tmp_path / "outside"
    out.mkdir()
    outside.mkdir()
    (out / "img").symlink_to(outside)
    with pytest.raises(PathFault):
        write_project(FILES, out, replace=True)
    assert list(outside.iterdir()) == []


def test_a_folder_that_cannot_be_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(ConfigurationError, match="cannot be made"):
        write_project(FILES, tmp_path / "file")
