"""Writes a page as one drawing, with its pictures embedded. Nothing flows in it."""

import base64
import math
from collections.abc import Iterator, Sequence
from html import escape

from heald_local.arrange.nodes import length
from heald_local.page import Page
from heald_pictures.elements import Border, Box, Control, Gradient, PictureElement, Shadow, TextLine
from heald_pictures.fonts import FONT_STACKS
from heald_pictures.rect import Rect
from heald_pictures.scripts import is_leftward

_TRACK, _TRACK_EDGE = "#efefef", "#b2b2b2"  # of a slider, as browsers draw it


def write_svg(page: Page) -> dict[str, str | bytes]:
    """Write `image.svg`."""
    detection = page.detection
    photos = [picture for picture in detection.pictures if picture.kind in ("photo", "ground")]
    over = [_is_over(box, photos) for box in detection.boxes]
    numbered = list(enumerate(detection.boxes))
    parts = [f'<rect width="{detection.width}" height="{detection.height}" fill="{detection.background}"/>']
    parts += [part for number, box in numbered if not over[number] for part in _draw_box(number, box)]
    parts += [_draw_picture(picture) for picture in photos]
    parts += [part for number, box in numbered if over[number] for part in _draw_box(number, box)]
    parts += [_draw_picture(picture) for picture in detection.pictures if picture not in photos]
    parts += [_draw_line(line) for text in detection.texts for line in text.lines]
    definitions = [definition for number, box in numbered for definition in _define_paint(number, box)]
    inner = "\n    ".join(definitions)
    defs = f"  <defs>\n    {inner}\n  </defs>\n" if definitions else ""
    body = "\n".join(f"  {part}" for part in parts)
    text = (
        f'<svg xmlns="http://www.w3.org/2000/svg" lang="{page.language}" width="{detection.width}" '
        f'height="{detection.height}" viewBox="0 0 {detection.width} {detection.height}" '
        f'style="max-width: 100%; height: auto">\n'
        f"  <title>{escape(page.title, quote=False)}</title>\n{defs}{body}\n</svg>\n"
    )
    return {"image.svg": text}


def _is_over(box: Box, photos: Sequence[PictureElement]) -> bool:
    rects = [photo.rect for photo in photos]
    return any(box.rect.common(photo) > 0.1 * box.rect.area and not box.rect.holds(photo, 1) for photo in rects)


def _define_paint(number: int, box: Box) -> Iterator[str]:
    if box.gradient is not None:
        yield _define_gradient(number, box.gradient, box.rect)
    if box.shadow is not None:
        yield _define_shadow(number, box.shadow, box.rect)


def _define_gradient(number: int, gradient: Gradient, rect: Rect) -> str:
    stops = "".join(f'<stop offset="{place:g}" stop-color="{colour}"/>' for place, colour in gradient.steps)
    if gradient.middle is not None:
        (across, down), (wide, high) = gradient.middle, gradient.reach
        shape = f'gradientTransform="translate({across:g} {down:g}) scale({wide:g} {high:g})" cx="0" cy="0" r="1"'
        return f'<radialGradient id="shade-{number}" {shape}>{stops}</radialGradient>'
    turn = math.radians(gradient.angle)
    across, down = math.sin(turn), -math.cos(turn)
    half = (abs(rect.w * across) + abs(rect.h * down)) / 2
    x, y = rect.middle
    ends = (x - half * across, y - half * down, x + half * across, y + half * down)
    line = " ".join(f'{name}="{_number(end)}"' for name, end in zip(("x1", "y1", "x2", "y2"), ends, strict=True))
    return f'<linearGradient id="shade-{number}" gradientUnits="userSpaceOnUse" {line}>{stops}</linearGradient>'


def _define_shadow(number: int, shadow: Shadow, rect: Rect) -> str:
    """Define a shadow as CSS has it, whose blur is twice the deviation."""
    reach = shadow.blur + max(abs(shadow.x), abs(shadow.y)) + 1
    drop = (
        f'<feDropShadow dx="{shadow.x:g}" dy="{shadow.y:g}" stdDeviation="{shadow.blur / 2:g}" '
        f'flood-opacity="{shadow.alpha:g}"/>'
    )
    return f'<filter id="shadow-{number}" filterUnits="userSpaceOnUse" {_place(rect.grown(reach))}>{drop}</filter>'


def _draw_box(number: int, box: Box) -> list[str]:
    if box.control is not None and (box.control.on or box.control.kind in ("switch", "slider")):
        return _draw_control(box.rect, box.control)
    fill = f"url(#shade-{number})" if box.gradient is not None else box.fill
    shadow = f' filter="url(#shadow-{number})"' if box.shadow is not None else ""
    if box.border is None:
        return [_rect(box.rect, box.radius, f'fill="{fill}"{shadow}')]
    wide = box.border.widths[0]
    if set(box.border.widths) == {wide}:
        stroke = f'stroke="{box.border.colour}" stroke-width="{_number(wide)}"'
        stroke += f' stroke-dasharray="{_number(3 * wide)} {_number(2 * wide)}"' if box.border.dashed else ""
        return [_rect(box.rect.grown(-wide / 2), box.radius - wide / 2, f'fill="{fill}" {stroke}{shadow}')]
    sides = (_rect(side, 0, f'fill="{box.border.colour}"') for side in _find_sides(box.rect, box.border))
    return [_rect(box.rect, box.radius, f'fill="{fill}"{shadow}'), *sides]


def _find_sides(rect: Rect, border: Border) -> list[Rect]:
    """Return the places of the sides that a border has."""
    top, right, bottom, left = border.widths
    sides = (
        Rect(rect.x, rect.y, rect.w, top),
        Rect(rect.right - right, rect.y, right, rect.h),
        Rect(rect.x, rect.bottom - bottom, rect.w, bottom),
        Rect(rect.x, rect.y, left, rect.h),
    )
    return [side for side, width in zip(sides, border.widths, strict=True) if width]


def _draw_control(rect: Rect, control: Control) -> list[str]:
    """Draw a control with its state, about as browsers do."""
    (x, y), half = rect.middle, rect.h / 2
    if control.kind == "switch":
        across = rect.right - half if control.on else rect.x + half
        return [_rect(rect, half, f'fill="{control.colour}"'), _circle(across, y, 0.8 * half, control.knob)]
    if control.kind == "slider":
        thumb = min(half, 8.0)
        across = rect.x + thumb + control.value * (rect.w - 2 * thumb)
        track = Rect(rect.x, y - 4, rect.w, 8)
        done = Rect(track.x, track.y, across - rect.x, track.h)
        return [
            _rect(track.grown(-0.5), 3.5, f'fill="{_TRACK}" stroke="{_TRACK_EDGE}"'),
            _rect(done, 4, f'fill="{control.colour}"'),
            _circle(across, y, thumb, control.colour),
        ]
    if control.kind == "radio":
        return [
            _circle(x, y, half, control.colour),
            _circle(x, y, half - 1, "#ffffff"),
            _circle(x, y, 0.6 * half, control.colour),
        ]
    unit = rect.w / 16
    points = " ".join(f"{_number(rect.x + u * unit)},{_number(rect.y + v * unit)}" for u, v in _TICK)
    tick = f'<polyline points="{points}" fill="none" stroke="#ffffff" stroke-width="{_number(2 * unit)}"/>'
    return [_rect(rect, 2.5 * unit, f'fill="{control.colour}"'), tick]


_TICK = ((3.0, 8.2), (6.6, 11.8), (13.0, 4.6))  # of a check box of 16 pixels


def _draw_picture(picture: PictureElement) -> str:
    place = _place(picture.rect)
    if picture.shapes:
        return picture.draw(place)
    data = base64.b64encode(picture.content).decode()
    return f'<image {place} href="data:image/png;base64,{data}"/>'


def _draw_line(line: TextLine) -> str:
    style = line.style
    leftward = is_leftward(line.text)
    extra = ' direction="rtl"' if leftward else ""
    extra += f' font-weight="{style.weight}"' if style.weight != 400 else ""
    extra += ' font-style="italic"' if style.italic else ""
    extra += f' letter-spacing="{style.spacing:g}"' if style.spacing else ""
    extra += ' text-decoration="underline"' if style.underline else ""
    family = escape(FONT_STACKS[style.family])
    x = line.rect.right if leftward else line.rect.x
    return (
        f'<text x="{_number(x)}" y="{_number(line.baseline)}" font-family="{family}" '
        f'font-size="{style.size:g}"{extra} fill="{style.colour}">{escape(line.text, quote=False)}</text>'
    )


def _rect(rect: Rect, radius: float, paint: str) -> str:
    rounded = f' rx="{_number(radius)}"' if radius >= 1 else ""
    return f"<rect {_place(rect)}{rounded} {paint}/>"


def _circle(x: float, y: float, radius: float, colour: str) -> str:
    return f'<circle cx="{_number(x)}" cy="{_number(y)}" r="{_number(radius)}" fill="{colour}"/>'


def _place(rect: Rect) -> str:
    x, y, w, h = (_number(value) for value in (rect.x, rect.y, rect.w, rect.h))
    return f'x="{x}" y="{y}" width="{w}" height="{h}"'


def _number(value: float) -> str:
    return length(value).removesuffix("px")
