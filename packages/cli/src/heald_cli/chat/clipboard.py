"""Pictures of the clipboard, and pasted paths of files."""

import os
import shutil
import subprocess
from pathlib import Path
from threading import Timer
from urllib.parse import unquote, urlsplit

from heald.core.errors import HealdError
from heald.core.messages import Image
from heald.tools.process_environment import environment_of
from heald_cli.chat.attachments import to_image

_PICTURE_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".gif")
_CLIPBOARD_BYTES = 20_000_000
_CLIPBOARD_SECONDS = 5.0
_READERS: tuple[tuple[str, str, list[str]], ...] = (
    ("wl-paste", "WAYLAND_DISPLAY", ["--no-newline", "--type", "image/png"]),
    ("xclip", "DISPLAY", ["-selection", "clipboard", "-t", "image/png", "-o"]),
    ("pngpaste", "", ["-"]),
)
"""A program, the variable that it needs, and the arguments that make it write a picture."""
_DISPLAY = ("HOME", "DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET", "XDG_RUNTIME_DIR")


def normalize_paste(text: str) -> str:
    """Unquote the path of a picture that a terminal pastes for a dropped file. Other text is returned unchanged."""
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
    if not path.lower().endswith(_PICTURE_SUFFIXES) or '"' in path:
        return text
    try:
        exists = Path(path).expanduser().is_file()
    except (OSError, RuntimeError, ValueError):
        return text
    if not exists:
        return text
    return f'"{path}" ' if " " in path else f"{path} "


def clipboard_picture() -> Image:
    """Read the picture in the clipboard. Raises HealdError if there is none, or no program that reads it."""
    readers = [(name, words) for name, needs, words in _READERS if shutil.which(name) and _is_set(needs)]
    if not readers:
        raise HealdError(
            "No program here reads the clipboard; install wl-clipboard, xclip or (on a Mac) pngpaste, "
            "or write the path of the picture."
        )
    for name, words in readers:
        picture = to_image(_read_clipboard(name, words))
        if picture is not None:
            return picture
    raise HealdError("There is no picture in the clipboard.")


def _is_set(variable: str) -> bool:
    return not variable or bool(os.environ.get(variable))


def _read_clipboard(name: str, words: list[str]) -> bytes:
    """Run a program and return its output; empty if it fails, takes too long or writes too much."""
    try:
        with subprocess.Popen(
            [name, *words],
            env=environment_of(*_DISPLAY),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as process:
            timer = Timer(_CLIPBOARD_SECONDS, process.kill)
            timer.start()
            try:
                assert process.stdout is not None
                data = process.stdout.read(_CLIPBOARD_BYTES + 1)
                if len(data) > _CLIPBOARD_BYTES:
                    process.kill()
            finally:
                status = process.wait()
                timer.cancel()
    except OSError:
        return b""
    return data if status == 0 else b""
