"""The tools `list_files`, `glob` and `find_file`."""

import heapq
from typing import Annotated

import msgspec

from heald.tools.context import ToolContext
from heald.tools.files.access import path_subject, reads_all
from heald.tools.files.fuzzy_score import score
from heald.tools.files.pattern import Glob
from heald.tools.files.walk import Deadline, Walk
from heald.tools.function_tools import tool
from heald.tools.tool_fault import ToolFault
from heald.tools.tool_output import ToolOutput
from heald.tools.workspace.base import WorkspaceEntry

MAX_LISTED = 1_000
MAX_FOUND = 20
IGNORED = "[{count} files and folders in .gitignore were not {done}.]"
_MAX_QUERY = 200


@tool(
    effect="read",
    access=reads_all,
    subjects=path_subject,
    summary=lambda arguments: f"List {arguments.get('path') or 'the workspace'}",
    pure=True,
    idempotent=True,
)
def list_files(ctx: ToolContext, path: str = "", depth: Annotated[int, msgspec.Meta(ge=1, le=20)] = 2) -> ToolOutput:
    """List the files and folders below a folder of the workspace. Folders end with a slash; links are marked.

    Folders such as node_modules or .git, and those in .gitignore, are listed without their contents, unless path is
    one of them. Files in .gitignore are left out.

    Args:
        path: The folder, relative to the workspace; empty for all of it.
        depth: How many levels of folders to show.
    """
    walk = Walk(ctx.workspace, path, deadline=Deadline(), depth=depth, most=MAX_LISTED)
    lines = [_listed(entry, is_closed=walk.is_closed(entry.path)) for entry in walk]
    if not lines:
        return ToolOutput(content="The folder is empty.", summary="empty")
    notes = [f"[Cut {walk.cut}; list a folder below, or use glob.]"] if walk.cut else []
    return ToolOutput(content="\n".join(lines + notes), summary=_count(len(lines)), truncated=bool(walk.cut))


def _listed(entry: WorkspaceEntry, *, is_closed: bool) -> str:
    match entry.kind:
        case "folder":
            return f"{entry.path}/" + (" (not listed)" if is_closed else "")
        case "link":
            return f"{entry.path} (link)"
        case _:
            return entry.path


@tool(
    effect="read",
    access=reads_all,
    summary=lambda arguments: f"Glob {arguments['pattern']}",
    pure=True,
    idempotent=True,
)
def glob(pattern: str, ctx: ToolContext) -> ToolOutput:
    """Find files by a pattern of their path, in alphabetical order: src/**/*.ts, *.{css,scss}, test_?.py.

    * and ? match within one name, ** any number of folders, [abc] one of the characters, {a,b} either text. A pattern
    without a slash matches names anywhere. Folders such as node_modules and .git, and what .gitignore names, are
    skipped.

    Args:
        pattern: The pattern, relative to the workspace.
    """
    matcher = Glob(pattern)
    walk = Walk(ctx.workspace, deadline=Deadline())
    paths: list[str] = []
    more = 0
    for entry in walk:
        if entry.kind == "folder" or not matcher.matches(entry.path):
            continue
        if len(paths) < MAX_LISTED:
            paths.append(entry.path)
        else:
            more += 1
    notes = [f"[{more} more files match; use a narrower pattern.]"] if more else []
    notes += [f"[Cut {walk.cut}: there may be more.]"] if walk.cut else []
    if not paths:
        notes += [IGNORED.format(count=walk.left_out, done="looked at")] if walk.left_out else []
        return ToolOutput(content="\n".join(["No file matches.", *notes]), summary="no files", truncated=bool(notes))
    return ToolOutput(content="\n".join(paths + notes), summary=_count(len(paths) + more), truncated=bool(notes))


@tool(
    effect="read",
    access=reads_all,
    summary=lambda arguments: f"Find {arguments['query']}",
    pure=True,
    idempotent=True,
)
def find_file(query: str, ctx: ToolContext) -> ToolOutput:
    """Find files whose path is like the query, best first. Its characters must appear in the path in this order.

    Args:
        query: A part of the name or path, such as "userctrl" for src/user/controller.ts.
    """
    characters = "".join(query.split())
    if not characters or len(characters) > _MAX_QUERY:
        raise ToolFault(f"The query must have 1 to {_MAX_QUERY} characters.", "invalid_query")
    walk = Walk(ctx.workspace, deadline=Deadline())
    scored = ((score(characters, entry.path), entry.path) for entry in walk if entry.kind != "folder")
    best = heapq.nsmallest(MAX_FOUND, ((-rating, path) for rating, path in scored if rating is not None))
    notes = [f"[Cut {walk.cut}: there may be better ones.]"] if walk.cut else []
    if not best:
        return ToolOutput(content="\n".join(["No file is like that.", *notes]), summary="no files")
    return ToolOutput(content="\n".join([path for _, path in best] + notes), summary=_count(len(best)))


def _count(files: int) -> str:
    return f"{files} entr{'y' if files == 1 else 'ies'}"
