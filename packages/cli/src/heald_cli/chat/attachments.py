"""Files, folders and pictures that a chat request brings along."""

import base64
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from heald.agent.agent import Agent
from heald.core.errors import HealdError
from heald.core.media import picture_header
from heald.core.messages import Image, ResultPart, Text
from heald.tools.files.ignore import IgnoredFiles
from heald.tools.tool_fault import ToolFault
from heald.tools.workspace.base import Workspace

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
        except (HealdError, OSError, RuntimeError) as error:  # RuntimeError: no such user
            request.faults.append(f"{name} was not attached: {_describe_error(error)}")
            continue
        if part is not None:
            request.parts.append(part)
    return request


async def hide_in_attachments(agent: Agent, parts: "Sequence[str | ResultPart]") -> "list[str | ResultPart]":
    """Hide secret values in what is added to a request. The first part is the person's own text."""
    hidden = list(parts[:1])
    for part in parts[1:]:
        if isinstance(part, str):
            hidden.append(await agent.hide_secrets(part))
        else:
            hidden.append(Text(await agent.hide_secrets(part.text)) if isinstance(part, Text) else part)
    return hidden


def complete_mention(text: str, workspace: Workspace) -> tuple[str, Sequence[str]]:
    """Complete a text that ends in `@pa`: the text with the common part of all matches, and the matches."""
    mention = re.search(r"(?<!\S)@([^\s\"]*)\Z", text)
    if mention is None:
        return text, ()
    folder, _, start = mention[1].rpartition("/")
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
    return f"{text[: mention.start(1)]}{common if len(common) > len(mention[1]) else mention[1]}", names


def _find_names(text: str) -> list[tuple[str, bool]]:
    mentions = [(_unquote(match), True) for match in _MENTION.finditer(text)]
    pictures = [(_unquote(match), False) for match in _PICTURE.finditer(text)]
    return mentions + [picture for picture in pictures if not picture[0].startswith("@")]


def _unquote(mention: re.Match[str]) -> str:
    return mention[1] or mention[2].replace("\\ ", " ").rstrip(",;:!?")


def _load_mention(name: str, workspace: Workspace) -> str | Image | None:
    if name.startswith(("/", "~")):
        return _load_picture(Path(name).expanduser(), workspace)
    path = name if workspace.exists(name) else name.rstrip(".)")
    if not workspace.exists(path):
        return None
    entry = next(
        (item for item in workspace.list(path.rpartition("/")[0]) if item.path == workspace.normal(path)), None
    )
    if entry is not None and entry.kind == "folder":
        names = "\n".join(item.path + "/" * (item.kind == "folder") for item in workspace.list(path))
        return f"\n\nThe folder {path} holds:\n{names}"
    data = workspace.read(path, limit=_PICTURE_BYTES, remember=False)
    picture = to_image(data)
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
        raise HealdError(f"it is larger than {_PICTURE_BYTES // 1_000_000} MB.")
    picture = to_image(place.read_bytes())
    if picture is None:
        raise HealdError("it is not a PNG, JPEG, WebP or GIF picture.")
    return picture


def to_image(data: bytes) -> Image | None:
    header = picture_header(data)
    return Image(media_type=header.media_type, data=base64.b64encode(data).decode()) if header is not None else None


def _describe_error(error: Exception) -> str:
    text = error.strerror or "it cannot be read" if isinstance(error, OSError) else str(error)
    return f"{text[:1].lower()}{text[1:]}".rstrip(".") + "."
