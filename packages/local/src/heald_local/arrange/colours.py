"""Judges colours: those that links and buttons have."""

import colorsys

from heald_pictures.colours import rgb_parts

_SATURATED = 0.35
_BLUE = (0.52, 0.75)  # hues that links have by habit
_LEAST_LIGHT = 0.25  # a darker blue is the ink of the page


def is_vivid(colour: str) -> bool:
    """Whether a colour is neither grey nor nearly black or white."""
    red, green, blue = (part / 255 for part in rgb_parts(colour))
    _, light, saturation = colorsys.rgb_to_hls(red, green, blue)
    return saturation >= _SATURATED and 0.12 < light < 0.9


def is_blue(colour: str) -> bool:
    """Whether a colour is one that links have by habit."""
    red, green, blue = (part / 255 for part in rgb_parts(colour))
    hue, light, _ = colorsys.rgb_to_hls(red, green, blue)
    return is_vivid(colour) and light >= _LEAST_LIGHT and _BLUE[0] <= hue <= _BLUE[1]
