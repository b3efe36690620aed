"""The quality of code: what is measured in the page, and what in its files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluate_support import PAGES
from heald_studio.browser.browser import Browser
from heald_studio.browser.page import DESKTOP, serve_files
from heald_studio.evaluate.checkers import Checkers
from heald_studio.evaluate.quality import Quality, code_size, headings_are_in_order, measure_quality
from heald_studio.evaluate.resource_meter import ResourceMeter
from heald_studio.stacks.installed import find_stack
from needed_programs import needs_chromium


async def measured(browser: Browser, body: str, head: str = "", checkers: Checkers | None = None) -> Quality:
    page = f'<!doctype html><html lang="en"><head><title>t</title>{head}</head><body>{body}</body></html>'
    files = {"index.html": page}
    html = find_stack("html_css")
    _, quality = await measure_quality(browser, serve_files(files), html, files, DESKTOP, checkers or Checkers())
    return quality


@pytest.mark.parametrize(
    ("levels", "fine"),
    [
        ([], True),
        ([1], True),
        ([1, 2, 3, 2, 3, 4], True),
        ([2, 1, 2], True),
        ([2, 3], False),
        ([1, 3], False),
        ([3, 1], False),
        ([1, 2, 4], False),
    ],
)
def test_headings_in_order(levels: list[int], fine: bool) -> None:
    assert headings_are_in_order(levels) is fine


@given(st.lists(st.integers(1, 6)))
def test_going_back_up_never_breaks_the_order(levels: list[int]) -> None:
    if headings_are_in_order(levels):
        assert headings_are_in_order([*levels, 1, 2])


def test_only_code_counts() -> None:
    files = {
        "index.html": "x" * 100,
        "style.css": "é" * 10,
        "logo.svg": "<svg></svg>",
        "photo.png": b"\x89PNG" + bytes(5_000),
        "kept.js": "same",
        "changed.js": "other",
    }
    assert code_size(files, {"kept.js": "same", "changed.js": "before"}, "index.html") == 100 + 20 + 5
    assert code_size({"drawing.svg": "<svg></svg>"}, {}, "drawing.svg") == 11


def test_an_embedded_picture_is_no_code() -> None:
    small = code_size({"index.html": '<img src="data:,">'}, {}, "index.html")
    large = code_size({"index.html": f'<img src="data:image/png;base64,{"A" * 90_000}">'}, {}, "index.html")
    assert small == large


def test_time_and_memory_are_measured_while_the_work_is_busy() -> None:
    with ResourceMeter() as meter:
        block = bytearray(80_000_000)
        for _ in range(20):
            sum(range(200_000))
        del block
    assert meter.seconds > 0
    assert meter.memory_mb is None or meter.memory_mb > 80


@needs_chromium
async def test_a_good_page_has_no_fault(browser: Browser) -> None:
    files = {"index.html": PAGES["form"]}
    seen, quality = await measure_quality(
        browser, serve_files(files), find_stack("html_css"), files, DESKTOP, Checkers()
    )
    assert seen.size[0] == 1280
    assert (quality.positioned, quality.overflow, quality.unlabelled, quality.controls) == (0, 0, 0, 3)
    assert quality.headings_in_order
    assert quality.faults == ()
    assert (quality.axe, quality.invalid) == (None, None)


@needs_chromium
@pytest.mark.usefixtures("one_width")
async def test_positioned_elements_are_counted(browser: Browser) -> None:
    body = (
        '<h1>a</h1><div style="position:absolute">b</div><div style="position:fixed">c</div>'
        '<p style="position:relative">d<br></p><div style="display:none;position:absolute">e</div>'
        '<svg width="9" height="9"><circle r="3"/></svg><script>1</script>'
    )
    quality = await measured(browser, body)
    assert quality.elements == 5
    assert quality.positioned == pytest.approx(2 / 5)


@needs_chromium
async def test_a_page_too_wide_between_phone_and_desktop_is_noticed(browser: Browser) -> None:
    viewport = '<meta name="viewport" content="width=device-width">'
    style = "<style>@media (min-width: 700px) { div { width: 1100px } }</style>"
    assert (await measured(browser, f"{style}<div>wide</div>", viewport)).overflow >= 300


@needs_chromium
@pytest.mark.usefixtures("one_width")
async def test_covering_elements_and_classes_of_one_element_are_counted(browser: Browser) -> None:
    body = (
        '<main style="display:grid"><p class="a b" style="grid-area:1/1">below</p><p class="a c" style="grid-area:1/1">'
        'above</p></main><div class="c">d</div><div style="margin-top:-20px">e</div>'
    )
    quality = await measured(browser, body)
    assert quality.overlaid == pytest.approx(2 / 5)
    assert quality.once == pytest.approx(1 / 3)


@needs_chromium
@pytest.mark.usefixtures("one_width")
async def test_a_page_too_wide_for_a_phone_is_noticed(browser: Browser) -> None:
    viewport = '<meta name="viewport" content="width=device-width">'
    wide = await measured(browser, '<div style="width:500px">wide</div>', viewport)
    assert wide.overflow >= 125
    fixed = await measured(browser, "<div>made for desks only</div>")
    assert fixed.overflow > 0


@needs_chromium
@pytest.mark.usefixtures("one_width")
async def test_controls_need_a_name(browser: Browser) -> None:
    named = [
        '<label>Name <input type="text"></label>',
        '<input type="email" aria-label="Name">',
        '<p id="n">Name</p><input type="url" aria-labelledby="n">',
        "<button>Go</button>",
        '<button><img src="data:," alt="Go"></button>',
        '<input type="submit">',
        '<input type="hidden">',
    ]
    bare = {
        '<input type="tel" placeholder="Name">': "input of type tel",
        '<input type="search" aria-labelledby="nothing">': "input of type search",
        '<label for="i"></label><input type="number" id="i">': "input of type number",
        "<button></button>": "button",
        "<select><option>One</option></select>": "select",
        "<textarea></textarea>": "textarea",
    }
    quality = await measured(browser, f"<h1>Form</h1>{''.join([*named, *bare])}")
    assert quality.faults == tuple(f"no label: {name}" for name in bare.values())
    assert quality.unlabelled == len(bare)
    assert quality.controls == len(named) - 1 + len(bare)
    fine = await measured(browser, f"<h1>Form</h1>{''.join(named)}")
    assert (fine.unlabelled, fine.faults) == (0, ())


@needs_chromium
@pytest.mark.usefixtures("one_width")
async def test_a_checker_runs_where_the_page_cannot_reach_it(browser: Browser) -> None:
    axe = """window.axe = {run: async (document) => ({violations: [
        {id: "contrast", impact: "serious", nodes: [1, 2]}, {id: "region", impact: "moderate", nodes: [1]},
        ...(document.querySelector("h1") ? [] : [{id: "heading", impact: "critical", nodes: [1]}])]})};"""
    cheat = "<script>window.axe = {run: async () => ({violations: []})}; Object.freeze(window.axe)</script>"
    quality = await measured(browser, f"<p>no heading</p>{cheat}", checkers=Checkers(axe=axe))
    assert quality.axe == 2
    assert "axe, serious: contrast (2)" in quality.faults


@needs_chromium
@pytest.mark.usefixtures("one_width")
async def test_a_checker_that_breaks_is_no_measure(browser: Browser) -> None:
    quality = await measured(browser, "<h1>fine</h1>", checkers=Checkers(axe="throw new Error('no')"))
    assert quality.axe is None
