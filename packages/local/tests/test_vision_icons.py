"""Icons of known sets get the path, the size, the colour and the name of their set; what looks different is traced."""

import io
import json
from collections.abc import Sequence

import numpy as np
import pytest
from PIL import Image
from playwright.async_api import Browser

from heald_local.arrange.drawings import share_shapes
from heald_local.page import Node, walk_nodes
from heald_local.see import icon_sets
from heald_local.see.icon_boxes import is_icon_outline
from heald_local.see.icon_paths import read_shape
from heald_local.see.icon_pictures import find_room, write_path
from heald_local.see.icons import FoundIcon, recognise_icon
from heald_local.see.pictures import cut_out
from heald_local.see.vectors import trace_icon, trace_icons
from heald_pictures.elements import Box, PictureElement, TextElement, TextLine, TextStyle
from heald_pictures.rect import Rect
from heald_pictures.regions import Pixels

needs_sets = pytest.mark.skipif(icon_sets.find_icon_set() is None, reason="the icon sets are not installed")
CELL = 64


def _markup(group: str, name: str, kind: str, size: int, colour: str, width: float) -> str:
    """Return an icon of a set as a page has it."""
    icon_set = icon_sets.find_icon_set()
    assert icon_set is not None
    icons = (icon_set.icon(number) for number in range(len(icon_set)))
    icon = next(
        candidate for candidate in icons if (candidate.set, candidate.name, candidate.kind) == (group, name, kind)
    )
    shapes = "".join(
        f"<{tag} {' '.join(f'{key}={json.dumps(value)}' for key, value in attributes)}/>"
        for tag, attributes in icon.shapes
    )
    paint = f'stroke="currentColor" stroke-width="{width}" ' if kind != "fill" else ""
    paint += 'fill="none"' if kind == "stroke" else 'fill="currentColor"'
    return (
        f'<svg width="{size}" height="{size}" viewBox="0 0 {icon.view} {icon.view}" {paint} stroke-linecap="round" '
        f'stroke-linejoin="round" style="position:absolute;left:9px;top:13px;color:{colour}">{shapes}</svg>'
    )


async def _render(chrome: Browser, drawings: Sequence[str], ground: str = "#ffffff", ratio: int = 1) -> list[Pixels]:
    """Return the pixels of drawings, each in a cell."""
    context = await chrome.new_context(
        viewport={"width": CELL * len(drawings), "height": CELL}, device_scale_factor=ratio
    )
    page = await context.new_page()
    cells = "".join(
        f'<i style="position:absolute;left:{CELL * at}px">{drawing}</i>' for at, drawing in enumerate(drawings)
    )
    await page.set_content(f'<body style="margin:0;background:{ground}">{cells}')
    pixels = np.asarray(Image.open(io.BytesIO(await page.screenshot())).convert("RGB"))
    await context.close()
    step = CELL * ratio
    return [pixels[:step, at * step : (at + 1) * step] for at in range(len(drawings))]


def _recognise(seen: Pixels, ratio: int = 1) -> FoundIcon | None:
    return recognise_icon(seen, np.broadcast_to(seen[0, 0], seen.shape), ratio)


@needs_sets
@pytest.mark.asyncio(loop_scope="session")
async def test_icons_are_recognised_with_size_place_width_and_colour(chrome: Browser) -> None:
    icons = [
        ("lucide", "search", "stroke", 16, "#334155", 2.0),
        ("lucide", "settings", "stroke", 20, "#0b2545", 2.0),
        ("lucide", "heart", "stroke", 24, "#dc2626", 1.5),
        ("heroicons", "magnifying-glass", "stroke", 24, "#111827", 1.5),
        ("heroicons", "bell", "fill", 20, "#7c3aed", 0.0),
        ("simple-icons", "github", "fill", 32, "#181717", 0.0),
    ]
    for seen, (group, name, kind, size, colour, width) in zip(
        await _render(chrome, [_markup(*icon) for icon in icons]), icons, strict=True
    ):
        recognised = _recognise(seen)
        assert recognised is not None, name
        assert (recognised.icon.set, recognised.icon.name, recognised.icon.kind) == (group, name, kind)
        assert (recognised.left, recognised.top, recognised.size) == pytest.approx((9, 13, size), abs=0.01)
        assert recognised.width == width
        channels = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
        assert np.abs(np.array(recognised.change) + 255 - channels).max() <= 12, name


@needs_sets
@pytest.mark.asyncio(loop_scope="session")
async def test_fine_pixels_and_dark_grounds_do_not_matter(chrome: Browser) -> None:
    drawing = _markup("lucide", "truck", "stroke", 24, "#f8fafc", 2.0)
    seen = (await _render(chrome, [drawing], "#0f172a", 2))[0]
    recognised = _recognise(seen, 2)
    assert recognised is not None
    assert recognised.icon.name == "truck"
    assert (recognised.left, recognised.top, recognised.size) == pytest.approx((18, 26, 48), abs=0.01)


@needs_sets
@pytest.mark.asyncio(loop_scope="session")
async def test_an_icon_that_differs_in_one_place_is_not_recognised(chrome: Browser) -> None:
    bookmark = _markup("lucide", "bookmark", "both", 32, "#111111", 2.0)
    hole = '<circle cx="12" cy="8" r="1.7" fill="#fff" stroke="none"/></svg>'
    other = '<svg width="32" height="32" style="position:absolute;left:9px;top:13px">'
    other += '<path d="M2 2L30 9L17 15L28 28L9 19L4 30Z" fill="#222"/></svg>'
    changed, drawn, plain = await _render(chrome, [bookmark.replace("</svg>", hole), other, bookmark])
    assert _recognise(changed) is None
    assert _recognise(drawn) is None
    recognised = _recognise(plain)
    assert recognised is not None
    assert recognised.icon.name == "bookmark"


@needs_sets
@pytest.mark.asyncio(loop_scope="session")
async def test_a_recognised_picture_is_one_clean_path_and_looks_the_same(chrome: Browser) -> None:
    seen = (await _render(chrome, [_markup("lucide", "search", "stroke", 24, "#1d4ed8", 2.0)]))[0]
    page = np.full((CELL, CELL, 3), 255, np.uint8)
    rects = np.argwhere((seen != 255).any(axis=2))
    (top, left), (bottom, right) = rects.min(axis=0), rects.max(axis=0) + 1
    cut = cut_out(seen, 1, Rect(int(left), int(top), int(right - left), int(bottom - top)), "icon", 1)
    picture = trace_icons([cut], seen, page, 1, find_room([], [], [cut], page))[0]
    assert (picture.icon, picture.rect, picture.view_box) == ("search", Rect(9, 13, 24, 24), "0 0 24 24")
    assert dict(picture.paint)["stroke-width"] == "2"
    assert [shape.tag for shape in picture.shapes] == ["path"]
    placed = picture.vector.replace("<svg ", '<svg style="position:absolute;left:9px;top:13px" ')
    copy = (await _render(chrome, [placed]))[0]
    assert np.abs(copy.astype(int) - seen).mean() < 0.4

    tight = trace_icon(cut, seen, page, 1)
    assert tight.rect == cut.rect
    assert tight.view_box != "0 0 24 24"
    placed = tight.vector.replace("<svg ", f'<svg style="position:absolute;left:{left}px;top:{top}px" ')
    assert np.abs((await _render(chrome, [placed]))[0].astype(int) - seen).mean() < 0.4


@pytest.mark.asyncio(loop_scope="session")
async def test_without_the_sets_icons_are_traced(chrome: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    drawing = '<svg width="24" height="24" style="position:absolute;left:9px;top:13px"><path d="M2 2h20v20H12z"/></svg>'
    seen = (await _render(chrome, [drawing]))[0]
    monkeypatch.setitem(icon_sets.DIGESTS, icon_sets.FORMS, "another one")
    icon_sets.forget_icon_set()
    try:
        assert icon_sets.find_icon_set() is None
        page = np.full((CELL, CELL, 3), 255, np.uint8)
        picture = trace_icon(cut_out(seen, 1, Rect(9, 13, 24, 24), "icon", 1), seen, page, 1)
        assert picture.shapes
        assert picture.icon == ""
    finally:
        icon_sets.forget_icon_set()


@needs_sets
def test_joined_paths_have_the_points_of_the_shapes() -> None:
    icon_set = icon_sets.find_icon_set()
    assert icon_set is not None
    for number in range(0, len(icon_set), 23):
        icon = icon_set.icon(number)
        apart = [point for tag, pairs in icon.shapes for line in read_shape(tag, dict(pairs)) for point in line.points]
        data = "".join(write_path(tag, dict(attributes)) for tag, attributes in icon.shapes)
        joined = [point for line in read_shape("path", {"d": data}) for point in line.points]
        edges = [(np.min(points, axis=0), np.max(points, axis=0)) for points in (apart, joined)]
        assert np.abs(np.array(edges[0]) - np.array(edges[1])).max() < 0.06, icon.name


def test_paths_are_read_as_svg_writes_them() -> None:
    square = read_shape("path", {"d": "m1 1h2v2H1z"})
    assert [line.points for line in square] == [((1, 1), (3, 1), (3, 3), (1, 3))]
    assert square[0].closed
    arc = read_shape("path", {"d": "M0 0a1 1 0 012 0"})[0].points  # flags without spaces
    assert arc[-1] == pytest.approx((2, 0))
    assert min(y for _, y in arc) == pytest.approx(-1, abs=0.03)
    curve = read_shape("path", {"d": "M0 0c0 2 2 2 2 0s2-2 2 0"})[0].points
    assert curve[-1] == pytest.approx((4, 0))
    assert min(y for _, y in curve) == pytest.approx(-1.5, abs=0.05)
    assert read_shape("path", {"d": "M0 0q1 2 2 0t2 0"})[0].points[-1] == pytest.approx((4, 0))
    assert read_shape("text", {}) == []
    assert write_path("path", {"d": "m21 21-4.34-4.34"}) == "M21 21l-4.34-4.34"


def test_an_icon_grows_only_where_nothing_else_is() -> None:
    page = np.zeros((100, 100, 3), np.uint8)
    icon = PictureElement(Rect(20, 20, 10, 10), "icon", "icon-1", b"")
    style = TextStyle("sans", 16, 400, False, "#000000")
    line = TextLine("word", Rect(33, 20, 30, 10), Rect(33, 18, 30, 14), style, 30, 1.0)
    text = TextElement((line,), line.rect, style, "left", 1.2)
    wide = Rect(18, 18, 14, 14)
    assert find_room([], [text], [icon], page)(icon.rect, wide)
    assert not find_room([], [text], [icon], page)(icon.rect, Rect(16, 16, 20, 20))
    assert not find_room([], [], [icon], page)(icon.rect, Rect(-1, 16, 20, 20))
    other = PictureElement(Rect(31, 20, 10, 10), "icon", "icon-2", b"")
    assert not find_room([], [], [icon, other], page)(icon.rect, wide)


def test_an_icon_that_occurs_twice_is_defined_once_under_its_name() -> None:
    path = Node("path", "", (), (), (("d", "M" + "1 2 " * 30),))
    named = Node("svg", "icon", (), (), (("data-icon", "search"),), (), (path,))
    nodes = share_shapes((named, named))
    assert [dict(node.attributes)["id"] for node in walk_nodes(nodes[:1]) if node.tag == "path"] == ["icon-search"]
    assert [dict(node.attributes)["href"] for node in walk_nodes(nodes[1:]) if node.tag == "use"] == [
        "#icon-search"
    ] * 2


def test_a_box_filled_by_what_is_not_text_is_the_outline_of_an_icon() -> None:
    envelope = Box(Rect(492, 990, 24, 20), "#b45309", 1)
    inner = Rect(493, 991, 22, 18)
    assert is_icon_outline(envelope, [inner], [])
    assert not is_icon_outline(envelope, [inner], [inner])  # a badge with its number
    assert not is_icon_outline(envelope, [Rect(500, 996, 8, 8)], [])  # a tile with a small icon
    assert not is_icon_outline(Box(Rect(490, 980, 60, 40), "#b45309"), [Rect(492, 982, 56, 36)], [])
