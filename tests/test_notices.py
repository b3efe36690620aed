"""Everything of others that the page and the wheels contain is named, with its licence."""

import json
import re
import zipfile
from pathlib import Path

import pytest

from repository import ROOT
from wheelhouse import Wheelhouse

NOTICES = "THIRD_PARTY_NOTICES.txt"
LICENCE_WORDS = re.compile(
    r"permission is hereby granted|apache license|mozilla public|creative commons|permission to use, copy|CC0", re.I
)


def _notices(wheel: Path) -> dict[str, str]:
    """The sections of a wheel's notices, by the name and version in their first line."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(NOTICES))
        text = archive.read(name).decode()
    sections = re.split(r"^#{80}\n", text, flags=re.M)[1:]
    return {section.partition("\n")[0]: section.partition("\n")[2] for section in sections}


def _locked_page() -> set[str]:
    """The packages that npm installs for the page, without tools and optional ones, which hold types only."""
    lock = json.loads((ROOT / "web" / "package-lock.json").read_text("utf-8"))["packages"]
    names = {path.rpartition("node_modules/")[2]: entry for path, entry in lock.items() if path}
    return {
        f"{name} {entry['version']}" for name, entry in names.items() if not (entry.get("dev") or entry.get("optional"))
    }


def _locked_libraries() -> set[str]:
    path = ROOT / "packages" / "studio" / "src" / "heald_studio" / "libraries" / "lock.json"
    return {f"{package['name']} {package['version']}" for package in json.loads(path.read_bytes())["packages"]}


def test_the_page_names_every_package_that_it_is_built_from(wheelhouse: Wheelhouse) -> None:
    sections = _notices(wheelhouse.wheels["heald-server"])
    names = {title.rpartition(" ")[0] for title in sections}
    assert {"react", "react-dom", "dompurify", "marked", "@codemirror/view", "vite"} <= names
    assert _locked_page() <= set(sections)


def test_the_studio_names_every_library_of_the_previews(wheelhouse: Wheelhouse) -> None:
    assert set(_notices(wheelhouse.wheels["heald-studio"])) == _locked_libraries()


def test_the_converter_names_its_models_and_icons(wheelhouse: Wheelhouse) -> None:
    names = {title.partition(" ")[0] for title in _notices(wheelhouse.wheels["heald-local"])}
    assert names == {"rapidocr", "lucide-static", "heroicons", "simple-icons"}


def test_the_core_names_the_source_of_its_prices(wheelhouse: Wheelhouse) -> None:
    assert {title.partition(" ")[0] for title in _notices(wheelhouse.wheels["heald-core"])} == {"genai-prices"}


@pytest.mark.parametrize("name", ["heald-server", "heald-studio", "heald-local", "heald-core"])
def test_every_notice_has_the_text_of_a_licence(name: str, wheelhouse: Wheelhouse) -> None:
    without = [title for title, text in _notices(wheelhouse.wheels[name]).items() if not LICENCE_WORDS.search(text)]
    assert without == []


def test_no_file_of_others_is_shipped_by_a_wheel_without_notices(wheelhouse: Wheelhouse) -> None:
    """Fonts, scripts of libraries, models and archives stand only in wheels that have notices."""
    foreign = re.compile(r"\.(woff2?|ttf|otf|zip|wasm|onnx|gz)$")
    for wheel in wheelhouse.wheels.values():
        names = zipfile.ZipFile(wheel).namelist()
        if any(map(foreign.search, names)):
            assert any(name.endswith(NOTICES) for name in names), wheel.name


def test_every_wheel_has_our_licence(wheelhouse: Wheelhouse) -> None:
    licence = (ROOT / "LICENSE").read_bytes()
    for wheel in wheelhouse.wheels.values():
        with zipfile.ZipFile(wheel) as archive:
            (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/licenses/LICENSE"))
            assert archive.read(name) == licence
