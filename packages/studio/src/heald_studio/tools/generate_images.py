"""The tool `generate_images`."""

import asyncio
from typing import Annotated

import msgspec

from heald.core.json import JsonObject
from heald.core.messages import Text
from heald.tools.context import ToolContext
from heald.tools.definitions import Tool
from heald.tools.function_tools import tool
from heald.tools.tool_fault import ToolFault
from heald.tools.tool_output import ToolOutput
from heald_studio.imaging.costs import collect_costs
from heald_studio.imaging.images import ImageMaker, MadeImage
from heald_studio.imaging.palette import Palette, extract_palette
from heald_studio.imaging.provider import ImageRequest
from heald_studio.imaging.raster import MAX_SIDE
from heald_studio.tools import assets
from heald_studio.tools.context import FindContext, read_project_files

MAX_IMAGES = 16
_PARALLEL = 4
_SHEET_BYTES = 300_000

_Side = Annotated[int, msgspec.Meta(ge=16, le=MAX_SIDE)]


class WantedImage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A picture to make."""

    prompt: str
    name: Annotated[str, msgspec.Meta(description="Of its file: hero.jpg, team-anna. PNG if it says no kind.")]
    width: _Side = 1024
    height: _Side = 768
    transparent: bool = False


def generate_tool(find: FindContext, source: ImageMaker) -> Tool:
    @tool(
        name="generate_images",
        effect="network",
        access=assets.writes_assets,
        subjects=lambda arguments: assets.named_assets(arguments, "images"),
        summary=_generation_summary,
        timeout=600,
    )
    async def generate_images(images: list[WantedImage], ctx: ToolContext) -> ToolOutput:
        """Make pictures from words and save them in the project. Ask for all that you need in one call.

        Args:
            images: Each with what it shows and its style, its name, and its size on the page in pixels.
        """
        if not 0 < len(images) <= MAX_IMAGES:
            raise ToolFault(f"{len(images)} pictures were asked for; ask for 1 to {MAX_IMAGES} in one call.")
        work = await find()
        palette = await asyncio.to_thread(_palette, work.targets, ctx)
        folder = assets.asset_folder(work.stack)
        paths = [f"{folder}/{name}" for name in assets.asset_names([image.name for image in images])]
        slots = asyncio.Semaphore(_PARALLEL)

        async def make(image: WantedImage, path: str) -> MadeImage | ToolFault:
            async with slots:
                made = await source.generate(_image_request(image), palette)
                comment = f"Placeholder: {image.prompt}" if made.is_placeholder else f"{made.by} {image.prompt}"
                try:
                    await asyncio.to_thread(assets.save_picture, ctx, path, made.picture, comment)
                except ToolFault as fault:
                    return fault
                ctx.output(f"{path}: {made.by}\n", "progress")
                return made

        with collect_costs(ctx.spend):
            made = await asyncio.gather(*map(make, images, paths))
        return await asyncio.to_thread(_generation_result, paths, made, assets.describe_cost(ctx))

    return generate_images


def _generation_summary(arguments: JsonObject) -> str:
    count = len(arguments.get("images") or ())
    return f"Make {count} picture{'s' * (count != 1)}"


def _image_request(image: WantedImage) -> ImageRequest:
    prompt = " ".join(image.prompt.split())[:4_000]
    return ImageRequest(prompt=prompt, width=image.width, height=image.height, transparent=image.transparent)


def _palette(targets: tuple[bytes, ...], ctx: ToolContext) -> Palette:
    try:
        files = {} if targets else read_project_files(ctx.workspace)
    except ToolFault:
        files = {}
    return extract_palette(targets[:1], files)


def _generation_result(paths: list[str], results: list[MadeImage | ToolFault], price: str) -> ToolOutput:
    made = {path: image for path, image in zip(paths, results, strict=True) if isinstance(image, MadeImage)}
    lines = [
        f"- {assets.asset_url(path)}: {image.picture.width} × {image.picture.height} px. {image.by}"
        for path, image in made.items()
    ]
    lines += [f"- {path}: {image}" for path, image in zip(paths, results, strict=True) if isinstance(image, ToolFault)]
    lines += dict.fromkeys(image.why for image in made.values() if image.why)
    lines += [price] if price else []
    if not made:
        return ToolOutput(content="\n".join(lines), summary="nothing made", is_error=True)
    sheet = assets.contact_sheet([(path.rpartition("/")[2], image.picture) for path, image in made.items()])
    drawn = sum(image.is_placeholder for image in made.values())
    summary = f"{len(made)} file{'s' * (len(made) != 1)}"
    summary += f", {drawn} of them placeholder{'s' * (drawn != 1)}" if drawn else ""
    return ToolOutput(content=[Text("\n".join(lines)), assets.picture_content(sheet, _SHEET_BYTES)], summary=summary)
