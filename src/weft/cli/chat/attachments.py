"""Files, folders and pictures that a chat request brings along."""

import base64
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Timer
from urllib.parse import unquote, urlsplit

from weft.core.errors import WeftError
from weft.core.media import picture_header
from weft.core.messages import Image
from weft.tools.files.ignore import IgnoredFiles
from weft.tools.results import ToolFault
from weft.tools.workspace.base import Workspace

_MENTION = re.compile(r'(?<!\S)@(?:"([^"\n]+)"|((?:\\ |\S)+))')
_PICTURE = re.compile(
    r'(?<!\S)(?:"([^"\n]+\.(?:{0}))"|((?:\\ |[^\s"])+\.(?:{0})))(?!\S)'.replace("{0}", "png|jpe?g|webp|gif"), re.I
)
_TEXT_BYTES = 200_000
_PICTURE_BYTES = 20_000_000
_MAX_MENTIONS = 20


class ChatRequest:
    """A request with its attachments, and the attachments that failed."""

    def __init__(self, text: str) -> None:
        self.parts: list[str | Image] = [text]
        self.faults: list[str] = []


def attach_files(text: str, workspace: Workspace, pictures: Mapping[str, Image] | None = None) -> ChatRequest:
    """Attach the files that a text mentions, and the pasted `pictures` whose markers it contains.

    A word that begins with @ and names no file stays a word.
    """
    request = ChatRequest(text)
    for name, picture in (pictures or {}).items():
        if name in text:
            request.parts.append(picture)
    seen: set[str] = set()
    for name, is_mention in _find_names(text):
        if name in seen or len(seen) >= _MAX_MENTIONS:
            continue
        seen.add(name)
        try:
            part = _load_mention(name, workspace) if is_mention else _load_picture(Path(name).expanduser(), workspace)
        except (WeftError, OSError, RuntimeError) as error:  # RuntimeError: no such user
            request.faults.append(f"{name} was not attached: {_describe_error(error)}")
            continue
        if part is not None:
            request.parts.append(part)
    return request


def complete_mention(text: str, workspace: Workspace) -> tuple[str, Sequence[str]]:
    """Complete a text that ends in `@pa`: the text with the common part of all matches, and the matches."""
    found = re.search(r"(?<!\S)@([^\s\"]*)\Z", text)
    if found is None:
        return text, ()
    folder, _, start = found[1].rpartition("/")
    try:
        entries = workspace.list(folder)
    except ToolFault:
        return text, ()
    names = [f"{entry.path}/" if entry.kind == "folder" else entry.path for entry in entries]
    names = [name for name in names if name.rstrip("/").rpartition("/")[2].startswith(start)]
    if not start:
        ignored = IgnoredFiles(workspace)
        names = [
            name
            for name in names
            if not name.rpartition("/")[2].startswith(".")
            and not ignored.is_ignored(name.rstrip("/"), is_folder=name.endswith("/"))
        ]
    if not names:
        return text, ()
    common = os.path.commonprefix(names)  # noqa: RUF071 - a name is completed by characters
    return f"{text[: found.start(1)]}{common if len(common) > len(found[1]) else found[1]}", names


def _find_names(text: str) -> list[tuple[str, bool]]:
    mentions = [(_unquote(found), True) for found in _MENTION.finditer(text)]
    pictures = [(_unquote(found), False) for found in _PICTURE.finditer(text)]
    return mentions + [each for each in pictures if not each[0].startswith("@")]


def _unquote(found: re.Match[str]) -> str:
    return found[1] or found[2].replace("\\ ", " ").rstrip(",;:!?")


def _load_mention(name: str, workspace: Workspace) -> str | Image | None:
    if name.startswith(("/", "~")):
        return _load_picture(Path(name).expanduser(), workspace)
    path = name if workspace.exists(name) else name.rstrip(".)")
    if not workspace.exists(path):
        return None
    entry = next(
        (each for each in workspace.list(path.rpartition("/")[0]) if each.path == workspace.normal(path)), None
    )
    if entry is not None and entry.kind == "folder":
        names = "\n".join(each.path + "/" * (each.kind == "folder") for each in workspace.list(path))
        return f"\n\nThe folder {path} holds:\n{names}"
    data = workspace.read(path, limit=_PICTURE_BYTES, remember=False)
    picture = _to_image(data)
    if picture is not None:
        return picture
    content = workspace.read_text(path, limit=_TEXT_BYTES)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", content)), default=0))
    return f"\n\nThe file {path}:\n{fence}\n{content}\n{fence}"


def _load_picture(path: Path, workspace: Workspace) -> Image | None:
    """Load a picture by its path. None if there is no such file."""
    place = path if path.is_absolute() else Path(workspace.root or ".") / path
    if not place.is_file():
        return None
    if place.stat().st_size > _PICTURE_BYTES:
        raise WeftError(f"it is larger than {_PICTURE_BYTES // 1_000_000} MB.")
    picture = _to_image(place.read_bytes())
    if picture is None:
        raise WeftError("it is not a PNG, JPEG, WebP or GIF picture.")
    return picture


def _to_image(data: bytes) -> Image | None:
    header = picture_header(data)
    return Image(media_type=header.media_type, data=base64.b64encode(data).decode()) if header is not None else None


def _describe_error(error: Exception) -> str:
    text = error.strerror or "it cannot be read" if isinstance(error, OSError) else str(error)
    return f"{text[:1].lower()}{text[1:]}".rstrip(".") + "."


_PICTURE_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".gif")
_CLIPBOARD_BYTES = 20_000_000
_CLIPBOARD_SECONDS = 5.0
_READERS: tuple[tuple[str, str, list[str]], ...] = (
    ("wl-paste", "WAYLAND_DISPLAY", ["--no-newline", "--type", "image/png"]),
    ("xclip", "DISPLAY", ["-selection", "clipboard", "-t", "image/png", "-o"]),
    ("pngpaste", "", ["-"]),
)
"""A program, the variable that it needs, and the arguments that make it write a picture."""


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
    """Read the picture in the clipboard. Raises WeftError if there is none, or no program that reads it."""
    readers = [(name, words) for name, needs, words in _READERS if shutil.which(name) and _is_set(needs)]
    if not readers:
        raise WeftError(
            "No program here reads the clipboard; install wl-clipboard, xclip or (on a Mac) pngpaste, "
            "or write the path of the picture."
        )
    for name, words in readers:
        picture = _to_image(_read_clipboard(name, words))
        if picture is not None:
            return picture
    raise WeftError("There is no picture in the clipboard.")


def _is_set(variable: str) -> bool:
    return not variable or bool(os.environ.get(variable))


def _read_clipboard(name: str, words: list[str]) -> bytes:
    """Run a program and return its output; empty if it fails, takes too long or writes too much."""
    try:
        with subprocess.Popen(
            [name, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
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
