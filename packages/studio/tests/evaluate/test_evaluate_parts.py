"""Links, controls, icons and photographs: what a page has of the document that was rendered."""

import pytest

from evaluate_support import png
from heald_studio.browser.browser import Browser
from heald_studio.browser.page import serve_files
from heald_studio.evaluate.page_parts import PagePart, PartFigures, compare_parts, read_parts, with_parts
from needed_programs import needs_chromium

_STYLE = "<style>body{margin:0} body>*{position:absolute} img{width:200px;height:120px}</style>"
_ICON = '<svg viewBox="0 0 9 9" width="20" height="20" style="left:{}px;top:60px"><path d="M0 0h9v9z"/></svg>'


def _document(body: str) -> dict[str, str | bytes]:
    return {"index.html": f"<!doctype html><meta charset=utf-8>{_STYLE}{body}", "a.png": png(), "b.svg": _ICON}


async def _parts(browser: Browser, body: str) -> tuple[PagePart, ...]:
    seen = await browser.render(serve_files(_document(body)), probe=with_parts("() => ({ other: 1 })"))
    assert seen.probed["other"] == 1
    return read_parts(seen.probed)


@needs_chromium
async def test_the_parts_of_a_document_are_listed_with_their_state(browser: Browser) -> None:
    body = '<a href="#" style="top:10px">Home</a><a style="top:30px">no link</a><button style="top:50px">Go</button>'
    body += (
        '<input style="top:80px"><input type="checkbox" checked style="top:110px"><select style="top:140px"></select>'
    )
    body += f'{_ICON.format(300)}<img src="a.png" alt="A boat" style="top:200px">'
    parts = await _parts(browser, body)
    kinds = [(part.kind, part.on, part.drawn, part.named) for part in parts]
    assert kinds == [
        ("link", False, False, False),
        ("button", False, False, False),
        ("field", False, False, False),
        ("checkbox", True, False, False),
        ("select", False, False, False),
        ("icon", False, True, False),
        ("photo", False, False, True),
    ]
    assert parts[0].box[1] == 10


@needs_chromium
async def test_a_copy_is_compared_by_place_kind_and_state(browser: Browser) -> None:
    source = '<a href="#" style="top:10px">Home</a><a href="#" style="top:10px;left:200px">News</a>'
    source += '<input type="checkbox" checked style="top:110px"><input type="radio" style="top:140px">'
    source += f'{_ICON.format(300)}{_ICON.format(400)}<img src="a.png" alt="A boat" style="top:200px">'
    copy = '<button style="top:10px">Home</button><span style="top:10px;left:200px">News</span>'
    copy += '<a href="#" style="top:400px;left:300px">nothing was here</a>'
    copy += '<input type="checkbox" style="top:110px"><input type="radio" style="top:140px">'
    copy += f'{_ICON.format(300)}<img src="a.png" alt="" style="top:60px;left:400px;width:20px;height:20px">'
    copy += '<img src="a.png" alt="" style="top:200px">'
    figures = compare_parts(await _parts(browser, source), await _parts(browser, copy))
    assert figures == PartFigures(links=0.5, controls=0.5, icons=0.5, alts=0.0, invented=0.5)


def test_a_small_photograph_of_the_document_is_no_icon() -> None:
    face, star = PagePart("icon", (10, 10, 32, 32)), PagePart("icon", (60, 10, 14, 14), drawn=True)
    assert compare_parts([face], [face]).icons is None
    assert compare_parts([face, star], [face, star]).icons == 1
    assert compare_parts([face, star], [face]).icons == 0


def test_a_document_without_such_parts_has_no_figures() -> None:
    assert compare_parts((), ()) == PartFigures()


@pytest.mark.parametrize(("left", "share"), [(0.0, 1.0), (40.0, 1.0), (60.0, 0.0), (300.0, 0.0)])
def test_a_part_is_found_where_it_was(left: float, share: float) -> None:
    link = PagePart("link", (0, 0, 100, 20))
    assert compare_parts([link], [PagePart("link", (left, 0, 100, 20))]).links == share
