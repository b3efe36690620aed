"""Pages whose detections are recorded: pictures of this repository, and drawings that need no browser."""

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image, ImageFilter, ImageFont
from vision_drawing import Paper

from sketch_drawing import add_light, draw_shop, jpeg, photograph, png

PAGES = Path(__file__).parent / "pictures"
SEEN_FROM_THE_SIDE: list[tuple[float, float]] = [(190, 130), (1440, 90), (1500, 1090), (120, 1060)]


def _login() -> bytes:
    return (PAGES / "login.png").read_bytes()


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


def _blur_rectangle(paper: Paper, place: tuple[int, int, int, int], colour: str, strength: int, radius: int) -> None:
    """Paint a rectangle with soft edges, as a shadow is."""
    shade = Image.new("L", paper.image.size, 0)
    shade.paste(strength, place)
    soft = shade.filter(ImageFilter.GaussianBlur(radius))
    paper.image.paste(Image.new("RGB", paper.image.size, colour), (0, 0), soft)


def _write(paper: Paper, x: int, baseline: int, text: str, size: int, colour: str = "#1f2937") -> None:
    """Write in the font that Pillow brings, which is the same everywhere."""
    paper.pen.text((x, baseline), text, colour, ImageFont.load_default(size), anchor="ls")


def _boxes() -> bytes:
    """Boxes of every kind: round corners, borders, chips, discs, a shadow, boxes in boxes; and a triangle."""
    paper = Paper(900, 580)
    for column, radius in enumerate((0, 4, 6, 8, 12, 16, 24, 40)):
        paper.box(30 + 106 * column, 24, 84, 84, "#2563eb", radius)
    paper.box(30, 140, 300, 48, "#ffffff", 6, outline="#d1d5db")
    for x, wide, high in ((360, 132, 42), (520, 66, 32), (620, 90, 28)):
        paper.box(x, 142, wide, high, "#ffffff", high // 2, "#c4cad2")
    paper.box(740, 142, 38, 38, "#ffffff", 19, "#b6bcc6")
    paper.box(752, 154, 14, 14, "#374151", 2)
    paper.box(810, 140, 60, 44, "#ffffff", 16, "#d1d5db")
    _blur_rectangle(paper, (40, 234, 180, 304), "#000000", 60, 6)
    paper.box(40, 230, 140, 70, "#ffffff")
    paper.box(340, 230, 220, 90, "#f3f4f6", 12)
    paper.box(364, 260, 90, 40, "#dc2626", 6)
    paper.box(600, 240, 80, 80, "#16a34a", 40)
    paper.pen.polygon([(720, 280), (760, 280), (740, 240)], fill="#dc2626")
    paper.box(40, 400, 320, 48, "#ede9fe", 24)
    _blur_rectangle(paper, (56, 410, 138, 444), "#7c6bb0", 40, 1)  # hides a part of the outer one's rows
    paper.box(44, 404, 106, 38, "#ffffff", 19)
    for row, wide in enumerate((4, 8, 10, 10, 12, 12, 12, 12, 10, 10, 8, 4)):  # a disc with hard edges
        left = 406 - wide // 2
        paper.pen.rectangle((left, 410 + row, left + wide - 1, 410 + row), "#14b8a6")
    for column, radius in enumerate((2, 3, 4)):
        paper.box(440 + 30 * column, 410, 14, 14, "#0369a1", radius)
    for x, wide, high, radius in ((540, 40, 40, 20), (600, 21, 20, 10), (640, 90, 36, 18), (740, 130, 42, 10)):
        paper.box(x, 400, wide, high, "#db2777", radius)
    paper.box(40, 480, 90, 38, "#111827", 7)
    paper.box(100, 480, 30, 38, "#111827")  # its right side has no round corners
    paper.box(180, 480, 40, 40, "#fef3c7", 10)
    paper.box(194, 494, 22, 22, "#d97706", 4)  # an icon near a round corner
    for column in range(600):
        paper.pen.line((260 + column, 470, 260 + column, 560), (67 + column // 5, 56, 202 - column // 7))
    for left, radius in ((300, 0), (520, 10)):
        paper.pen.rounded_rectangle((left, 490, left + 129, 533), radius, outline="#ffffff")
    return paper.png()


def _skyline(width: int, height: int) -> Image.Image:
    """Dark towers in front of a dark sky, each nearly of one colour, with the faint grain of a photograph."""
    random = np.random.default_rng(5)
    picture = np.empty((height, width, 3))
    picture[:] = (35, 24, 44)
    for left in range(40, width - 160, 200):
        picture[height // 3 :, left : left + 120] = (21, 20, 41) if left % 400 else (12, 17, 33)
    return Image.fromarray((picture + random.normal(0, 0.9, picture.shape)).clip(0, 255).astype(np.uint8))


def _photographs() -> bytes:
    """A dark photograph on a dark page with a label and a heading, three beside each other, and a dithered gradient."""
    paper = Paper(601, 461, "#0b1020")
    paper.image.paste(_skyline(601, 201), (0, 31))
    paper.box(61, 51, 73, 25, "#818cf8", 4)
    _write(paper, 79, 68, "NEW", 14, "#0b1020")
    _write(paper, 31, 151, "Harbour lights", 44, "#ffffff")
    for left in (21, 221, 421):
        paper.image.paste(_skyline(161, 101), (left, 251))
    across = np.linspace(30, 150, 561)[None, :, None] + np.zeros((81, 561, 3))
    dithered = across + np.random.default_rng(3).random(across.shape)
    paper.image.paste(Image.fromarray(dithered.astype(np.uint8)), (21, 371))
    return paper.png()


def _words() -> bytes:
    """Links beside a taller name, a heading of large letters, a link in a sentence, bullets, a button and squares."""
    paper = Paper(700, 560)
    _write(paper, 40, 46, "Jgbeam", 26, "#292524")
    for x, link in ((200, "Home"), (262, "Prices"), (327, "Help")):
        _write(paper, x, 45, link, 15, "#292524")
    _write(paper, 40, 150, "Billing, filled & loved", 60, "#0f172a")
    _write(paper, 40, 210, "software that", 19, "#26221c")
    _write(paper, 165, 210, "waits in line", 19, "#9a3412")
    for row, line in enumerate(("Works from your phone", "Pays on time", "Never late")):
        paper.box(40, 242 + 30 * row, 12, 12, "#0d9488", 6)
        _write(paper, 66, 254 + 30 * row, line, 16)
    paper.box(40, 340, 150, 44, "#1d4ed8", 8)
    _write(paper, 64, 368, "Try it free", 16, "#ffffff")
    for column in range(4):
        paper.box(40 + 36 * column, 420, 32, 32, "#e2e8f0", 6)
        _write(paper, 51 + 36 * column, 441, str(column + 1), 14)
    _write(paper, 40, 510, "Linen travel bag", 15)
    _write(paper, 40, 540, "Oak side chair", 15)
    return paper.png()


def _round_letters() -> bytes:
    """Large round letters, which are not boxes."""
    paper = Paper(401, 121)
    _write(paper, 41, 81, "Ooo good OOO", 40)
    return paper.png()


PICTURES: dict[str, Callable[[], bytes]] = {
    "login": _login,
    "login-with-loss": _login_with_loss,
    "login-on-a-screen": _login_on_a_screen,
    "dashboard": lambda: (PAGES / "dashboard.png").read_bytes(),
    "pricing": lambda: (PAGES / "pricing.png").read_bytes(),
    "landing": lambda: (PAGES / "landing.png").read_bytes(),
    "sketch": lambda: png(draw_shop()),
    "sketch-by-lamplight": lambda: jpeg(add_light(draw_shop(3))),
    "sketch-from-the-side": lambda: jpeg(photograph(draw_shop(2), SEEN_FROM_THE_SIDE, (96, 72, 50))),
    "gradients": _gradients,
    "photograph": _photograph,
    "boxes": _boxes,
    "photographs": _photographs,
    "words": _words,
    "round-letters": _round_letters,
}
DRAWN_WITH_FONTS: dict[str, Callable[[], bytes]] = {
    "form": lambda: _form().png(),
    "form-doubled": _doubled_form,
    "card": _card,
}
"""Pages that look alike only where the same fonts are installed."""
PREVIEWED = ("words",)
"""Pages whose first preview is recorded too."""
