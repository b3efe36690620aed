"""Image files of a project: their names, how they are written, and how tool results show them."""

import base64
import io
import re
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from PIL import Image, ImageDraw

from heald.core.json import JsonObject, as_objects
from heald.core.messages import Image as Shown
from heald.tools.context import ToolContext
from heald.tools.definitions import Access
from heald.tools.files.access import publish_changes
from heald_studio.imaging.caption_font import find_font, fit_text
from heald_studio.imaging.raster import SUFFIXES, decode_picture, encode_picture, flatten, shrink_to_fit
from heald_studio.stacks.stack import Stack

ASSET_FOLDER = "assets"
PUBLIC_FOLDER = "public/assets"  # the same in a project that is built, which serves it from the root

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
    return PUBLIC_FOLDER if stack.is_built else ASSET_FOLDER


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
    used_paths: set[str] = set()
    return [unused_path(asset_name(name), used_paths) for name in names]


def unused_path(path: str, used_paths: set[str]) -> str:
    """Return the path, with a number if it is in use, and add it to `used_paths`. Case is ignored."""
    whole, number = PurePosixPath(path), 2
    while path.lower() in used_paths:
        path, number = str(whole.with_name(f"{whole.stem}-{number}{whole.suffix}")), number + 1
    used_paths.add(path.lower())
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
