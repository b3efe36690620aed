"""Pages drawn by hand, as a picture and its text."""

from collections.abc import Sequence
from io import BytesIO
from typing import NamedTuple

from PIL import Image, ImageDraw, ImageFont

from heald_studio.browser.page import TextBlock
from heald_studio.score.page_image import PageImage

Colour = tuple[int, int, int]

WIDTH, HEIGHT = 800, 600


class Word(NamedTuple):
    text: str
    x: int
    y: int
    size: int = 16
    colour: Colour = (20, 20, 20)


class Card(NamedTuple):
    x: int
    y: int
    w: int
    h: int
    colour: Colour


WORDS = (
    Word("Harbour Lights", 40, 20, 28, (180, 30, 30)),
    Word("Menu", 600, 28),
    Word("Contact", 680, 28),
    Word("A small house by the sea", 60, 120, 22, (255, 255, 255)),
    Word("Rooms with a view of the water", 60, 330),
    Word("Breakfast until eleven", 300, 330),
    Word("Boats for rent", 560, 330),
    Word("Book a room", 80, 440, 18, (255, 255, 255)),
    Word("Read more", 320, 440, 16, (0, 80, 200)),
    Word("Read more", 580, 440, 16, (0, 80, 200)),
    Word("Open from March to October", 40, 560, 14, (120, 120, 120)),
)
CARDS = (
    Card(40, 90, 720, 120, (20, 60, 110)),
    Card(40, 250, 200, 60, (220, 200, 160)),
    Card(290, 250, 200, 60, (160, 200, 220)),
    Card(550, 250, 200, 60, (190, 220, 160)),
    Card(60, 430, 160, 40, (200, 60, 40)),
)


def drawn(
    words: Sequence[Word] = WORDS,
    cards: Sequence[Card] = CARDS,
    *,
    size: tuple[int, int] = (WIDTH, HEIGHT),
    ground: Colour = (250, 250, 248),
) -> PageImage:
    image = Image.new("RGB", size, ground)
    draw = ImageDraw.Draw(image)
    for card in cards:
        draw.rectangle((card.x, card.y, card.x + card.w, card.y + card.h), fill=card.colour)
    texts: list[TextBlock] = []
    for word in words:
        font = ImageFont.load_default(word.size)
        left, top, right, bottom = draw.textbbox((word.x, word.y), word.text, font=font)
        draw.text((word.x, word.y), word.text, font=font, fill=word.colour)
        texts.append(TextBlock(word.text, left, top, right - left, bottom - top, word.colour))
    out = BytesIO()
    image.save(out, "PNG")
    return PageImage(out.getvalue(), tuple(texts))
