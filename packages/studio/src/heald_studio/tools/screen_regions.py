"""Finds the pictures on a screenshot, and matches them with descriptions."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256

from heald.core.errors import HealdError
from heald.tools.context import ToolContext
from heald.tools.tool_fault import ToolFault
from heald.tools.tool_threads import in_thread
from heald_pictures.detector import Progress, find_detector
from heald_pictures.elements import Detection
from heald_pictures.errors import ModelsMissing, VisionError
from heald_pictures.rect import Rect

_ICONS = frozenset(("logo", "icon", "symbol", "badge", "glyph", "avatar"))
_LARGE = frozenset(
    ("hero", "banner", "cover", "photo", "photograph", "background", "illustration", "screenshot", "picture", "large")
)
_DOWN = {"top": 0.0, "header": 0.0, "navbar": 0.0, "hero": 0.2, "middle": 0.5, "bottom": 1.0, "footer": 1.0}
_ACROSS = {"left": 0.0, "centre": 0.5, "center": 0.5, "middle": 0.5, "right": 1.0}
_PLACES = _DOWN.keys() | _ACROSS.keys()
_ORDER = {"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "sixth": 5, "last": -1}
_MIN_FIT = 0.5


@dataclass(frozen=True, slots=True)
class Region:
    """A picture on a screenshot, in pixels of the screenshot."""

    rect: Rect
    kind: str  # `photo` or `icon`
    words: frozenset[str]  # of the text nearby


@dataclass(frozen=True, slots=True)
class ScreenRegions:
    regions: tuple[Region, ...]
    size: tuple[int, int]
    note: str = ""


class RegionCache:
    """The regions of each screenshot, detected once in a session."""

    def __init__(self) -> None:
        self._found: dict[str, ScreenRegions] = {}

    async def find(self, data: bytes, ctx: ToolContext) -> ScreenRegions:
        """Find the pictures on a screenshot. The first call takes seconds. Raises ToolFault."""
        key = sha256(data).hexdigest()
        if key not in self._found:
            self._found[key] = await in_thread(partial(_detect, data, ctx), "extract_assets")
        return self._found[key]


class _DetectionCancelled(HealdError):
    """The call was cancelled."""


def _detect(data: bytes, ctx: ToolContext) -> ScreenRegions:
    rough: list[Detection] = []

    def report(progress: Progress) -> None:
        if ctx.cancelled:
            raise _DetectionCancelled("The call was ended.")
        ctx.output(f"{progress.stage} {progress.part:.0%}\n", "progress")
        if progress.detection is not None:
            rough.append(progress.detection)

    try:
        return _to_regions(find_detector()(data, report), "")
    except ModelsMissing as missing:
        if not rough:
            raise ToolFault(str(missing)) from None
        return _to_regions(rough[-1], f"Only large pictures were looked for. {missing}")
    except VisionError as error:
        raise ToolFault(str(error)) from None


def _to_regions(detection: Detection, note: str) -> ScreenRegions:
    scale = detection.ratio
    pictures = [picture for picture in detection.pictures if picture.kind != "unread"]
    texts = [(text.rect, text.text) for text in detection.texts]
    regions = [
        Region(_scaled(picture.rect, scale), picture.kind, _words_near(picture.rect, texts)) for picture in pictures
    ]
    return ScreenRegions(tuple(regions), (detection.width * scale, detection.height * scale), note)


def _scaled(rect: Rect, by: int) -> Rect:
    return Rect(rect.x * by, rect.y * by, rect.w * by, rect.h * by)


def _words_near(rect: Rect, texts: Sequence[tuple[Rect, str]]) -> frozenset[str]:
    around = rect.grown(max(40.0, 0.35 * max(rect.w, rect.h)))
    return frozenset(word for place, text in texts if around.common(place) > 0 for word in keywords(text))


def keywords(text: str) -> frozenset[str]:
    """Return the words of a text with more than two letters."""
    plain = "".join(letter if letter.isalnum() else " " for letter in text.lower())
    return frozenset(word for word in plain.split() if len(word) > 2)


def match_region(screen: ScreenRegions, description: str) -> Region | None:
    """Return the region that fits the words best; None if none fits."""
    words = keywords(description)
    fitting = [(_fit(region, screen, words), -number, region) for number, region in enumerate(screen.regions)]
    good = [entry for entry in fitting if entry[0] >= _MIN_FIT]
    if not good:
        return None
    number = next((_ORDER[word] for word in description.lower().split() if word in _ORDER), None)
    if number is not None:
        best = max(entry[0] for entry in good)
        alike = [region for fit, _, region in good if fit >= best - 0.5]
        return alike[number] if -len(alike) <= number < len(alike) else None
    return max(good, key=lambda entry: entry[:2])[2]


def _fit(region: Region, screen: ScreenRegions, words: frozenset[str]) -> float:
    width, height = screen.size
    x, y = region.rect.middle
    share = region.rect.area / (width * height)
    fit = 0.0
    if words & _ICONS:
        fit += 1.0 if region.kind == "icon" or share < 0.01 else -0.5
    if words & _LARGE:
        fit += (1.0 if region.kind == "photo" else -0.5) + min(share * 2, 0.6)
    if "logo" in words:
        fit += 0.6 * (1 - y / height) + 0.3 * (1 - x / width)
    for word in words & _PLACES:
        off = abs(x / width - _ACROSS[word]) if word in _ACROSS else 0.0
        fit += 0.8 - 1.6 * max(off, abs(y / height - _DOWN[word]) if word in _DOWN else 0.0)
    subject = words - _ICONS - _LARGE - _PLACES - _ORDER.keys()
    return fit + 2.0 * len(subject & region.words) / max(len(subject), 1)
