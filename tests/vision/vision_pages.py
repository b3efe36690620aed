"""Seen pages made by hand: what arranging and writing start from."""

from weft.vision.fonts import face
from weft.vision.geometry import Rect
from weft.vision.seen import Border, Box, Line, Picture, Seen, Text, TextStyle

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
    "0000000d49444154789c6360000002000001e221bc330000000049454e44ae426082"
)


def text(x: float, y: float, words: str, size: float = 16, weight: int = 400, colour: str = "#1f2937") -> Text:
    width = face("sans", weight >= 600).advance(words) * size
    style = TextStyle("sans", size, weight, False, colour)
    rect = Rect(x, y, width, round(size * 1.15))
    line = Line(words, rect.grown(-2), rect, style, y + round(size * 0.9), 0.99)
    return Text((line,), rect, style, "left", rect.h)


def box(x: float, y: float, w: float, h: float, fill: str = "#f3f4f6", border: bool = False, radius: float = 0) -> Box:
    frame = Border((1, 1, 1, 1), "#d1d5db") if border else None
    return Box(Rect(x, y, w, h), fill, radius, frame)


def picture(x: float, y: float, w: float, h: float, number: int = 1) -> Picture:
    return Picture(Rect(x, y, w, h), "photo", f"photo-{number}", PNG)


def seen(*parts: Text | Box | Picture, width: int = 1280, height: int = 800, notes: tuple[str, ...] = ()) -> Seen:
    boxes = sorted((part for part in parts if isinstance(part, Box)), key=lambda each: -each.rect.area)
    texts = tuple(part for part in parts if isinstance(part, Text))
    pictures = tuple(part for part in parts if isinstance(part, Picture))
    return Seen(width, height, 1, False, "#ffffff", tuple(boxes), texts, pictures, notes)
