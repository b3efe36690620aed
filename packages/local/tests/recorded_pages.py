"""Pages whose detections are recorded: pictures of this repository, and drawings that need no browser."""

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image
from vision_drawing import Paper

from sketch_drawing import add_light, draw_shop, jpeg, photograph, png

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "packages" / "studio" / "src" / "heald_studio" / "server" / "examples"
SEEN_FROM_THE_SIDE: list[tuple[float, float]] = [(190, 130), (1440, 90), (1500, 1090), (120, 1060)]


def _login() -> bytes:
    return (EXAMPLES / "login.png").read_bytes()


def _login_with_loss() -> bytes:
    with Image.open(io.BytesIO(_login())) as image:
        return jpeg(image.convert("RGB"))


def _login_on_a_screen() -> bytes:
    with Image.open(io.BytesIO(_login())) as image:
        screen = image.convert("RGB").resize((1200, 900))
    return jpeg(photograph(screen, SEEN_FROM_THE_SIDE, (40, 40, 44)))


def _form() -> Paper:
    paper = Paper(640, 420, "#f9fafb")
    paper.box(0, 0, 640, 56, "#111827")
    paper.text(32, 36, "Northwind", 20, "#ffffff", bold=True)
    paper.text(32, 110, "Sign in to continue", 28, "#111827", bold=True)
    paper.text(32, 150, "Use the address that you gave us when you joined.", 16, "#4b5563")
    paper.box(32, 180, 320, 44, "#ffffff", 6, outline="#9ca3af")
    paper.text(46, 207, "you@example.com", 15, "#6b7280")
    paper.box(32, 248, 140, 44, "#2563eb", 8)
    paper.text(72, 275, "Continue", 15, "#ffffff", bold=True)
    return paper


def _doubled_form() -> bytes:
    """The form with four pixels for each CSS pixel."""
    image = _form().image
    return png(image.resize((2 * image.width, 2 * image.height), Image.Resampling.NEAREST))


def _card() -> bytes:
    """A card with a photograph, whose border runs on along the text."""
    paper = Paper(640, 420, "#ffffff")
    paper.box(60, 40, 330, 257, "#ffffff", 8, outline="#cbd5e1")
    coarse = Image.fromarray(np.random.default_rng(3).integers(0, 255, (14, 24, 3), np.uint8))
    paper.image.paste(coarse.resize((328, 170), Image.Resampling.BICUBIC), (61, 41))
    paper.text(84, 244, "Letters from the coast", 18, bold=True)
    paper.text(84, 272, "Short stories about people by the sea.", 14, "#4b5563")
    return paper.png()


def _gradients() -> bytes:
    """Boxes with a gradient along a line, around a middle, and with three stops."""
    pixels = np.full((500, 900, 3), 245.0)
    x, y = np.meshgrid(np.arange(900.0), np.arange(500.0))
    pixels[259, 40:860] = 200  # a line between the two rows of boxes
    along = (x[40:240, 40:440] - 40) / 400
    pixels[40:240, 40:440] = np.stack([30 + 150 * along, 60 + 80 * along, 200 - 90 * along], 2)
    away = np.clip(np.hypot((x[40:240, 480:860] - 670) / 190, (y[40:240, 480:860] - 140) / 100), 0, 1)
    pixels[40:240, 480:860] = np.stack([250 - 120 * away, 180 - 100 * away, 90 + 120 * away], 2)
    down = (y[280:480, 40:860] - 280) / 200
    stops = np.interp(down, [0.0, 0.4, 1.0], [0.0, 1.0, 0.3])
    pixels[280:480, 40:860] = np.stack([40 + stops * 60, 200 - stops * 40, np.full_like(stops, 90)], 2)
    return png(Image.fromarray(np.round(pixels).astype(np.uint8)))


def _photograph() -> bytes:
    random = np.random.default_rng(3)
    coarse = Image.fromarray(random.integers(0, 255, (24, 32, 3), np.uint8))
    smooth = np.asarray(coarse.resize((320, 240), Image.Resampling.BICUBIC)).astype(int)
    grainy = np.clip(smooth + random.integers(-12, 12, (240, 320, 3)), 0, 255)
    return png(Image.fromarray(grainy.astype(np.uint8)))


PICTURES: dict[str, Callable[[], bytes]] = {
    "login": _login,
    "login-with-loss": _login_with_loss,
    "login-on-a-screen": _login_on_a_screen,
    "dashboard": lambda: (EXAMPLES / "dashboard.png").read_bytes(),
    "pricing": lambda: (EXAMPLES / "pricing.png").read_bytes(),
    "landing": lambda: (ROOT / "examples" / "shot.png").read_bytes(),
    "sketch": lambda: png(draw_shop()),
    "sketch-by-lamplight": lambda: jpeg(add_light(draw_shop(3))),
    "sketch-from-the-side": lambda: jpeg(photograph(draw_shop(2), SEEN_FROM_THE_SIDE, (96, 72, 50))),
    "gradients": _gradients,
    "photograph": _photograph,
}
DRAWN_WITH_FONTS: dict[str, Callable[[], bytes]] = {
    "form": lambda: _form().png(),
    "form-doubled": _doubled_form,
    "card": _card,
}
"""Pages that look alike only where the same fonts are installed."""
