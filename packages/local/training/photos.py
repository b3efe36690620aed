"""Makes the photographs of the training pages: drawn scenes, and crops of free pictures that a folder holds."""

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter, ImageOps

SIZES = ((720, 480), (480, 480), (480, 640), (960, 480))
SKIPPED = (
    "chessboard",
    "text",
    "page",
    "phantom",
    "horse",
    "logo",
    "color",
    "micro",
)  # of scikit-image: no photographs
HELD = ("coffee", "china", "rocket")  # seen on validation pages alone

Numbers = NDArray[np.float64]


def clouds(rng: np.random.Generator, width: int, height: int) -> Numbers:
    """Return soft noise between 0 and 1."""
    total = np.zeros((height, width))
    start = int(rng.integers(2, 6))
    fade = rng.uniform(1.5, 2.6)
    for octave in range(6):
        cells = start * 2**octave
        grid = Image.fromarray((rng.random((cells, cells)) * 255).astype("uint8"))
        layer = np.asarray(grid.resize((width, height), Image.Resampling.BICUBIC), np.float64)
        total += layer / 255 / fade**octave
    total -= total.min()
    return total / total.max()


def draw_scene(rng: np.random.Generator, size: tuple[int, int]) -> Image.Image:
    """Draw hills, bokeh, a thing on a table, or a texture."""
    width, height = size
    first, second, third = (rng.integers(0, 256, 3).astype(float) for _ in range(3))
    kind = rng.choice(["hills", "bokeh", "table", "texture", "town"])
    down = np.linspace(0, 1, height)[:, None, None]
    pixels = np.broadcast_to(first * (1 - down) + second * down, (height, width, 3)).copy()
    if kind == "texture":
        share = clouds(rng, width, height)[:, :, None]
        pixels = first * share + second * (1 - share)
        share = clouds(rng, width, height)[:, :, None] ** 2
        pixels = pixels * (1 - share) + third * share
    image = Image.fromarray(pixels.clip(0, 255).astype("uint8"))
    pen = ImageDraw.Draw(image, "RGBA")
    if kind == "hills":
        _draw_hills(rng, pen, size, third)
    if kind == "bokeh":
        for _ in range(int(rng.integers(20, 90))):
            _draw_blob(rng, pen, size, int(rng.integers(60, 190)), 0.12)
        image = image.filter(ImageFilter.GaussianBlur(float(rng.uniform(0.5, 6))))
    if kind == "table":
        shade = clouds(rng, width, height)[:, :, None]
        image = Image.fromarray((np.asarray(image) * (0.6 + 0.4 * shade)).astype("uint8"))
        pen = ImageDraw.Draw(image, "RGBA")
        for _ in range(int(rng.integers(2, 7))):
            _draw_blob(rng, pen, size, 255, 0.35)
        image = image.filter(ImageFilter.GaussianBlur(float(rng.uniform(0.3, 2))))
    if kind == "town":
        _draw_town(rng, pen, size, third)
        image = image.filter(ImageFilter.GaussianBlur(float(rng.uniform(0.3, 1.5))))
    light = clouds(rng, width, height)[:, :, None] * rng.uniform(0.1, 0.7)
    grain = rng.normal(0, rng.uniform(1, 9), (height, width, 1))
    return Image.fromarray((np.asarray(image) * (1.1 - light) + grain).clip(0, 255).astype("uint8"))


def _draw_hills(rng: np.random.Generator, pen: ImageDraw.ImageDraw, size: tuple[int, int], near: Numbers) -> None:
    width, height = size
    across = np.arange(width)
    layers = int(rng.integers(2, 6))
    for layer in range(layers):
        line = np.zeros(width)
        for octave in range(1, 7):
            line += np.sin(across / width * np.pi * 2**octave * rng.uniform(0.6, 1.4) + rng.uniform(0, 7)) / 1.8**octave
        line = height * (0.35 + 0.55 * layer / layers) + line * height * 0.12
        points = [*zip(across.tolist(), line.tolist(), strict=True), (width, height), (0, height)]
        colour = (near * (0.5 + 0.5 * (layer + 1) / layers)).astype(int)
        pen.polygon(points, fill=(int(colour[0]), int(colour[1]), int(colour[2]), 215))


def _draw_blob(
    rng: np.random.Generator, pen: ImageDraw.ImageDraw, size: tuple[int, int], alpha: int, most: float
) -> None:
    width, height = size
    x, y = rng.uniform(0, width), rng.uniform(0, height)
    wide, high = rng.uniform(0.02, most, 2) * width
    red, green, blue = (int(part) for part in rng.integers(0, 256, 3))
    pen.ellipse((x - wide, y - high, x + wide, y + high), fill=(red, green, blue, alpha))


def _draw_town(rng: np.random.Generator, pen: ImageDraw.ImageDraw, size: tuple[int, int], near: Numbers) -> None:
    width, height = size
    x = 0.0
    while x < width:
        wide, top = rng.uniform(0.04, 0.15) * width, rng.uniform(0.2, 0.8) * height
        shade = near * rng.uniform(0.3, 1.0)
        pen.rectangle((x, top, x + wide, height), fill=(int(shade[0]), int(shade[1]), int(shade[2]), 255))
        for row in np.arange(top + 6, height, 14):
            for column in np.arange(x + 4, x + wide - 6, 11):
                if rng.random() < 0.5:
                    pen.rectangle((column, row, column + 5, row + 7), fill=(255, 230, 150, int(rng.integers(40, 230))))
        x += wide + rng.uniform(0, 4)


def vary_photo(rng: np.random.Generator, source: Image.Image, size: tuple[int, int]) -> Image.Image:
    """Return a crop of a photograph in other colours."""
    wide, high = source.size
    share = rng.uniform(0.45, 1.0)
    x, y = rng.uniform(0, (1 - share) * wide), rng.uniform(0, (1 - share) * high)
    part = source.crop((int(x), int(y), int(x + share * wide), int(y + share * high)))
    image = ImageOps.fit(part, size)
    if rng.random() < 0.5:
        image = ImageOps.mirror(image)
    hue, saturation, value = image.convert("HSV").split()
    turn, rich = int(rng.integers(0, 256)) if rng.random() < 0.5 else 0, rng.uniform(0.3, 1.4)
    hue = hue.point(lambda each: (each + turn) % 256)
    saturation = saturation.point(lambda each: min(int(each * rich), 255))
    gain = rng.uniform(0.6, 1.3)
    value = value.point(lambda each: min(int(each * gain), 255))
    return Image.merge("HSV", (hue, saturation, value)).convert("RGB")


def make_photos(folder: Path, free: Path | None, count: int, seed: int) -> None:
    """Write `count` photographs for training pages, and a fifth as many for validation pages."""
    known = sorted(free.glob("*.[jp][pn]g")) if free is not None else []
    known = [file for file in known if not file.name.startswith(SKIPPED)]
    for which, number in (("train", count), ("held", count // 5)):
        rng = np.random.default_rng([seed, len(which)])
        (folder / which).mkdir(parents=True, exist_ok=True)
        mine = [file for file in known if file.name.startswith(HELD) == (which == "held")]
        opened = [Image.open(file).convert("RGB") for file in mine]
        for each in range(number):
            size = SIZES[int(rng.integers(len(SIZES)))]
            drawn = not opened or each % 5 < 2
            image = draw_scene(rng, size) if drawn else vary_photo(rng, opened[int(rng.integers(len(opened)))], size)
            image.save(folder / which / f"{each}.jpg", quality=88)


if __name__ == "__main__":
    make_photos(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None, 220, 7)
