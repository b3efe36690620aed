"""The distance of two colours as people see it: CIEDE2000."""

from math import atan2, cos, degrees, exp, hypot, radians, sin, sqrt

Colour = tuple[int, int, int]

_WHITE = (0.95047, 1.0, 1.08883)
_25_7 = 25.0**7


def lab(colour: Colour) -> tuple[float, float, float]:
    """Convert an sRGB colour to CIELAB (D65)."""
    red, green, blue = (_linear(part / 255) for part in colour)
    xyz = (
        0.4124564 * red + 0.3575761 * green + 0.1804375 * blue,
        0.2126729 * red + 0.7151522 * green + 0.0721750 * blue,
        0.0193339 * red + 0.1191920 * green + 0.9503041 * blue,
    )
    x, y, z = (_cube_root(part / white) for part, white in zip(xyz, _WHITE, strict=True))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def colour_distance(colour: Colour, other: Colour) -> float:
    """Return the CIEDE2000 distance: 0 for equal colours, about 2 for a visible difference, 100 from black to white."""
    return 0.0 if colour == other else delta_e(lab(colour), lab(other))


def delta_e(colour: tuple[float, float, float], other: tuple[float, float, float]) -> float:
    """Return CIEDE2000 of two colours in CIELAB, after Sharma, Wu and Dalal (2005)."""
    (l1, a1, b1), (l2, a2, b2) = colour, other
    chroma = (hypot(a1, b1) + hypot(a2, b2)) / 2
    g = 0.5 * (1 - sqrt(chroma**7 / (chroma**7 + _25_7)))
    a1, a2 = a1 * (1 + g), a2 * (1 + g)
    c1, c2 = hypot(a1, b1), hypot(a2, b2)
    h1, h2 = degrees(atan2(b1, a1)) % 360, degrees(atan2(b2, a2)) % 360
    dl, dc = l2 - l1, c2 - c1
    turn = 0.0 if c1 * c2 == 0 else (h2 - h1 + 180) % 360 - 180
    if c1 * c2 and turn == -180 and h2 > h1:
        turn = 180.0
    dh = 2 * sqrt(c1 * c2) * sin(radians(turn / 2))
    mean_l, mean_c = (l1 + l2) / 2, (c1 + c2) / 2
    mean_h = _mean_hue(h1, h2) if c1 * c2 else h1 + h2
    t = (
        1
        - 0.17 * cos(radians(mean_h - 30))
        + 0.24 * cos(radians(2 * mean_h))
        + 0.32 * cos(radians(3 * mean_h + 6))
        - 0.20 * cos(radians(4 * mean_h - 63))
    )
    sl = 1 + 0.015 * (mean_l - 50) ** 2 / sqrt(20 + (mean_l - 50) ** 2)
    sc, sh = 1 + 0.045 * mean_c, 1 + 0.015 * mean_c * t
    spread = 30 * exp(-(((mean_h - 275) / 25) ** 2))
    rotation = -2 * sqrt(mean_c**7 / (mean_c**7 + _25_7)) * sin(radians(2 * spread))
    return sqrt(max(0.0, (dl / sl) ** 2 + (dc / sc) ** 2 + (dh / sh) ** 2 + rotation * (dc / sc) * (dh / sh)))


def css_colour(colour: Colour) -> str:
    """Format a colour for CSS."""
    return "#{:02x}{:02x}{:02x}".format(*colour)


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


def _cube_root(part: float) -> float:
    return part ** (1 / 3) if part > 216 / 24389 else (24389 / 27 * part + 16) / 116


def _mean_hue(hue: float, other: float) -> float:
    if abs(hue - other) <= 180:
        return (hue + other) / 2
    return (hue + other + 360) / 2 if hue + other < 360 else (hue + other - 360) / 2
