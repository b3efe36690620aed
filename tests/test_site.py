"""The documentation site: all pages stand in its navigation, dead links are found, versions are listed.

`make docs-site` builds it; Zensical is not a part of the test environment.
"""

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import pytest

from repository import ROOT


@pytest.fixture
def site_script() -> Any:
    spec = importlib.util.spec_from_file_location("make_site", ROOT / "scripts" / "make_site.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_page_stands_in_the_navigation() -> None:
    config = (ROOT / "docs" / "site" / "mkdocs.yml").read_text("utf-8")
    listed = set(re.findall(r": ([\w/.-]+\.md)$", config.partition("\nnav:")[2], re.M))
    pages = {path.name for path in (ROOT / "docs").glob("*.md")}
    assert pages - listed == set()
    assert {name for name in listed if "/" not in name} - pages == {"index.md"}
    sources = [name.removeprefix("source/") for name in listed if name.startswith("source/")]
    assert [name for name in sources if not (ROOT / name).is_file()] == []


def test_every_public_module_has_a_page_of_reference(site_script: Any) -> None:
    names = (ROOT / "tests" / "public_names.txt").read_text("utf-8").split()
    assert set(site_script.MODULES) == {name.rpartition(".")[0] for name in names}


def test_links_lead_to_where_their_targets_are_in_the_site(site_script: Any) -> None:
    text, linked = site_script.rewrite_links(ROOT / "docs" / "plugins.md")
    assert "](source/examples/plugin/README.md)" in text
    assert ROOT / "examples" / "plugin" / "README.md" in linked
    text, _ = site_script.rewrite_links(ROOT / "README.md")
    assert "](tutorial.md)" in text
    text, _ = site_script.rewrite_links(ROOT / "examples" / "plugin" / "README.md")
    assert "](../../../plugins.md)" in text


def test_dead_links_are_found(site_script: Any, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text('<h1 id="top"></h1><a href="#top"></a><a href="a.html#there"></a>')
    (tmp_path / "a.html").write_text('<p id="there"><a href="https://example.org/x"></a><img src="none.png">')
    (tmp_path / "b.html").write_text('<a href="index.html#nowhere"></a><a href="gone.html"></a>')
    assert sorted(site_script.find_dead_links(tmp_path)) == [
        "a.html: none.png does not exist",
        "b.html: gone.html does not exist",
        "b.html: index.html#nowhere has no such anchor",
    ]


def test_versions_are_listed_for_the_pages(site_script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site_script, "SITE", tmp_path / "site")
    monkeypatch.setattr(site_script, "SOURCE", tmp_path / "source")
    for version, is_latest in (("0.9", True), ("dev", False), ("0.10", True), ("dev", False)):
        (tmp_path / "source" / "site").mkdir(parents=True)
        site_script.place_version(version, is_latest=is_latest)
    versions = json.loads((tmp_path / "site" / "versions.json").read_text("utf-8"))
    assert [(entry["version"], entry["aliases"]) for entry in versions] == [
        ("dev", []),
        ("0.10", ["latest"]),
        ("0.9", []),
    ]
    assert "url=0.10/index.html" in (tmp_path / "site" / "index.html").read_text("utf-8")
