"""The pages to measure on are of our own making, need nothing from elsewhere, and a third of them is sealed."""

import re
import sys
from pathlib import Path

import pytest

from repository import ROOT

FOLDER = ROOT / "benchmarks" / "pages"
if not FOLDER.is_dir():
    pytest.skip("the pages are only in a checkout", allow_module_level=True)
sys.path.insert(0, str(ROOT))
from benchmarks.pages import made  # noqa: E402

PAGES = sorted((*FOLDER.glob("tuning/*.html"), *FOLDER.glob("held/*.html")))
needs_icons = pytest.mark.skipif(
    not (FOLDER / "tools/node_modules/lucide-static").is_dir(), reason="npm ci --prefix benchmarks/pages/tools"
)


def test_there_are_sixty_and_a_third_of_them_is_sealed() -> None:
    names = [*made.OPEN, *made.SEALED, *(page.stem for page in PAGES)]
    assert len(names) == len(set(names)) >= 60
    assert 3 * len(made.SEALED) >= len(names)
    languages = {language for language, _, _ in made.SEALED.values()}
    assert {"en", "ru", "zh", "ar"} <= languages
    kinds = {name.partition("-")[0] for name in made.SEALED}
    assert kinds == {name.partition("-")[0] for name in made.OPEN}


@needs_icons
@pytest.mark.parametrize("name", [*made.OPEN, *made.SEALED])
def test_a_made_page_is_whole_and_always_the_same(name: str) -> None:
    text = made.make_page(name)
    assert text == made.make_page(name)
    drawn = set(re.findall(r'^    "(\w+)": \(', (FOLDER / "pictures.py").read_text("utf-8"), re.M))
    pictured = set(re.findall(r"\.\./pictures/(\w+)\.png", text))
    assert pictured <= drawn
    for file in re.findall(r"url\(\.\./(tools/[^)]+)\)", text):
        assert (FOLDER / file).is_file()
    assert not re.search(r"https?:|<script|<link|@import", text)
    assert text.startswith("<!doctype html>\n<html lang=")


def test_there_are_enough_and_half_of_them_are_held_back() -> None:
    sets = [page.parent.name for page in PAGES]
    assert len(PAGES) >= 24
    assert sets.count("tuning") == sets.count("held")
    assert len({page.stem for page in PAGES}) == len(PAGES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_is_whole_by_itself(page: Path) -> None:
    text = page.read_text("utf-8")
    drawn = set(re.findall(r'^    "(\w+)": \(', (FOLDER / "pictures.py").read_text("utf-8"), re.M))
    pictured = set(re.findall(r'src="\.\./pictures/(\w+)\.png"', text))
    assert pictured <= drawn
    assert text.count('src="') == text.count('src="../pictures/')
    assert not re.search(r"https?:|<script|<link|@import|url\((?!#)", text)
    assert text.startswith("<!doctype html>\n<html lang=")
    assert '<meta name="viewport"' in text


def test_every_page_is_listed_in_the_readme() -> None:
    readme = (FOLDER / "README.md").read_text("utf-8")
    assert [page.stem for page in PAGES if not re.search(rf"[| ,]{page.stem}[ ,|]", readme)] == []
