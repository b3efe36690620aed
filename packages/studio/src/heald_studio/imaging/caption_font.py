"""Finds a font for a text, and shortens the text to a width."""

from functools import lru_cache

from PIL import ImageFont

from heald_pictures.fonts import Family, faces

Font = ImageFont.FreeTypeFont | ImageFont.ImageFont

_PREFERRED: tuple[Family, ...] = ("sans", "system", "wide", "cjk", "hebrew", "arabic", "serif")


def find_font(text: str, size: int) -> Font:
    """Load the first installed font with every character of the text, else the default of Pillow."""
    return _load_font(_find_font_path(frozenset(letter for letter in text if not letter.isspace())), size)


def fit_text(text: str, font: Font, width: float) -> str:
    """Return the start of the text that fits, cut between words if possible."""
    text = " ".join("".join(letter for letter in text if letter.isprintable()).split())[:200]
    if font.getlength(text) <= width:
        return text
    fitting = ""
    for word in text.split(" "):
        longer = f"{fitting} {word}".strip()
        if font.getlength(f"{longer}…") > width:
            break
        fitting = longer
    while not fitting and text and font.getlength(f"{text}…") > width:
        text = text[:-1]
    return f"{(fitting or text).rstrip(' ,.;:')}…" if fitting or text else ""


@lru_cache(maxsize=256)
def _find_font_path(letters: frozenset[str]) -> str:
    upright = [face for face in faces() if not face.bold and not face.italic and face.path]
    for family in _PREFERRED:
        for face in upright:
            if face.family == family and not any(face.missing(letter) for letter in letters):
                return face.path
    return ""


@lru_cache(maxsize=64)
def _load_font(path: str, size: int) -> Font:
    if not path:
        return ImageFont.load_default(size)
    return ImageFont.truetype(path, size, index=2 if path.endswith(".ttc") else 0)
