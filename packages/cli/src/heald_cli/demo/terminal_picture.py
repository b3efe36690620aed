"""Draws the picture of the demo on a terminal with 24-bit colours: two pixels in each character."""

from importlib import resources


def demo_picture() -> bytes:
    """Return the picture that becomes a page, as PNG."""
    return (resources.files("heald_cli") / "demo" / "picture.png").read_bytes()


def draw_thumbnail() -> list[str]:
    """Return the lines of a small copy of the picture."""
    content = (resources.files("heald_cli") / "demo" / "thumbnail.ppm").read_bytes()
    _, size, _, pixels = content.split(b"\n", 3)  # a binary PPM: its kind, its size, the largest value, the pixels
    width, height = (int(number) for number in size.split())
    row_bytes = 3 * width
    rows = [pixels[start : start + row_bytes] for start in range(0, row_bytes * height, row_bytes)]
    return [_draw_line(upper, lower) for upper, lower in zip(rows[::2], rows[1::2], strict=False)]


def _draw_line(upper: bytes, lower: bytes) -> str:
    cells = (
        f"\x1b[38;2;{upper[x]};{upper[x + 1]};{upper[x + 2]}m\x1b[48;2;{lower[x]};{lower[x + 1]};{lower[x + 2]}m▀"
        for x in range(0, len(upper), 3)
    )
    return "".join(cells) + "\x1b[0m"
