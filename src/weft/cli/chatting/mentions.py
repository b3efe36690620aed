"""What a request brings along: files of the folder by `@path`, and pictures by their path, wherever they are."""

import base64
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from weft.core.content import Image
from weft.core.errors import WeftError
from weft.tools.outcome import ToolFault
from weft.tools.web.media import picture_of
from weft.tools.workspace.base import Workspace

_MENTION = re.compile(r'(?<!\S)@(?:"([^"\n]+)"|((?:\\ |\S)+))')
_PICTURE = re.compile(
    r'(?<!\S)(?:"([^"\n]+\.(?:{0}))"|((?:\\ |[^\s"])+\.(?:{0})))(?!\S)'.replace("{0}", "png|jpe?g|webp|gif"), re.I
)
_TEXT_BYTES = 200_000
_PICTURE_BYTES = 20_000_000
_MOST = 20


class Brought:
    """A request, ready to be sent, and what could not be brought along."""

    def __init__(self, text: str) -> None:
        self.parts: list[str | Image] = [text]
        self.names: list[str] = []
        self.faults: list[str] = []


def bring(text: str, workspace: Workspace, pictures: Mapping[str, Image] | None = None) -> Brought:
    """The request with what it mentions, and the pasted `pictures` that it names.

    A word that begins with @ and is no file is a word.
    """
    brought = Brought(text)
    for name, picture in (pictures or {}).items():
        if name in text:
            brought.parts.append(picture)
            brought.names.append(name)
    seen: set[str] = set()
    for name, is_mention in _named(text):
        if name in seen or len(seen) >= _MOST:
            continue
        seen.add(name)
        try:
            part = _file(name, workspace) if is_mention else _picture(Path(name).expanduser(), workspace)
        except (WeftError, OSError, RuntimeError) as error:  # the last: there is no such user
            brought.faults.append(f"{name} was not sent along: {_sentence(error)}")
            continue
        if part is not None:
            brought.parts.append(part)
            brought.names.append(name)
    return brought


def complete(text: str, workspace: Workspace) -> tuple[str, Sequence[str]]:
    """What Tab makes of a text that ends in `@pa`: the text as far as it is certain, and what it could be."""
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
        names = [name for name in names if not name.rpartition("/")[2].startswith(".")]
    if not names:
        return text, ()
    common = _common(names)
    return f"{text[: found.start(1)]}{common if len(common) > len(found[1]) else found[1]}", names


def _named(text: str) -> list[tuple[str, bool]]:
    mentions = [(_plain(found), True) for found in _MENTION.finditer(text)]
    pictures = [(_plain(found), False) for found in _PICTURE.finditer(text)]
    return mentions + [each for each in pictures if not each[0].startswith("@")]


def _plain(found: re.Match[str]) -> str:
    return found[1] or found[2].replace("\\ ", " ").rstrip(",;:!?")


def _file(name: str, workspace: Workspace) -> str | Image | None:
    if name.startswith(("/", "~")):
        return _picture(Path(name).expanduser(), workspace)
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
    kind = picture_of(data)
    if kind is not None:
        return Image(media_type=kind.media_type, data=base64.b64encode(data).decode())
    content = workspace.read_text(path, limit=_TEXT_BYTES)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", content)), default=0))
    return f"\n\nThe file {path}:\n{fence}\n{content}\n{fence}"


def _picture(path: Path, workspace: Workspace) -> Image | None:
    """A picture by a path that a person wrote; None for what is no picture."""
    place = path if path.is_absolute() else Path(workspace.root or ".") / path
    if not place.is_file():
        return None
    if place.stat().st_size > _PICTURE_BYTES:
        raise WeftError(f"it is larger than {_PICTURE_BYTES // 1_000_000} MB.")
    data = place.read_bytes()
    kind = picture_of(data)
    if kind is None:
        raise WeftError("it is not a PNG, JPEG, WebP or GIF picture.")
    return Image(media_type=kind.media_type, data=base64.b64encode(data).decode())


def _common(names: Sequence[str]) -> str:
    first, last = min(names), max(names)
    length = next((at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))
    return first[: min(length, len(last))]


def _sentence(error: Exception) -> str:
    said = error.strerror or "it cannot be read" if isinstance(error, OSError) else str(error)
    return f"{said[:1].lower()}{said[1:]}".rstrip(".") + "."
