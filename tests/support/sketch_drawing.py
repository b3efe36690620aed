"""Sketches as people draw and photograph them: lines that stray, sheets seen from the side, shadows and grain."""

import io

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

Point = tuple[float, float]
SIZE = (1200, 900)
CARDS = ("Rye", "Wheat", "Oats")


class Hand:
    """Draws on a sheet with a hand that is not steady."""

    def __init__(self, seed: int = 1, paper: tuple[int, int, int] = (250, 249, 245)) -> None:
        self.image = Image.new("RGB", SIZE, paper)
        self._pen = ImageDraw.Draw(self.image)
        self._made = np.random.default_rng(seed)
        self.ink: tuple[int, int, int] = (40, 40, 60)

    def line(self, start: Point, end: Point) -> None:
        count = max(int(np.hypot(end[0] - start[0], end[1] - start[1]) / 12), 3)
        along = np.linspace(0, 1, count)
        stray = np.cumsum(self._made.normal(0, 0.55, (count, 2)), axis=0)
        stray += self._made.normal(0, 0.4, (count, 2)) - np.outer(along, stray[-1])
        x = start[0] + (end[0] - start[0]) * along + stray[:, 0]
        y = start[1] + (end[1] - start[1]) * along + stray[:, 1]
        self._pen.line(list(zip(x, y, strict=True)), self.ink, 4, joint="curve")

    def frame(self, x: float, y: float, w: float, h: float, crossed: bool = False) -> None:
        corners = [
            np.array(corner) + self._made.normal(0, 2.2, 2)
            for corner in ((x, y), (x + w, y), (x + w, y + h), (x, y + h))
        ]
        for number in range(4):
            self.line(tuple(corners[number]), tuple(corners[(number + 1) % 4] + self._made.normal(0, 2, 2)))
        if crossed:
            self.line((x, y), (x + w, y + h))
            self.line((x + w, y), (x, y + h))

    def disc(self, x: float, y: float, size: float) -> None:
        turns = np.linspace(0, 2 * np.pi, 40)
        away = size / 2 + self._made.normal(0, 0.8, 40)
        points = [
            (x + size / 2 + r * np.cos(t), y + size / 2 + r * np.sin(t)) for r, t in zip(away, turns, strict=True)
        ]
        self._pen.line([*points, points[0]], self.ink, 4, joint="curve")

    def write(self, x: float, y: float, text: str, size: int) -> None:
        font = ImageFont.load_default(size)
        assert isinstance(font, ImageFont.FreeTypeFont)
        for letter in text:
            glyph = Image.new("L", (size * 2, size * 2), 0)
            ImageDraw.Draw(glyph).text((size // 2, size // 3), letter, 255, font)
            glyph = glyph.rotate(float(self._made.normal(0, 3)), Image.Resampling.BICUBIC, center=(size, size))
            where = (int(x) - size // 2, int(y + self._made.normal(0, 1)) - size // 3)
            self.image.paste(self.ink, where, glyph)
            x += font.getlength(letter) + self._made.normal(0.6, 0.5)


def draw_shop(
    seed: int = 1, paper: tuple[int, int, int] = (250, 249, 245), ink: tuple[int, int, int] = (40, 40, 60)
) -> Image.Image:
    """A page with a head, a hero with a button and a picture, and three cards."""
    hand = Hand(seed, paper)
    hand.ink = ink
    hand.frame(60, 50, 1080, 800)
    hand.write(100, 85, "My shop", 40)
    hand.write(760, 88, "Home", 30)
    hand.write(900, 88, "Prices", 30)
    hand.line((64, 150), (1136, 152))
    hand.write(120, 210, "Fresh bread daily", 54)
    hand.frame(120, 370, 200, 64)
    hand.write(150, 382, "Order now", 30)
    hand.frame(700, 190, 380, 250, crossed=True)
    for number, name in enumerate(CARDS):
        x = 120 + 330 * number
        hand.frame(x, 520, 290, 270)
        hand.frame(x + 25, 545, 240, 120, crossed=True)
        hand.write(x + 30, 690, name, 34)
        hand.line((x + 30, 752), (x + 230, 754))
    return hand.image


def photograph(
    sheet: Image.Image, corners: list[Point], desk: tuple[int, int, int], size: tuple[int, int] = (1600, 1200)
) -> Image.Image:
    """The sheet on a desk, seen from the side, with a shadow over it and grain."""
    made = np.random.default_rng(2)
    width, height = size
    edges = [(0, 0), (sheet.width, 0), (sheet.width, sheet.height), (0, sheet.height)]
    factors = _factors(corners, edges)
    warped = sheet.transform(size, Image.Transform.PERSPECTIVE, factors, Image.Resampling.BICUBIC)
    mask = Image.new("L", sheet.size, 255).transform(
        size, Image.Transform.PERSPECTIVE, factors, Image.Resampling.BICUBIC
    )
    ground = (
        np.array(desk)[None, None]
        + made.normal(0, 6, (height, width, 1))
        + 10 * np.sin(np.arange(height) / 9)[:, None, None]
    )
    whole = Image.composite(warped, Image.fromarray(np.clip(ground, 0, 255).astype(np.uint8)), mask)
    return add_light(whole)


def add_light(image: Image.Image) -> Image.Image:
    """Light from one side, the shadow of a hand, warm colours, blur and the grain of a camera."""
    made = np.random.default_rng(3)
    x, y = np.meshgrid(np.linspace(0, 1, image.width), np.linspace(0, 1, image.height))
    light = 0.96 - 0.25 * x * y - 0.2 / (1 + np.exp(-(x + 0.6 * y - 1.05) * 40))
    lit = np.asarray(image, np.float64) * light[:, :, None] * np.array([1.0, 0.97, 0.9])
    soft = Image.fromarray(np.clip(lit, 0, 255).astype(np.uint8)).filter(ImageFilter.GaussianBlur(0.8))
    grain = np.asarray(soft, np.float64) + made.normal(0, 3.5, (image.height, image.width, 3))
    return Image.fromarray(np.clip(grain, 0, 255).astype(np.uint8))


def jpeg(image: Image.Image) -> bytes:
    out = io.BytesIO()
    image.save(out, "JPEG", quality=88)
    return out.getvalue()


def png(image: Image.Image) -> bytes:
    out = io.BytesIO()
    image.save(out, "PNG", compress_level=1)
    return out.getvalue()


def _factors(corners: list[Point], edges: list[tuple[int, int]]) -> tuple[float, ...]:
    rows: list[list[float]] = []
    for (x, y), (u, v) in zip(corners, edges, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
    solved = np.linalg.solve(np.array(rows, np.float64), np.array(edges, np.float64).ravel())
    return tuple(float(factor) for factor in solved)
