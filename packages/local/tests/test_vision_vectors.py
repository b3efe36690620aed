"""Icons of few flat colours become SVG paths that cover what the icon covers; other pictures stay as they are."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image, ImageDraw

from heald_local.files import embed_in_page, encode_as_files
from heald_local.see import icon_sets
from heald_local.see.colour_layers import split_colours
from heald_local.see.curves import fit_outline, flatten_outline
from heald_local.see.outlines import trace_loops
from heald_local.see.path_data import path_data
from heald_local.see.pictures import cut_out
from heald_local.see.vectors import trace_icon
from heald_pictures.elements import PictureElement
from heald_pictures.rect import Rect
from heald_pictures.regions import Pixels

SIDE = 32
NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)")
COMMAND = re.compile(r"([Mlcz])([^Mlcz]*)")


@pytest.fixture(autouse=True)
def no_known_icons(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trace all icons: a ring is one that Heald knows."""
    monkeypatch.setattr(icon_sets, "find_icon_set", lambda: None)


def _icon(draw: str, ratio: int = 1, colour: str = "#1d4ed8", ground: str = "#ffffff") -> Image.Image:
    fine = Image.new("RGB", (SIDE * ratio * 8, SIDE * ratio * 8), ground)
    pen, unit = ImageDraw.Draw(fine), ratio * 8
    match draw:
        case "ring":
            pen.ellipse((6 * unit, 6 * unit, 26 * unit, 26 * unit), outline=colour, width=3 * unit)
        case "tick":
            pen.line((7 * unit, 17 * unit, 13 * unit, 23 * unit, 25 * unit, 9 * unit), fill=colour, width=3 * unit)
        case "thin":
            width = round(1.2 * unit)
            pen.polygon(
                [(16 * unit, 8 * unit), (24 * unit, 22 * unit), (8 * unit, 22 * unit)], outline=colour, width=width
            )
        case "two":
            pen.rectangle((4 * unit, 4 * unit, 15 * unit, 27 * unit), fill=colour)
            pen.rectangle((17 * unit, 4 * unit, 28 * unit, 27 * unit), fill="#dc2626")
        case _:
            raise ValueError(draw)
    return fine.reduce(8)


def _traced(image: Image.Image, ratio: int = 1, ground: int = 255) -> PictureElement:
    fine: Pixels = np.asarray(image)
    page = np.full((SIDE, SIDE, 3), ground, np.uint8)
    return trace_icon(cut_out(fine, ratio, Rect(0, 0, SIDE, SIDE), "icon", 1), fine, page, ratio)


def _loops(svg: str, number: int = 0) -> list[list[tuple[float, float]]]:
    """Return the outlines of a path as points, with eight on each curve."""
    loops: list[list[tuple[float, float]]] = []
    for command, rest in COMMAND.findall(ElementTree.fromstring(svg)[number].attrib["d"]):
        values = [float(number_text) for number_text in NUMBER.findall(rest)]
        if command == "M":
            loops.append([(values[0], values[1])])
        for at in range(0, len(values), 6 if command == "c" else 2) if command in "lc" else ():
            x, y = loops[-1][-1]
            steps = values[at : at + (6 if command == "c" else 2)]
            points = [(x, y), *((x + steps[i], y + steps[i + 1]) for i in range(0, len(steps), 2))]
            loops[-1] += [*flatten_outline([np.array(points)])[1:], points[-1]]
    return loops


def _area(loop: list[tuple[float, float]]) -> float:
    return sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(loop, [*loop[1:], loop[0]], strict=True)) / 2


@pytest.mark.parametrize("ratio", [1, 2])
def test_a_ring_is_two_circles_in_its_colour(ratio: int) -> None:
    picture = _traced(_icon("ring", ratio), ratio)
    assert picture.path == "assets/icon-1.svg"
    assert picture.content.startswith(b"<svg")
    assert ('color="#1d4ed8"' in picture.vector, 'fill="currentColor"' in picture.vector) == (True, True)
    assert f'viewBox="0 0 {SIDE} {SIDE}"' in picture.vector
    outer, inner = sorted(_loops(picture.vector), key=lambda loop: -abs(_area(loop)))
    assert abs(_area(outer)) == pytest.approx(np.pi * 10**2, rel=0.04)
    assert abs(_area(inner)) == pytest.approx(np.pi * 7**2, rel=0.06)
    assert (min(x for x, _ in outer), max(x for x, _ in outer)) == pytest.approx((6, 26), abs=0.4)
    assert picture.vector.count("c") < 20  # curves, not a point for each pixel


def test_a_tick_is_one_loop_on_its_own_ground() -> None:
    picture = _traced(_icon("tick", ground="#f3f4f6"), ground=244)
    (loop,) = _loops(picture.vector)
    assert abs(_area(loop)) == pytest.approx(3 * (8.5 + 18.4), rel=0.15)


def test_an_icon_of_two_colours_has_a_path_for_each() -> None:
    picture = _traced(_icon("two"))
    fills = [path.attrib["fill"] for path in ElementTree.fromstring(picture.vector)]
    assert sorted(fills) == ["#1d4ed8", "#dc2626"]
    assert "currentColor" not in picture.vector
    areas = [sum(abs(_area(loop)) for loop in _loops(picture.vector, number)) for number in (0, 1)]
    assert sorted(areas) == pytest.approx([257, 514], rel=0.03)  # the lower path reaches under the upper


def test_a_thin_outline_is_traced() -> None:
    picture = _traced(_icon("thin"))
    assert len(_loops(picture.vector)) == 2


def test_an_icon_of_many_colours_stays_a_picture() -> None:
    ramp = np.zeros((SIDE, SIDE, 3), np.uint8) + np.arange(0, 256, 8).astype(np.uint8)[None, :, None]
    picture = _traced(Image.fromarray(ramp))
    assert (picture.vector, picture.path) == ("", "assets/icon-1.png")


def test_a_face_is_no_disc_of_one_colour() -> None:
    image = _icon("ring", colour="#fca5a5")
    ImageDraw.Draw(image).ellipse((9, 9, 23, 23), fill="#7c2d12")
    face, ground = np.asarray(image), np.full((SIDE, SIDE, 3), 255, np.uint8)
    assert len(split_colours(face, ground)) == 2


def test_noise_stays_a_picture() -> None:
    noise = np.random.default_rng(4).integers(0, 2, (SIDE, SIDE, 1), np.uint8) * np.full(3, 200, np.uint8)
    assert _traced(Image.fromarray(255 - noise)).vector == ""


def test_every_loop_is_closed_and_diagonal_pixels_are_parted() -> None:
    cover = np.zeros((6, 6), np.float32)
    cover[1, 1] = cover[2, 2] = cover[4, 4] = 1
    loops = trace_loops(cover)
    assert sum(abs(_area(loop)) for loop in loops) == pytest.approx(1.5, abs=0.1)
    assert len(loops) == 3


def test_points_on_a_line_are_dropped_and_corners_kept() -> None:
    sides = [(at / 4, 0.0) for at in range(40)] + [(10.0, at / 4) for at in range(40)]
    sides += [(10 - at / 4, 10.0) for at in range(40)] + [(0.0, 10 - at / 4) for at in range(40)]
    square = fit_outline(np.array(sides), 0.12)
    assert len(square) == 4
    assert path_data([square]).count("l") == 1
    circle = fit_outline(np.array([(9 * np.cos(at / 20), 9 * np.sin(at / 20)) for at in range(126)]), 0.12)
    assert {len(segment) for segment in circle} == {4}
    assert len(circle) <= 8


def test_a_traced_icon_is_written_as_it_is() -> None:
    picture = _traced(_icon("ring"))
    assets = {picture.path: picture.content}
    files = encode_as_files(assets)
    assert files.files == {"assets/icon-1.svg": picture.vector}
    assert embed_in_page(assets).fill(f'<img src="{picture.path}">').startswith('<img src="data:image/svg+xml;base64,')
