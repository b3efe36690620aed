"""Archives and folders: one odd entry refuses the whole, and nothing is ever written outside."""

import contextlib
import io
import os
import stat
import struct
import zipfile
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heald_studio.bad_input import BadInput
from heald_studio.export.files import zip_project
from heald_studio.input.projects import read_project, unpack_zip


def zipped(*entries: tuple[str, bytes], mode: int = 0o100644) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries:
            info = zipfile.ZipInfo("x")
            info.filename = name
            info.external_attr = mode << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
    return out.getvalue()


def test_files_come_out_without_the_folder_around_them() -> None:
    assert unpack_zip(zipped(("site/", b""), ("site/index.html", b"hi"), ("site/a/b.css", b"x"))) == {
        "index.html": b"hi",
        "a/b.css": b"x",
    }
    junk = ("__MACOSX/._index.html", b"x"), ("a/.DS_Store", b"x")
    assert unpack_zip(zipped(("index.html", b"hi"), *junk)) == {"index.html": b"hi"}


@pytest.mark.parametrize(
    "name",
    ["../x", "../../x", "/abs", "C:\\x", "C:/x", "a/../../x", "a\\..\\x", "~/x", "a\0b", "a\nb", "\u2028x", "x" * 300],
)
def test_one_odd_name_refuses_the_whole(name: str) -> None:
    with pytest.raises(BadInput, match=r"^The archive ") as caught:
        unpack_zip(zipped(("index.html", b"hi"), (name, b"evil")))
    assert caught.value.kind == "bad_archive"


@pytest.mark.parametrize("mode", [stat.S_IFLNK | 0o777, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFSOCK])
def test_links_and_devices_are_refused(mode: int) -> None:
    with pytest.raises(BadInput, match="is a link or no file"):
        unpack_zip(zipped(("link", b"/etc/passwd"), mode=mode))


def test_bombs_are_refused_before_they_burst() -> None:
    with pytest.raises(BadInput, match="packed too tightly"):
        unpack_zip(zipped(("index.html", bytes(20_000_000))))
    with pytest.raises(BadInput, match="unpacks to more than"):
        unpack_zip(zipped(("index.html", bytes(33_000_000))))
    with pytest.raises(BadInput, match="2001 entries; at most 2000"):
        unpack_zip(zipped(*((f"{number}", b"") for number in range(2_001))))


def test_names_stand_for_one_file_each() -> None:
    with (
        pytest.warns(UserWarning, match="Duplicate name"),
        pytest.raises(BadInput, match="has 'a' twice"),
    ):
        unpack_zip(zipped(("a", b"1"), ("a", b"2")))
    with pytest.raises(BadInput, match=r"has 'a' twice"):
        unpack_zip(zipped(("a", b"1"), ("./a", b"2")))
    with pytest.raises(BadInput, match="as a file and as a folder"):
        unpack_zip(zipped(("a", b"1"), ("a/b", b"2")))


def test_entries_that_share_their_bytes_are_refused() -> None:
    """Fifield's bomb: the data of one entry is the next entry."""
    inner = _local("b", b"2" * 50)
    outer = _local("a", inner)
    table = _central("a", inner, 0) + _central("b", b"2" * 50, len(outer) - len(inner))
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 2, 2, len(table), len(outer), 0)
    with zipfile.ZipFile(io.BytesIO(outer + table + end)) as archive:
        assert archive.namelist() == ["a", "b"]
    with pytest.raises(BadInput, match="has entries that overlap"):
        unpack_zip(outer + table + end)


def _sizes(name: str, data: bytes) -> bytes:
    return struct.pack("<3I2H", zlib.crc32(data), len(data), len(data), len(name), 0)


def _local(name: str, data: bytes) -> bytes:
    return struct.pack("<4s5H", b"PK\x03\x04", 20, 0, 0, 0, 33) + _sizes(name, data) + name.encode() + data


def _central(name: str, data: bytes, offset: int) -> bytes:
    head = struct.pack("<4s6H", b"PK\x01\x02", 20, 20, 0, 0, 0, 33) + _sizes(name, data)
    return head + struct.pack("<3H2I", 0, 0, 0, 0, offset) + name.encode()


def test_a_size_that_lies_is_refused() -> None:
    data = bytearray(zipped(("a", b"1" * 500)))
    entry = data.rindex(b"PK\x01\x02")
    struct.pack_into("<I", data, entry + 24, 10)
    with pytest.raises(BadInput):
        unpack_zip(bytes(data))


@pytest.mark.parametrize("data", [b"", b"no zip", zipped()[:10], zipped(("a", b"x" * 100))[:60]])
def test_what_is_no_zip(data: bytes) -> None:
    with pytest.raises(BadInput, match="is damaged or no zip"):
        unpack_zip(data)
    with pytest.raises(BadInput, match="has no files"):
        unpack_zip(zipped())


@settings(deadline=None)
@given(st.binary(max_size=400), st.integers(0, 400), st.integers(0, 255))
def test_no_damage_raises_anything_else(tail: bytes, at: int, value: int) -> None:
    data = bytearray(zipped(("index.html", b"hello"), ("a/b", tail)))
    data[at % len(data)] = value
    with contextlib.suppress(BadInput):
        unpack_zip(bytes(data))


@settings(deadline=None)
@given(
    st.dictionaries(
        st.from_regex(r"[a-z]{1,6}/[a-z]{1,6}\.(html|png)", fullmatch=True),
        st.binary(max_size=50),
        min_size=1,
        max_size=6,
    )
)
def test_what_was_exported_can_be_imported(files: dict[str, bytes]) -> None:
    files["index.html"] = b"<p>"
    assert unpack_zip(zip_project(files, "any name")) == files


def test_a_folder_is_read_without_what_is_fetched_or_linked(tmp_path: Path) -> None:
    site, outside = tmp_path / "site", tmp_path / "outside"
    (site / "src").mkdir(parents=True)
    (site / "node_modules" / "x").mkdir(parents=True)
    outside.write_text("CANARY")
    (site / "index.html").write_text("<p>")
    (site / "src" / "a.js").write_text("a")
    (site / "node_modules" / "x" / "i.js").write_text("no")
    (site / "link").symlink_to(outside)
    os.mkfifo(site / "pipe")
    assert read_project(site) == {"index.html": b"<p>", "src/a.js": b"a"}


def test_a_page_a_drawing_and_a_zip_are_projects(tmp_path: Path) -> None:
    page = tmp_path / "Old page.HTML"
    page.write_bytes(b"<p>")
    assert read_project(page) == {"index.html": b"<p>"}
    drawing = tmp_path / "x.svg"
    drawing.write_bytes(b"<svg/>")
    assert read_project(drawing) == {"image.svg": b"<svg/>"}
    archive = tmp_path / "x.zip"
    archive.write_bytes(zipped(("index.html", b"hi")))
    assert read_project(archive) == {"index.html": b"hi"}


@pytest.mark.parametrize(
    ("name", "sentence"), [("none", "does not exist"), ("x.exe", "is not a page"), ("empty", "has no files")]
)
def test_what_is_no_project(tmp_path: Path, name: str, sentence: str) -> None:
    (tmp_path / "x.exe").write_bytes(b"MZ")
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match=sentence) as caught:
        read_project(tmp_path / name)
    assert str(tmp_path) not in str(caught.value)
