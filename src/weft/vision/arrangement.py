"""What was seen becomes a page: nested, given meaning, laid out. `arrange(seen)` is pure and quick."""

from collections import Counter

from weft.vision.fonts import STACKS
from weft.vision.geometry import Rect
from weft.vision.layout import Frame, lay_out
from weft.vision.legibility import legible
from weft.vision.meaning import give_meaning, title_of
from weft.vision.nesting import nest
from weft.vision.page import Page, Part
from weft.vision.seen import Family, Seen, wide_letter
from weft.vision.sheet import Sheet, length
from weft.vision.trimming import trimmed


def arrange(seen: Seen) -> Page:
    """The page as a tree of elements with their CSS."""
    seen = trimmed(seen)
    body = give_meaning(nest(seen), seen)
    family = _family(seen)
    left, right = _column(body, seen.width)
    frame = Frame(0, seen.width, family, (left, right), seen.width)
    place = Sheet()
    place["align-self"] = "stretch"
    root = lay_out(body, frame, place)
    bottom = max((child.rect.bottom for child in body.children), default=seen.height)
    style = {
        "margin": "0",
        "background": seen.background,
        "font-family": STACKS[family],
        "padding-bottom": length(max(seen.height - bottom, 0)),
        "min-height": "100vh",
        **{name: value for name, value in root.style if name == "gap"},
    }
    return Page(
        title=title_of(seen),
        language=_language(seen),
        width=seen.width,
        height=seen.height,
        style=tuple(style.items()),
        body=legible(root.children, seen.background),
        assets=tuple((f"assets/{picture.name}.png", picture.data) for picture in seen.pictures),
        seen=seen,
        notes=seen.notes,
    )


def _family(seen: Seen) -> Family:
    weights: Counter[Family] = Counter()
    for text in seen.texts:
        weights[text.style.family] += len(text.text)
    return weights.most_common(1)[0][0] if weights else "sans"


def _column(body: Part, width: float) -> tuple[float, float]:
    """Left and right edge of the page's column: the leftmost content, mirrored, if what is there fits in between."""
    rects = _narrower(body, width)
    lefts, rights = [rect.x for rect in rects], [rect.right for rect in rects]
    if not lefts:
        return 0, width
    edge = min(min(lefts), width - max(rights))
    return max(edge, 0), width - max(edge, 0)


def _narrower(part: Part, width: float) -> list[Rect]:
    """What does not span the page, looked for in everything that does."""
    found: list[Rect] = []
    for child in part.children:
        if child.rect.w < width - 2:
            found.append(child.rect)
        elif child.children:
            found += _narrower(child, width)
    return found


def _language(seen: Seen) -> str:
    text = "".join(text.text for text in seen.texts)
    if any("\u3040" <= letter <= "\u30ff" for letter in text):
        return "ja"
    if any("\uac00" <= letter <= "\ud7af" for letter in text):
        return "ko"
    for code, low, high in (("ru", "\u0400", "\u04ff"), ("he", "\u0590", "\u05ff"), ("ar", "\u0600", "\u06ff")):
        if sum(low <= letter <= high for letter in text) > 0.3 * len(text):
            return code
    return "zh" if sum(wide_letter(letter) for letter in text) > 0.2 * len(text) else "en"
