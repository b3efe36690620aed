"""Image files of a project: their names, how they are written, and how tool results show them; and the tool
`save_assets`, which turns pictures of other servers and `data:` URLs into such files."""

import asyncio
import base64
import io
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from html import unescape
from pathlib import PurePosixPath
from posixpath import dirname, relpath
from urllib.parse import unquote, urlsplit

from PIL import Image, ImageDraw

from weft.core.json import JsonObject, as_objects
from weft.core.messages import Image as Shown
from weft.studio.imaging.placeholder import find_font, fit_text
from weft.studio.imaging.raster import SUFFIXES, decode_picture, encode_picture, flatten, shrink_to_fit
from weft.studio.input.pictures import MAX_BYTES, load_bytes
from weft.studio.request import BadInput
from weft.studio.stack import Stack
from weft.studio.tools.context import FindContext, read_project_files
from weft.tools.context import ToolContext
from weft.tools.definitions import Access, Tool
from weft.tools.files.access import publish_changes
from weft.tools.function_tools import tool
from weft.tools.results import ToolFault, ToolOutput
from weft.tools.web.fetcher import WebFetcher

ASSET_FOLDER = "assets"
PUBLIC_FOLDER = "public/assets"  # the same in a Vite project, which serves it from the root

_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")
_MAX_NAME = 60
_DROPPED_SUFFIXES = ".gif .svg .avif .bmp .heic .ico .tif .tiff .js .html .css .php .exe"
"""Suffixes that are removed from a name."""
MAX_RESULT_BYTES = 560_000
"""Bytes of all pictures of a result: with text and in base64 it stays well under a megabyte."""
_MAX_HEIGHT = 4_000
_CELL = 220
_COLUMNS = 4
_GROUND, _LIGHT, _INK = (236, 238, 241), (250, 250, 251), (40, 44, 52)


def asset_folder(stack: Stack) -> str:
    return PUBLIC_FOLDER if stack.preview == "vite" else ASSET_FOLDER


def asset_url(path: str) -> str:
    """Return the URL of a file, as a page in the project's root addresses it."""
    return f"/{path.removeprefix('public/')}" if path.startswith("public/") else path


def asset_name(name: str) -> str:
    """Make a safe file name from a model's name for it, with a suffix that can be written, PNG by default."""
    last = PurePosixPath(name.replace("\\", "/").replace("\x00", "")).name
    stem, dot, end = last.rpartition(".")
    suffix = f".{end.lower()}" if dot else ""
    if suffix not in SUFFIXES:
        stem, suffix = (last if suffix not in _DROPPED_SUFFIXES.split() else stem), ".png"
    plain = unicodedata.normalize("NFKD", stem).encode("ascii", "ignore").decode()
    plain = _UNSAFE.sub("-", plain).strip("-")[:_MAX_NAME].strip("-")
    return f"{plain or 'picture'}{suffix}"


def asset_names(names: Iterable[str]) -> list[str]:
    """Make safe file names, all different."""
    taken: set[str] = set()
    return [unused_path(asset_name(name), taken) for name in names]


def unused_path(path: str, taken: set[str]) -> str:
    """Return the path, with a number if it is in use, and add it to `taken`. Case is ignored."""
    whole, number = PurePosixPath(path), 2
    while path.lower() in taken:
        path, number = str(whole.with_name(f"{whole.stem}-{number}{whole.suffix}")), number + 1
    taken.add(path.lower())
    return path


def writes_assets(_: JsonObject) -> list[Access]:
    """Lock the asset folders, so that calls that write assets run one after the other."""
    return [Access(resource=f"file:{folder}") for folder in (ASSET_FOLDER, PUBLIC_FOLDER)]


def named_assets(arguments: JsonObject, key: str) -> list[str]:
    """Return the files that a call names, for permission rules."""
    names = [str(item.get("name") or "") for item in as_objects(arguments.get(key))]
    return [f"{ASSET_FOLDER}/{name}" for name in asset_names(names)] or [f"{ASSET_FOLDER}/"]


def save_picture(ctx: ToolContext, path: str, picture: Image.Image, comment: str = "") -> int:
    """Write a picture into the project, with `comment` as its description. Returns the number of bytes."""
    data = encode_picture(picture, path, comment)
    ctx.workspace.write(path, data, on_change=publish_changes(ctx))
    return len(data)


def picture_content(data: bytes, room: int = MAX_RESULT_BYTES) -> Shown:
    """Convert a picture to content of a result, in at most `room` bytes."""
    if len(data) <= room and data.startswith(b"\x89PNG"):
        return Shown(media_type="image/png", data=base64.b64encode(data).decode())
    picture = flatten(decode_picture(data))
    while True:
        for quality in (85, 70, 50):
            out = io.BytesIO()
            picture.save(out, "JPEG", quality=quality)
            if out.tell() <= room:
                return Shown(media_type="image/jpeg", data=base64.b64encode(out.getvalue()).decode())
        picture = shrink_to_fit(picture, max(picture.size) * 3 // 4)


def crop_tall(data: bytes) -> tuple[bytes, str]:
    """Crop a very tall page, with a sentence about it; any other page is unchanged."""
    picture = decode_picture(data)
    if picture.height <= _MAX_HEIGHT:
        return data, ""
    out = io.BytesIO()
    picture.crop((0, 0, picture.width, _MAX_HEIGHT)).save(out, "PNG", compress_level=1)
    return out.getvalue(), f"The picture here shows the first {_MAX_HEIGHT} px of it."


def contact_sheet(pictures: Sequence[tuple[str, Image.Image]]) -> bytes:
    """Draw small views of several pictures with their names, as one PNG."""
    columns = min(_COLUMNS, len(pictures))
    rows = -(-len(pictures) // columns)
    label = 22
    sheet = Image.new("RGB", (columns * _CELL, rows * (_CELL + label)), _LIGHT)
    pen = ImageDraw.Draw(sheet)
    for number, (name, picture) in enumerate(pictures):
        left, top = number % columns * _CELL, number // columns * (_CELL + label)
        small = shrink_to_fit(picture, _CELL - 16)
        x, y = left + (_CELL - small.width) // 2, top + (_CELL - small.height) // 2
        pen.rectangle((left + 4, top + 4, left + _CELL - 4, top + _CELL - 4), fill=_GROUND)
        sheet.paste(small, (x, y), small if small.mode == "RGBA" else None)
        font = find_font(name, 13)
        pen.text(
            (left + _CELL / 2, top + _CELL + 9), fit_text(name, font, _CELL - 8), font=font, fill=_INK, anchor="mm"
        )
    out = io.BytesIO()
    sheet.save(out, "PNG", compress_level=6)
    return out.getvalue()


def describe_cost(ctx: ToolContext) -> str:
    """Return a sentence about the cost of a call; empty if it was free."""
    if ctx.spent is None:
        return "What this cost is not known: there is no list price for it."
    return f"This cost ${ctx.spent:.4f}." if ctx.spent else ""


# --- the tool save_assets --------------------------------------------------------------------------------------------


_TEXT_SUFFIXES = (".html", ".htm", ".css", ".js", ".jsx", ".ts", ".tsx", ".mjs", ".json", ".svg", ".vue")
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
    found: dict[str, str] = {}
    for path, data in files.items():
        if not path.lower().endswith(_TEXT_SUFFIXES) or len(data) > MAX_TEXT:
            continue
        try:
            found[path] = data.decode()
        except UnicodeDecodeError:
            continue
    return found


def picture_urls(text: str) -> list[str]:
    """List the addresses of pictures in a text as written, `data:` and `http(s):`, each once."""
    found = [match[0] for match in _DATA.finditer(text)]
    for pattern in (_TAGGED, _STYLED, _QUOTED):
        found += [match["url"] for match in pattern.finditer(text)]
    return [url for url in dict.fromkeys(found) if not _plain(url).lower().endswith(_NO_PICTURE)]


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
        are changed to the new addresses. What cannot be had stays as it is and is named.

        Args:
            urls: Only these addresses, whether the page shows them or not. All that the page shows if it is left out.
        """
        work = await find()
        texts = text_files(await asyncio.to_thread(read_project_files, ctx.workspace))
        found = list(dict.fromkeys(urls or [url for text in texts.values() for url in picture_urls(text)]))
        if not found:
            return ToolOutput(content="The page shows no pictures from elsewhere and carries none in itself.")
        wanted, left = found[:MAX_ASSETS], found[MAX_ASSETS:]
        slots = asyncio.Semaphore(_PARALLEL)

        async def get(url: str) -> Image.Image | str:
            async with slots:
                return await _picture(decode_url(url), outgoing)

        got = dict(zip(wanted, await asyncio.gather(*map(get, wanted)), strict=True))
        pictures = {url: picture for url, picture in got.items() if isinstance(picture, Image.Image)}
        names = asset_names([_name(url, picture) for url, picture in pictures.items()])
        taken = {entry.path.lower() for entry in ctx.workspace.list(depth=None)}
        places = {
            url: unused_path(f"{asset_folder(work.stack)}/{name}", taken)
            for url, name in zip(pictures, names, strict=True)
        }
        changed = await asyncio.to_thread(_save_and_replace, ctx, pictures, places, texts)
        lines = [f"- {asset_url(place)} from {_short(url)}" for url, place in places.items()]
        lines += [f"Left as it is: {_short(url)} ({why})" for url, why in got.items() if isinstance(why, str)]
        lines += [f"{len(left)} more were not looked at; call again for them."] if left else []
        lines += [f"Changed to the new addresses: {', '.join(changed)}."] if changed else []
        summary = f"{len(places)} of {len(found)} saved"
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
