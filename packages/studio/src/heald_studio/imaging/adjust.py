"""Changes a picture by an instruction in words, such as “brighter” or “rotate by 90 degrees”, without a model."""

import re
from collections.abc import Callable
from re import Match

import msgspec
from PIL import Image, ImageColor, ImageDraw, ImageEnhance, ImageFilter, ImageOps

from heald_studio.imaging.raster import MAX_SIDE, flatten, resize_to_cover

Step = Callable[[Image.Image, Match[str]], tuple[Image.Image, str]]

SUPPORTED_CHANGES = (
    "black and white, blur, sharpen, brighter, darker, more or less contrast or saturation, invert, flip, rotate by "
    "90°, resize or crop to a size such as 800x600, square, circle, rounded corners, tint with a colour"
)
"""The changes that need no image model."""

_COLOUR = r"(?P<colour>#[0-9a-f]{6}\b|#[0-9a-f]{3}\b|[a-z]{3,20})"
_SIZE = r"(?P<w>\d{2,4})\s*(?:x|×|by)\s*(?P<h>\d{2,4})"


class Adjustment(msgspec.Struct, frozen=True):
    picture: Image.Image
    done: tuple[str, ...]
    """The changes that were made, in words; empty if none was recognised."""


def adjust_picture(picture: Image.Image, instruction: str) -> Adjustment:
    """Make every change that the instruction plainly asks for, in the order of its words."""
    words = instruction.lower()[:2_000]
    matches = [
        (match.start(), number, match) for number, (rule, _) in enumerate(_RULES) if (match := rule.search(words))
    ]
    done: list[str] = []
    for _, number, match in sorted(matches, key=lambda entry: entry[:2]):
        picture, change = _RULES[number][1](picture, match)
        if change:
            done.append(change)
    return Adjustment(picture, tuple(done))


def _change_colours(picture: Image.Image, change: Callable[[Image.Image], Image.Image]) -> Image.Image:
    """Change the colours and keep the transparency."""
    changed = change(picture.convert("RGB")).convert("RGB")
    if picture.mode == "RGBA":
        changed.putalpha(picture.getchannel("A"))
    return changed


def _colour_step(change: Callable[[Image.Image], Image.Image], name: str) -> Step:
    return lambda picture, _: (_change_colours(picture, change), name)


def _blur(picture: Image.Image, _: Match[str]) -> tuple[Image.Image, str]:
    radius = max(picture.size) / 120 + 1
    return _change_colours(picture, lambda it: it.filter(ImageFilter.GaussianBlur(radius))), "blurred"


def _contrast(picture: Image.Image, match: Match[str]) -> tuple[Image.Image, str]:
    less = match[1] in ("less", "lower", "reduce", "decrease")
    changed = _change_colours(picture, lambda it: ImageEnhance.Contrast(it).enhance(0.75 if less else 1.3))
    return changed, f"{'less' if less else 'more'} contrast"


def _saturation(picture: Image.Image, match: Match[str]) -> tuple[Image.Image, str]:
    less = match[0].startswith(("less", "lower", "reduce", "decrease", "desat", "muted"))
    changed = _change_colours(picture, lambda it: ImageEnhance.Color(it).enhance(0.6 if less else 1.4))
    return changed, f"{'less' if less else 'more'} saturation"


def _tint(picture: Image.Image, match: Match[str]) -> tuple[Image.Image, str]:
    try:
        colour = ImageColor.getrgb(match["colour"])[:3]
    except ValueError:
        return picture, ""
    dark, light = (0, 0, 0), (255, 255, 255)

    def turned(it: Image.Image) -> Image.Image:
        return ImageOps.colorize(ImageOps.grayscale(it), dark, light, mid=colour)

    return _change_colours(picture, turned), f"tinted {match['colour']}"


def _flip(picture: Image.Image, match: Match[str]) -> tuple[Image.Image, str]:
    if "vert" in match[0] or "upside" in match[0]:
        return ImageOps.flip(picture), "turned upside down"
    return ImageOps.mirror(picture), "mirrored"


def _rotate(picture: Image.Image, match: Match[str]) -> tuple[Image.Image, str]:
    degrees = int(match["degrees"] or 90) % 360
    if degrees % 90:
        return picture, ""
    left = "left" in match[0] or "counter" in match[0] or "anti" in match[0]
    turned = picture.rotate(degrees if left else -degrees, expand=True)
    return turned, f"rotated by {degrees}° {'left' if left else 'right'}"


def _resize(picture: Image.Image, match: Match[str]) -> tuple[Image.Image, str]:
    width, height = min(int(match["w"]), MAX_SIDE), min(int(match["h"]), MAX_SIDE)
    return resize_to_cover(picture, width, height), f"{width} × {height} px, cut to fit"


def _square(picture: Image.Image, _: Match[str]) -> tuple[Image.Image, str]:
    side = min(picture.size)
    return resize_to_cover(picture, side, side), f"square, {side} × {side} px"


def _circle(picture: Image.Image, _: Match[str]) -> tuple[Image.Image, str]:
    side = min(picture.size)
    square = resize_to_cover(picture, side, side)
    return _round_corners(square, side / 2), "cut to a circle"


def _rounded(picture: Image.Image, _: Match[str]) -> tuple[Image.Image, str]:
    radius = max(4.0, min(picture.size) / 12)
    return _round_corners(picture, radius), f"corners rounded by {round(radius)} px"


def _round_corners(picture: Image.Image, radius: float) -> Image.Image:
    fine = 4
    mask = Image.new("L", (picture.width * fine, picture.height * fine), 0)
    ImageDraw.Draw(mask).rounded_rectangle((0, 0, mask.width - 1, mask.height - 1), radius * fine, fill=255)
    shape = mask.reduce(fine)
    clear = flatten(picture).convert("RGBA")
    if picture.mode == "RGBA":
        from PIL import ImageChops

        clear = picture.copy()
        shape = ImageChops.multiply(shape, picture.getchannel("A"))
    clear.putalpha(shape)
    return clear


_GREY = _colour_step(ImageOps.grayscale, "black and white")
_BRIGHTER = _colour_step(lambda it: ImageEnhance.Brightness(it).enhance(1.25), "brighter by a quarter")
_DARKER = _colour_step(lambda it: ImageEnhance.Brightness(it).enhance(0.75), "darker by a quarter")

_RULES: tuple[tuple[re.Pattern[str], Step], ...] = tuple(
    (re.compile(pattern), step)
    for pattern, step in (
        (r"\b(?:gr[ae]y ?scale|black[- ]and[- ]white|black & white|monochrome|b&w)\b", _GREY),
        (r"\bblur", _blur),
        (r"\bsharp", _colour_step(lambda it: it.filter(ImageFilter.UnsharpMask(2, 120)), "sharpened")),
        (r"\binvert", _colour_step(ImageOps.invert, "colours inverted")),
        (r"\b(?:bright|light)en\b|\bbrighter\b|\blighter\b", _BRIGHTER),
        (r"\bdark(?:en|er)\b", _DARKER),
        (r"\b(more|less|higher|lower|increase|reduce|decrease) (?:the )?contrast\b", _contrast),
        (
            r"\b(?:more|less|increase|reduce|decrease|lower|higher) (?:the )?saturat\w*|\b(?:de)?saturate\b|\bmuted\b",
            _saturation,
        ),
        (rf"\b(?:tint(?:ed)?|recolou?r|colou?ri[sz]e)\b(?: it| the \w+| with| to| in| into)*\s+{_COLOUR}", _tint),
        (r"\b(?:flip|mirror)\w*(?: it| the \w+)?(?: horizontally| vertically)?|\bupside down\b", _flip),
        (
            r"\b(?:rotate|turn)\w*(?: it| the \w+)?(?: by| to the)?\s*(?P<degrees>\d{2,3})?\s*(?:°|degrees?)?"
            r"\s*(?:to the )?(?:left|right|clockwise|counter-?clockwise|anti-?clockwise|°|degrees?)",
            _rotate,
        ),
        (rf"\b(?:resize|scale|crop|cut)\w*\b[^.;]{{0,40}}?\b{_SIZE}", _resize),
        (r"\bsquare\b", _square),
        (r"\b(?:circle|circular|round avatar)\b", _circle),
        (r"\bround(?:ed)? (?:the )?corners?\b", _rounded),
    )
)
