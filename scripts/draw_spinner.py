"""Draw the page's spinner: a ring whose bright part goes round, as a picture whose frames the browser shows by itself.

    python scripts/draw_spinner.py

An animation in CSS would have the page laid out and painted again sixty times a second for as long as anything runs.
"""

from pathlib import Path

from PIL import Image, ImageDraw

PATH = Path(__file__).parent.parent / "web" / "src" / "style" / "spinner.png"
FRAMES = 12
TURN_MS = 900
SIZE = 28
FINE = 8
"""Drawn so many times larger, for smooth edges."""
WIDTH = 4
DIM, BRIGHT = 64, 255


def frame(number: int) -> Image.Image:
    """A mask: how much of the colour is seen."""
    side = SIZE * FINE
    ring = Image.new("L", (side, side))
    draw = ImageDraw.Draw(ring)
    start = 360 * number / FRAMES - 135
    draw.ellipse((0, 0, side - 1, side - 1), fill=DIM)
    draw.pieslice((0, 0, side - 1, side - 1), start, start + 90, fill=BRIGHT)
    hole = WIDTH * FINE
    draw.ellipse((hole, hole, side - 1 - hole, side - 1 - hole), fill=0)
    alpha = ring.resize((SIZE, SIZE), Image.Resampling.LANCZOS).point([value // 16 * 17 for value in range(256)])
    return Image.merge("LA", (Image.new("L", alpha.size), alpha))


def main() -> None:
    first, *others = (frame(number) for number in range(FRAMES))
    first.save(PATH, save_all=True, append_images=others, duration=TURN_MS // FRAMES, loop=0, disposal=1, blend=0)
    print(f"{PATH.name}: {PATH.stat().st_size} bytes")


if __name__ == "__main__":
    main()
