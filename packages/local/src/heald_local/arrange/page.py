"""Arranges detected elements as a page."""

import io
import re
from collections import Counter
from dataclasses import replace

from PIL import Image

from heald_local.arrange.centring import centre_columns, find_narrower
from heald_local.arrange.drawings import share_shapes
from heald_local.arrange.greys import merge_greys
from heald_local.arrange.layout import lay_out
from heald_local.arrange.likeness import even_repeats
from heald_local.arrange.nested_links import unlink_nested
from heald_local.arrange.nesting import nest
from heald_local.arrange.nodes import Declarations, length
from heald_local.arrange.numbering import restore_numbers
from heald_local.arrange.paragraphs import join_paragraphs
from heald_local.arrange.part import Part
from heald_local.arrange.placement import LayoutRoom
from heald_local.arrange.right_to_left import mark_directions, mirror_detection, mirror_nodes
from heald_local.arrange.semantics import add_semantics, title_of
from heald_local.arrange.spacing import keep_to_scale
from heald_local.arrange.tall_windows import fill_window
from heald_local.arrange.typography import even_texts
from heald_local.page import LEFTWARD, Node, Page, walk_nodes
from heald_local.see.pictures import encode_png
from heald_pictures.colours import colour_distance, contrast, hex_colour, luminance, rgb_parts
from heald_pictures.elements import Detection, Family, PictureElement
from heald_pictures.fonts import FONT_STACKS
from heald_pictures.rect import Rect, spanning
from heald_pictures.scripts import wide_letter

_END = 5.0  # pixels between a box and the end of the picture that it is cut off at
_TALL = 0.45


def trim_pictures(detection: Detection) -> Detection:
    """Cut boxes off the ends of pictures, and drop boxes that are part of a picture."""
    boxes = list(detection.boxes)
    pictures: list[PictureElement] = []
    for picture in detection.pictures:
        inside = [box for box in boxes if picture.kind != "ground" and picture.rect.holds(box.rect, 1)]
        for box in inside:
            rest = _rest_beside_box(picture.rect, box.rect)
            if rest is None:
                boxes.remove(box)
            else:
                picture = _crop_picture(picture, rest)
        pictures.append(picture)
    return replace(detection, boxes=tuple(boxes), pictures=tuple(pictures))


def _rest_beside_box(picture: Rect, box: Rect) -> Rect | None:
    if box.h < _TALL * picture.h or picture.w < 2 * picture.h:
        return None
    if box.x - picture.x <= _END and picture.right - box.right > 4:
        return spanning((box.right + 2, picture.y, picture.right, picture.bottom))
    if picture.right - box.right <= _END and box.x - picture.x > 4:
        return spanning((picture.x, picture.y, box.x - 2, picture.bottom))
    return None


def _crop_picture(picture: PictureElement, rect: Rect) -> PictureElement:
    with Image.open(io.BytesIO(picture.data), formats=("PNG",)) as whole:
        scale = whole.width / picture.rect.w
        left, top = rect.x - picture.rect.x, rect.y - picture.rect.y
        right, bottom = round((left + rect.w) * scale), round((top + rect.h) * scale)
        data = encode_png(whole.crop((round(left * scale), round(top * scale), right, bottom)))
    return replace(picture, rect=rect, data=data, shapes=())


ENOUGH, ENOUGH_LARGE = 4.5, 3.0
LARGE, LARGE_BOLD = 24.0, 18.66  # sizes in pixels from which on the lower bar counts
MOST = 24  # the largest change, in one channel: more than that is how the page looks, and no error of reading
_STEPS = 255
_COLOUR = re.compile(r"#[0-9a-f]{6}")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)px")
_LAYER = ("grid-area", "1 / 1")


def ensure_contrast(nodes: tuple[Node, ...], ground: str) -> tuple[Node, ...]:
    """Make texts legible on their background. `ground` is empty where its colour is not known."""
    legible: list[Node] = []
    below = ground
    for node in nodes:
        legible.append(_legible(node, below))
        if _LAYER in node.style and (node.tag in ("img", "svg") or "background" in dict(node.style)):
            below = ""
    return tuple(legible)


def nudged(colour: str, ground: str, target: float) -> str:
    """Return the nearest colour towards black or white with enough contrast; unchanged if it is too far."""
    if contrast(colour, ground) >= target:
        return colour
    end = 0 if luminance(colour) <= luminance(ground) else 255
    for step in range(1, _STEPS + 1):
        moved = hex_colour(part + (end - part) * step / _STEPS for part in rgb_parts(colour))
        if colour_distance(moved, colour) > MOST:
            return colour
        if contrast(moved, ground) >= target:
            return moved
    return colour


def _legible(node: Node, ground: str) -> Node:
    style = dict(node.style)
    painted = style.get("background", "transparent")
    if painted != "transparent":
        ground = painted if _COLOUR.fullmatch(painted) else ""
    children = ensure_contrast(node.children, ground)
    colour = style.get("color", "")
    if ground and _COLOUR.fullmatch(colour) and _worded(node):
        colour = nudged(colour, ground, _wanted(style))
        changed = tuple((name, colour if name == "color" else value) for name, value in node.style)
        return replace(node, style=changed, children=children)
    return replace(node, children=children)


def _worded(node: Node) -> bool:
    """Whether it shows words: a lone sign needs no contrast."""
    texts = [*node.lines, *(value for name, value in node.attributes if name in ("placeholder", "value"))]
    texts += [line for child in node.children if child.tag == "option" for line in child.lines]
    return any(letter.isalnum() for text in texts for letter in text)


def _wanted(style: dict[str, str]) -> float:
    size_match = _SIZE.search(style.get("font-size", style.get("font", "")))
    size = float(size_match[1]) if size_match is not None else 16.0
    bold = style.get("font-weight", "400") in ("700", "800", "900", "bold")
    return ENOUGH_LARGE if size >= (LARGE_BOLD if bold else LARGE) else ENOUGH


def arrange(detection: Detection) -> Page:
    """Arrange a detection as a tree of elements with CSS."""
    detection = trim_pictures(detection)
    language = _language(detection)
    if language not in LEFTWARD:
        return _arrange_page(detection, detection, language)
    page = _arrange_page(mirror_detection(detection), detection, language)
    return replace(page, body=mirror_nodes(page.body))


def _arrange_page(detection: Detection, original: Detection, language: str) -> Page:
    whole = detection if language in LEFTWARD else join_paragraphs(detection)
    body = restore_numbers(add_semantics(nest(whole), detection))
    body = mark_directions(body, language in LEFTWARD)
    family = _family(detection)
    left, right = _column(body, detection.width)
    body = even_texts(centre_columns(body, detection.width, left))
    frame = LayoutRoom(0, detection.width, family, (left, right), detection.width)
    place = Declarations()
    place["align-self"] = "stretch"
    root = fill_window(lay_out(body, frame, place), body, detection.height)
    bottom = max((child.rect.bottom for child in body.children), default=detection.height)
    style = {
        "margin": "0",
        "background": detection.background,
        "font-family": FONT_STACKS[family],
        "padding-bottom": length(max(detection.height - bottom, 0)),
        "min-height": "100vh",
        **{name: value for name, value in root.style if name == "gap"},
    }
    return Page(
        title=title_of(detection),
        language=language,
        width=detection.width,
        height=detection.height,
        style=tuple(style.items()),
        body=share_shapes(
            ensure_contrast(_tidy(unlink_nested(root.children), detection.background), detection.background)
        ),
        assets=_assets(detection, root),
        detection=original,
        notes=detection.notes,
    )


def _tidy(nodes: tuple[Node, ...], ground: str) -> tuple[Node, ...]:
    """Make alike what was measured on each element alone and is meant to be one: repeated parts, greys, distances."""
    return keep_to_scale(merge_greys(even_repeats(nodes), ground))


def _assets(detection: Detection, root: Node) -> tuple[tuple[str, bytes], ...]:
    """Return the files of the pictures; shapes stand in the page itself, except for those behind a field."""
    styles = " ".join(value for node in walk_nodes((root,)) for name, value in node.style if name == "background")
    files = (picture for picture in detection.pictures if not picture.shapes or f"({picture.path})" in styles)
    return tuple((picture.path, picture.content) for picture in files)


def _family(detection: Detection) -> Family:
    weights: Counter[Family] = Counter()
    for text in detection.texts:
        weights[text.style.family] += len(text.text)
    return weights.most_common(1)[0][0] if weights else "sans"


def _column(body: Part, width: float) -> tuple[float, float]:
    """Return the edges of the page's column: the leftmost content, mirrored, if everything fits between."""
    rects = find_narrower(body, width)
    lefts, rights = [rect.x for rect in rects], [rect.right for rect in rects]
    if not lefts:
        return 0, width
    edge = min(min(lefts), width - max(rights))
    return max(edge, 0), width - max(edge, 0)


_WORD = re.compile(r"[^\W\d_]+")
_COMMON_WORDS = {
    code: frozenset(words.split())
    for code, words in (
        ("en", "the of and to in is are for with that you your our we from by it not"),
        ("de", "der die das und ist nicht mit für ein eine auf von den dem sie wir ihre im zu sind"),
        ("fr", "le la les des et est pour dans une un vous nous avec sur pas du au votre"),
        ("es", "el los las y es para con una un por que su del como más no se"),
        ("it", "il lo gli e è per con una un che di del della sono non si"),
        ("pt", "o os as e é para com uma um por que seu do da não se mais"),
        ("nl", "de het een en is voor met van niet op zijn wij uw onze dat"),
    )
}
_FEWEST_VOTES = 4


def _language(detection: Detection) -> str:
    text = "".join(text.text for text in detection.texts)
    if any("\u3040" <= letter <= "\u30ff" for letter in text):
        return "ja"
    if any("\uac00" <= letter <= "\ud7af" for letter in text):
        return "ko"
    greek = ("el", "\u0370", "\u03ff")
    for code, low, high in (greek, ("ru", "\u0400", "\u04ff"), ("he", "\u0590", "\u05ff"), ("ar", "\u0600", "\u06ff")):
        if sum(low <= letter <= high for letter in text) > 0.3 * len(text):
            return code
    if sum(wide_letter(letter) for letter in text) > 0.2 * len(text):
        return "zh"
    words = Counter(word for element in detection.texts for word in _WORD.findall(element.text.lower()))
    votes = {code: sum(words[word] for word in common) for code, common in _COMMON_WORDS.items()}
    best = max(votes, key=lambda code: votes[code])
    return best if votes[best] > votes["en"] and votes[best] >= _FEWEST_VOTES else "en"
