"""What local vision sees on the given pictures: looked at once in a session, and again by nobody."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256

from weft.core.errors import WeftError
from weft.tools.context import ToolContext
from weft.tools.outcome import ToolFault
from weft.tools.threads import in_thread
from weft.vision import ModelsMissing, Progress, Seen, VisionError, see
from weft.vision.geometry import Rect


@dataclass(frozen=True, slots=True)
class Region:
    """A picture on a picture, in pixels of the whole."""

    rect: Rect
    kind: str
    """`photo` or `icon`."""
    words: frozenset[str]
    """Of the text nearby."""


@dataclass(frozen=True, slots=True)
class Sight:
    regions: tuple[Region, ...]
    size: tuple[int, int]
    note: str = ""


class Sights:
    """What was seen in this session, by picture."""

    def __init__(self) -> None:
        self._seen: dict[str, Sight] = {}

    async def of(self, data: bytes, ctx: ToolContext) -> Sight:
        """The pictures on a picture. Takes seconds the first time; a ToolFault says why it cannot be."""
        key = sha256(data).hexdigest()
        if key not in self._seen:
            self._seen[key] = await in_thread(partial(_look, data, ctx), "extract_assets")
        return self._seen[key]


class _Stopped(WeftError):
    """Nobody waits any more."""


def _look(data: bytes, ctx: ToolContext) -> Sight:
    rough: list[Seen] = []

    def report(progress: Progress) -> None:
        if ctx.cancelled:
            raise _Stopped("The call was ended.")
        ctx.output(f"{progress.stage} {progress.part:.0%}\n", "progress")
        if progress.seen is not None:
            rough.append(progress.seen)

    try:
        return _sight(see(data, report), "")
    except ModelsMissing as missing:
        if not rough:
            raise ToolFault(str(missing)) from None
        return _sight(rough[-1], f"Only large pictures were looked for. {missing}")
    except VisionError as error:
        raise ToolFault(str(error)) from None


def _sight(seen: Seen, note: str) -> Sight:
    scale = seen.ratio
    pictures = [picture for picture in seen.pictures if picture.kind != "unread"]
    texts = [(text.rect, text.text) for text in seen.texts]
    regions = [Region(_scaled(picture.rect, scale), picture.kind, _near(picture.rect, texts)) for picture in pictures]
    return Sight(tuple(regions), (seen.width * scale, seen.height * scale), note)


def _scaled(rect: Rect, by: int) -> Rect:
    return Rect(rect.x * by, rect.y * by, rect.w * by, rect.h * by)


def _near(rect: Rect, texts: Sequence[tuple[Rect, str]]) -> frozenset[str]:
    around = rect.grown(max(40.0, 0.35 * max(rect.w, rect.h)))
    return frozenset(word for place, text in texts if around.common(place) > 0 for word in words_of(text))


def words_of(text: str) -> frozenset[str]:
    """The words that say something."""
    plain = "".join(letter if letter.isalnum() else " " for letter in text.lower())
    return frozenset(word for word in plain.split() if len(word) > 2)
