"""`extract_assets`: logos and pictures cut out of the given picture, into files of the project."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import msgspec
from PIL import Image

from weft.core.content import Text
from weft.core.errors import WeftError
from weft.core.json import JsonObject
from weft.studio.assignment import FindAssignment
from weft.studio.imaging.raster import pixels_of
from weft.studio.tools.assets import file_names, folder_of, named_in, reference, save, writes_assets
from weft.studio.tools.choosing import chosen
from weft.studio.tools.comparing import target_of
from weft.studio.tools.cropping import Edges, fitted, freed
from weft.studio.tools.showing import contact_sheet, shown
from weft.studio.tools.sights import Region, Sight, Sights
from weft.tools.context import ToolContext
from weft.tools.function import tool
from weft.tools.outcome import ToolFault, ToolOutput
from weft.tools.tool import Tool
from weft.vision.geometry import Rect

MAX_ASSETS = 40
_FOUND = 24
"""How many are taken where none were named, the largest first."""
_LEAST_SIDE = 12
_ROOM = 250_000

_Number = Annotated[int, msgspec.Meta(ge=1)]
_Box = Annotated[
    list[float],
    msgspec.Meta(
        min_length=4,
        max_length=4,
        description="x, y, width, height: in pixels of the given picture, or each as a part of its size from 0 to 1.",
    ),
]


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


def extract_tool(find: FindAssignment) -> Tool:
    @tool(
        name="extract_assets",
        effect="write",
        access=writes_assets,
        subjects=lambda arguments: named_in(arguments, "assets"),
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
        data = target_of(work, picture)
        whole = await asyncio.to_thread(_opened, data)
        scale = whole.width / seen_width if seen_width else 1.0
        wanted = list(assets or ())
        if len(wanted) > MAX_ASSETS:
            raise ToolFault(f"{len(wanted)} are too many; cut out at most {MAX_ASSETS} in one call.")
        sight = Sight((), whole.size)
        if not wanted or any(asset.box is None for asset in wanted):
            sight = await ctx.keep(Sights).of(data, ctx)
        if not wanted:
            wanted = _proposed(sight)
        folder = folder_of(work.stack)
        names = file_names([asset.name for asset in wanted])
        cuts, problems = await asyncio.to_thread(
            _cut_all, ctx, whole, wanted, [f"{folder}/{name}" for name in names], sight, scale
        )
        return await asyncio.to_thread(_told, cuts, problems, whole.size, sight.note)

    return extract_assets


def _summary(arguments: JsonObject) -> str:
    count = len(arguments.get("assets") or ())
    return f"Cut {count} picture{'s' * (count != 1)} out" if count else "Cut out all pictures"


def _opened(data: bytes) -> Image.Image:
    try:
        return pixels_of(data, "The given picture")
    except WeftError as error:
        raise ToolFault(str(error)) from None


def _proposed(sight: Sight) -> list[WantedAsset]:
    """Everything worth keeping, in reading order."""
    worth = [region for region in sight.regions if min(region.rect.w, region.rect.h) >= _LEAST_SIDE]
    largest = sorted(worth, key=lambda region: -region.rect.area)[:_FOUND]
    kept = [region for region in worth if region in largest]
    counts: dict[str, int] = {}
    found: list[WantedAsset] = []
    for region in kept:
        counts[region.kind] = counts.get(region.kind, 0) + 1
        rect = region.rect
        found.append(WantedAsset(f"{region.kind}-{counts[region.kind]}", [rect.x, rect.y, rect.w, rect.h]))
    return found


def _cut_all(
    ctx: ToolContext,
    whole: Image.Image,
    wanted: Sequence[WantedAsset],
    paths: Sequence[str],
    sight: Sight,
    scale: float,
) -> tuple[list[_Cut], list[str]]:
    cuts: list[_Cut] = []
    problems: list[str] = []
    for asset, path in zip(wanted, paths, strict=True):
        try:
            cut = _cut(whole, asset, path, sight, scale)
            save(ctx, path, cut.picture, "Cut out of the given picture.")
        except ToolFault as fault:
            problems.append(f"{asset.name}: {fault}")
        else:
            cuts.append(cut)
    return cuts, problems


def _cut(whole: Image.Image, asset: WantedAsset, path: str, sight: Sight, scale: float) -> _Cut:
    box = _box(asset, sight, scale, whole.size)
    if asset.trim:
        box = fitted(whole, box)
    picture, note = whole.crop(box), ""
    if asset.transparent:
        try:
            picture, note = freed(whole, box), "background taken away"
        except WeftError as error:
            note = f"with its background: {str(error)[:1].lower()}{str(error)[1:].rstrip('.')}"
    return _Cut(path, picture, (box[0], box[1], box[2] - box[0], box[3] - box[1]), note)


def _box(asset: WantedAsset, sight: Sight, scale: float, size: tuple[int, int]) -> Edges:
    """Left, top, right, bottom of the part that is meant, within the picture."""
    width, height = size
    if asset.box is None:
        region = chosen(sight, f"{asset.description} {asset.name}")
        if region is None:
            raise ToolFault(f"no picture fits this description; {_known(sight.regions)}")
        rect = region.rect
    else:
        x, y, w, h = asset.box
        if max(asset.box) <= 1:
            x, y, w, h = x * width, y * height, w * width, h * height
        else:
            x, y, w, h = x * scale, y * scale, w * scale, h * scale
        rect = Rect(x, y, w, h)
    rect = rect.within(width, height)
    box = round(rect.x), round(rect.y), round(rect.right), round(rect.bottom)
    if box[2] <= box[0] or box[3] <= box[1]:
        raise ToolFault(f"the box lies outside the picture, which is {width} × {height} px")
    return box


def _known(regions: Sequence[Region]) -> str:
    if not regions:
        return "none was found on it; give its box"
    return f"there are: {'; '.join(map(_described, regions[:12]))}"


def _described(region: Region) -> str:
    x, y, w, h = (round(side) for side in (region.rect.x, region.rect.y, region.rect.w, region.rect.h))
    return f"{region.kind} {w} × {h} at ({x}, {y})"


def _told(cuts: list[_Cut], problems: list[str], size: tuple[int, int], note: str) -> ToolOutput:
    lines = [f"Cut out of the given picture ({size[0]} × {size[1]} px), as it is there:"] if cuts else []
    for cut in cuts:
        x, y, w, h = cut.box
        extra = f"; {cut.note}" if cut.note else ""
        lines.append(f"- {reference(cut.path)}: {w} × {h} px, from ({x}, {y}){extra}")
    lines += [f"Not cut out: {problem}." for problem in problems]
    lines += [note] if note else []
    if not cuts:
        return ToolOutput(
            content="\n".join(lines) or "No pictures were found on it.", summary="nothing", is_error=bool(problems)
        )
    sheet = contact_sheet([(cut.path.rpartition("/")[2], cut.picture) for cut in cuts])
    summary = f"{len(cuts)} file{'s' * (len(cuts) != 1)}"
    return ToolOutput(content=[Text("\n".join(lines)), shown(sheet, _ROOM)], summary=summary)
