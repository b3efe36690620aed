"""Documents beside pictures: their blocks, the score of Design2Code, and what a copy has of them."""

from collections.abc import Mapping
from pathlib import Path

from evaluate_support import png
from heald_studio.browser.browser import Browser
from heald_studio.browser.page import TextBlock, Viewport, serve_files
from heald_studio.evaluate.conversion import Conversion
from heald_studio.evaluate.design2code import Design2Code, score_design2code
from heald_studio.evaluate.document_blocks import TextArea, read_text_areas
from heald_studio.evaluate.document_figures import (
    Count,
    DocumentFigures,
    DocumentParts,
    compare_documents,
    read_document_parts,
    with_document,
)
from heald_studio.evaluate.evaluation import evaluate
from heald_studio.evaluate.page_document import changed_share, moved_share, read_document, serve_folder
from heald_studio.evaluate.page_parts import PARTS_PROBE, PagePart, read_parts
from heald_studio.evaluate.report_html import render_html
from heald_studio.evaluate.targets import load_targets
from heald_studio.stacks.stack import Stack
from needed_programs import needs_chromium

_WINDOW = Viewport(400, 300)
_BODY = """<h1>Boats of the north</h1><p>Two sheds and a <em>quay</em>, <a>open</a> all year.</p>
<ul><li>Rowing</li><li>Sailing</li></ul><form><input value="Your name"></form>"""


def _area(text: str, x: float = 0.1, y: float = 0.1, w: float = 0.2, h: float = 0.1) -> TextArea:
    return TextArea(text, (x, y, w, h), (0.0, 0.0, 0.0))


def _page(body: str) -> dict[str, str | bytes]:
    head = '<meta charset=utf-8><meta name=viewport content="width=device-width">'
    return {"index.html": f"<!doctype html>{head}<body>{body}</body>"}


async def _compare(browser: Browser, document: str, page: str) -> DocumentFigures:
    sides: list[tuple[DocumentParts, tuple[PagePart, ...], tuple[TextBlock, ...]]] = []
    for body in (document, page):
        probe = with_document(PARTS_PROBE)
        seen = await browser.render(serve_files(_page(body)), viewport=_WINDOW, probe=probe)
        sides.append((read_document_parts(seen.probed), read_parts(seen.probed), seen.texts))
    return compare_documents(sides[0], sides[1], _page(page))


def test_equal_blocks_score_one_and_none_scores_nothing() -> None:
    areas = [_area("boats"), _area("quay", y=0.5)]
    assert score_design2code(areas, areas) == Design2Code(1.0, 1.0, 1.0, 1.0)
    assert score_design2code([], areas) == Design2Code(0.0, 0.0, 0.0, 0.0)


def test_a_block_that_is_missing_costs_its_share_of_both_areas() -> None:
    scores = score_design2code([_area("boats")], [_area("boats"), _area("and quite another text", y=0.5, w=0.4)])
    assert abs(scores.block - 0.04 / 0.08) < 1e-9
    assert (scores.text, scores.position) == (1.0, 1.0)


def test_blocks_that_are_one_on_the_other_side_are_merged() -> None:
    halves = [_area("two sheds and", w=0.2), _area("a quay", x=0.3, w=0.1)]
    scores = score_design2code(halves, [_area("two sheds and a quay", w=0.3)])
    assert (scores.block, scores.text) == (1.0, 1.0)
    assert abs(scores.position - 1.0) < 1e-9


def test_position_is_the_larger_distance_and_colour_is_what_people_see() -> None:
    moved = TextArea("boats", (0.2, 0.15, 0.2, 0.1), (255.0, 255.0, 255.0))
    scores = score_design2code([moved], [_area("boats")])
    assert abs(scores.position - 0.9) < 1e-9
    assert scores.colour < 0.01


@needs_chromium
async def test_blocks_are_the_ink_of_each_element_with_its_real_colour(browser: Browser) -> None:
    body = "<style>*{margin:0}p{color:#c00;width:300px}</style><p>Red words</p><div>Black <b>and bold</b></div>"
    body += '<strong style="color:blue">no block of its own</strong>'
    serve = serve_files(_page(body))
    picture = (await browser.render(serve, viewport=_WINDOW)).picture
    first, second, third = await read_text_areas(browser, serve, "index.html", _WINDOW, picture)
    assert [area.text for area in (first, second, third)] == ["red words", "black", "and bold"]
    assert first.colour[0] > 180 > 60 > first.colour[1]
    assert first.box[2] < 0.3
    assert second.box[0] + second.box[2] <= third.box[0]


@needs_chromium
async def test_a_copy_that_is_the_document_has_all_of_it(browser: Browser) -> None:
    figures = await _compare(browser, _BODY, _BODY)
    all_of_it = Count(1, 1)
    assert (figures.fields, figures.headings, figures.lists) == (all_of_it, all_of_it, all_of_it)
    assert figures.unread.number == 0
    assert {figures.weight.share, figures.style.share, figures.size.share, figures.wrap.share} == {1.0}
    assert (figures.invented, figures.hollow, figures.by_place) == (0, 0, 0)


@needs_chromium
async def test_what_a_copy_lacks_and_invents_is_counted(browser: Browser) -> None:
    lines = "<style>*{margin:0;font:16px/20px serif}</style>"
    page = '<style>p:nth-of-type(2){color:red}</style><svg aria-label="Area chart" width="300" height="60"></svg>'
    page += "<div></div><p><b>Two</b></p><input>"
    figures = await _compare(
        browser, f"{lines}<div style='height:60px'></div><h2>Two</h2><p>Lost line</p>", lines + page
    )
    assert (figures.headings, figures.charts, figures.new_fields) == (Count(0, 1), 1, 1)
    assert (figures.hollow, figures.by_place) == (1, 1)


@needs_chromium
async def test_letters_that_are_pictures_count_as_unread_and_as_letters(browser: Browser) -> None:
    lines = "<style>*{margin:0}p{font:16px/20px serif}svg{display:block}</style>"
    figures = await _compare(browser, f"{lines}<p>Words</p>", f'{lines}<svg width="30" height="18"></svg>')
    assert (figures.unread, figures.letters) == (Count(1, 1), 1)


@needs_chromium
async def test_a_document_is_rendered_with_the_files_beside_it_only(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "secret.png").write_bytes(png())
    (tmp_path / "inside/boat.png").write_bytes(png())
    page = tmp_path / "inside/a.html"
    shade = "<p style='text-shadow:0 0 9px #000;font-size:4px'>A line whose colour no pixel has</p>"
    page.write_text(f'{_BODY}{shade}<img src="boat.png"><img src="%2e%2e/secret.png"><img src="other.png">')
    document = await read_document(browser, page, _WINDOW)
    assert 0 < document.seen < 1
    assert [path.rpartition("/")[2] for path in document.missing] == ["secret.png", "other.png"]
    assert document.identity == Design2Code(1.0, 1.0, 1.0, 1.0)
    assert serve_folder(tmp_path / "inside")("https://project.heald.invalid/a%00b") is None


@needs_chromium
async def test_what_the_picture_does_not_show_is_not_expected_of_a_copy(browser: Browser, tmp_path: Path) -> None:
    field = "border:0;background:white;position:absolute;top:200px"
    page = tmp_path / "a.html"
    unseen = f'<a style="color:white">white</a><input style="{field}"><input style="position:absolute;left:-900px">'
    page.write_text(f"<!doctype html>{_BODY}{unseen}<h2 style='color:white'>white</h2>")
    document = await read_document(browser, page, _WINDOW)
    assert [part.kind for part in document.parts] == ["field"]
    assert (len(document.elements.links), len(document.elements.headings)) == (1, 1)
    assert not any("white" in text.text for text in document.texts)


def test_pictures_of_another_size_are_completely_different() -> None:
    assert changed_share(png(), png()) == 0.0
    assert changed_share(png(), png(9, 6)) == 1.0


def test_pictures_that_documents_show_are_not_targets(tmp_path: Path) -> None:
    for name in ("a.png", "shown.jpg"):
        (tmp_path / name).write_bytes(png())
    (tmp_path / "a.html").write_text(_BODY)
    (target,) = load_targets(tmp_path)
    assert (target.name, target.document) == ("a", tmp_path / "a.html")


@needs_chromium
async def test_an_evaluation_compares_pages_with_their_documents_and_shows_the_worst_first(
    browser: Browser, tmp_path: Path
) -> None:
    for name, body in (("a", _BODY), ("b", _BODY + "<p>More words here</p>")):
        (tmp_path / f"{name}.html").write_text(f"<!doctype html><meta charset=utf-8>{body}")
        seen = await browser.render(serve_folder(tmp_path), f"{name}.html", Viewport(400, 300))
        (tmp_path / f"{name}.png").write_bytes(seen.picture)

    async def convert(_picture: bytes, _stack: Stack, /) -> Conversion:
        files: Mapping[str, str | bytes] = _page(_BODY)
        return Conversion(files=files)

    report = await evaluate(tmp_path, {"copy": convert}, browser=browser)
    same, other = report.rows
    assert same.design2code == same.identity == Design2Code(1.0, 1.0, 1.0, 1.0)
    assert same.document is not None
    assert same.document.headings == Count(1, 1)
    assert other.design2code is not None
    assert other.design2code.block < 1.0
    html = render_html(report)
    assert html.index("<h3>b ·") < html.index("<h3>a ·")
    assert "Design2Code block" in html


@needs_chromium
async def test_a_picture_whose_lines_are_elsewhere_is_replaced_by_a_rendering(browser: Browser, tmp_path: Path) -> None:
    words = "<p>Two sheds and a quay</p><p>Open all year</p>"
    fonts = {"same": "serif", "other": "monospace"}
    document = "<!doctype html><meta charset=utf-8><style>p{font:16px serif}</style>" + words
    given: dict[bytes, str] = {}
    for name, font in fonts.items():
        (tmp_path / "drawn.html").write_text(document.replace("serif", font))
        seen = await browser.render(serve_folder(tmp_path), "drawn.html", _WINDOW)
        (tmp_path / f"{name}.png").write_bytes(seen.picture)
        (tmp_path / f"{name}.html").write_text(document)
        given[seen.picture] = name
        assert moved_share(seen.picture, seen.picture, seen.texts) == 0.0
        assert moved_share(seen.picture, png(9, 6), seen.texts) == 1.0
    converted: list[str] = []

    async def convert(picture: bytes, _stack: Stack, /) -> Conversion:
        converted.append(given.get(picture, "rendering"))
        return Conversion(files=_page(words))

    report = await evaluate(tmp_path, {"copy": convert}, browser=browser)
    assert "other" not in converted
    notes = {row.target: " ".join(row.notes) for row in report.rows}
    assert "100% of their lines" in notes["other"]
    assert "rendering" not in notes["same"]
