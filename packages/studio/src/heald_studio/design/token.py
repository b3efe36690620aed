"""One value of a design system, and which kind of value a name and a text stand for."""

import re
from collections.abc import Iterator
from typing import Literal, get_args

import msgspec

from heald.core.lazy import lazy_pattern

TokenKind = Literal["color", "font", "size", "space", "radius"]
KINDS: tuple[TokenKind, ...] = get_args(TokenKind)
MAX_NAME = 80
MAX_VALUE = 400

_HEX = lazy_pattern(r"#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})", re.IGNORECASE)
_COLOUR_FUNCTION = lazy_pattern(r"(?:rgba?|hsla?|hwb|lab|lch|oklab|oklch|color|color-mix)\(.+\)", re.IGNORECASE)
_HSL_PARTS = lazy_pattern(r"\d+(?:\.\d+)?(?:deg)?[ ,]+\d+(?:\.\d+)?%[ ,]+\d+(?:\.\d+)?%")
_RGB_PARTS = lazy_pattern(r"(\d{1,3})[ ,]+(\d{1,3})[ ,]+(\d{1,3})")
_LENGTH = lazy_pattern(r"-?(?:\d+\.?\d*|\.\d+)(?:px|rem|em|%)|0|(?:calc|clamp|min|max)\(.+\)", re.IGNORECASE)
_NOT_TOKENS = lazy_pattern(
    r"weight|leading|line-?height|tracking|letter|shadow|breakpoint|screen|duration|easing|transition|animat|opacity|"
    r"z-?index|width|height|container|border-size",
    re.IGNORECASE,
)
_RADIUS_NAME = lazy_pattern(r"radius|radii|rounded|corner", re.IGNORECASE)
_SIZE_NAME = lazy_pattern(r"font|text|typograph|heading|type(?![a-z])|fs-|title|body", re.IGNORECASE)
_SPACE_NAME = lazy_pattern(r"spac|gap|padding|margin|gutter|inset|indent", re.IGNORECASE)
_FONT_NAME = lazy_pattern(r"font|family|families|typeface", re.IGNORECASE)
_NOT_FONT_NAME = lazy_pattern(r"size|weight|style|feature|variation|smooth|display", re.IGNORECASE)
_COLOUR_WORDS = (
    "aliceblue antiquewhite aqua aquamarine azure beige bisque black blanchedalmond blue blueviolet brown burlywood "
    "cadetblue chartreuse chocolate coral cornflowerblue cornsilk crimson cyan darkblue darkcyan darkgoldenrod "
    "darkgray darkgreen darkgrey darkkhaki darkmagenta darkolivegreen darkorange darkorchid darkred darksalmon "
    "darkseagreen darkslateblue darkslategray darkslategrey darkturquoise darkviolet deeppink deepskyblue dimgray "
    "dimgrey dodgerblue firebrick floralwhite forestgreen fuchsia gainsboro ghostwhite gold goldenrod gray green "
    "greenyellow grey honeydew hotpink indianred indigo ivory khaki lavender lavenderblush lawngreen lemonchiffon "
    "lightblue lightcoral lightcyan lightgoldenrodyellow lightgray lightgreen lightgrey lightpink lightsalmon "
    "lightseagreen lightskyblue lightslategray lightslategrey lightsteelblue lightyellow lime limegreen linen magenta "
    "maroon mediumaquamarine mediumblue mediumorchid mediumpurple mediumseagreen mediumslateblue mediumspringgreen "
    "mediumturquoise mediumvioletred midnightblue mintcream mistyrose moccasin navajowhite navy oldlace olive "
    "olivedrab orange orangered orchid palegoldenrod palegreen paleturquoise palevioletred papayawhip peachpuff peru "
    "pink plum powderblue purple rebeccapurple red rosybrown royalblue saddlebrown salmon sandybrown seagreen seashell "
    "sienna silver skyblue slateblue slategray slategrey snow springgreen steelblue tan teal thistle tomato turquoise "
    "violet wheat white whitesmoke yellow yellowgreen"
)
_COLOUR_NAMES = frozenset(_COLOUR_WORDS.split())


class DesignToken(msgspec.Struct, frozen=True):
    """A named value, such as a colour. A scale may have several values, separated by commas."""

    kind: TokenKind
    name: str
    value: str
    mode: str = ""
    """The mode that it holds in, such as dark; empty for the usual one."""

    @property
    def values(self) -> list[str]:
        """Its values: one, or those of a scale. The families of a font are one value."""
        return [self.value] if self.kind in ("color", "font") else list(split_commas(self.value))


def make_token(kind: TokenKind, name: str, value: str, mode: str = "") -> DesignToken:
    """Make a token whose name and value are in one line and of a bounded length. Unknown families are left out."""
    if kind == "font":
        value = ", ".join(family for family in split_commas(value) if "var(" not in family)
    return DesignToken(kind, " ".join(name.split())[:MAX_NAME], " ".join(value.split())[:MAX_VALUE], mode)


def as_colour(value: str) -> str | None:
    """Return a text as a colour of CSS, also one that is written as the parts of hsl() or rgb(); None if it is none."""
    value = value.strip()
    if _HEX.fullmatch(value) or _COLOUR_FUNCTION.fullmatch(value) or value.lower() in _COLOUR_NAMES:
        return value
    if _HSL_PARTS.fullmatch(value):
        return f"hsl({value})"
    parts = _RGB_PARTS.fullmatch(value)
    return f"rgb({value})" if parts and all(int(part) < 256 for part in parts.groups()) else None


def is_length(value: str) -> bool:
    return _LENGTH.fullmatch(value.strip()) is not None


def classify(name: str, value: str) -> tuple[TokenKind, str] | None:
    """Return the kind that a variable belongs to and its value as CSS; None if it is none of a design system."""
    value = value.strip()
    if not value or len(value) > MAX_VALUE or "var(" in value:
        return None
    colour = as_colour(value)
    if colour is not None and not (_RGB_PARTS.fullmatch(value) and _SPACE_NAME.search(name)):
        return "color", colour
    if is_length(value):
        if _RADIUS_NAME.search(name):
            return "radius", value
        if _NOT_TOKENS.search(name):
            return None
        if _SPACE_NAME.search(name):
            return "space", value
        return ("size", value) if _SIZE_NAME.search(name) else None
    is_font = _FONT_NAME.search(name) and not _NOT_FONT_NAME.search(name)
    return ("font", value) if is_font and re.match(r"[\"'A-Za-z-]", value) and "(" not in value else None


def split_commas(text: str) -> Iterator[str]:
    """Yield the parts of a text between commas outside of parentheses and quotes."""
    part, depth, quote = "", 0, ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "()":
            depth += 1 if letter == "(" else -1
        elif letter == "," and depth <= 0:
            if part.strip():
                yield part.strip()
            part = ""
            continue
        part += letter
    if part.strip():
        yield part.strip()
