"""Recognises phrases: runs of one sentence in several styles, and texts that are links by looks or place."""

import colorsys
import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from weft.vision.elements import Detection, Part, TextElement, TextLine, TextStyle, hull
from weft.vision.see.regions import colour_distance, rgb_parts

_SPACES = (-0.05, 0.5)  # distance of two words of a sentence, in parts of the size
_TIGHT = 0.13  # a distance below this has no space in it
_LEVEL = 1.5
_LONGEST_LINK = 48
_LARGEST_LINK = 21.0
_SATURATED = 0.35
_BLUE = (0.52, 0.75)  # hues that links have by habit
_ARROWS = ("→", "›", "»", "↗", "⟶")
_NEAR_COLOUR = 24.0


def merge_runs(children: Sequence[Part]) -> tuple[Part, ...]:
    """Join neighbours of a row that are one sentence in several styles to one text."""
    result: list[Part] = []
    run: list[Part] = []
    for child in (*children, None):
        if child is not None and run and _continues(run[-1], child):
            run.append(child)
            continue
        result += [_sentence(run)] if len(run) > 1 else run
        run = [child] if child is not None else []
    return tuple(result)


def _continues(one: Part, two: Part) -> bool:
    first, second = one.text, two.text
    if first is None or second is None or one.tag != "div" or two.tag != "div" or one.children or two.children:
        return False
    if len(first.lines) != 1 or len(second.lines) != 1 or abs(first.style.size - second.style.size) > 0.8:
        return False
    if abs(first.lines[0].baseline - second.lines[0].baseline) > _LEVEL:
        return False
    low, high = (share * first.style.size for share in _SPACES)
    worded = any(letter.isalpha() for letter in first.text + second.text)
    return worded and low <= two.rect.x - one.rect.right <= high


def _sentence(run: Sequence[Part]) -> Part:
    """Make one text of several; its children are the runs."""
    texts = [part.text for part in run if part.text is not None]
    base = max(texts, key=lambda text: len(text.text)).style
    words = texts[0].text
    for one, two in itertools.pairwise(texts):
        words += f"{_space_between(one, two)}{two.text}"
    around = hull(part.rect for part in run)
    first = texts[0].lines[0]
    ink = hull(text.lines[0].ink for text in texts)
    line = TextLine(words, ink, around, base, first.baseline, min(text.lines[0].sure for text in texts))
    return Part("text", around, tuple(run), text=TextElement((line,), around, base, "left", around.h))


def _space_between(one: TextElement, two: TextElement) -> str:
    return "" if two.rect.x - one.rect.right < _TIGHT * one.style.size else " "


def run_spaces(part: Part) -> list[str]:
    """Return the text before each run of a sentence: a space, or nothing."""
    texts = [child.text for child in part.children if child.text is not None]
    return ["", *(_space_between(one, two) for one, two in itertools.pairwise(texts))]


def run_tag(style: TextStyle, base: TextStyle) -> str:
    """Return the tag of a run within a sentence; empty for plain words."""
    if style.underline and not base.underline:
        return "a"
    if colour_distance(style.colour, base.colour) > _NEAR_COLOUR and _is_vivid(style.colour):
        return "a"
    if style.weight >= 600 > base.weight:
        return "strong"
    if style.italic and not base.italic:
        return "em"
    return "span" if colour_distance(style.colour, base.colour) > _NEAR_COLOUR else ""


def _is_vivid(colour: str) -> bool:
    red, green, blue = (part / 255 for part in rgb_parts(colour))
    _, light, saturation = colorsys.rgb_to_hls(red, green, blue)
    return saturation >= _SATURATED and 0.12 < light < 0.9


def mark_links(part: Part, accents: frozenset[str]) -> Part:
    """Turn texts that look like links into links: underlined, with an arrow, or short and in the page's accent."""
    if part.tag in ("button", "a", "nav", "table", "label", "ul"):
        return part
    if part.text is not None:
        if part.tag == "p" and not part.children and _is_link(part.text, accents):
            return replace(part, tag="a", name="link", attributes=(("href", "#"), *part.attributes))
        return part
    return replace(part, children=tuple(mark_links(child, accents) for child in part.children))


def _is_link(text: TextElement, accents: frozenset[str]) -> bool:
    style = text.style
    if len(text.lines) > 1 or len(text.text) > _LONGEST_LINK or style.size > _LARGEST_LINK:
        return False
    if not any(letter.isalpha() for letter in text.text):
        return False
    if style.underline or text.text.endswith(_ARROWS):
        return True
    return _is_vivid(style.colour) and style.colour in accents and not text.text.isupper()


def find_accents(detection: Detection) -> frozenset[str]:
    """Return the colours that links have: those of underlined texts, of arrows, and vivid blues of small texts."""
    counted: Counter[str] = Counter(text.style.colour for text in detection.texts)
    plain = {colour for colour, _ in counted.most_common(1)}
    found = {text.style.colour for text in detection.texts if text.style.underline or text.text.endswith(_ARROWS)} | {
        colour for colour in counted if _is_blue(colour)
    }
    return frozenset(found - plain)


def _is_blue(colour: str) -> bool:
    red, green, blue = (part / 255 for part in rgb_parts(colour))
    hue, _, _ = colorsys.rgb_to_hls(red, green, blue)
    return _is_vivid(colour) and _BLUE[0] <= hue <= _BLUE[1]


_FEWEST_LINKS = 2
_SAME_EDGE = 6.0
_NAME_SIZE = 12.0  # pixels; a smaller text at the left of a header is no name of the site


def mark_header(part: Part) -> Part:
    """Turn the name of the site and the words beside it in a header into links."""
    if part.text is not None or part.tag in ("nav", "button"):
        return part
    if part.kind != "row" or len(part.children) < 2:
        return replace(part, children=tuple(mark_header(child) for child in part.children))
    brand = _brand_of(part)
    words = [child for child in part.children if _is_word(child) and child is not brand]
    alike = [child for child in words if _style_key(child) == _style_key(words[-1])]
    links = {id(child) for child in alike} if len(alike) >= _FEWEST_LINKS else set[int]()
    children: list[Part] = []
    for child in part.children:
        if child is brand:
            children.append(_as_link(child, "brand"))
        else:
            children.append(_as_link(child, "link") if id(child) in links else mark_header(child))
    return replace(part, children=tuple(children))


def _brand_of(row: Part) -> Part | None:
    """Return the name of the site: the text that begins the row, or follows its logo."""
    first = row.children[1] if row.children[0].picture is not None else row.children[0]
    if first.text is None or first.tag != "p" or len(first.text.text) > _LONGEST_LINK:
        return None
    return first if first.text.style.size >= _NAME_SIZE else None


def _is_word(part: Part) -> bool:
    text = part.text
    return text is not None and part.tag == "p" and len(text.lines) == 1 and 1 < len(text.text) <= 28


def _style_key(part: Part) -> tuple[float, bool]:
    assert part.text is not None
    return round(part.text.style.size), part.text.style.weight >= 600


def _as_link(part: Part, name: str) -> Part:
    return replace(part, tag="a", name=name, attributes=(("href", "#"), *part.attributes))


def mark_footer(part: Part) -> Part:
    """Turn the short lines of a footer into links, but for the bold one at the head of each column."""
    words = [each for each in _text_parts(part) if _is_footer_word(each)]
    heads = {id(column[0]) for column in _footer_columns(words) if _is_head(column)}
    links = {id(each) for each in words} - heads
    return _mark_texts(part, links, heads) if len(links) >= _FEWEST_LINKS else part


def _footer_columns(words: Sequence[Part]) -> list[list[Part]]:
    """Group words that begin at one distance from the side, each from the top down."""
    columns: list[list[Part]] = []
    for word in sorted(words, key=lambda each: each.rect.y):
        home = next((column for column in columns if abs(column[0].rect.x - word.rect.x) <= _SAME_EDGE), None)
        if home is None:
            columns.append([word])
        else:
            home.append(word)
    return columns


def _is_head(column: Sequence[Part]) -> bool:
    first = column[0].text
    return len(column) > _FEWEST_LINKS and first is not None and first.style.weight >= 600


def _text_parts(part: Part) -> list[Part]:
    return [part] if part.text is not None else [leaf for child in part.children for leaf in _text_parts(child)]


def _is_footer_word(part: Part) -> bool:
    text = part.text
    if text is None or part.tag not in ("p", "a", "li") or part.children or len(text.lines) > 1 or len(text.text) > 28:
        return False
    return "©" not in text.text and not text.text.endswith(".") and any(letter.isalpha() for letter in text.text)


def _mark_texts(part: Part, links: set[int], heads: set[int]) -> Part:
    if id(part) in links and part.tag == "p":
        return _as_link(part, "link")
    if id(part) in links and part.tag == "li":
        return Part("stack", part.rect, (_as_link(replace(part, attributes=()), "link"),), tag="li", name="item")
    if id(part) in heads and part.tag == "a":
        plain = tuple(pair for pair in part.attributes if pair[0] != "href")
        return replace(part, tag="p", name="text", attributes=plain)
    if part.text is not None:
        return part
    children = tuple(_mark_texts(child, links, heads) for child in part.children)
    bare = part.tag == "nav" and not any(child.tag == "a" for child in children)
    return replace(part, children=children, tag="div" if bare else part.tag, name="row" if bare else part.name)


def mark_cards(part: Part) -> Part:
    """Turn the title of each card that is a photograph with words over it into a link."""
    if part.kind == "grid" and sum(_is_shot(child) for child in part.children) >= _FEWEST_LINKS:
        return replace(part, children=tuple(_link_title(child) for child in part.children))
    if part.text is not None:
        return part
    return replace(part, children=tuple(mark_cards(child) for child in part.children))


def _is_shot(part: Part) -> bool:
    return part.box is not None and bool(part.box.image) and bool(_text_parts(part))


def _link_title(part: Part) -> Part:
    plain = [leaf for leaf in _text_parts(part) if leaf.tag == "p" and leaf.text is not None and not leaf.children]
    if not _is_shot(part) or not plain or len(plain) != len(_text_parts(part)):
        return part
    title = max(plain, key=lambda leaf: leaf.text.style.size if leaf.text is not None else 0)
    return _mark_texts(part, {id(title)}, set())
