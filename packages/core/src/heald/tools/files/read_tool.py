"""The tool `read_file`."""

import base64
from typing import Annotated

import msgspec

from heald.core.json import JsonObject
from heald.core.media import describe_picture_fault, picture_type
from heald.core.messages import Image, ResultPart, Text
from heald.tools.context import ToolContext
from heald.tools.files.access import (
    MAX_IMAGE,
    MAX_READ,
    file_accesses,
    named_paths,
    path_subjects,
)
from heald.tools.function_tools import tool
from heald.tools.tool_fault import ToolFault
from heald.tools.tool_output import ToolOutput
from heald.tools.workspace.base import Workspace
from heald.tools.workspace.contents import require_text

FILE_LINES = 2_000
FILE_CHARACTERS = 60_000
ALL_CHARACTERS = 120_000
MAX_FILES = 50
_ALL_IMAGES = 4 * MAX_IMAGE
_Line = Annotated[int, msgspec.Meta(ge=1)]


class FileRange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file, or some of its lines."""

    path: str
    start_line: _Line | None = None
    end_line: _Line | None = None


class _Read(msgspec.Struct, frozen=True):
    parts: list[ResultPart]
    size: int = 0
    cut: bool = False


def _read_summary(arguments: JsonObject) -> str:
    paths = named_paths(arguments)
    return f"Read {paths[0]}" if len(paths) == 1 else f"Read {len(paths)} files: {', '.join(paths)}"


@tool(
    effect="read",
    access=lambda arguments: file_accesses(named_paths(arguments), changes=False),
    subjects=lambda arguments: path_subjects(named_paths(arguments)),
    summary=_read_summary,
    max_output=ALL_CHARACTERS + 20_000,
    pure=True,
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

    Content that is too long is cut, with a note on where to continue.

    Args:
        files: The files, each with its path and optionally its first and last line, counted from 1.
        path: For a single file, instead of files.
    """
    ranges = _requested_ranges(files, path, start_line, end_line)
    parts: list[ResultPart] = []
    room, image_room, faults, cut = ALL_CHARACTERS, _ALL_IMAGES, list[ToolFault](), False
    for file in ranges:
        try:
            done = _read_one(ctx.workspace, file, room, image_room)
        except ToolFault as fault:
            if len(ranges) == 1:
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
    summary = f"{len(ranges) - len(faults)} of {len(ranges)} files" if len(ranges) > 1 else ""
    return ToolOutput(content=_joined(parts), summary=summary, truncated=cut, is_error=len(faults) == len(ranges))


def _requested_ranges(
    files: list[FileRange] | None, path: str | None, start_line: int | None, end_line: int | None
) -> list[FileRange]:
    ranges = list(files or ())
    if path:
        ranges.insert(0, FileRange(path, start_line, end_line))
    if not ranges:
        raise ToolFault("No file was named; give files, or the path of one.", "invalid_path")
    if len(ranges) > MAX_FILES:
        raise ToolFault(f"{len(ranges)} files are too many; read at most {MAX_FILES} in one call.", "too_large")
    return ranges


def _read_one(workspace: Workspace, file: FileRange, room: int, image_room: int) -> _Read:
    path = workspace.normal(file.path)
    content = workspace.read(path, limit=MAX_READ)
    kind = picture_type(content)
    if kind is None:
        return _lines(require_text(path, content), path, file, room)
    if len(content) > min(MAX_IMAGE, image_room):
        raise ToolFault(
            f"{path} is a picture of {len(content)} bytes, more than the {min(MAX_IMAGE, image_room)} there is room "
            "for; read it alone, or make it smaller.",
            "too_large",
        )
    fault = describe_picture_fault(content)
    if fault is not None:
        raise ToolFault(f"{path} cannot be shown: {fault}.", "image_too_large")
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
    shown_lines: list[str] = []
    for line in lines[first - 1 : min(last, first - 1 + FILE_LINES)]:
        if shown_lines and len(line) >= room:
            break
        shown_lines.append(line[: max(room, 0)])
        room -= len(line) + 1
    end = first + len(shown_lines) - 1
    body = "\n".join(shown_lines)
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
