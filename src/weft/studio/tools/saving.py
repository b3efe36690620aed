"""`save_assets`: pictures that the page takes from elsewhere, or carries inside itself, become files of the project."""

import asyncio
from collections.abc import Mapping
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from PIL import Image

from weft.core.json import JsonObject
from weft.studio.assignment import FindAssignment
from weft.studio.imaging.raster import pixels_of
from weft.studio.input.faults import BadInput
from weft.studio.input.pictures import MAX_BYTES
from weft.studio.input.sources import bytes_from
from weft.studio.tools.assets import file_names, folder_of, reference, save
from weft.studio.tools.project import files_of
from weft.studio.tools.references import address, replaced, shown_in, written
from weft.tools.context import ToolContext
from weft.tools.files.claims import announce
from weft.tools.function import tool
from weft.tools.outcome import ToolFault, ToolOutput
from weft.tools.tool import Access, Tool
from weft.tools.web.outgoing import Outgoing

MAX_ASSETS = 40
_AT_ONCE = 6
_SHOWN = 80


def save_tool(find: FindAssignment, outgoing: Outgoing) -> Tool:
    @tool(
        name="save_assets",
        effect="network",
        access=lambda _: [Access(resource="file:")],
        subjects=lambda arguments: list(arguments.get("urls") or [""]),
        summary=_summary,
        timeout=180,
    )
    async def save_assets(ctx: ToolContext, urls: list[str] | None = None) -> ToolOutput:
        """Keep the pictures that the page uses as files of the project, and point the page at them.

        Pictures at http(s) addresses are fetched, those inside data: addresses are taken out. The files that show them
        are changed to the new addresses. What cannot be had stays as it is and is named.

        Args:
            urls: Only these addresses, whether the page shows them or not. All that the page shows if it is left out.
        """
        work = await find()
        texts = written(await asyncio.to_thread(files_of, ctx.workspace))
        found = list(dict.fromkeys(urls or [url for text in texts.values() for url in shown_in(text)]))
        if not found:
            return ToolOutput(content="The page shows no pictures from elsewhere and carries none in itself.")
        wanted, left = found[:MAX_ASSETS], found[MAX_ASSETS:]
        slots = asyncio.Semaphore(_AT_ONCE)

        async def get(url: str) -> Image.Image | str:
            async with slots:
                return await _picture(address(url), outgoing)

        got = dict(zip(wanted, await asyncio.gather(*map(get, wanted)), strict=True))
        pictures = {url: picture for url, picture in got.items() if isinstance(picture, Image.Image)}
        names = file_names([_name(url, picture) for url, picture in pictures.items()])
        taken = {entry.path for entry in ctx.workspace.list(depth=None)}
        places = {
            url: _free(f"{folder_of(work.stack)}/{name}", taken) for url, name in zip(pictures, names, strict=True)
        }
        changed = await asyncio.to_thread(_kept, ctx, pictures, places, texts)
        lines = [f"- {reference(place)} from {_short(url)}" for url, place in places.items()]
        lines += [f"Left as it is: {_short(url)} ({why})" for url, why in got.items() if isinstance(why, str)]
        lines += [f"{len(left)} more were not looked at; call again for them."] if left else []
        lines += [f"Changed to the new addresses: {', '.join(changed)}."] if changed else []
        summary = f"{len(places)} of {len(found)} saved"
        return ToolOutput(content="\n".join(lines), summary=summary, is_error=not places)

    return save_assets


def _summary(arguments: JsonObject) -> str:
    count = len(arguments.get("urls") or ())
    return f"Save {count} picture{'s' * (count != 1)}" if count else "Save the pictures of the page"


async def _picture(url: str, outgoing: Outgoing) -> Image.Image | str:
    """The picture at an address, or why there is none."""
    try:
        data = await bytes_from(url, limit=MAX_BYTES, outgoing=outgoing, name="it")
        return await asyncio.to_thread(pixels_of, data, "it")
    except BadInput as fault:
        return str(fault)


def _name(url: str, picture: Image.Image) -> str:
    """After the last part of an address. Photographs become JPEG, everything else PNG."""
    path = unquote(urlsplit(url).path) if url[:4].lower() == "http" else ""
    stem = PurePosixPath(path).stem or "picture"
    photo = picture.mode == "RGB" and picture.width * picture.height > 40_000 and picture.getcolors(4_096) is None
    return f"{stem}{'.jpg' if photo else '.png'}"


def _free(path: str, taken: set[str]) -> str:
    """The path, with a number where a file of that name is there already."""
    whole = PurePosixPath(path)
    number = 2
    while path in taken:
        path, number = str(whole.with_name(f"{whole.stem}-{number}{whole.suffix}")), number + 1
    taken.add(path)
    return path


def _kept(
    ctx: ToolContext, pictures: Mapping[str, Image.Image], places: Mapping[str, str], texts: Mapping[str, str]
) -> list[str]:
    for url, picture in pictures.items():
        save(ctx, places[url], picture)
    changed: list[str] = []
    for path, text in texts.items():
        new = replaced(path, text, places)
        if new != text:
            try:
                ctx.workspace.write(path, new, on_change=announce(ctx))
            except ToolFault:
                continue
            changed.append(path)
    return changed


def _short(url: str) -> str:
    return url if len(url) <= _SHOWN else f"{url[: _SHOWN - 1]}…"
