"""Words on a picture: a typeface that has all of their letters, and as many of them as there is room for."""

from functools import lru_cache

from PIL import ImageFont

from weft.vision.fonts import Family, faces

Font = ImageFont.FreeTypeFont | ImageFont.ImageFont

_PREFERRED: tuple[Family, ...] = ("sans", "system", "wide", "cjk", "hebrew", "arabic", "serif")


def font_for(text: str, size: int) -> Font:
    """The first typeface here that has every letter of the text; Pillow's own where none does."""
    return _loaded(_path_for(frozenset(letter for letter in text if not letter.isspace())), size)


def words_in(text: str, font: Font, width: float) -> str:
    """The beginning of the text that fits, cut between words where it can be."""
    text = " ".join("".join(letter for letter in text if letter.isprintable()).split())[:200]
    if font.getlength(text) <= width:
        return text
    kept = ""
    for word in text.split(" "):
        longer = f"{kept} {word}".strip()
        if font.getlength(f"{longer}…") > width:
            break
        kept = longer
    while not kept and text and font.getlength(f"{text}…") > width:
        text = text[:-1]
    return f"{(kept or text).rstrip(' ,.;:')}…" if kept or text else ""


@lru_cache(maxsize=256)
def _path_for(letters: frozenset[str]) -> str:
    upright = [face for face in faces() if not face.bold and not face.italic and face.path]
    for family in _PREFERRED:
        for face in upright:
            if face.family == family and not any(face.missing(letter) for letter in letters):
                return face.path
    return ""


@lru_cache(maxsize=64)
def _loaded(path: str, size: int) -> Font:
    if not path:
        return ImageFont.load_default(size)
    return ImageFont.truetype(path, size, index=2 if path.endswith(".ttc") else 0)
