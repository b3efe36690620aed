"""Documents as the detector would see them: lines, boxes and pictures with the style that the browser computed.

Rendering takes a second where reading a picture takes ten, so most rows of the training come from documents.
"""

from typing import Any

from heald_local.see.paragraphs import group_paragraphs
from heald_pictures.elements import Border, Box, Detection, Family, PictureElement, TextLine, TextStyle
from heald_pictures.rect import Rect, hull

PROBE = "role_probe.js"
WHITE = "#ffffff"
LARGEST_ICON = 64
ASCENT, INK_TOP, INK_HEIGHT = 0.8, 0.74, 0.92  # of the line box, and of the size of type
SPACE, TIGHT = 0.45, 0.13  # in sizes: pieces of a line that are nearer are one, and touch below the second
LETTER, LINE = 0.5, 1.2  # width of a letter and height of a line in a field, in sizes
NARROWEST_FIELD = 20.0  # pixels
ARROW, ARROW_ROOM = (9.0, 5.0), 5.0  # pixels of the arrow of a select, and between it and the edge
PRESSED = ("submit", "button", "reset")
UNSEEN = ("hidden", "checkbox", "radio")

Document = dict[str, Any]


def detect_document(document: Document) -> Detection:
    """Return what the detector would find on a picture of the document."""
    width, height = document["width"], document["height"]
    boxes, ground = _find_boxes(document)
    pictures: list[PictureElement] = []
    for number, picture in enumerate(document["pictures"]):
        rect = Rect(*picture["box"]).within(width, height)
        is_icon = max(rect.w, rect.h) <= LARGEST_ICON
        if min(rect.w, rect.h) >= 4 and (is_icon or not picture["ground"]):
            pictures.append(PictureElement(rect, "icon" if is_icon else "photo", f"p{number}", b""))
    boxes = [box for box in boxes if not any(picture.rect.holds(box.rect, 1) for picture in pictures)]
    pictures += _find_arrows(document)
    lines = [*_find_lines(document, boxes, ground), *_field_lines(document, boxes, ground)]
    texts = group_paragraphs(_join_pieces(lines))
    boxes.sort(key=lambda box: -box.rect.area)
    return Detection(int(width), int(height), 1, False, ground, tuple(boxes), tuple(texts), tuple(pictures), ())


def _find_boxes(document: Document) -> tuple[list[Box], str]:
    width, height = document["width"], document["height"]
    ground = _blend(document["ground"], WHITE)
    boxes: list[Box] = []
    for source in document["boxes"]:
        rect = Rect(*source["box"]).within(width, height)
        if min(rect.w, rect.h) < 1:
            continue
        below = _ground_of(rect, boxes, ground)
        fill, edge = _blend(source["fill"], below) if source["fill"] else below, _blend(source["edge"], below)
        top, _, bottom, _ = source["widths"]
        border = Border(tuple(source["widths"]), edge) if all(source["widths"]) and edge != below else None
        if border is None and top:
            boxes.append(Box(Rect(rect.x, rect.y, rect.w, top), edge))
        if border is None and bottom:
            boxes.append(Box(Rect(rect.x, rect.bottom - bottom, rect.w, bottom), edge))
        if rect.w >= width - 1 and rect.h >= height - 1:
            ground = fill
        elif fill != below or border is not None:
            boxes.append(Box(rect, fill, radius=source["radius"], border=border))
    return boxes, ground


def _find_lines(document: Document, boxes: list[Box], ground: str) -> list[TextLine]:
    lines: list[TextLine] = []
    page = Rect(0, 0, document["width"], document["height"])
    for source in document["lines"]:
        rect = Rect(*source["box"])
        below = _ground_of(rect, boxes, ground)
        colour = _blend(source["colour"], below)
        if colour == below or not page.holds(rect, 1):
            continue
        size, weight = source["size"], 700 if source["weight"] >= 600 else 400
        family = _family(source["family"])
        style = TextStyle(family, size, weight, source["italic"], colour, source["spacing"], source["underline"])
        baseline = rect.y + ASCENT * rect.h
        ink = Rect(rect.x, baseline - INK_TOP * size, rect.w, INK_HEIGHT * size)
        lines.append(TextLine(source["text"], ink, rect, style, baseline, 1.0))
    return lines


def _field_lines(document: Document, boxes: list[Box], ground: str) -> list[TextLine]:
    lines: list[TextLine] = []
    for field in document["fields"]:
        rect = Rect(*field["box"])
        if not field["text"] or field["type"] in UNSEEN or rect.w < NARROWEST_FIELD:
            continue
        colour = _blend(field["colour"], _ground_of(rect, boxes, ground))
        size, weight = field["size"], 700 if field["weight"] >= 600 else 400
        style = TextStyle(_family(field["family"]), size, weight, False, colour)
        room = max(rect.w - 2 * field["left"], size)
        wide = min(LETTER * size * len(field["text"]), room)
        is_centred = field["type"] in PRESSED or field["align"] == "center"
        left = rect.middle[0] - wide / 2 if is_centred else rect.x + field["left"]
        high = LINE * size
        top = rect.y + field["top"] if field["type"] == "textarea" else rect.middle[1] - high / 2
        place = Rect(left, top, wide, high)
        baseline = top + ASCENT * high
        ink = Rect(left, baseline - INK_TOP * size, wide, INK_HEIGHT * size)
        lines.append(TextLine(field["text"], ink, place, style, baseline, 1.0))
    return lines


def _find_arrows(document: Document) -> list[PictureElement]:
    """Return the arrows that browsers draw at the right end of selects."""
    wide, high = ARROW
    return [
        PictureElement(
            Rect(rect.right - ARROW_ROOM - wide, rect.middle[1] - high / 2, wide, high), "icon", "arrow", b""
        )
        for rect in (Rect(*field["box"]) for field in document["fields"] if field["arrow"])
    ]


def _join_pieces(lines: list[TextLine]) -> list[TextLine]:
    """Join pieces of one line and style, whichever elements they are in: a picture does not show these."""
    joined: list[TextLine] = []
    for line in sorted(lines, key=lambda piece: (round(piece.baseline), piece.rect.x)):
        last = joined[-1] if joined else None
        gap = line.rect.x - last.rect.right if last is not None else 0.0
        size = line.style.size
        is_level = last is not None and last.style == line.style and abs(last.baseline - line.baseline) < 1.5
        if last is None or not is_level or not -1 <= gap <= SPACE * size:
            joined.append(line)
        else:
            words = f"{last.text}{' ' if gap > TIGHT * size else ''}{line.text}"
            around, ink = hull((last.rect, line.rect)), hull((last.ink, line.ink))
            joined[-1] = TextLine(words, ink, around, last.style, last.baseline, 1.0)
    return joined


def _ground_of(rect: Rect, boxes: list[Box], ground: str) -> str:
    """Return the colour below a place: that of the last box around it."""
    around = [box.fill for box in boxes if box.rect.holds(rect, 1) and min(box.rect.w, box.rect.h) > 6]
    return around[-1] if around else ground


def _blend(channels: list[float], below: str) -> str:
    alpha = channels[3] if len(channels) > 3 else 1.0
    under = (int(below[at : at + 2], 16) for at in (1, 3, 5))
    mixed = (alpha * (over or 0) + (1 - alpha) * beneath for over, beneath in zip(channels, under, strict=False))
    return "#" + "".join(f"{min(max(round(part), 0), 255):02x}" for part in mixed)


def _family(stack: str) -> Family:
    names = stack.lower()
    if any(name in names for name in ("mono", "courier", "consol")):
        return "mono"
    return "sans" if any(name in names for name in ("sans", "arial", "helvet", "roboto", "lato")) else "serif"
