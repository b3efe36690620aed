"""Pages drawn by Pillow: what a test can look at without a browser."""

import io

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from heald_local.see.ink import Ink, extract_ink
from heald_pictures.elements import Family
from heald_pictures.fonts import Face, face, faces
from heald_pictures.rect import Rect


class Paper:
    """A screenshot being drawn."""

    def __init__(self, width: int = 640, height: int = 360, colour: str = "#ffffff") -> None:
        self.image = Image.new("RGB", (width, height), colour)
        self.pen = ImageDraw.Draw(self.image)

    def box(self, x: int, y: int, w: int, h: int, fill: str, radius: int = 0, outline: str | None = None) -> None:
        """A rectangle; round corners are smooth, as a browser draws them."""
        scale = 8
        big = Image.new("L", (w * scale, h * scale), 0)
        ImageDraw.Draw(big).rounded_rectangle((0, 0, w * scale - 1, h * scale - 1), radius * scale, fill=255)
        mask = big.resize((w, h), Image.Resampling.BOX)
        self.image.paste(Image.new("RGB", (w, h), outline or fill), (x, y), mask)
        if outline is not None:
            self.box(x + 1, y + 1, w - 2, h - 2, fill, max(radius - 1, 0))

    def text(
        self, x: int, baseline: int, text: str, size: int = 16, colour: str = "#1f2937", bold: bool = False
    ) -> Face:
        drawn = face("sans", bold)
        font = ImageFont.truetype(drawn.path, size) if drawn.path else ImageFont.load_default(size)
        self.pen.text((x, baseline), text, fill=colour, font=font, anchor="ls")
        return drawn

    def png(self) -> bytes:
        out = io.BytesIO()
        self.image.save(out, "PNG", compress_level=1)
        return out.getvalue()

    def jpeg(self, quality: int = 80) -> bytes:
        out = io.BytesIO()
        self.image.save(out, "JPEG", quality=quality)
        return out.getvalue()


def face_of(family: Family) -> Face:
    match = next((face for face in faces() if face.family == family and not face.bold and not face.italic), None)
    if match is None or not match.path:
        pytest.skip(f"no font of the family {family} is installed")
    return match


def ink_of(face: Face, text: str, size: int) -> Ink:
    """Drawn large and made smaller, as without hinting."""
    fine = Image.new("L", (700 * 8, 90 * 8), 255)
    font = ImageFont.truetype(face.path, size * 8)
    ImageDraw.Draw(fine).text((20 * 8, 60 * 8), text, fill=20, font=font, anchor="ls")
    pixels = np.asarray(fine.reduce(8).convert("RGB"))
    ink = extract_ink(pixels, np.full_like(pixels, 255), Rect(0, 0, 700, 90))
    assert ink is not None
    return ink
