"""The page as one drawing: borders, shadows, weights, controls, and text that is written from the right."""

from dataclasses import replace
from xml.etree import ElementTree

from heald_local.arrange.page import arrange
from heald_local.write.svg import write_svg
from heald_pictures.elements import Border, Box, Control, Shadow, TextElement
from heald_pictures.rect import Rect
from vision_pages import box, seen, text

SVG = "{http://www.w3.org/2000/svg}"


def _draw(*parts: Box | TextElement) -> ElementTree.Element:
    return ElementTree.fromstring(str(write_svg(arrange(seen(*parts)))["image.svg"]))


def _rects(root: ElementTree.Element, colour: str) -> list[tuple[float, ...]]:
    rects = [rect for rect in root.iter(f"{SVG}rect") if rect.get("fill") == colour]
    return [tuple(float(rect.get(name, "0")) for name in ("x", "y", "width", "height")) for rect in rects]


def test_a_border_is_drawn_on_its_sides_alone() -> None:
    root = _draw(replace(box(40, 60, 300, 100), border=Border((0, 0, 2, 1), "#d1d5db")))
    assert _rects(root, "#d1d5db") == [(40, 158, 300, 2), (40, 60, 1, 100)]
    assert all(rect.get("stroke") is None for rect in root.iter(f"{SVG}rect"))


def test_the_border_all_around_lies_within_the_box_and_may_be_dashed() -> None:
    frame = Border((2, 2, 2, 2), "#d1d5db", dashed=True)
    root = _draw(replace(box(40, 60, 300, 100, radius=9), border=frame))
    [drawn] = [rect for rect in root.iter(f"{SVG}rect") if rect.get("stroke")]
    assert [drawn.get(name) for name in ("x", "width", "rx", "stroke-dasharray")] == ["41", "298", "8", "6 4"]


def test_a_shadow_is_a_filter_of_half_its_blur() -> None:
    root = _draw(replace(box(40, 60, 300, 100), shadow=Shadow(0, 2, 6, 0.2)))
    [drop] = root.iter(f"{SVG}feDropShadow")
    assert [drop.get(name) for name in ("dy", "stdDeviation", "flood-opacity")] == ["2", "3", "0.2"]
    [shape] = [rect for rect in root.iter(f"{SVG}rect") if rect.get("filter")]
    [filter_] = root.iter(f"{SVG}filter")
    assert shape.get("filter") == f"url(#{filter_.get('id')})"


def test_a_text_has_its_own_weight_and_one_from_the_right_ends_at_its_right_side() -> None:
    heading, words = text(40, 60, "Half bold", 20, 600), text(700, 60, "שלום עולם", 16)
    first, second = _draw(heading, words).iter(f"{SVG}text")
    assert first.get("font-weight") == "600"
    assert (second.get("direction"), second.get("x")) == ("rtl", f"{words.rect.right:.1f}")


def test_controls_show_their_state() -> None:
    on = replace(box(40, 60, 44, 24), control=Control("switch", True, 0, "#16a34a", "#ffffff"))
    off = replace(box(40, 100, 44, 24), control=Control("switch", False, 0, "#d1d5db", "#fafafa"))
    tick = replace(box(40, 140, 16, 16), control=Control("checkbox", True, 0, "#2563eb", "#ffffff"))
    root = _draw(on, off, tick)
    knobs = {circle.get("fill"): float(circle.get("cx", "0")) for circle in root.iter(f"{SVG}circle")}
    assert (knobs["#ffffff"], knobs["#fafafa"]) == (72, 52)
    assert len(list(root.iter(f"{SVG}polyline"))) == 1
    assert _rects(root, "#2563eb") == [(40, 140, 16, 16)]
    assert on.rect == Rect(40, 60, 44, 24)
