"""The tool `save_assets`: turns pictures of other servers and `data:` URLs into files of the project."""

import asyncio
import re
from collections.abc import Mapping
from html import unescape
from pathlib import PurePosixPath
from posixpath import dirname, relpath
from urllib.parse import unquote, urlsplit

from PIL import Image

from heald.core.json import JsonObject
from heald.tools.context import ToolContext
from heald.tools.definitions import Access, Tool
from heald.tools.files.access import publish_changes
from heald.tools.function_tools import tool
from heald.tools.tool_fault import ToolFault
from heald.tools.tool_output import ToolOutput
from heald.tools.web.fetcher import WebFetcher
from heald_studio.bad_input import BadInput
from heald_studio.imaging.raster import decode_picture
from heald_studio.input.load import load_bytes
from heald_studio.input.pictures import MAX_BYTES
from heald_studio.tools.assets import asset_folder, asset_names, asset_url, save_picture, unused_path
from heald_studio.tools.context import FindContext, read_project_files

_TEXT_SUFFIXES = (
    *(".html", ".htm", ".css", ".js", ".jsx", ".ts", ".tsx", ".mjs", ".json", ".svg"),
    *(".vue", ".svelte", ".astro"),
)
_DATA = re.compile(
    r"data:image/(?:png|jpe?g|webp|gif|avif|heic)(?:;[a-z0-9=-]{1,40}){0,3},[A-Za-z0-9+/=%]{16,}", re.IGNORECASE
)
_END = r"[^\s\"'`<>(){}\\]{1,2000}"
_TAGGED = re.compile(
    rf"<(?:img|source|image|video|input)\b[^<>]{{0,4000}}?\s(?:src|poster|href|xlink:href)\s*=\s*[\"'](?P<url>https?://{_END})[\"']",
    re.IGNORECASE,
)
_STYLED = re.compile(rf"url\(\s*[\"']?(?P<url>https?://{_END})[\"']?\s*\)", re.IGNORECASE)
_QUOTED = re.compile(
    rf"[\"'`](?P<url>https?://{_END}?\.(?:png|jpe?g|webp|gif|avif)(?:\?[^\s\"'`<>(){{}}\\]{{0,500}})?)[\"'`]",
    re.IGNORECASE,
)
_URL_END = r"(?=[\s\"'`<>(){}\\,;]|$)"
_NO_PICTURE = (".js", ".mjs", ".css", ".woff", ".woff2", ".ttf", ".otf", ".eot", ".json", ".html", ".mp4", ".webm")
MAX_TEXT = 8_000_000
MAX_ASSETS = 40
_PARALLEL = 6
_MAX_SHOWN = 80


def text_files(files: Mapping[str, bytes]) -> dict[str, str]:
    """Return the files that are text and may show pictures."""
    texts: dict[str, str] = {}
    for path, data in files.items():
        if not path.lower().endswith(_TEXT_SUFFIXES) or len(data) > MAX_TEXT:
            continue
        try:
            texts[path] = data.decode()
        except UnicodeDecodeError:
            continue
    return texts


def picture_urls(text: str) -> list[str]:
    """List the addresses of pictures in a text as written, `data:` and `http(s):`, each once."""
    urls = [match[0] for match in _DATA.finditer(text)]
    for pattern in (_TAGGED, _STYLED, _QUOTED):
        urls += [match["url"] for match in pattern.finditer(text)]
    return [url for url in dict.fromkeys(urls) if not _plain(url).lower().endswith(_NO_PICTURE)]


def decode_url(url: str) -> str:
    """Decode an address in a text as a browser does."""
    return unescape(url) if url[:4].lower() == "http" else url


def replace_urls(path: str, text: str, places: Mapping[str, str]) -> str:
    """Replace addresses in the text of a file by files of the project, relative to that file."""
    for url, place in places.items():
        new = _relative_url(path, place)
        text = re.sub(re.escape(url) + _URL_END, lambda _, new=new: new, text)
    return text


def _relative_url(path: str, place: str) -> str:
    """Return the address of a file: relative to `path` if that is CSS, HTML or SVG, else to the root."""
    if place.startswith("public/"):
        return asset_url(place)
    if path.lower().endswith((".css", ".html", ".htm", ".svg")):
        return relpath(place, dirname(path) or ".")
    return place


def _plain(url: str) -> str:
    return url.partition("?")[0].partition("#")[0]


def save_tool(find: FindContext, outgoing: WebFetcher) -> Tool:
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
        are changed to the new addresses. What cannot be fetched stays as it is and is named.

        Args:
            urls: Only these addresses, whether the page shows them or not. All that the page shows if it is left out.
        """
        work = await find()
        texts = text_files(await asyncio.to_thread(read_project_files, ctx.workspace))
        addresses = list(dict.fromkeys(urls or [url for text in texts.values() for url in picture_urls(text)]))
        if not addresses:
            return ToolOutput(content="The page shows no pictures from elsewhere and carries none in itself.")
        fetched, left = addresses[:MAX_ASSETS], addresses[MAX_ASSETS:]
        slots = asyncio.Semaphore(_PARALLEL)

        async def get(url: str) -> Image.Image | str:
            async with slots:
                return await _picture(decode_url(url), outgoing)

        got = dict(zip(fetched, await asyncio.gather(*map(get, fetched)), strict=True))
        pictures = {url: picture for url, picture in got.items() if isinstance(picture, Image.Image)}
        names = asset_names([_name(url, picture) for url, picture in pictures.items()])
        used_paths = {entry.path.lower() for entry in ctx.workspace.list(depth=None)}
        places = {
            url: unused_path(f"{asset_folder(work.stack)}/{name}", used_paths)
            for url, name in zip(pictures, names, strict=True)
        }
        changed = await asyncio.to_thread(_save_and_replace, ctx, pictures, places, texts)
        lines = [f"- {asset_url(place)} from {_short(url)}" for url, place in places.items()]
        lines += [f"Left as it is: {_short(url)} ({why})" for url, why in got.items() if isinstance(why, str)]
        lines += [f"{len(left)} more were not looked at; call again for them."] if left else []
        lines += [f"Changed to the new addresses: {', '.join(changed)}."] if changed else []
        summary = f"{len(places)} of {len(addresses)} saved"
        return ToolOutput(content="\n".join(lines), summary=summary, is_error=not places)

    return save_assets


def _summary(arguments: JsonObject) -> str:
    count = len(arguments.get("urls") or ())
    return f"Save {count} picture{'s' * (count != 1)}" if count else "Save the pictures of the page"


async def _picture(url: str, outgoing: WebFetcher) -> Image.Image | str:
    """Fetch the picture at an address; return the reason if that fails."""
    try:
        data = await load_bytes(url, limit=MAX_BYTES, outgoing=outgoing, name="it")
        return await asyncio.to_thread(decode_picture, data, "it")
    except BadInput as fault:
        return str(fault)


def _name(url: str, picture: Image.Image) -> str:
    """Name a picture after the last part of its address. Photographs become JPEG, everything else PNG."""
    path = unquote(urlsplit(url).path) if url[:4].lower() == "http" else ""
    stem = PurePosixPath(path).stem or "picture"
    photo = picture.mode == "RGB" and picture.width * picture.height > 40_000 and picture.getcolors(4_096) is None
    return f"{stem}{'.jpg' if photo else '.png'}"


def _save_and_replace(
    ctx: ToolContext, pictures: Mapping[str, Image.Image], places: Mapping[str, str], texts: Mapping[str, str]
) -> list[str]:
    for url, picture in pictures.items():
        save_picture(ctx, places[url], picture)
    changed: list[str] = []
    for path, text in texts.items():
        new = replace_urls(path, text, places)
        if new != text:
            try:
                ctx.workspace.write(path, new, on_change=publish_changes(ctx))
            except ToolFault:
                continue
            changed.append(path)
    return changed


def _short(url: str) -> str:
    return url if len(url) <= _MAX_SHOWN else f"{url[: _MAX_SHOWN - 1]}…"
