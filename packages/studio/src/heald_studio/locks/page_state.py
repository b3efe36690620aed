"""States of the surroundings that a page is looked at in: window, colours, motion, medium.

A page can show something else in a narrow window or a dark scheme, so a lock is checked in many states. The window
sizes and features that a change itself names are added to the usual ones.
"""

import re
from collections.abc import Iterable, Mapping

import msgspec

_WIDTHS = (375, 768, 1280, 1920)
_FEATURES = {
    "prefers-color-scheme": ("dark", "light"),
    "prefers-reduced-motion": ("reduce",),
    "prefers-contrast": ("more", "less"),
    "prefers-reduced-transparency": ("reduce",),
    "prefers-reduced-data": ("reduce",),
    "forced-colors": ("active",),
    "inverted-colors": ("inverted",),
    "color-gamut": ("p3", "rec2020"),
}
_LENGTH = re.compile(r"(?<![\w.#-])(\d{1,5}(?:\.\d{1,4})?)(px|em|rem|pt|cm|in)?(?![\w%])")
_PIXELS = {"em": 16.0, "rem": 16.0, "pt": 4 / 3, "cm": 37.8, "in": 96.0}
_SIZES = re.compile(
    r"@media|@container|media=|matchMedia|[wW]idth|[hH]eight|aspect|screen|\d(?:vw|vh|vmin|vmax|cqw)|(?:min|max)-\["
)
_SCALES = re.compile(r"resolution|dppx|device-pixel-ratio|devicePixelRatio|image-set|srcset")
_MAX_SIZES = 60
_TEXT = (
    *(".css", ".htm", ".html", ".js", ".jsx", ".mjs", ".svg", ".ts", ".tsx", ".json"),
    *(".vue", ".svelte", ".astro"),
)


class PageState(msgspec.Struct, frozen=True, kw_only=True):
    """One state of the surroundings of a page."""

    width: int = 1280
    height: int = 800
    scale: float = 1.0
    media: str = "screen"
    features: tuple[tuple[str, str], ...] = ()
    is_hovered: bool = False
    """Whether the pointer is on the locked part."""

    @property
    def description(self) -> str:
        """When it is, as the end of a sentence; empty for the usual state."""
        parts = [f"at {self.width} px"] if self.width != 1280 else []
        parts += [f"in a window {self.height} px tall"] if self.height != 800 else []
        parts += ["when it is printed"] if self.media == "print" else []
        parts += [f"with {name}: {value}" for name, value in self.features]
        parts += [f"at a scale of {self.scale:g}"] if self.scale != 1 else []
        parts += ["under the pointer"] if self.is_hovered else []
        return " ".join(parts)


USUAL_STATE = PageState()
USUAL_STATES = (
    USUAL_STATE,
    *(PageState(width=width) for width in _WIDTHS if width != 1280),
    PageState(features=(("prefers-color-scheme", "dark"),)),
    PageState(media="print"),
    PageState(is_hovered=True),
)


def added_states(
    before: Mapping[str, bytes], after: Mapping[str, bytes], conditions_before: Iterable[str], conditions: Iterable[str]
) -> list[PageState]:
    """Return the states that a change names and the usual ones leave out."""
    old = "\n".join([*conditions_before, *_texts(before)])
    changed = {path: data for path, data in after.items() if before.get(path) != data}
    new = "\n".join([*conditions, *_texts(changed)])
    states: list[PageState] = []
    for name, values in _FEATURES.items():
        if name in new:
            states += [PageState(features=((name, value),)) for value in values]
    if _SCALES.search(new):
        states.append(PageState(scale=2.0))
    if _SIZES.search(new):
        for size in sorted(_sizes(new) - _sizes(old))[:_MAX_SIZES]:
            states += [PageState(width=width) for width in (size - 1, size, size + 1)]
            if re.search(r"height|aspect|orientation|\dvh", new):
                states += [PageState(height=height) for height in (size - 1, size + 1)]
    if "orientation" in new or "aspect-ratio" in new:
        states += [PageState(width=800, height=1280), PageState(width=1000, height=1000)]
    return [state for state in dict.fromkeys(states) if state not in USUAL_STATES]


def _texts(files: Mapping[str, bytes]) -> list[str]:
    return [data.decode("utf-8", "replace") for path, data in files.items() if path.lower().endswith(_TEXT)]


def _sizes(text: str) -> set[int]:
    """Return the lengths of a text that can be the size of a window, in pixels."""
    lengths = (float(number) * _PIXELS.get(unit, 1.0) for number, unit in _LENGTH.findall(text))
    return {round(length) for length in lengths if 240 < length <= 3840}
