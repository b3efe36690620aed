"""`read_file`: the text of one file or many, whole or by lines; pictures are given as pictures."""

import base64
from dataclasses import dataclass
from typing import Annotated

import msgspec

from weft.core.content import Image, Text
from weft.core.json import JsonObject
from weft.core.tools import ResultPart
from weft.tools.context import ToolContext
from weft.tools.files.claims import accesses, paths_of, subjects_of
from weft.tools.files.pictures import media_type
from weft.tools.files.sizes import MAX_IMAGE, MAX_READ
from weft.tools.function import tool
from weft.tools.outcome import ToolFault, ToolOutput
from weft.tools.workspace.base import Workspace
from weft.tools.workspace.text import text_of

FILE_LINES = 2_000
FILE_CHARACTERS = 60_000
ALL_CHARACTERS = 120_000
MAX_FILES = 50
_ALL_IMAGES = 4 * MAX_IMAGE

_Line = Annotated[int, msgspec.Meta(ge=1)]


class FileRange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file, or some of its lines."""

    path: Annotated[str, msgspec.Meta(description="The file's path, relative to the workspace.")]
    start_line: Annotated[_Line | None, msgspec.Meta(description="First line to read, counted from 1.")] = None
    end_line: Annotated[_Line | None, msgspec.Meta(description="Last line to read.")] = None


@dataclass(frozen=True, slots=True)
class _Read:
    parts: list[ResultPart]
    size: int = 0
    cut: bool = False


def _summary(arguments: JsonObject) -> str:
    paths = paths_of(arguments)
    return f"Read {paths[0]}" if len(paths) == 1 else f"Read {len(paths)} files: {', '.join(paths)}"


@tool(
    name="read_file",
    effect="read",
    access=lambda arguments: accesses(paths_of(arguments), changes=False),
    subjects=lambda arguments: subjects_of(paths_of(arguments)),
    summary=_summary,
    max_output=ALL_CHARACTERS + 20_000,
    idempotent=True,
)
def read_file(
    ctx: ToolContext,
    files: list[FileRange] | None = None,
    path: str | None = None,
    start_line: _Line | None = None,
    end_line: _Line | None = None,
) -> ToolOutput:
    """Read files: text as it is, PNG, JPEG, GIF and WebP as pictures. Read all files you need in one call.

    Each file comes under a line with its path and the lines shown. What is too long is cut and says where to go on.

    Args:
        files: The files to read, each with its path and optionally its first and last line.
        path: For a single file, instead of files: its path, relative to the workspace.
        start_line: With path: first line to read, counted from 1.
        end_line: With path: last line to read.
    """
    wanted = _wanted(files, path, start_line, end_line)
    parts: list[ResultPart] = []
    room, image_room, faults, cut = ALL_CHARACTERS, _ALL_IMAGES, list[ToolFault](), False
    for file in wanted:
        try:
            done = _read(ctx.workspace, file, room, image_room)
        except ToolFault as fault:
            if len(wanted) == 1:
                raise
            faults.append(fault)
            parts.append(Text(f"=== {file.path} could not be read: {fault} ==="))
            continue
        parts += done.parts
        if any(isinstance(part, Image) for part in done.parts):
            image_room -= done.size
        else:
            room -= done.size
        cut = cut or done.cut
    summary = f"{len(wanted) - len(faults)} of {len(wanted)} files" if len(wanted) > 1 else ""
    return ToolOutput(content=_joined(parts), summary=summary, truncated=cut, is_error=len(faults) == len(wanted))


def _wanted(
    files: list[FileRange] | None, path: str | None, start_line: int | None, end_line: int | None
) -> list[FileRange]:
    wanted = list(files or ())
    if path:
        wanted.insert(0, FileRange(path, start_line, end_line))
    if not wanted:
        raise ToolFault("No file was named; give files, or the path of one.", "invalid_path")
    if len(wanted) > MAX_FILES:
        raise ToolFault(f"{len(wanted)} files are too many; read at most {MAX_FILES} in one call.", "too_large")
    return wanted


def _read(workspace: Workspace, file: FileRange, room: int, image_room: int) -> _Read:
    path = workspace.normal(file.path)
    content = workspace.read(path, limit=MAX_READ)
    kind = media_type(content)
    if kind is None:
        return _lines(text_of(path, content), path, file, room)
    if len(content) > min(MAX_IMAGE, image_room):
        raise ToolFault(
            f"{path} is a picture of {len(content)} bytes, more than the {min(MAX_IMAGE, image_room)} there is room "
            "for; read it alone, or make it smaller.",
            "too_large",
        )
    picture = Image(media_type=kind, data=base64.b64encode(content).decode())
    return _Read([Text(f"=== {path} ({kind}, {len(content)} bytes) ==="), picture], len(content))


def _lines(text: str, path: str, file: FileRange, room: int) -> _Read:
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    total = len(lines)
    first = file.start_line or 1
    last = min(file.end_line or total, total)
    if not total:
        return _Read([Text(f"=== {path} (empty) ===")])
    if first > total:
        raise ToolFault(f"{path} has {total} lines, so there is no line {first}.", "no_such_line")
    if first > last:
        raise ToolFault(f"Lines {first} to {last} of {path} are the wrong way round.", "no_such_line")
    if room <= 0:
        return _Read(
            [Text(f"=== {path} ({total} lines) is left out: this result is full; read it by itself ===")], 0, True
        )
    room = min(room, FILE_CHARACTERS)
    shown: list[str] = []
    for line in lines[first - 1 : min(last, first - 1 + FILE_LINES)]:
        if shown and len(line) >= room:
            break
        shown.append(line[: max(room, 0)])
        room -= len(line) + 1
    end = first + len(shown) - 1
    body = "\n".join(shown)
    notes: list[str] = []
    if room < -1:
        notes.append(f"[Line {end} has {len(lines[end - 1])} characters and is cut; search_files finds text in it.]")
    if end < last:
        notes.append(f"[Cut: {last - end} more lines were asked for; go on with start_line={end + 1}.]")
    header = f"=== {path} (lines {first}-{end} of {total}) ==="
    return _Read([Text("\n".join((header, body, *notes)))], len(body), bool(notes))


def _joined(parts: list[ResultPart]) -> str | list[ResultPart]:
    texts = [part.text for part in parts if isinstance(part, Text)]
    return "\n\n".join(texts) if len(texts) == len(parts) else parts
