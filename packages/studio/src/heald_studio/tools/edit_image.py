"""The tools `edit_image` and `remove_background`."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import PurePosixPath

from PIL import Image

from heald.core.errors import HealdError
from heald.core.json import JsonObject, as_list
from heald.core.messages import ResultPart, Text
from heald.tools.context import ToolContext
from heald.tools.definitions import Access, Tool
from heald.tools.files.access import file_accesses, path_subjects
from heald.tools.function_tools import tool
from heald.tools.tool_fault import ToolFault
from heald.tools.tool_output import ToolOutput
from heald_studio.imaging.costs import collect_costs
from heald_studio.imaging.images import ImageMaker, MadeImage
from heald_studio.imaging.raster import SUFFIXES, decode_picture
from heald_studio.input.pictures import MAX_BYTES
from heald_studio.tools import assets
from heald_studio.tools.context import FindContext

MAX_PICTURES = 16
_SHEET_BYTES = 300_000
Change = Callable[[Image.Image], Awaitable[MadeImage]]


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
    except HealdError as error:
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
