"""The tool `extract_assets`: finds pictures on a target picture with local vision, matches them with descriptions, and
cuts them out into files of the project."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Annotated

import msgspec
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from weft.core.errors import WeftError
from weft.core.json import JsonObject
from weft.core.messages import Text
from weft.studio.imaging.cutout import cut_out
from weft.studio.imaging.raster import decode_picture
from weft.studio.tools import assets as asset_files
from weft.studio.tools.context import FindContext
from weft.studio.tools.review import target_picture
from weft.tools.context import ToolContext
from weft.tools.definitions import Tool
from weft.tools.function_tools import in_thread, tool
from weft.tools.results import ToolFault, ToolOutput
from weft.vision.elements import Detection, ModelsMissing, Rect, VisionError
from weft.vision.see.regions import label_islands

if TYPE_CHECKING:
    from weft.vision.see.detect import Progress

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


class _DetectionCancelled(WeftError):
    """The call was cancelled."""


def _detect(data: bytes, ctx: ToolContext) -> ScreenRegions:
    from weft.vision.see.detect import detect_elements  # a server starts without the detection

    rough: list[Detection] = []

    def report(progress: "Progress") -> None:
        if ctx.cancelled:
            raise _DetectionCancelled("The call was ended.")
        ctx.output(f"{progress.stage} {progress.part:.0%}\n", "progress")
        if progress.detection is not None:
            rough.append(progress.detection)

    try:
        return _to_regions(detect_elements(data, report), "")
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


# --- the tool --------------------------------------------------------------------------------------------------------


Edges = tuple[int, int, int, int]  # left, top, right, bottom

_MARGIN = 8
_SLACK = 16
_MIN_EVEN = 0.55
_MIN_INSIDE = 0.6  # the least part of an island inside the box
MAX_ASSETS = 40
_MAX_PROPOSED = 24  # of the largest assets that are proposed if none are named
_MIN_SIDE = 12
_SHEET_BYTES = 250_000
_Number = Annotated[int, msgspec.Meta(ge=1)]
_Box = Annotated[
    list[float],
    msgspec.Meta(
        min_length=4,
        max_length=4,
        description="x, y, width, height: in pixels of the given picture, or each as a part of its size from 0 to 1.",
    ),
]


def trim_box(whole: Image.Image, box: Edges) -> Edges:
    """Move a rough box to the edges of its content; unchanged where the background is not even."""
    width, height = box[2] - box[0], box[3] - box[1]
    around = _grow_box(box, max(_MARGIN, round(0.08 * max(width, height))), whole.size)
    pixels = np.asarray(whole.crop(around).convert("RGB")).astype(np.int16)
    ring = np.concatenate((pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]))
    ground = np.median(ring, axis=0)
    if float((np.abs(ring - ground).max(axis=1) <= _SLACK).mean()) < _MIN_EVEN:
        return box
    differs = np.abs(pixels - ground).max(axis=2) > _SLACK
    found = _find_hull(differs, _move_box(box, -around[0], -around[1]))
    return box if found is None else _move_box(found, around[0], around[1])


def cut_background(whole: Image.Image, box: Edges) -> Image.Image:
    """Cut a part out without its background, which is measured around the part. Raises CuttingError."""
    around = _grow_box(box, _MARGIN, whole.size)
    free = cut_out(whole.crop(around)).picture
    return free.crop(_move_box(box, -around[0], -around[1]))


def _find_hull(differs: NDArray[np.bool_], box: Edges) -> Edges | None:
    """Return the hull of all islands that lie mostly inside the box."""
    regions = label_islands(differs)
    inside = regions.labels[box[1] : box[3], box[0] : box[2]]
    shares = np.bincount(inside.ravel(), minlength=len(regions.area)) / np.maximum(regions.area, 1)
    chosen = np.flatnonzero(shares >= _MIN_INSIDE)
    edges = regions.edges[chosen[chosen > 0]]
    if not len(edges):
        return None
    left, top = (int(side) for side in edges[:, :2].min(axis=0))
    right, bottom = (int(side) for side in edges[:, 2:].max(axis=0))
    return left, top, right, bottom


def _grow_box(box: Edges, by: int, size: tuple[int, int]) -> Edges:
    return max(box[0] - by, 0), max(box[1] - by, 0), min(box[2] + by, size[0]), min(box[3] + by, size[1])


def _move_box(box: Edges, across: int, down: int) -> Edges:
    return box[0] + across, box[1] + down, box[2] + across, box[3] + down


class WantedAsset(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part of the given picture."""

    name: Annotated[str, msgspec.Meta(description="What to call its file: hero.jpg, logo. PNG if it says no kind.")]
    box: Annotated[_Box | None, msgspec.Meta(description="Where it is; or leave it out and describe it.")] = None
    description: Annotated[
        str,
        msgspec.Meta(description="What it is and where, if there is no box: 'logo in the header', 'photo of the mug'."),
    ] = ""
    trim: Annotated[
        bool, msgspec.Meta(description="The box is only about right: move it to the edges of what is there.")
    ] = False
    transparent: Annotated[bool, msgspec.Meta(description="Take an even background away, as for a logo.")] = False


@dataclass(frozen=True, slots=True)
class _Cut:
    path: str
    picture: Image.Image
    box: tuple[int, int, int, int]
    note: str = ""


def extract_tool(find: FindContext) -> Tool:
    @tool(
        name="extract_assets",
        effect="write",
        access=asset_files.writes_assets,
        subjects=lambda arguments: asset_files.named_assets(arguments, "assets"),
        summary=_summary,
        timeout=180,
    )
    async def extract_assets(
        ctx: ToolContext,
        assets: list[WantedAsset] | None = None,
        picture: _Number = 1,
        seen_width: _Number | None = None,
    ) -> ToolOutput:
        """Cut logos, photographs and illustrations out of the given picture and save them as files of the project.

        Name each with its box, or describe it. Without any, all pictures that can be found on it are cut out.

        Args:
            assets: What to cut out.
            picture: Out of which of the given pictures, counted from 1.
            seen_width: How wide the picture is in your coordinates, if that is not its real width.
        """
        work = await find()
        data = target_picture(work, picture)
        whole = await asyncio.to_thread(_open_picture, data)
        scale = whole.width / seen_width if seen_width else 1.0
        wanted = list(assets or ())
        if len(wanted) > MAX_ASSETS:
            raise ToolFault(f"{len(wanted)} are too many; cut out at most {MAX_ASSETS} in one call.")
        screen = ScreenRegions((), whole.size)
        if not wanted or any(asset.box is None for asset in wanted):
            screen = await ctx.keep(RegionCache).find(data, ctx)
        if not wanted:
            wanted = _propose_assets(screen)
        folder = asset_files.asset_folder(work.stack)
        names = asset_files.asset_names([asset.name for asset in wanted])
        cuts, problems = await asyncio.to_thread(
            _cut_all, ctx, whole, wanted, [f"{folder}/{name}" for name in names], screen, scale
        )
        return await asyncio.to_thread(_extraction_result, cuts, problems, whole.size, screen.note)

    return extract_assets


def _summary(arguments: JsonObject) -> str:
    count = len(arguments.get("assets") or ())
    return f"Cut {count} picture{'s' * (count != 1)} out" if count else "Cut out all pictures"


def _open_picture(data: bytes) -> Image.Image:
    try:
        return decode_picture(data, "The given picture")
    except WeftError as error:
        raise ToolFault(str(error)) from None


def _propose_assets(screen: ScreenRegions) -> list[WantedAsset]:
    """Return the largest regions, in reading order."""
    worth = [region for region in screen.regions if min(region.rect.w, region.rect.h) >= _MIN_SIDE]
    largest = sorted(worth, key=lambda region: -region.rect.area)[:_MAX_PROPOSED]
    counts: dict[str, int] = {}
    found: list[WantedAsset] = []
    for region in (region for region in worth if region in largest):
        counts[region.kind] = counts.get(region.kind, 0) + 1
        rect = region.rect
        found.append(WantedAsset(f"{region.kind}-{counts[region.kind]}", [rect.x, rect.y, rect.w, rect.h]))
    return found


def _cut_all(
    ctx: ToolContext,
    whole: Image.Image,
    wanted: Sequence[WantedAsset],
    paths: Sequence[str],
    screen: ScreenRegions,
    scale: float,
) -> tuple[list[_Cut], list[str]]:
    cuts: list[_Cut] = []
    problems: list[str] = []
    for asset, path in zip(wanted, paths, strict=True):
        try:
            cut = _cut(whole, asset, path, screen, scale)
            asset_files.save_picture(ctx, path, cut.picture, "Cut out of the given picture.")
        except ToolFault as fault:
            problems.append(f"{asset.name}: {fault}")
        else:
            cuts.append(cut)
    return cuts, problems


def _cut(whole: Image.Image, asset: WantedAsset, path: str, screen: ScreenRegions, scale: float) -> _Cut:
    box = _box(asset, screen, scale, whole.size)
    if asset.trim:
        box = trim_box(whole, box)
    picture, note = whole.crop(box), ""
    if asset.transparent:
        try:
            picture, note = cut_background(whole, box), "background taken away"
        except WeftError as error:
            note = f"with its background: {str(error)[:1].lower()}{str(error)[1:].rstrip('.')}"
    return _Cut(path, picture, (box[0], box[1], box[2] - box[0], box[3] - box[1]), note)


def _box(asset: WantedAsset, screen: ScreenRegions, scale: float, size: tuple[int, int]) -> Edges:
    """Return the edges of a part, within the picture. Raises ToolFault."""
    width, height = size
    if asset.box is None:
        region = match_region(screen, f"{asset.description} {asset.name}")
        if region is None:
            raise ToolFault(f"no picture fits this description; {_describe_regions(screen.regions)}")
        rect = region.rect
    else:
        x, y, w, h = asset.box
        across, down = (width, height) if max(asset.box) <= 1 else (scale, scale)
        rect = Rect(x * across, y * down, w * across, h * down)
    rect = rect.within(width, height)
    box = round(rect.x), round(rect.y), round(rect.right), round(rect.bottom)
    if box[2] <= box[0] or box[3] <= box[1]:
        raise ToolFault(f"the box lies outside the picture, which is {width} × {height} px")
    return box


def _describe_regions(regions: Sequence[Region]) -> str:
    if not regions:
        return "none was found on it; give its box"
    boxes = [(each.kind, each.rect) for each in regions[:12]]
    listed = [f"{kind} {box.w:.0f} × {box.h:.0f} at ({box.x:.0f}, {box.y:.0f})" for kind, box in boxes]
    return f"there are: {'; '.join(listed)}"


def _extraction_result(cuts: list[_Cut], problems: list[str], size: tuple[int, int], note: str) -> ToolOutput:
    lines = [f"Cut out of the given picture ({size[0]} × {size[1]} px), as it is there:"] if cuts else []
    for cut in cuts:
        x, y, w, h = cut.box
        extra = f"; {cut.note}" if cut.note else ""
        lines.append(f"- {asset_files.asset_url(cut.path)}: {w} × {h} px, from ({x}, {y}){extra}")
    lines += [f"Not cut out: {problem}." for problem in problems]
    lines += [note] if note else []
    if not cuts:
        return ToolOutput(
            content="\n".join(lines) or "No pictures were found on it.", summary="nothing", is_error=bool(problems)
        )
    sheet = asset_files.contact_sheet([(cut.path.rpartition("/")[2], cut.picture) for cut in cuts])
    summary = f"{len(cuts)} file{'s' * (len(cuts) != 1)}"
    return ToolOutput(
        content=[Text("\n".join(lines)), asset_files.picture_content(sheet, _SHEET_BYTES)], summary=summary
    )
