"""The tool `extract_assets`: finds pictures on a target picture with local vision, matches them with descriptions, and
cuts them out into files of the project."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import msgspec
from PIL import Image

from heald.core.errors import HealdError
from heald.core.json import JsonObject
from heald.core.messages import Text
from heald.tools.context import ToolContext
from heald.tools.definitions import Tool
from heald.tools.function_tools import tool
from heald.tools.tool_fault import ToolFault
from heald.tools.tool_output import ToolOutput
from heald_pictures.rect import Rect
from heald_studio.imaging.raster import decode_picture
from heald_studio.tools import assets as asset_files
from heald_studio.tools.compare import target_picture
from heald_studio.tools.context import FindContext
from heald_studio.tools.screen_regions import Region, RegionCache, ScreenRegions, match_region
from heald_studio.tools.trimming import Edges, cut_background, trim_box

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
        requested = list(assets or ())
        if len(requested) > MAX_ASSETS:
            raise ToolFault(f"{len(requested)} are too many; cut out at most {MAX_ASSETS} in one call.")
        screen = ScreenRegions((), whole.size)
        if not requested or any(asset.box is None for asset in requested):
            screen = await ctx.keep(RegionCache).find(data, ctx)
        if not requested:
            requested = _propose_assets(screen)
        folder = asset_files.asset_folder(work.stack)
        names = asset_files.asset_names([asset.name for asset in requested])
        cuts, problems = await asyncio.to_thread(
            _cut_all, ctx, whole, requested, [f"{folder}/{name}" for name in names], screen, scale
        )
        return await asyncio.to_thread(_extraction_result, cuts, problems, whole.size, screen.note)

    return extract_assets


def _summary(arguments: JsonObject) -> str:
    count = len(arguments.get("assets") or ())
    return f"Cut {count} picture{'s' * (count != 1)} out" if count else "Cut out all pictures"


def _open_picture(data: bytes) -> Image.Image:
    try:
        return decode_picture(data, "The given picture")
    except HealdError as error:
        raise ToolFault(str(error)) from None


def _propose_assets(screen: ScreenRegions) -> list[WantedAsset]:
    """Return the largest regions, in reading order."""
    worth = [region for region in screen.regions if min(region.rect.w, region.rect.h) >= _MIN_SIDE]
    largest = sorted(worth, key=lambda region: -region.rect.area)[:_MAX_PROPOSED]
    counts: dict[str, int] = {}
    assets: list[WantedAsset] = []
    for region in (region for region in worth if region in largest):
        counts[region.kind] = counts.get(region.kind, 0) + 1
        rect = region.rect
        assets.append(WantedAsset(f"{region.kind}-{counts[region.kind]}", [rect.x, rect.y, rect.w, rect.h]))
    return assets


def _cut_all(
    ctx: ToolContext,
    whole: Image.Image,
    assets: Sequence[WantedAsset],
    paths: Sequence[str],
    screen: ScreenRegions,
    scale: float,
) -> tuple[list[_Cut], list[str]]:
    cuts: list[_Cut] = []
    problems: list[str] = []
    for asset, path in zip(assets, paths, strict=True):
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
        except HealdError as error:
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
    boxes = [(region.kind, region.rect) for region in regions[:12]]
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
