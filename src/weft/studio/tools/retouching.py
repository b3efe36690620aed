"""`edit_image` and `remove_background`: pictures of the project, changed."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import PurePosixPath

from PIL import Image

from weft.core.content import Text
from weft.core.errors import WeftError
from weft.core.json import JsonObject, as_list
from weft.core.tools import ResultPart
from weft.studio.assignment import FindAssignment
from weft.studio.imaging.costs import spending
from weft.studio.imaging.images import Images, Made
from weft.studio.imaging.raster import SUFFIXES, pixels_of
from weft.studio.input.pictures import MAX_BYTES
from weft.studio.tools.assets import FOLDER, PUBLIC, file_name, folder_of, reference, save
from weft.studio.tools.paying import paid
from weft.studio.tools.showing import contact_sheet, shown
from weft.tools.context import ToolContext
from weft.tools.files.claims import accesses, subjects_of
from weft.tools.function import tool
from weft.tools.outcome import ToolFault, ToolOutput
from weft.tools.tool import Access, Tool

MAX_PICTURES = 16
_ROOM = 300_000

Change = Callable[[Image.Image], Awaitable[Made]]


def edit_tool(find: FindAssignment, images: Images) -> Tool:
    @tool(
        name="edit_image",
        effect="network",
        access=_edited,
        subjects=lambda arguments: subjects_of([arguments.get("path"), *_saved(arguments)]),
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
        there = f"{folder_of(work.stack)}/{file_name(save_as)}" if save_as else edited_path(ctx.workspace.normal(path))
        made = await _changed(ctx, path, there, lambda picture: images.edit(picture, instruction))
        size = f"{made.picture.width} × {made.picture.height} px."
        text = Text(" ".join(filter(None, (f"{reference(there)}: {size} {made.by}", made.why, paid(ctx)))))
        sheet = await asyncio.to_thread(contact_sheet, [(PurePosixPath(there).name, made.picture)])
        return ToolOutput(content=[text, shown(sheet, _ROOM)], summary=made.by[:120])

    return edit_image


def background_tool(images: Images) -> Tool:
    @tool(
        name="remove_background",
        effect="network",
        access=_freed,
        subjects=lambda arguments: subjects_of(as_list(arguments.get("paths"))),
        summary=lambda arguments: f"Remove the background of {', '.join(arguments['paths'])}",
        timeout=300,
    )
    async def remove_background(paths: list[str], ctx: ToolContext) -> ToolOutput:
        """Free logos, products or people from their background.

        Each result is a PNG beside the file, with -cutout at the end of its name: assets/mug.jpg becomes
        assets/mug-cutout.png.

        Args:
            paths: The pictures' files in the project.
        """
        if not 0 < len(paths) <= MAX_PICTURES:
            raise ToolFault(f"{len(paths)} pictures were named; name 1 to {MAX_PICTURES} in one call.")
        lines: list[str] = []
        done: list[tuple[str, Image.Image]] = []
        for path in dict.fromkeys(paths):
            try:
                there = cutout_path(ctx.workspace.normal(path))
                made = await _changed(ctx, path, there, images.cut_out)
            except ToolFault as fault:
                if len(paths) == 1:
                    raise
                lines.append(f"{path}: {fault}")
                continue
            lines.append(f"{reference(there)}: {made.by} {made.why}".rstrip())
            done.append((PurePosixPath(there).name, made.picture))
        if not done:
            return ToolOutput(content="\n".join(lines), summary="nothing done", is_error=True)
        sheet = await asyncio.to_thread(contact_sheet, done)
        said = "\n".join([*lines, *filter(None, [paid(ctx)])])
        content: list[ResultPart] = [Text(said), shown(sheet, _ROOM)]
        return ToolOutput(content=content, summary=f"{len(done)} of {len(lines)} done")

    return remove_background


def edited_path(path: str) -> str:
    """Where a changed picture goes: into its own file, or beside it where its kind is none that is written here."""
    whole = PurePosixPath(path)
    return path if not path or whole.suffix.lower() in SUFFIXES else str(whole.with_name(f"{whole.stem}.png"))


def cutout_path(path: str) -> str:
    """Where the picture without its background goes."""
    whole = PurePosixPath(path)
    return str(whole.with_name(f"{whole.stem}-cutout.png")) if path else ""


async def _changed(ctx: ToolContext, path: str, there: str, change: Change) -> Made:
    """Read a picture, change it, write it."""
    data = await asyncio.to_thread(ctx.workspace.read, path, limit=MAX_BYTES, remember=False)
    try:
        with spending(ctx.spend):
            made = await change(await asyncio.to_thread(pixels_of, data, PurePosixPath(path).name))
    except WeftError as error:
        raise ToolFault(str(error)) from None
    await asyncio.to_thread(save, ctx, there, made.picture, made.by)
    return made


def _saved(arguments: JsonObject) -> list[str]:
    name = arguments.get("save_as")
    return [f"{FOLDER}/{file_name(name)}", f"{PUBLIC}/{file_name(name)}"] if isinstance(name, str) and name else []


def _edited(arguments: JsonObject) -> list[Access]:
    saved = _saved(arguments)
    path = [arguments.get("path")]
    read = accesses(path, changes=False)
    written = saved or [edited_path(access.resource.removeprefix("file:")) for access in read]
    return [*read, *accesses(written, changes=True)]


def _freed(arguments: JsonObject) -> list[Access]:
    paths = [path for path in as_list(arguments.get("paths")) if isinstance(path, str)]
    read = accesses(paths, changes=False)
    places = [access.resource.removeprefix("file:") for access in read]
    return [*read, *accesses([cutout_path(place) for place in places if place], changes=True)]
