"""README and docs: every link, anchor and picture is there, and every file that is named. No network is asked."""

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from doc_pages import PAGES, ROOT, anchors, links, name_of, named_files


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    wrong = [wrong for is_picture, target in links(page) if (wrong := _wrong_with(page, target, is_picture))]
    assert not wrong, f"{name_of(page)}: {'; '.join(wrong)}"


def _wrong_with(page: Path, target: str, is_picture: bool) -> str | None:
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        if is_picture:
            return f"{target} is a picture from elsewhere"
        return None if parts.scheme == "https" else f"{target} is not https"
    if target.startswith("/"):
        return f"{target} is absolute"
    path = (page.parent / parts.path).resolve() if parts.path else page
    if not path.is_relative_to(ROOT) or not path.exists():
        return f"{target} is not there"
    if parts.fragment and path.suffix == ".md" and parts.fragment not in anchors(path):
        return f"{target} has no such heading"
    return None


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "CHANGELOG.md"], ids=name_of)
def test_files_that_are_named_are_there(page: Path) -> None:
    """The changelog names files as they were at its time."""
    missing = [name for name in sorted(named_files(page)) if not _is_there(name)]
    assert not missing


def _is_there(name: str) -> bool:
    made = ("benchmarks/results", "packages/server/src/heald_server/page/built")  # made on the reader's machine
    if name.startswith(made):
        return True
    return any((place / name).exists() for place in (ROOT, ROOT / "packages" / "core" / "src"))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_tables_have_as_many_cells_in_every_row(page: Path) -> None:
    rows = list[int]()
    for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
        if not line.startswith("|"):
            rows.clear()
            continue
        code_without_bars = re.sub(r"`[^`]*`", lambda code: code[0].replace("|", "/"), line.replace("\\|", "/"))
        rows.append(code_without_bars.count("|"))
        assert rows[-1] == rows[0], f"{name_of(page)}:{number}"


def test_every_page_of_the_docs_can_be_found_from_the_readme() -> None:
    seen, waiting = set[Path](), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in seen or page.suffix != ".md":
            continue
        seen.add(page)
        inside = [urlsplit(target).path for _, target in links(page) if not urlsplit(target).scheme]
        waiting += [place for path in inside if (place := (page.parent / path).resolve()).is_file()]
    assert set((ROOT / "docs").glob("*.md")) <= seen


def test_no_picture_of_the_docs_is_shown_nowhere() -> None:
    """A picture that no page shows is one that nobody looks at; screenshots come in sets and may stay."""
    linked = {(page.parent / target).resolve() for page in PAGES for _, target in links(page)}
    drawn = set((ROOT / "docs" / "images").glob("*.svg"))
    assert drawn <= linked
