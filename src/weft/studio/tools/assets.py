"""Where pictures of a project are kept, and what their files may be called.

A name comes from a model: it becomes one plain component of a path, whatever it says.
"""

import re
import unicodedata
from collections.abc import Iterable
from pathlib import PurePosixPath

from PIL import Image

from weft.core.json import JsonObject, as_objects
from weft.studio.imaging.raster import SUFFIXES, file_of
from weft.studio.stacks.stack import Stack
from weft.tools.context import ToolContext
from weft.tools.files.claims import announce
from weft.tools.tool import Access

FOLDER = "assets"
PUBLIC = "public/assets"
"""The same in a project that a bundler joins: what lies there is served from the root."""

_NOT_PLAIN = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST = 60


def folder_of(stack: Stack) -> str:
    return PUBLIC if stack.preview == "vite" else FOLDER


def reference(path: str) -> str:
    """How a page in the project's root addresses a file."""
    return f"/{path.removeprefix('public/')}" if path.startswith("public/") else path


def file_name(name: str, usual: str = "picture") -> str:
    """A name as one component of a path, with the end of a kind of picture that is written here: PNG if it has none."""
    last = PurePosixPath(name.replace("\\", "/").replace("\x00", "")).name
    stem, dot, end = last.rpartition(".")
    suffix = f".{end.lower()}" if dot else ""
    if suffix not in SUFFIXES:
        stem, suffix = (last if suffix not in _OTHERS else stem), ".png"
    plain = unicodedata.normalize("NFKD", stem).encode("ascii", "ignore").decode()
    plain = _NOT_PLAIN.sub("-", plain).strip("-")[:_LONGEST].strip("-")
    return f"{plain or usual}{suffix}"


def file_names(names: Iterable[str], usual: str = "picture") -> list[str]:
    """The same for several: no two alike."""
    taken: set[str] = set()
    found: list[str] = []
    for name in names:
        plain = first = file_name(name, usual)
        number = 2
        while plain.lower() in taken:
            path = PurePosixPath(first)
            plain, number = f"{path.stem}-{number}{path.suffix}", number + 1
        taken.add(plain.lower())
        found.append(plain)
    return found


def writes_assets(_: JsonObject) -> list[Access]:
    """Calls that make pictures wait for each other, and for nobody who writes elsewhere."""
    return [Access(resource=f"file:{folder}") for folder in (FOLDER, PUBLIC)]


def named_in(arguments: JsonObject, key: str) -> list[str]:
    """The files that a call names, for permission rules."""
    names = [str(item.get("name") or "") for item in as_objects(arguments.get(key))]
    return [f"{FOLDER}/{name}" for name in file_names(names)] or [f"{FOLDER}/"]


def save(ctx: ToolContext, path: str, picture: Image.Image, said: str = "") -> int:
    """Write a picture into the project; `said` stands in the file, too. How many bytes it has."""
    data = file_of(picture, path, said)
    ctx.workspace.write(path, data, on_change=announce(ctx))
    return len(data)


_OTHERS = (".gif", ".svg", ".avif", ".bmp", ".heic", ".ico", ".tif", ".tiff", ".js", ".html", ".css", ".php", ".exe")
"""Ends of names that are dropped, not made part of the name."""
