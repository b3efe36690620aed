"""Pictures that a person pastes: as the path that a terminal writes for a dropped file, or out of the clipboard."""

import base64
import os
import shutil
import subprocess
from pathlib import Path
from threading import Timer
from urllib.parse import unquote, urlsplit

from weft.core.content import Image
from weft.core.errors import WeftError
from weft.tools.web.media import picture_of

_PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".gif")
_MOST = 20_000_000
_PATIENCE = 5.0
_READERS: tuple[tuple[str, str, list[str]], ...] = (
    ("wl-paste", "WAYLAND_DISPLAY", ["--no-newline", "--type", "image/png"]),
    ("xclip", "DISPLAY", ["-selection", "clipboard", "-t", "image/png", "-o"]),
    ("pngpaste", "", ["-"]),
)
"""A program, the variable without which it has no clipboard, and what makes it write a picture."""


def pasted(text: str) -> str:
    """What a paste means: the path of a picture, however the terminal quotes it, so that it is found; else the text."""
    line = text.strip()
    if not line or "\n" in line or len(line) > 4096:
        return text
    path = line
    if line.startswith("file://"):
        path = unquote(urlsplit(line).path)
    elif len(line) > 2 and line[0] == line[-1] and line[0] in "'\"":
        path = line[1:-1]
    elif "\\ " in line:
        path = line.replace("\\ ", " ")
    if not path.lower().endswith(_PICTURES) or '"' in path:
        return text
    try:
        there = Path(path).expanduser().is_file()
    except (OSError, RuntimeError, ValueError):
        return text
    if not there:
        return text
    return f'"{path}" ' if " " in path else f"{path} "


def clipboard_picture() -> Image:
    """The picture in the clipboard. Raises WeftError if there is none, or nothing that can look."""
    readers = [(name, words) for name, needs, words in _READERS if shutil.which(name) and _is_there(needs)]
    if not readers:
        raise WeftError(
            "Nothing here reads the clipboard; install wl-clipboard, xclip or (on a Mac) pngpaste, "
            "or write the path of the picture."
        )
    for name, words in readers:
        data = _written(name, words)
        kind = picture_of(data) if data else None
        if kind is not None:
            return Image(media_type=kind.media_type, data=base64.b64encode(data).decode())
    raise WeftError("There is no picture in the clipboard.")


def _is_there(variable: str) -> bool:
    return not variable or bool(os.environ.get(variable))


def _written(name: str, words: list[str]) -> bytes:
    """What a program writes, or nothing if it fails, takes too long or writes too much."""
    try:
        with subprocess.Popen(
            [name, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as process:
            patience = Timer(_PATIENCE, process.kill)
            patience.start()
            try:
                assert process.stdout is not None
                data = process.stdout.read(_MOST + 1)
                if len(data) > _MOST:
                    process.kill()
            finally:
                status = process.wait()
                patience.cancel()
    except OSError:
        return b""
    return data if status == 0 else b""
