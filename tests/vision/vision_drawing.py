"""Pages drawn by Pillow: what a test can look at without a browser."""

import io

from PIL import Image, ImageDraw, ImageFont

from weft.vision.fonts import Face, face


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
        self.image.save(out, "PNG")
        return out.getvalue()

    def jpeg(self, quality: int = 80) -> bytes:
        out = io.BytesIO()
        self.image.save(out, "JPEG", quality=quality)
        return out.getvalue()
