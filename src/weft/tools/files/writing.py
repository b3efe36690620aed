"""`create_file` and `write_file`: a file's whole text, new or in place of what was there."""

from weft.core.json import JsonObject
from weft.tools.context import ToolContext
from weft.tools.files.claims import announce, counted, lines_in, path_subject, writes_path
from weft.tools.function import tool
from weft.tools.outcome import ToolOutput
from weft.tools.preview import WholeFile
from weft.tools.workspace.base import Workspace


def _preview(_: Workspace) -> WholeFile:
    return WholeFile()


def _summary(arguments: JsonObject) -> str:
    return f"Write {arguments['path']} ({lines_in(arguments['content'])})"


@tool(
    name="create_file",
    effect="write",
    access=writes_path,
    subjects=path_subject,
    summary=_summary,
    preview=_preview,
)
def create_file(path: str, content: str, ctx: ToolContext) -> ToolOutput:
    """Write a file with the whole content given, making its folders. A file that is there already is replaced.

    To change a part of a file, edit_file takes less writing.

    Args:
        path: The file's path, relative to the workspace.
        content: The whole text of the file.
    """
    return _write(path, content, ctx)


@tool(
    name="write_file",
    effect="write",
    access=writes_path,
    subjects=path_subject,
    summary=_summary,
    preview=_preview,
)
def write_file(path: str, content: str, ctx: ToolContext) -> ToolOutput:
    """Write a file with the whole content given, making its folders. A file that is there already is replaced.

    Args:
        path: The file's path, relative to the workspace.
        content: The whole text of the file.
    """
    return _write(path, content, ctx)


def _write(path: str, content: str, ctx: ToolContext) -> ToolOutput:
    place = ctx.workspace.normal(path)
    replaces = ctx.workspace.exists(place)
    change = ctx.workspace.write(place, content, on_change=announce(ctx))
    if change is None:
        return ToolOutput(
            content=f"{place} has exactly this content already; nothing was changed.", summary="no change"
        )
    if not replaces:
        return ToolOutput(content=f"Created {place} ({lines_in(content)}).", summary=f"new, {lines_in(content)}")
    counts = counted(change.diff)
    return ToolOutput(content=f"Replaced {place} ({lines_in(content)}, {counts}).", summary=counts)
