"""Heald's own network finds controls with their state; without it a page is built as before."""

import io
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw

from heald_local.arrange.page import arrange
from heald_local.page import Node, walk_nodes
from heald_local.see import models, parts
from heald_local.see.controls import find_controls, place_controls
from heald_local.see.cut_icons import without_marks
from heald_local.see.detect import detect_elements
from heald_local.see.detection_cache import clear_cache
from heald_local.see.icon_boxes import is_icon_ground
from heald_local.see.parts import FoundPart, find_parts
from heald_pictures.elements import Box, Control, Detection
from heald_pictures.errors import ModelsMissing
from heald_pictures.rect import Rect
from heald_pictures.regions import Mask, Pixels
from vision_pages import box, picture, seen, text

network_needed = pytest.mark.skipif(
    not models.available() or models.parts_network() is None, reason="the models of heald[local] are not installed"
)
ACCENT = "#2563eb"
FINE = 4  # drawn larger and made smaller, so that edges are soft


PAPER: Pixels = np.full((200, 400, 3), 255, np.uint8)


def _page() -> Image.Image:
    """A form as browsers draw it: two ticks, two radio buttons, two switches and a slider, each with a line of text."""
    image = Image.new("RGB", (640 * FINE, 420 * FINE), "white")
    pen = ImageDraw.Draw(image)

    def area(left: float, top: float, right: float, bottom: float) -> tuple[float, float, float, float]:
        return left * FINE, top * FINE, right * FINE - 1, bottom * FINE - 1

    for y, words in enumerate(("Send me news", "Remember this device", "By post", "By courier", "Sound", "Motion")):
        pen.text((80 * FINE, (40 + 44 * y) * FINE), words, fill="#1f2937", font_size=16 * FINE)
    pen.rounded_rectangle(area(48, 42, 66, 60), 3 * FINE, ACCENT)
    pen.line([(point[0] * FINE, point[1] * FINE) for point in ((52, 51), (55.5, 54.5), (62, 47))], "white", 2 * FINE)
    pen.rounded_rectangle(area(48, 86, 66, 104), 3 * FINE, "white", "#6b7280", FINE)
    pen.ellipse(area(48, 130, 66, 148), "white", ACCENT, 2 * FINE)
    pen.ellipse(area(53, 135, 61, 143), ACCENT)
    pen.ellipse(area(48, 174, 66, 192), "white", "#6b7280", FINE)
    pen.rounded_rectangle(area(260, 216, 300, 238), 11 * FINE, ACCENT)
    pen.ellipse(area(280, 218, 298, 236), "white")
    pen.rounded_rectangle(area(260, 260, 300, 282), 11 * FINE, "#d1d5db")
    pen.ellipse(area(262, 262, 280, 280), "white")
    pen.rounded_rectangle(area(48, 326, 348, 332), 3 * FINE, "#d1d5db")
    pen.rounded_rectangle(area(48, 326, 122, 332), 3 * FINE, ACCENT)
    pen.ellipse(area(114, 319, 134, 339), "white", ACCENT, 2 * FINE)
    return image.reduce(FINE)


def _png(image: Image.Image) -> bytes:
    data = io.BytesIO()
    image.save(data, "PNG")
    return data.getvalue()


def _inputs(detection: Detection) -> list[Node]:
    return [node for node in walk_nodes(arrange(detection).body) if node.tag == "input"]


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(models, "parts_network", lambda: None)
    clear_cache()
    yield
    clear_cache()


@network_needed
def test_controls_are_found_with_their_state() -> None:
    pixels: Pixels = np.asarray(_page())
    controls = find_controls(pixels, find_parts(pixels, np.ones(pixels.shape[:2], np.bool_)))
    states = sorted((rect.y, control.kind, control.on) for rect, control in controls if control.kind != "slider")
    kinds = [(kind, on) for _, kind, on in states]
    assert kinds == [
        ("checkbox", True),
        ("checkbox", False),
        ("radio", True),
        ("radio", False),
        ("switch", True),
        ("switch", False),
    ]
    (slider,) = (control for _, control in controls if control.kind == "slider")
    assert abs(slider.value - 0.26) < 0.06
    assert next(control for _, control in controls if control.on).colour == ACCENT


@network_needed
def test_a_picture_of_a_form_becomes_a_form_with_its_state() -> None:
    clear_cache()
    inputs = [dict(node.attributes) for node in _inputs(detect_elements(_png(_page())))]
    states = [(attributes["type"], attributes.get("role", ""), "checked" in attributes) for attributes in inputs]
    assert states.count(("checkbox", "", True)) == 1
    assert states.count(("checkbox", "", False)) == 1
    assert states.count(("radio", "", True)) == 1
    assert states.count(("checkbox", "switch", True)) == 1
    assert states.count(("checkbox", "switch", False)) == 1
    assert [attributes["value"] for attributes in inputs if attributes["type"] == "range"] in (
        [str(value)] for value in range(21, 32)
    )
    assert all(attributes["aria-label"] for attributes in inputs)


@pytest.mark.usefixtures("no_network")
def test_without_the_network_nothing_is_found_and_the_page_is_built() -> None:
    pixels: Pixels = np.asarray(_page())
    assert find_parts(pixels, np.ones(pixels.shape[:2], np.bool_)) == []
    if not models.available():
        return
    detection = detect_elements(_png(_page()))
    assert [element.text for element in detection.texts]
    assert not any(box.control for box in detection.boxes)


def test_a_package_without_the_network_has_none_and_a_changed_one_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "DATA", tmp_path)
    load = models._load_own  # pyright: ignore[reportPrivateUsage]
    load.cache_clear()
    try:
        assert models.parts_network() is None
        load.cache_clear()
        (tmp_path / models.PARTS).write_bytes(b"other")
        with pytest.raises(ModelsMissing, match=r"The model parts\.onnx is damaged"):
            models.parts_network()
    finally:
        load.cache_clear()


def _parts(*named: tuple[str, Rect]) -> list[FoundPart]:
    return [FoundPart(name, rect, 0.9) for name, rect in named]


def test_icons_and_ticks_are_cut_off_the_lines_that_they_lie_on() -> None:
    line = Rect(100, 50, 200, 20)
    assert without_marks(PAPER, [line], _parts(("icon", Rect(102, 51, 18, 18)))) == [Rect(121, 50, 179, 20)]
    middle = without_marks(PAPER, [line], _parts(("checkbox", Rect(180, 52, 16, 16))))
    assert middle == [Rect(100, 50, 79, 20), Rect(197, 50, 103, 20)]
    assert without_marks(PAPER, [Rect(100, 50, 20, 20)], _parts(("icon", Rect(99, 49, 22, 22)))) == []
    assert without_marks(PAPER, [line], _parts(("icon", Rect(102, 90, 18, 18)), ("photo", Rect(0, 0, 400, 400)))) == [
        line
    ]


def test_what_a_control_is_drawn_with_becomes_one_box() -> None:
    control = Control("checkbox", True, 0.0, ACCENT, "#ffffff")
    frame, other, tick = box(50, 50, 18, 18, border=True), box(300, 50, 90, 40), picture(53, 53, 10, 10)
    boxes, pictures = place_controls([frame, other], [tick], [(Rect(49, 49, 20, 20), control)])
    assert [placed.control for placed in boxes] == [None, control]
    assert boxes[1].rect == Rect(50, 50, 18, 18)
    assert pictures == []
    photo = picture(0, 0, 400, 300)
    assert place_controls([other], [photo], [(Rect(49, 49, 20, 20), control)]) == ([other], [photo])


def test_a_switch_is_drawn_from_its_knob_and_track_and_a_tick_in_its_colour() -> None:
    switch = Box(Rect(200, 20, 40, 20), ACCENT, 10, control=Control("switch", True, 0.0, ACCENT, "#fefefe"))
    tick = Box(Rect(20, 80, 18, 18), ACCENT, control=Control("checkbox", True, 0.0, ACCENT, "#ffffff"))
    slider = Box(Rect(20, 140, 200, 20), ACCENT, control=Control("slider", False, 0.4, ACCENT, "#ffffff"))
    page = seen(text(20, 20, "Sound"), switch, tick, text(46, 80, "Motion"), text(20, 118, "Volume"), slider)
    nodes = {node.name: node for node in _inputs(page)}
    styles = {name: dict(node.style) for name, node in nodes.items()}
    names = {name: dict(node.attributes) for name, node in nodes.items()}
    assert "#fefefe" in styles["switch"]["background"]
    assert styles["checkbox"]["accent-color"] == ACCENT
    assert (names["range"]["value"], names["range"]["aria-label"]) == ("40", "Volume")
    assert (names["switch"]["aria-label"], names["checkbox"]["aria-label"]) == ("Sound", "Motion")


def test_the_tick_of_a_list_is_no_check_box() -> None:
    pixels: Pixels = np.asarray(_page()).copy()
    boxed = FoundPart("checkbox_on", Rect(48, 42, 18, 18), 0.9)
    image = Image.fromarray(pixels)
    ImageDraw.Draw(image).line([(452, 51), (457, 56), (466, 44)], ACCENT, 2)
    bare = FoundPart("checkbox_on", Rect(450, 42, 18, 16), 0.9)
    [(rect, control)] = find_controls(np.asarray(image), [boxed, bare])
    assert (rect.x, control.kind, control.on) == (48, "checkbox", True)


def test_the_dot_of_a_list_is_no_radio_button() -> None:
    image = _page()
    pen = ImageDraw.Draw(image)
    pen.ellipse((450, 130, 467, 147), "#14b8a6")
    pixels: Pixels = np.asarray(image)
    dot = FoundPart("radio_on", Rect(450, 130, 18, 18), 0.9)
    rings = [FoundPart("radio_on", Rect(48, 130, 18, 18), 0.9), FoundPart("radio", Rect(48, 174, 18, 18), 0.9)]
    assert [rect.y for rect, _ in find_controls(pixels, [dot, *rings])] == [130, 174]
    assert [rect.x for rect, _ in find_controls(pixels, [dot, *rings])] == [48, 48]


def test_what_is_no_square_or_doubtful_is_no_check_box() -> None:
    image = Image.new("RGB", (200, 100), "white")
    pen = ImageDraw.Draw(image)
    pen.rectangle((40, 40, 57, 53), outline="#374151", width=2)
    pen.rectangle((100, 40, 115, 55), outline="#374151", width=1)
    card, tick = Rect(40, 40, 18, 14), Rect(100, 40, 16, 16)
    pixels: Pixels = np.asarray(image)
    assert not find_controls(pixels, [FoundPart("checkbox", card, 0.9), FoundPart("checkbox", tick, 0.45)])
    [(rect, _)] = find_controls(pixels, [FoundPart("checkbox", tick, 0.7)])
    assert rect == tick


def test_a_sign_between_words_is_text_and_an_icon_before_them_is_none() -> None:
    line = Rect(100, 100, 200, 20)
    sign, first = FoundPart("icon", Rect(190, 102, 14, 14), 0.9), FoundPart("icon", Rect(101, 102, 14, 14), 0.9)
    assert without_marks(PAPER, [line], [sign]) == [line]
    [rest] = without_marks(PAPER, [line], [first])
    assert (rest.x, rest.right) == (116, 300)


def test_a_logo_on_a_disc_is_one_picture() -> None:
    image = Image.new("RGB", (200, 100), "white")
    pen = ImageDraw.Draw(image)
    pen.ellipse((20, 20, 49, 49), "#0f766e")
    plain: Pixels = np.asarray(image.copy())
    pen.line([(26, 36), (32, 32), (38, 37), (44, 33)], "white", 3)
    parts_on_disc, disc = [FoundPart("icon", Rect(19, 19, 32, 32), 0.9)], box(20, 20, 30, 30, "#0f766e")
    assert is_icon_ground(np.asarray(image), disc, parts_on_disc)
    assert not is_icon_ground(plain, disc, parts_on_disc)
    assert not is_icon_ground(np.asarray(image), disc, [])


def _tile_rows(busy: Mask) -> list[tuple[int, int]]:
    return [(tile.rows.start, tile.rows.stop) for tile in parts._tiles(busy)]  # pyright: ignore[reportPrivateUsage]


def test_tiles_overlap_only_where_a_band_is_cut() -> None:
    busy = np.zeros((3000, 400), np.bool_)
    busy[200:300, 100:300] = True
    assert _tile_rows(busy) == [(200 - parts.MARGIN, 299 + parts.MARGIN)]
    busy[600:1900, 100:300] = True
    first, *cut = _tile_rows(busy)
    assert first == (200 - parts.MARGIN, 299 + parts.MARGIN)
    assert (cut[0][0], cut[-1][1]) == (600 - parts.MARGIN, 1899 + parts.MARGIN)
    assert all(upper[1] - lower[0] == parts.OVERLAP for upper, lower in pairwise(cut))
