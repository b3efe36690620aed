"""Draws every picture the pages show: landscapes, things on a table, plates, faces. No photograph of anyone's is used.

Run as `python -m benchmarks.pages.pictures`. The same names give the same pixels, so nothing drawn is kept in git.
"""

import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

FOLDER = Path(__file__).parent / "pictures"
Colour = tuple[int, int, int]


def _noise(rng: np.random.Generator, width: int, height: int, octaves: int = 5) -> np.ndarray:
    """Soft clouds between 0 and 1."""
    total = np.zeros((height, width))
    for octave in range(octaves):
        cells = 3 * 2**octave
        grid = Image.fromarray((rng.random((cells, cells)) * 255).astype("uint8"))
        layer = np.asarray(grid.resize((width, height), Image.Resampling.BICUBIC), dtype=float) / 255
        total += layer / 2**octave
    total -= total.min()
    return total / total.max()


def _blend(top: Colour, bottom: Colour, width: int, height: int) -> Image.Image:
    steps = np.linspace(0, 1, height)[:, None, None]
    rows = np.array(top) * (1 - steps) + np.array(bottom) * steps
    return Image.fromarray(np.repeat(rows, width, axis=1).astype("uint8"))


def _grain(image: Image.Image, rng: np.random.Generator, strength: float = 5) -> Image.Image:
    pixels = np.asarray(image, dtype=float)
    pixels = pixels + rng.normal(0, strength, pixels.shape[:2])[:, :, None]
    return Image.fromarray(pixels.clip(0, 255).astype("uint8"))


def _ridge(rng: np.random.Generator, width: int, base: float, swing: float) -> list[tuple[int, int]]:
    xs = np.arange(width)
    line = np.zeros(width)
    for octave in range(1, 7):
        line += np.sin(xs / width * np.pi * 2**octave * rng.uniform(0.6, 1.4) + rng.uniform(0, 7)) / 1.7**octave
    return [(int(x), int(base + swing * y)) for x, y in zip(xs, line, strict=True)]


def ridges(sky: Colour, low: Colour, near: Colour) -> Callable[..., Image.Image]:
    """Hills behind hills, paler with distance."""

    def draw(rng: np.random.Generator, width: int, height: int) -> Image.Image:
        image = _blend(sky, low, width, height)
        pen = ImageDraw.Draw(image)
        sun = rng.uniform(0.2, 0.8) * width
        size = height * 0.08
        pen.ellipse((sun - size, height * 0.2 - size, sun + size, height * 0.2 + size), fill=(255, 246, 220))
        image = image.filter(ImageFilter.GaussianBlur(3))
        for layer in range(5):
            share = (layer + 1) / 5
            fill = tuple(int(low[i] * (1 - share) + near[i] * share) for i in range(3))
            line = _ridge(rng, width, height * (0.42 + 0.12 * layer), height * 0.09)
            ImageDraw.Draw(image).polygon([*line, (width, height), (0, height)], fill=fill)
        return image

    return draw


def sea(rng: np.random.Generator, width: int, height: int) -> Image.Image:
    sky = _blend((70, 110, 180), (250, 200, 160), width, height // 2)
    water = _blend((200, 150, 130), (20, 50, 80), width, height - height // 2)
    image = Image.new("RGB", (width, height))
    image.paste(sky, (0, 0))
    image.paste(water, (0, height // 2))
    pen = ImageDraw.Draw(image, "RGBA")
    for _ in range(260):
        y = height / 2 + (height / 2) * rng.random() ** 1.6
        x, length = rng.uniform(0, width), rng.uniform(10, 90) * (y / height)
        pen.line((x, y, x + length, y), fill=(255, 235, 210, int(rng.uniform(20, 90))), width=1 + int(3 * y / height))
    return image


def city(rng: np.random.Generator, width: int, height: int) -> Image.Image:
    image = _blend((16, 20, 50), (140, 80, 110), width, height)
    for layer, shade in enumerate(((60, 50, 90), (34, 32, 64), (14, 14, 30))):
        pen = ImageDraw.Draw(image)
        x = 0
        while x < width:
            block = int(rng.uniform(0.05, 0.12) * width)
            top = int(height * (rng.uniform(0.25, 0.6) + 0.12 * layer))
            pen.rectangle((x, top, x + block, height), fill=shade)
            for wy in range(top + 8, height, 12):
                for wx in range(x + 5, x + block - 5, 9):
                    if layer and rng.random() < 0.28:
                        pen.rectangle((wx, wy, wx + 3, wy + 5), fill=(250, 210, 120))
            x += block + int(rng.uniform(0, 6))
    return image


def forest(rng: np.random.Generator, width: int, height: int) -> Image.Image:
    image = _blend((205, 220, 205), (60, 90, 70), width, height)
    for layer in range(4):
        pen = ImageDraw.Draw(image)
        shade = tuple(int(c) for c in np.array((150, 175, 150)) * (1 - layer / 4) + np.array((16, 44, 30)) * layer / 4)
        for _ in range(16):
            x, tall = rng.uniform(0, width), height * rng.uniform(0.35, 0.6)
            foot = height * (0.7 + 0.1 * layer)
            for step in range(5):
                y, half = foot - tall * step / 5, tall * 0.24 * (1 - step / 6)
                pen.polygon([(x - half, y), (x + half, y), (x, y - tall * 0.36)], fill=shade)
    return image


def thing(body: Colour, ground: Colour, shape: str) -> Callable[..., Image.Image]:
    """One thing in soft light before a plain wall."""

    def draw(_rng: np.random.Generator, width: int, height: int) -> Image.Image:
        light: Colour = (min(ground[0] + 22, 255), min(ground[1] + 22, 255), min(ground[2] + 22, 255))
        image = _blend(light, ground, width, height)
        shadow = Image.new("L", (width, height), 0)
        ImageDraw.Draw(shadow).ellipse((width * 0.22, height * 0.76, width * 0.86, height * 0.88), fill=110)
        dark = Image.new("RGB", (width, height), (20, 20, 24))
        image.paste(dark, mask=shadow.filter(ImageFilter.GaussianBlur(width / 28)))
        mask = Image.new("L", (width, height), 0)
        _outline(ImageDraw.Draw(mask), shape, width, height)
        shade = 0.55 + 0.6 * np.sin(np.linspace(0.5, 2.9, width))[None, :, None]
        solid = (np.array(body)[None, None, :] * shade).clip(0, 255)
        image.paste(Image.fromarray(np.repeat(solid, height, axis=0).astype("uint8")), mask=mask)
        return image

    return draw


def _outline(pen: ImageDraw.ImageDraw, shape: str, w: int, h: int) -> None:
    def box(x0: float, y0: float, x1: float, y1: float) -> tuple[float, float, float, float]:
        return (x0 * w, y0 * h, x1 * w, y1 * h)

    match shape:
        case "vase":
            pen.ellipse(box(0.3, 0.38, 0.7, 0.84), fill=255)
            pen.rectangle(box(0.43, 0.2, 0.57, 0.5), fill=255)
            pen.ellipse(box(0.39, 0.16, 0.61, 0.24), fill=255)
        case "mug":
            pen.rounded_rectangle(box(0.28, 0.32, 0.64, 0.82), w * 0.04, fill=255)
            pen.ellipse(box(0.54, 0.42, 0.8, 0.7), outline=255, width=int(w * 0.05))
        case "lamp":
            pen.polygon(
                [(0.38 * w, 0.16 * h), (0.62 * w, 0.16 * h), (0.76 * w, 0.46 * h), (0.24 * w, 0.46 * h)], fill=255
            )
            pen.rectangle(box(0.48, 0.46, 0.52, 0.78), fill=255)
            pen.ellipse(box(0.34, 0.75, 0.66, 0.84), fill=255)
        case "chair":
            pen.rounded_rectangle(box(0.3, 0.14, 0.68, 0.56), w * 0.06, fill=255)
            pen.rounded_rectangle(box(0.26, 0.52, 0.74, 0.62), w * 0.03, fill=255)
            for x in (0.3, 0.66):
                pen.rectangle(box(x, 0.6, x + 0.035, 0.86), fill=255)
        case "bag":
            pen.arc(box(0.36, 0.14, 0.64, 0.5), 180, 360, fill=255, width=int(w * 0.025))
            pen.rounded_rectangle(box(0.24, 0.32, 0.76, 0.84), w * 0.05, fill=255)
        case "bottle":
            pen.rounded_rectangle(box(0.38, 0.36, 0.62, 0.86), w * 0.05, fill=255)
            pen.rectangle(box(0.45, 0.14, 0.55, 0.4), fill=255)
        case "watch":
            pen.rectangle(box(0.42, 0.08, 0.58, 0.92), fill=210)
            pen.ellipse(box(0.28, 0.28, 0.72, 0.72), fill=255)
        case "shoe":
            pen.polygon(
                [
                    (0.16 * w, 0.5 * h),
                    (0.4 * w, 0.42 * h),
                    (0.86 * w, 0.68 * h),
                    (0.86 * w, 0.8 * h),
                    (0.16 * w, 0.8 * h),
                ],
                fill=255,
            )
        case _:
            pen.ellipse(box(0.26, 0.26, 0.74, 0.82), fill=255)


def plate(sauce: Colour, bits: list[Colour]) -> Callable[..., Image.Image]:
    """A dish from above."""

    def draw(rng: np.random.Generator, width: int, height: int) -> Image.Image:
        wood = _noise(rng, width, height)[:, :, None] * np.array((40, 26, 16)) + np.array((94, 62, 40))
        image = Image.fromarray(wood.clip(0, 255).astype("uint8"))
        pen = ImageDraw.Draw(image)
        cx, cy, r = width / 2, height / 2, min(width, height) * 0.42
        for share, fill in ((1.0, (240, 238, 232)), (0.82, (226, 222, 214)), (0.7, sauce)):
            pen.ellipse((cx - r * share, cy - r * share, cx + r * share, cy + r * share), fill=fill)
        for _ in range(70):
            angle, away = rng.uniform(0, 6.28), r * 0.6 * rng.random() ** 0.5
            x, y, s = cx + away * np.cos(angle), cy + away * np.sin(angle), r * rng.uniform(0.04, 0.13)
            pen.ellipse((x - s, y - s * 0.8, x + s, y + s * 0.8), fill=bits[int(rng.integers(len(bits)))])
        return image

    return draw


def face(skin: Colour, hair: Colour, wall: Colour) -> Callable[..., Image.Image]:
    """Head and shoulders, without features: a stand-in for a portrait."""

    def draw(rng: np.random.Generator, width: int, height: int) -> Image.Image:
        image = Image.new("RGB", (width, height), wall)
        pen = ImageDraw.Draw(image)
        shirt = tuple(int(c) for c in rng.integers(40, 200, 3))
        pen.ellipse((width * 0.12, height * 0.72, width * 0.88, height * 1.5), fill=shirt)
        pen.rectangle((width * 0.42, height * 0.56, width * 0.58, height * 0.8), fill=skin)
        pen.ellipse((width * 0.27, height * 0.12, width * 0.73, height * 0.62), fill=hair)
        pen.ellipse((width * 0.31, height * 0.22, width * 0.69, height * 0.68), fill=skin)
        return image

    return draw


def room(_rng: np.random.Generator, width: int, height: int) -> Image.Image:
    image = _blend((226, 220, 208), (206, 196, 180), width, height)
    pen = ImageDraw.Draw(image)
    pen.polygon([(0, height), (width, height), (width, height * 0.72), (0, height * 0.72)], fill=(150, 112, 80))
    pen.rectangle(
        (width * 0.08, height * 0.12, width * 0.34, height * 0.55),
        fill=(190, 216, 232),
        outline=(250, 250, 248),
        width=8,
    )
    pen.rounded_rectangle((width * 0.42, height * 0.48, width * 0.92, height * 0.82), 18, fill=(84, 104, 96))
    pen.rounded_rectangle((width * 0.46, height * 0.4, width * 0.88, height * 0.6), 18, fill=(98, 120, 110))
    pen.rectangle(
        (width * 0.55, height * 0.1, width * 0.78, height * 0.32), fill=(222, 150, 96), outline=(60, 50, 40), width=4
    )
    return image


def marble(light: Colour, dark: Colour) -> Callable[..., Image.Image]:
    """Colours that run into each other."""

    def draw(rng: np.random.Generator, width: int, height: int) -> Image.Image:
        waves = (np.sin(_noise(rng, width, height) * 12) / 2 + 0.5)[:, :, None]
        return Image.fromarray((np.array(light) * waves + np.array(dark) * (1 - waves)).astype("uint8"))

    return draw


PICTURES: dict[str, tuple[int, int, Callable[..., Image.Image]]] = {
    "dunes": (1280, 640, ridges((250, 214, 170), (240, 180, 120), (120, 60, 40))),
    "alps": (1280, 640, ridges((150, 190, 230), (225, 232, 240), (30, 50, 70))),
    "valley": (800, 600, ridges((180, 205, 225), (200, 215, 190), (40, 80, 50))),
    "dusk": (800, 600, ridges((90, 60, 120), (240, 150, 120), (30, 20, 50))),
    "coast": (800, 600, sea),
    "harbour": (1280, 560, sea),
    "skyline": (800, 600, city),
    "night": (1280, 640, city),
    "pines": (800, 600, forest),
    "grove": (600, 800, forest),
    "room": (900, 640, room),
    "ink": (800, 600, marble((20, 40, 90), (230, 120, 90))),
    "jade": (800, 600, marble((20, 90, 80), (220, 230, 190))),
    "rose": (800, 800, marble((200, 80, 110), (250, 230, 220))),
    "vase": (600, 600, thing((196, 110, 80), (228, 222, 214), "vase")),
    "mug": (600, 600, thing((60, 90, 140), (226, 230, 234), "mug")),
    "lamp": (600, 600, thing((230, 180, 70), (214, 218, 210), "lamp")),
    "chair": (600, 600, thing((70, 110, 90), (232, 226, 218), "chair")),
    "bag": (600, 600, thing((120, 72, 44), (236, 230, 220), "bag")),
    "bottle": (600, 600, thing((50, 130, 120), (222, 228, 226), "bottle")),
    "watch": (600, 600, thing((60, 60, 66), (230, 230, 232), "watch")),
    "shoe": (600, 600, thing((210, 80, 60), (224, 228, 236), "shoe")),
    "soup": (640, 480, plate((196, 90, 40), [(90, 130, 50), (240, 220, 180), (220, 60, 40)])),
    "salad": (640, 480, plate((120, 160, 70), [(200, 50, 50), (60, 110, 40), (240, 230, 150), (150, 190, 90)])),
    "pasta": (640, 480, plate((230, 190, 110), [(245, 215, 140), (200, 60, 40), (70, 120, 50)])),
    "cake": (640, 480, plate((90, 50, 40), [(120, 20, 50), (240, 220, 220), (60, 30, 26)])),
    "ana": (240, 240, face((224, 172, 140), (70, 40, 26), (196, 210, 224))),
    "ben": (240, 240, face((150, 100, 70), (30, 22, 18), (228, 210, 180))),
    "chi": (240, 240, face((238, 200, 170), (24, 22, 26), (206, 222, 204))),
    "dov": (240, 240, face((214, 160, 130), (170, 120, 60), (220, 200, 214))),
    "eli": (240, 240, face((110, 74, 54), (16, 14, 14), (240, 196, 140))),
    "fay": (240, 240, face((244, 208, 184), (180, 70, 40), (180, 204, 210))),
}


def draw(name: str) -> Image.Image:
    width, height, artist = PICTURES[name]
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    return _grain(artist(rng, width, height), rng, 4)


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name in PICTURES:
        path = FOLDER / f"{name}.png"
        if not path.exists():
            draw(name).save(path)


if __name__ == "__main__":
    main()
