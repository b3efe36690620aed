"""The page as one SVG drawing: boxes, pictures and text where they were seen. Nothing flows in an SVG."""

import base64
from collections.abc import Sequence
from html import escape

from weft.vision.fonts import STACKS
from weft.vision.page import Page
from weft.vision.seen import Box, Gradient, Line, Picture
from weft.vision.sheet import length


def write_svg(page: Page) -> dict[str, str | bytes]:
    """`image.svg` alone: pictures are in it."""
    seen = page.seen
    definitions = [_gradient(number, box.gradient) for number, box in enumerate(seen.boxes) if box.gradient is not None]
    parts = [f'<rect width="{seen.width}" height="{seen.height}" fill="{seen.background}"/>']
    photos = [picture for picture in seen.pictures if picture.kind in ("photo", "ground")]
    over = [_over(box, photos) for box in seen.boxes]
    parts += [_box(number, box) for number, box in enumerate(seen.boxes) if not over[number]]
    parts += [_picture(picture) for picture in photos]
    parts += [_box(number, box) for number, box in enumerate(seen.boxes) if over[number]]
    parts += [_picture(picture) for picture in seen.pictures if picture not in photos]
    parts += [_line(line) for text in seen.texts for line in text.lines]
    inner = "\n    ".join(definitions)
    defs = f"  <defs>\n    {inner}\n  </defs>\n" if definitions else ""
    body = "\n".join(f"  {part}" for part in parts)
    text = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{seen.width}" height="{seen.height}" '
        f'viewBox="0 0 {seen.width} {seen.height}" style="max-width: 100%; height: auto">\n'
        f"  <title>{escape(page.title, quote=False)}</title>\n{defs}{body}\n</svg>\n"
    )
    return {"image.svg": text}


def _gradient(number: int, gradient: Gradient) -> str:
    stops = f'<stop offset="0" stop-color="{gradient.start}"/><stop offset="1" stop-color="{gradient.end}"/>'
    turn = f'gradientTransform="rotate({gradient.angle - 90:g} 0.5 0.5)"'
    return f'<linearGradient id="shade-{number}" {turn}>{stops}</linearGradient>'


def _box(number: int, box: Box) -> str:
    rect = box.rect
    fill = f"url(#shade-{number})" if box.gradient is not None else box.fill
    radius = f' rx="{_number(box.radius)}"' if box.radius >= 1 else ""
    if box.border is None:
        return f'<rect {_place(rect.x, rect.y, rect.w, rect.h)}{radius} fill="{fill}"/>'
    wide = max(box.border.widths)
    inset = _place(rect.x + wide / 2, rect.y + wide / 2, rect.w - wide, rect.h - wide)
    return f'<rect {inset}{radius} fill="{fill}" stroke="{box.border.colour}" stroke-width="{_number(wide)}"/>'


def _over(box: Box, photos: Sequence[Picture]) -> bool:
    """Whether a box lies on a photograph."""
    rects = [photo.rect for photo in photos]
    return any(box.rect.common(photo) > 0.1 * box.rect.area and not box.rect.holds(photo, 1) for photo in rects)


def _picture(picture: Picture) -> str:
    rect = picture.rect
    data = base64.b64encode(picture.data).decode()
    return f'<image {_place(rect.x, rect.y, rect.w, rect.h)} href="data:image/png;base64,{data}"/>'


def _line(line: Line) -> str:
    style = line.style
    extra = ' font-weight="700"' if style.weight >= 600 else ""
    extra += ' font-style="italic"' if style.italic else ""
    extra += f' letter-spacing="{style.spacing:g}"' if style.spacing else ""
    extra += ' text-decoration="underline"' if style.underline else ""
    family = escape(STACKS[style.family])
    return (
        f'<text x="{_number(line.rect.x)}" y="{_number(line.baseline)}" font-family="{family}" '
        f'font-size="{style.size:g}"{extra} fill="{style.colour}">{escape(line.text, quote=False)}</text>'
    )


def _place(x: float, y: float, w: float, h: float) -> str:
    return f'x="{_number(x)}" y="{_number(y)}" width="{_number(w)}" height="{_number(h)}"'


def _number(value: float) -> str:
    return length(value).removesuffix("px")
