"""`generate_images`: pictures that the design shows and that are nowhere to be had, several at once."""

import asyncio
from typing import Annotated

import msgspec

from weft.core.content import Text
from weft.core.json import JsonObject
from weft.studio.assignment import FindAssignment
from weft.studio.imaging.costs import spending
from weft.studio.imaging.images import Images, Made
from weft.studio.imaging.painter import Wanted
from weft.studio.imaging.palette import Palette, palette_of
from weft.studio.imaging.raster import MAX_SIDE
from weft.studio.tools.assets import file_names, folder_of, named_in, reference, save, writes_assets
from weft.studio.tools.paying import paid
from weft.studio.tools.project import files_of
from weft.studio.tools.showing import contact_sheet, shown
from weft.tools.context import ToolContext
from weft.tools.function import tool
from weft.tools.outcome import ToolFault, ToolOutput
from weft.tools.tool import Tool

MAX_IMAGES = 16
_AT_ONCE = 4
_ROOM = 300_000

_Side = Annotated[int, msgspec.Meta(ge=16, le=MAX_SIDE)]


class WantedImage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A picture to make."""

    prompt: Annotated[str, msgspec.Meta(description="What it shows, in which style, in a sentence or two.")]
    name: Annotated[
        str, msgspec.Meta(description="What to call its file: hero.jpg, team-anna. PNG if it says no kind.")
    ]
    width: Annotated[_Side, msgspec.Meta(description="Pixels, as it is shown on the page.")] = 1024
    height: Annotated[_Side, msgspec.Meta(description="Pixels, as it is shown on the page.")] = 768
    transparent: Annotated[bool, msgspec.Meta(description="The subject alone, with nothing behind it.")] = False


def generate_tool(find: FindAssignment, source: Images) -> Tool:
    @tool(
        name="generate_images",
        effect="network",
        access=writes_assets,
        subjects=lambda arguments: named_in(arguments, "images"),
        summary=_summary,
        timeout=600,
    )
    async def generate_images(images: list[WantedImage], ctx: ToolContext) -> ToolOutput:
        """Make pictures from words and save them as files of the project. Ask for all that you need in one call.

        Where no image model can be used, a placeholder of the right size is drawn instead, and the result says so.

        Args:
            images: The pictures, each with what it shows, its name and its size.
        """
        if not 0 < len(images) <= MAX_IMAGES:
            raise ToolFault(f"{len(images)} pictures were asked for; ask for 1 to {MAX_IMAGES} in one call.")
        work = await find()
        palette = await asyncio.to_thread(_palette, work.targets, ctx)
        folder = folder_of(work.stack)
        paths = [f"{folder}/{name}" for name in file_names([image.name for image in images])]
        slots = asyncio.Semaphore(_AT_ONCE)

        async def make(image: WantedImage, path: str) -> Made | ToolFault:
            async with slots:
                made = await source.generate(_wanted(image), palette)
                said = f"Placeholder: {image.prompt}" if made.is_placeholder else f"{made.by} {image.prompt}"
                try:
                    await asyncio.to_thread(save, ctx, path, made.picture, said)
                except ToolFault as fault:
                    return fault
                ctx.output(f"{path}: {made.by}\n", "progress")
                return made

        with spending(ctx.spend):
            made = await asyncio.gather(*map(make, images, paths))
        return await asyncio.to_thread(_told, paths, made, paid(ctx))

    return generate_images


def _summary(arguments: JsonObject) -> str:
    count = len(arguments.get("images") or ())
    return f"Make {count} picture{'s' * (count != 1)}"


def _wanted(image: WantedImage) -> Wanted:
    prompt = " ".join(image.prompt.split())[:4_000]
    return Wanted(prompt=prompt, width=image.width, height=image.height, transparent=image.transparent)


def _palette(targets: tuple[bytes, ...], ctx: ToolContext) -> Palette:
    try:
        files = {} if targets else files_of(ctx.workspace)
    except ToolFault:
        files = {}
    return palette_of(targets[:1], files)


def _told(paths: list[str], found: list[Made | ToolFault], price: str) -> ToolOutput:
    made = {path: each for path, each in zip(paths, found, strict=True) if isinstance(each, Made)}
    lines = [
        f"- {reference(path)}: {each.picture.width} × {each.picture.height} px. {each.by}"
        for path, each in made.items()
    ]
    lines += [f"- {path}: {each}" for path, each in zip(paths, found, strict=True) if isinstance(each, ToolFault)]
    lines += dict.fromkeys(each.why for each in made.values() if each.why)
    lines += [price] if price else []
    if not made:
        return ToolOutput(content="\n".join(lines), summary="nothing made", is_error=True)
    sheet = contact_sheet([(path.rpartition("/")[2], each.picture) for path, each in made.items()])
    drawn = sum(each.is_placeholder for each in made.values())
    summary = f"{len(made)} file{'s' * (len(made) != 1)}"
    summary += f", {drawn} of them placeholder{'s' * (drawn != 1)}" if drawn else ""
    return ToolOutput(content=[Text("\n".join(lines)), shown(sheet, _ROOM)], summary=summary)
