"""The tools `generate_images`, `edit_image` and `remove_background`."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import PurePosixPath
from typing import Annotated

import msgspec
from PIL import Image

from weft.core.errors import WeftError
from weft.core.json import JsonObject, as_list
from weft.core.messages import ResultPart, Text
from weft.studio.imaging.api import ImageRequest, collect_costs
from weft.studio.imaging.images import ImageMaker, MadeImage
from weft.studio.imaging.raster import MAX_SIDE, SUFFIXES, Palette, decode_picture, extract_palette
from weft.studio.input.pictures import MAX_BYTES
from weft.studio.tools import assets
from weft.studio.tools.context import FindContext, read_project_files
from weft.tools.context import ToolContext
from weft.tools.definitions import Access, Tool
from weft.tools.files.access import file_accesses, path_subjects
from weft.tools.function_tools import tool
from weft.tools.results import ToolFault, ToolOutput

MAX_IMAGES = 16
_PARALLEL = 4
_SHEET_BYTES = 300_000

_Side = Annotated[int, msgspec.Meta(ge=16, le=MAX_SIDE)]
MAX_PICTURES = 16
Change = Callable[[Image.Image], Awaitable[MadeImage]]


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


def _generation_result(paths: list[str], found: list[MadeImage | ToolFault], price: str) -> ToolOutput:
    made = {path: each for path, each in zip(paths, found, strict=True) if isinstance(each, MadeImage)}
    lines = [
        f"- {assets.asset_url(path)}: {each.picture.width} × {each.picture.height} px. {each.by}"
        for path, each in made.items()
    ]
    lines += [f"- {path}: {each}" for path, each in zip(paths, found, strict=True) if isinstance(each, ToolFault)]
    lines += dict.fromkeys(each.why for each in made.values() if each.why)
    lines += [price] if price else []
    if not made:
        return ToolOutput(content="\n".join(lines), summary="nothing made", is_error=True)
    sheet = assets.contact_sheet([(path.rpartition("/")[2], each.picture) for path, each in made.items()])
    drawn = sum(each.is_placeholder for each in made.values())
    summary = f"{len(made)} file{'s' * (len(made) != 1)}"
    summary += f", {drawn} of them placeholder{'s' * (drawn != 1)}" if drawn else ""
    return ToolOutput(content=[Text("\n".join(lines)), assets.picture_content(sheet, _SHEET_BYTES)], summary=summary)


def edit_tool(find: FindContext, images: ImageMaker) -> Tool:
    @tool(
        name="edit_image",
        effect="network",
        access=_edit_accesses,
        subjects=lambda arguments: path_subjects([arguments.get("path"), *_saved_paths(arguments)]),
        summary=lambda arguments: f"Change {arguments['path']}: {arguments['instruction']}",
        timeout=300,
    )
    async def edit_image(path: str, instruction: str, ctx: ToolContext, save_as: str = "") -> ToolOutput:
        """Change a picture of the project as the words say.

        Without an image model only plain changes are made: black and white, blur, brighter, darker, tint, flip,
        rotate, resize, crop, rounded corners and the like.

        Args:
            path: The picture's file in the project, such as assets/hero.jpg.
            instruction: What shall be different.
            save_as: A name for the changed picture; without one the file itself is replaced.
        """
        work = await find()
        destination = edited_path(ctx.workspace.normal(path))
        if save_as:
            destination = f"{assets.asset_folder(work.stack)}/{assets.asset_name(save_as)}"
        made = await _apply_change(ctx, path, destination, lambda picture: images.edit(picture, instruction))
        size = f"{made.picture.width} × {made.picture.height} px."
        text = Text(
            " ".join(
                filter(
                    None,
                    (f"{assets.asset_url(destination)}: {size} {made.by}", made.why, assets.describe_cost(ctx)),
                )
            )
        )
        sheet = await asyncio.to_thread(assets.contact_sheet, [(PurePosixPath(destination).name, made.picture)])
        return ToolOutput(content=[text, assets.picture_content(sheet, _SHEET_BYTES)], summary=made.by[:120])

    return edit_image


def background_tool(images: ImageMaker) -> Tool:
    @tool(
        name="remove_background",
        effect="network",
        access=_background_accesses,
        subjects=lambda arguments: path_subjects(as_list(arguments.get("paths"))),
        summary=lambda arguments: f"Remove the background of {', '.join(arguments['paths'])}",
        timeout=300,
    )
    async def remove_background(paths: list[str], ctx: ToolContext) -> ToolOutput:
        """Free logos, products or people from their background: assets/mug.jpg becomes assets/mug-cutout.png.

        Args:
            paths: The pictures' files in the project.
        """
        if not 0 < len(paths) <= MAX_PICTURES:
            raise ToolFault(f"{len(paths)} pictures were named; name 1 to {MAX_PICTURES} in one call.")
        lines: list[str] = []
        done: list[tuple[str, Image.Image]] = []
        for path in dict.fromkeys(paths):
            try:
                destination = cutout_path(ctx.workspace.normal(path))
                made = await _apply_change(ctx, path, destination, images.cut_out)
            except ToolFault as fault:
                if len(paths) == 1:
                    raise
                lines.append(f"{path}: {fault}")
                continue
            lines.append(f"{assets.asset_url(destination)}: {made.by} {made.why}".rstrip())
            done.append((PurePosixPath(destination).name, made.picture))
        if not done:
            return ToolOutput(content="\n".join(lines), summary="nothing done", is_error=True)
        sheet = await asyncio.to_thread(assets.contact_sheet, done)
        text = "\n".join([*lines, *filter(None, [assets.describe_cost(ctx)])])
        content: list[ResultPart] = [Text(text), assets.picture_content(sheet, _SHEET_BYTES)]
        return ToolOutput(content=content, summary=f"{len(done)} of {len(lines)} done")

    return remove_background


def edited_path(path: str) -> str:
    """Return the path of an edited picture: its own, or one beside it if its format cannot be written."""
    whole = PurePosixPath(path)
    return path if not path or whole.suffix.lower() in SUFFIXES else str(whole.with_name(f"{whole.stem}.png"))


def cutout_path(path: str) -> str:
    """Return the path of a picture without its background."""
    whole = PurePosixPath(path)
    return str(whole.with_name(f"{whole.stem}-cutout.png")) if path else ""


async def _apply_change(ctx: ToolContext, path: str, destination: str, change: Change) -> MadeImage:
    """Read a picture, change it, and write it to `destination`."""
    data = await asyncio.to_thread(ctx.workspace.read, path, limit=MAX_BYTES, remember=False)
    try:
        with collect_costs(ctx.spend):
            made = await change(await asyncio.to_thread(decode_picture, data, PurePosixPath(path).name))
    except WeftError as error:
        raise ToolFault(str(error)) from None
    await asyncio.to_thread(assets.save_picture, ctx, destination, made.picture, made.by)
    return made


def _saved_paths(arguments: JsonObject) -> list[str]:
    name = arguments.get("save_as")
    if not isinstance(name, str) or not name:
        return []
    return [f"{folder}/{assets.asset_name(name)}" for folder in (assets.ASSET_FOLDER, assets.PUBLIC_FOLDER)]


def _edit_accesses(arguments: JsonObject) -> list[Access]:
    read = file_accesses([arguments.get("path")], changes=False)
    written = _saved_paths(arguments) or [edited_path(access.resource.removeprefix("file:")) for access in read]
    return [*read, *file_accesses(written, changes=True)]


def _background_accesses(arguments: JsonObject) -> list[Access]:
    paths = [path for path in as_list(arguments.get("paths")) if isinstance(path, str)]
    read = file_accesses(paths, changes=False)
    named = [access.resource.removeprefix("file:") for access in read]
    return [*read, *file_accesses([cutout_path(path) for path in named if path], changes=True)]
