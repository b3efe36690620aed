"""Charts are redrawn as vector graphics: bars, lines, areas, pies and rings with their colours and labels."""

import math

import numpy as np
import pytest
from PIL import Image, ImageDraw

from heald_local.arrange.page import arrange
from heald_local.see import chart_marks
from heald_local.see.charts import Explained, redraw_charts
from heald_local.see.plot import Colour, Plot
from heald_local.write.stacks import write_files
from heald_pictures.elements import Box, Control, Detection, PictureElement, Shape, TextElement, TextLine, TextStyle
from heald_pictures.rect import Rect
from heald_pictures.regions import Pixels

WIDE, HIGH, FINE = 640, 360, 4
CARD = Box(Rect(20, 20, 600, 320), "#ffffff")
BLUE, TEAL, GREY = "#2563eb", "#0d9488", "#e2e8f0"


class _Canvas:
    """A card that is drawn several times larger, so that edges are as smooth as a browser's."""

    def __init__(self) -> None:
        self._image = Image.new("RGB", (WIDE * FINE, HIGH * FINE), "#f1f5f9")
        self.pen = ImageDraw.Draw(self._image)
        self.bar(CARD.rect.x, CARD.rect.y, CARD.rect.w, CARD.rect.h, "#ffffff")

    def bar(self, x: float, y: float, w: float, h: float, colour: str, radius: float = 0) -> None:
        place = (x * FINE, y * FINE, (x + w) * FINE - 1, (y + h) * FINE - 1)
        self.pen.rounded_rectangle(place, radius * FINE, fill=colour)

    def line(self, points: list[tuple[float, float]], width: float, colour: str) -> None:
        self.pen.line([(x * FINE, y * FINE) for x, y in points], colour, round(width * FINE), joint="curve")

    def area(self, points: list[tuple[float, float]], colour: str) -> None:
        self.pen.polygon([(x * FINE, y * FINE) for x, y in points], colour)

    def sector(self, middle: tuple[float, float], radius: float, start: float, end: float, colour: str) -> None:
        x, y = middle
        place = tuple(side * FINE for side in (x - radius, y - radius, x + radius, y + radius))
        self.pen.pieslice(place, start, end, colour)

    def grid(self) -> None:
        for row in range(5):
            self.bar(80, 60 + 50 * row, 500, 1, GREY)

    @property
    def pixels(self) -> Pixels:
        return np.asarray(self._image.reduce(FINE))


def _text(text: str, x: float, y: float, size: float = 11) -> TextElement:
    rect = Rect(x, y, 6.0 * len(text), size)
    line = TextLine(text, rect, rect, TextStyle("sans", size, 400, False, "#475569"), y + size - 2, 1.0)
    return TextElement((line,), rect, line.style, "left", size)


def _redraw(canvas: _Canvas, texts: list[TextElement] | None = None) -> Explained:
    return redraw_charts(canvas.pixels, 1, "#f1f5f9", [CARD], texts or [], [])


def _chart(explained: Explained) -> PictureElement:
    (picture,) = [candidate for candidate in explained.pictures if candidate.kind == "chart"]
    return picture


def _of_tag(chart: PictureElement, tag: str, colour: str = "") -> list[dict[str, str]]:
    shapes: list[Shape] = [*chart.shapes, *(child for shape in chart.shapes for child in shape.children)]
    attributes = [dict(shape.attributes) for shape in shapes if shape.tag == tag]
    return [
        shape_attributes
        for shape_attributes in attributes
        if not colour or colour in (shape_attributes.get("fill"), shape_attributes.get("stroke"))
    ]


def test_bars_are_rectangles_of_their_size_colour_and_corners() -> None:
    canvas = _Canvas()
    canvas.grid()
    heights = [40.0, 120.5, 90.25, 160.0]
    for number, high in enumerate(heights):
        canvas.bar(100 + 100 * number, 260 - high, 44.5, high, BLUE, 5)
    chart = _chart(_redraw(canvas))
    assert chart.label == "Bar chart"
    bars = _of_tag(chart, "rect", BLUE)
    assert sorted(float(bar["height"]) for bar in bars) == pytest.approx(sorted(heights), abs=0.4)
    assert [float(bar["width"]) for bar in bars] == pytest.approx([44.5] * 4, abs=0.4)
    assert {round(float(bar["rx"])) for bar in bars} <= {4, 5, 6}
    assert len(_of_tag(chart, "rect", GREY)) == 5
    lowest = min(bars, key=lambda bar: float(bar["x"]))
    assert float(lowest["x"]) + chart.rect.x == pytest.approx(100, abs=0.4)


def test_stacked_bars_leave_no_seam() -> None:
    canvas = _Canvas()
    canvas.grid()
    for number, (low, over) in enumerate([(40.3, 30.4), (80.6, 20.2), (60.5, 70.3), (99.2, 40.1)]):
        canvas.bar(100 + 100 * number, 260 - low, 44, low, BLUE)
        canvas.bar(100 + 100 * number, 260 - low - over, 44, over, TEAL)
    chart = _chart(_redraw(canvas))
    lows = sorted(_of_tag(chart, "rect", BLUE), key=lambda bar: float(bar["x"]))
    overs = sorted(_of_tag(chart, "rect", TEAL), key=lambda bar: float(bar["x"]))
    assert len(lows) == len(overs) == 4
    for low, over in zip(lows, overs, strict=True):
        assert float(over["y"]) + float(over["height"]) == pytest.approx(float(low["y"]), abs=0.35)


def test_a_line_is_a_stroke_of_its_width_through_its_points() -> None:
    canvas = _Canvas()
    canvas.grid()
    points = [(100.0, 220.0), (220.0, 100.0), (340.0, 150.0), (460.0, 90.0), (560.0, 200.0)]
    canvas.line(points, 3, BLUE)
    chart = _chart(_redraw(canvas))
    assert chart.label == "Line chart"
    (stroke,) = _of_tag(chart, "path", BLUE)
    assert (stroke["fill"], float(stroke["stroke-width"])) == ("none", pytest.approx(3, abs=0.5))
    assert 3 <= stroke["d"].count("l") + stroke["d"].count("c") + stroke["d"].count(" ") / 2 < 40


def test_an_area_is_as_opaque_as_it_was() -> None:
    canvas = _Canvas()
    canvas.grid()
    points = [(100.0, 200.0), (220.0, 120.0), (340.0, 170.0), (460.0, 90.0), (560.0, 160.0)]
    canvas.area([(100, 260), *points, (560, 260)], "#d3e0fb")  # the blue at a fifth
    canvas.line(points, 2, BLUE)
    chart = _chart(_redraw(canvas))
    assert chart.label == "Area chart"
    (area,) = [path for path in _of_tag(chart, "path", BLUE) if "fill-opacity" in path]
    assert float(area["fill-opacity"]) == pytest.approx(0.2, abs=0.02)


def test_lines_areas_and_few_bars_without_a_scale_are_no_charts() -> None:
    points = [(100.0, 200.0), (220.0, 120.0), (340.0, 170.0), (460.0, 90.0), (560.0, 160.0)]
    line, area, bars = _Canvas(), _Canvas(), _Canvas()
    line.line(points, 3, BLUE)
    area.area([(100, 260), *points, (560, 260)], "#d3e0fb")
    area.line(points, 2, BLUE)
    for number, high in enumerate((30, 90, 60)):
        bars.bar(100 + 100 * number, 260 - high, 44, high, BLUE)
    words = [_text("About", 110, 270), _text("Privacy terms", 240, 290)]
    for canvas in (line, area, bars):
        assert _redraw(canvas, words).pictures == []


def test_the_labels_of_an_axis_and_points_on_a_line_make_a_chart() -> None:
    points = [(100.0, 200.0), (220.0, 120.0), (340.0, 170.0), (460.0, 90.0), (560.0, 160.0)]
    canvas = _Canvas()
    canvas.line(points, 3, BLUE)
    scale = [_text(amount, 74, y) for amount, y in (("200", 90), ("100", 140), ("0", 190))]
    months = [_text(month, x, 212) for month, x in (("Jan", 100), ("Feb", 220), ("Mar", 340))]
    assert _chart(_redraw(canvas, scale)).label == "Line chart"
    assert _chart(_redraw(canvas, months)).label == "Line chart: Jan, Feb, Mar"
    menu = [_text(word, x, 212) for word, x in (("Web", 240), ("Images", 270), ("News", 320))]
    assert _redraw(canvas, menu).pictures == []  # its words stand close together


def test_sectors_have_the_angles_of_a_pie_and_a_hole_makes_a_ring() -> None:
    canvas = _Canvas()
    for colour, start, end in ((BLUE, -90, 30), (TEAL, 30, 180), ("#e11d48", 180, 270)):
        canvas.sector((320, 180), 90, start, end, colour)
    assert _chart(_redraw(canvas)).label == "Pie chart"
    canvas.sector((320, 180), 50, 0, 360, "#ffffff")
    chart = _chart(_redraw(canvas))
    assert chart.label == "Ring chart"
    assert len(_of_tag(chart, "path")) == 3
    (blue,) = _of_tag(chart, "path", BLUE)
    x, y = (float(coordinate) for coordinate in blue["d"][1:].split("A")[0].split())
    angle = math.degrees(math.atan2(y + chart.rect.y - 180, x + chart.rect.x - 320))
    assert angle == pytest.approx(-90, abs=1.5)


def test_labels_near_a_chart_are_texts_of_it_and_others_stay() -> None:
    canvas = _Canvas()
    canvas.grid()
    for number, high in enumerate([40, 120, 90, 160]):
        canvas.bar(100 + 100 * number, 260 - high, 44, high, BLUE)
    labels = [_text("100", 56, 56), _text("0", 66, 256), _text("Jan", 112, 268), _text("Feb", 212, 268)]
    title, note = _text("Sales", 40, 30, 18), _text("These are the sums of all shops together", 90, 282, 13)
    explained = _redraw(canvas, [*labels, title, note])
    assert explained.texts == [title, note]
    chart = _chart(explained)
    assert chart.label == "Bar chart: Jan, Feb"
    assert [shape.text for group in chart.shapes for shape in group.children] == ["100", "0", "Jan", "Feb"]


def test_a_table_progress_bars_and_cards_are_no_charts() -> None:
    table = _Canvas()
    table.grid()
    cells = [_text("Some words in a cell", 90 + 160 * column, 80 + 50 * row) for row in range(4) for column in range(3)]
    assert _redraw(table, cells).pictures == []
    progress = _Canvas()
    for number, wide in enumerate([300, 120, 220, 60]):
        progress.bar(60, 80 + 40 * number, wide, 8, BLUE)
    assert _redraw(progress).pictures == []
    cards = _Canvas()
    for number, high in enumerate([100, 140, 120]):
        cards.bar(60 + 150 * number, 240 - high, 140, high, TEAL)
    names = [_text("A card", 80 + 150 * number, 180, 18) for number in range(3)]
    assert _redraw(cards, names).pictures == []


def test_marks_among_the_controls_or_the_names_of_a_form_are_no_chart() -> None:
    canvas = _Canvas()
    canvas.grid()
    for number, high in enumerate([40, 120, 90, 160]):
        canvas.bar(100 + 100 * number, 260 - high, 44, high, BLUE)
    names, prompts = (
        [_text(f"{word}{end}", x, 268) for word, x in (("Name", 112), ("City", 212))] for end in ("", ":")
    )
    assert _chart(_redraw(canvas, names)).label == "Bar chart: Name, City"
    assert _redraw(canvas, prompts).pictures == []
    tick = Box(Rect(160, 200, 13, 13), "#ffffff", control=Control("checkbox", True, 1.0, BLUE, "#ffffff"))
    assert redraw_charts(canvas.pixels, 1, "#f1f5f9", [CARD, tick], names, []).pictures == []


def test_a_row_of_two_bars_and_paper_between_them_is_no_gap() -> None:
    canvas = _Canvas()
    canvas.grid()
    for number, (low, over) in enumerate([(40, 30), (80, 20), (60, 70), (100, 40)]):
        canvas.bar(100 + 100 * number, 260 - low, 44, low, BLUE)
        canvas.bar(100 + 100 * number, 260 - low - over, 44, over, TEAL)
    pixels = canvas.pixels.copy()
    for number, low in enumerate([40, 80, 60, 100]):  # a browser draws half of each over the paper
        pixels[260 - low, 100 + 100 * number : 144 + 100 * number] = (104, 175, 192)
    chart = _chart(redraw_charts(pixels, 1, "#f1f5f9", [CARD], [], []))
    lows, overs = _of_tag(chart, "rect", BLUE), _of_tag(chart, "rect", TEAL)
    edges = sorted((float(bar["x"]), float(bar["y"])) for bar in lows)
    ends = sorted((float(bar["x"]), float(bar["y"]) + float(bar["height"])) for bar in overs)
    assert [y for _, y in edges] == pytest.approx([y for _, y in ends], abs=0.3)


def test_a_chart_on_which_a_photograph_lies_stays_a_picture() -> None:
    canvas = _Canvas()
    canvas.grid()
    for number, high in enumerate([40, 120, 90, 160]):
        canvas.bar(100 + 50 * number, 260 - high, 30, high, BLUE)
    assert _chart(_redraw(canvas)).label == "Bar chart"
    pixels = canvas.pixels.copy()
    pixels[70:250, 330:560] = np.random.default_rng(7).integers(0, 255, (180, 230, 3), np.uint8)
    assert redraw_charts(pixels, 1, "#f1f5f9", [CARD], [], []).pictures == []


def test_a_photograph_is_no_chart() -> None:
    pixels = _Canvas().pixels.copy()
    noise = np.random.default_rng(7).integers(0, 255, (200, 400, 3), np.uint8)
    pixels[80:280, 100:500] = noise
    assert redraw_charts(pixels, 1, "#f1f5f9", [CARD], [], []).pictures == []


def test_no_marks_are_looked_for_on_a_photograph(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_plot: Plot) -> list[Colour]:
        pytest.fail("the colours of a photograph were counted")

    monkeypatch.setattr(chart_marks, "find_colours", refuse)
    pixels = _Canvas().pixels.copy()
    rows, columns = np.mgrid[0:200, 0:400]
    grain = np.random.default_rng(7).integers(-2, 3, (200, 400, 3))
    light = 120 + 60 * np.sin(rows / 70) * np.cos(columns / 90)
    pixels[80:280, 100:500] = (light[:, :, None] + grain).astype(np.uint8)
    assert redraw_charts(pixels, 1, "#f1f5f9", [CARD], [], []).pictures == []


@pytest.mark.parametrize("stack", ["html_css", "html_tailwind", "react_tailwind", "vue_tailwind"])
def test_a_chart_stands_in_the_page_with_its_text_and_a_label(stack: str) -> None:
    canvas = _Canvas()
    canvas.grid()
    for number, high in enumerate([40, 120, 90, 160]):
        canvas.bar(100 + 100 * number, 260 - high, 44, high, BLUE)
    explained = _redraw(canvas, [_text("Jan", 112, 268), _text("Sales & more", 40, 30, 18)])
    detection = Detection(
        WIDE, HIGH, 1, False, "#f1f5f9", tuple(explained.boxes), tuple(explained.texts), tuple(explained.pictures), ()
    )
    page = arrange(detection)
    assert page.assets == ()
    text = str(write_files(page, stack)["index.html"])
    assert 'role="img"' in text
    assert "Bar chart: Jan" in text
    assert ">Jan</text>" in text
    assert ("fontSize" if stack == "react_tailwind" else "font-size=") in text
