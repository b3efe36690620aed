"""The pages to measure on are of our own making, need nothing from elsewhere, and come in two balanced halves."""

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[3] / "benchmarks" / "pages"
PAGES = sorted((*FOLDER.glob("tuning/*.html"), *FOLDER.glob("held/*.html")))

pytestmark = pytest.mark.skipif(not PAGES, reason="the pages are only in a checkout")


def test_there_are_enough_and_half_of_them_are_held_back() -> None:
    sets = [page.parent.name for page in PAGES]
    assert len(PAGES) >= 24
    assert sets.count("tuning") == sets.count("held")
    assert len({page.stem for page in PAGES}) == len(PAGES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_is_whole_by_itself(page: Path) -> None:
    text = page.read_text("utf-8")
    drawn = set(re.findall(r'^    "(\w+)": \(', (FOLDER / "pictures.py").read_text("utf-8"), re.M))
    shown = set(re.findall(r'src="\.\./pictures/(\w+)\.png"', text))
    assert shown <= drawn
    assert text.count('src="') == text.count('src="../pictures/')
    assert not re.search(r"https?:|<script|<link|@import|url\((?!#)", text)
    assert text.startswith("<!doctype html>\n<html lang=")
    assert '<meta name="viewport"' in text


def test_every_page_is_listed_in_the_readme() -> None:
    readme = (FOLDER / "README.md").read_text("utf-8")
    assert [page.stem for page in PAGES if not re.search(rf"[| ,]{page.stem}[ ,|]", readme)] == []
