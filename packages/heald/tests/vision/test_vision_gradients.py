"""Gradients, as Chromium draws them, become CSS gradients; photographs do not."""

import io
from collections.abc import Iterator

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFilter

from heald_local.arrange.page import arrange
from heald_local.see.boxes import build_boxes
from heald_local.see.flats import find_flats
from heald_local.see.gradients import paint_gradient
from heald_local.see.painted_page import find_differences, paint_page
from heald_local.write.svg import write_svg
from heald_pictures.colours import colour_distance
from heald_pictures.elements import Box, Detection, Gradient
from heald_pictures.rect import Rect
from heald_pictures.regions import Pixels, label_colours
from heald_studio.browser.browser import Browser
from heald_studio.browser.page import Viewport, serve_files
from needed_programs import needs_chromium

WIDTH, HEIGHT = 900, 700


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    opened = Browser()
    yield opened
    opened.close()


async def _drawn(browser: Browser, body: str, style: str = "") -> Pixels:
    page = f"<!doctype html><style>body{{margin:0;background:#fff;height:{HEIGHT}px}}{style}</style>{body}"
    rendering = await browser.render(serve_files({"index.html": page}), viewport=Viewport(WIDTH, HEIGHT))
    return np.asarray(Image.open(io.BytesIO(rendering.picture)).convert("RGB"))


def _boxes(pixels: Pixels, background: str = "#ffffff") -> list[Box]:
    regions = label_colours(pixels, 2)
    return build_boxes(pixels, regions, find_flats(pixels, regions), background)


def _unexplained(pixels: Pixels, boxes: list[Box], slack: int = 6) -> float:
    return float(find_differences(pixels, paint_page(WIDTH, HEIGHT, "#ffffff", boxes), slack).mean())


HERO = '<div style="position:absolute;left:0;top:60px;width:900px;height:400px;background:{}"></div>'
WORDS = '<h1 style="position:absolute;left:250px;top:200px;font:700 48px sans-serif">Hello there</h1>'


@needs_chromium
@pytest.mark.parametrize(
    ("css", "angle"),
    [
        ("linear-gradient(135deg, #667eea, #764ba2)", 135),
        ("linear-gradient(90deg, #0f766e, #99f6e4)", 90),
        ("linear-gradient(160deg, #111827, #4b5563)", 160),
        ("linear-gradient(180deg, #fde68a, #f472b6 40%, #6366f1)", 180),
        ("linear-gradient(120deg, #ecfeff, #cffafe 30%, #a5b4fc 70%, #312e81)", 120),
    ],
)
async def test_a_line_of_stops(browser: Browser, css: str, angle: float) -> None:
    pixels = await _drawn(browser, HERO.format(css) + WORDS)
    boxes = _boxes(pixels)
    filled = [box for box in boxes if box.gradient is not None and box.rect == Rect(0, 60, 900, 400)]
    assert len(filled) == 1
    gradient = filled[0].gradient
    assert gradient is not None
    assert gradient.middle is None
    assert abs(gradient.angle % 180 - angle % 180) <= 3
    assert len(gradient.stops) == css.count("#") - 2
    expected = [part.split()[0] for part in css.removesuffix(")").split(", ")[1:]]
    colours = [colour for _, colour in gradient.steps]
    if (gradient.angle - angle) % 360 > 90:
        colours.reverse()
    assert max(colour_distance(colour, detected) for colour, detected in zip(expected, colours, strict=True)) <= 12
    drawn = paint_gradient(gradient, 900, 400)
    corner = np.abs(drawn[:120] - pixels[60:180].astype(float)).max()
    assert corner <= 8


@needs_chromium
@pytest.mark.parametrize("below", ["", '<hr style="position:absolute;top:560px;left:0;width:880px">'])
async def test_a_soft_hero_that_fades_into_the_page(browser: Browser, below: str) -> None:
    pixels = await _drawn(browser, HERO.format("linear-gradient(#f0fdfa, #fff)") + WORDS + below)
    boxes = _boxes(pixels)
    filled = [box for box in boxes if box.gradient is not None]
    assert len(filled) == 1
    gradient = filled[0].gradient
    assert gradient is not None
    assert (gradient.angle, gradient.end) == (180, "#ffffff")
    assert colour_distance(gradient.start, "#f0fdfa") <= 2
    assert (filled[0].rect.x, filled[0].rect.y, filled[0].rect.w) == (0, 60, 900)
    assert 420 <= filled[0].rect.bottom <= 500
    without = [box for box in boxes if box.gradient is None]
    assert _unexplained(pixels, boxes, 3) < _unexplained(pixels, without, 3) - 0.2


@needs_chromium
@pytest.mark.parametrize(
    ("css", "middle"),
    [
        ("radial-gradient(circle at 50% 50%, #fef3c7, #b45309)", (0.5, 0.5)),
        ("radial-gradient(ellipse at 50% 0%, #dbeafe, #1e3a8a)", (0.5, 0.0)),
        ("radial-gradient(circle at 20% 30%, #a7f3d0, #065f46 80%)", (0.2, 0.3)),
    ],
)
async def test_rings_around_a_middle(browser: Browser, css: str, middle: tuple[float, float]) -> None:
    pixels = await _drawn(browser, HERO.format(css) + WORDS)
    boxes = _boxes(pixels)
    gradients = [box.gradient for box in boxes if box.gradient is not None and box.rect == Rect(0, 60, 900, 400)]
    assert len(gradients) == 1
    gradient = gradients[0]
    assert gradient is not None
    assert gradient.middle is not None
    assert gradient.middle == pytest.approx(middle, abs=0.04)
    drawn = paint_gradient(gradient, 900, 400)
    assert np.abs(drawn[:120] - pixels[60:180].astype(float)).max() <= 8
    redrawn = await _drawn(browser, HERO.format(gradient.css) + WORDS)
    assert np.abs(redrawn.astype(int) - pixels).max() <= 10


@needs_chromium
async def test_a_glow_on_the_page(browser: Browser) -> None:
    glow = "radial-gradient(50% 60% at 50% 0%, #c7d2fe, #fff)"
    pixels = await _drawn(browser, HERO.format(glow))
    boxes = _boxes(pixels)
    assert any(box.gradient is not None and box.gradient.middle is not None for box in boxes)
    assert _unexplained(pixels, boxes) < 0.02


def _photograph(width: int, height: int, seed: int = 3) -> Image.Image:
    """A scene with soft light: blurred shapes, a bright sky, and the grain of a camera."""
    made = np.random.default_rng(seed)
    sky = np.linspace(215, 120, height)[:, None] + np.linspace(0, 26, width)[None, :] ** 1.2
    scene = Image.fromarray(np.clip(np.stack([sky * 0.8, sky * 0.9, sky], axis=2), 0, 255).astype(np.uint8))
    pen = ImageDraw.Draw(scene)
    for _ in range(26):
        x, y = int(made.integers(0, width)), int(made.integers(height // 3, height))
        size = int(made.integers(20, 140))
        pen.ellipse(
            (x - size, y - size // 2, x + size, y + size // 2),
            tuple(int(channel) for channel in made.integers(30, 200, 3)),
        )
    soft = np.asarray(scene.filter(ImageFilter.GaussianBlur(9)), np.float64)
    grain = made.normal(0, 2.2, soft.shape)
    return Image.fromarray(np.clip(soft + grain, 0, 255).astype(np.uint8))


def _png(image: Image.Image) -> bytes:
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


@needs_chromium
async def test_a_photograph_under_a_gradient_stays_a_photograph(browser: Browser) -> None:
    body = (
        '<div style="position:absolute;left:0;top:60px;width:900px;height:400px;background:'
        'linear-gradient(90deg, rgba(15,23,42,.85), rgba(15,23,42,.1)), url(photo.png)"></div>'
    )
    page = f"<!doctype html><style>body{{margin:0;background:#fff;height:{HEIGHT}px}}</style>{body}"
    files = {"index.html": page, "photo.png": _png(_photograph(900, 400))}
    rendering = await browser.render(serve_files(files), viewport=Viewport(WIDTH, HEIGHT))
    pixels = np.asarray(Image.open(io.BytesIO(rendering.picture)).convert("RGB"))
    boxes = _boxes(pixels)
    assert not [box for box in boxes if box.gradient is not None and box.rect.area > 5000]
    assert _unexplained(pixels, boxes, 14) > 0.3


def test_flat_areas_have_no_gradient() -> None:
    pixels = np.full((HEIGHT, WIDTH, 3), 255, np.uint8)
    pixels[60:460] = (240, 253, 250)
    pixels[500:600, 100:500] = (12, 120, 110)
    assert [box.gradient for box in _boxes(pixels)] == [None, None]


@needs_chromium
async def test_a_drawing_has_the_same_gradients(browser: Browser) -> None:
    shades = (
        Gradient(120, "#ecfeff", "#312e81", ((0.3, "#a5f3fc"),)),
        Gradient(0, "#fef3c7", "#b45309", ((0.5, "#f59e0b"),), (0.3, 0.4), (0.9, 1.3)),
    )
    for shade in shades:
        box = Box(Rect(100, 50, 600, 300), "#808080", gradient=shade)
        detection = Detection(WIDTH, HEIGHT, 1, False, "#ffffff", (box,), (), (), ())
        drawing = write_svg(arrange(detection))["image.svg"]
        assert isinstance(drawing, str)
        pixels = await _drawn(browser, drawing, "svg{display:block}")
        assert np.abs(pixels[50:350, 100:700] - paint_gradient(shade, 600, 300)).max() <= 4
