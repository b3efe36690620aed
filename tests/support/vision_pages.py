"""Seen pages made by hand: what arranging and writing start from."""

from heald_pictures.elements import Border, Box, Detection, PictureElement, TextElement, TextLine, TextStyle
from heald_pictures.fonts import face
from heald_pictures.rect import Rect

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
    "0000000d49444154789c6360000002000001e221bc330000000049454e44ae426082"
)


def text(x: float, y: float, words: str, size: float = 16, weight: int = 400, colour: str = "#1f2937") -> TextElement:
    width = face("sans", weight >= 600).advance(words) * size
    style = TextStyle("sans", size, weight, False, colour)
    rect = Rect(x, y, width, round(size * 1.15))
    line = TextLine(words, rect.grown(-2), rect, style, y + round(size * 0.9), 0.99)
    return TextElement((line,), rect, style, "left", rect.h)


def box(x: float, y: float, w: float, h: float, fill: str = "#f3f4f6", border: bool = False, radius: float = 0) -> Box:
    frame = Border((1, 1, 1, 1), "#d1d5db") if border else None
    return Box(Rect(x, y, w, h), fill, radius, frame)


def picture(x: float, y: float, w: float, h: float, number: int = 1) -> PictureElement:
    return PictureElement(Rect(x, y, w, h), "photo", f"photo-{number}", PNG)


def seen(
    *parts: TextElement | Box | PictureElement, width: int = 1280, height: int = 800, notes: tuple[str, ...] = ()
) -> Detection:
    boxes = sorted((part for part in parts if isinstance(part, Box)), key=lambda box: -box.rect.area)
    texts = tuple(part for part in parts if isinstance(part, TextElement))
    pictures = tuple(part for part in parts if isinstance(part, PictureElement))
    return Detection(width, height, 1, False, "#ffffff", tuple(boxes), texts, pictures, notes)
