"""`list_files`, `glob` and `find_file`: which files there are."""

import heapq
from typing import Annotated

import msgspec

from weft.core.json import JsonObject
from weft.tools.context import ToolContext
from weft.tools.files.claims import path_subject, reads_all
from weft.tools.files.fuzzy import score
from weft.tools.files.pattern import Glob
from weft.tools.files.walk import Deadline, Walk, is_skipped
from weft.tools.function import tool
from weft.tools.outcome import ToolFault, ToolOutput
from weft.tools.workspace.base import Entry

MAX_LISTED = 1_000
MAX_FOUND = 20
_MAX_QUERY = 200


@tool(
    name="list_files",
    effect="read",
    access=reads_all,
    subjects=path_subject,
    summary=lambda arguments: f"List {arguments.get('path') or 'the workspace'}",
    idempotent=True,
)
def list_files(ctx: ToolContext, path: str = "", depth: Annotated[int, msgspec.Meta(ge=1, le=20)] = 2) -> ToolOutput:
    """List the files and folders below a folder of the workspace. Folders end with a slash; links are marked.

    Folders such as node_modules or .git are named, but not what is in them, unless path is one of them.

    Args:
        path: The folder, relative to the workspace; empty for all of it.
        depth: How many levels of folders to show.
    """
    walk = Walk(ctx.workspace, path, deadline=Deadline(), depth=depth, most=MAX_LISTED)
    lines = [_listed(entry) for entry in walk]
    if not lines:
        return ToolOutput(content="The folder is empty.", summary="empty")
    notes = [f"[Cut {walk.cut}; list a folder below, or use glob.]"] if walk.cut else []
    return ToolOutput(content="\n".join(lines + notes), summary=_count(len(lines)), truncated=bool(walk.cut))


def _listed(entry: Entry) -> str:
    match entry.kind:
        case "folder":
            return f"{entry.path}/" + (" (not listed)" if is_skipped(entry.path) else "")
        case "link":
            return f"{entry.path} (link)"
        case _:
            return entry.path


@tool(
    name="glob",
    effect="read",
    access=reads_all,
    summary=lambda arguments: f"Glob {arguments['pattern']}",
    idempotent=True,
)
def glob(pattern: str, ctx: ToolContext) -> ToolOutput:
    """Find files by a pattern of their path, in alphabetical order: src/**/*.ts, *.{css,scss}, test_?.py.

    * and ? match within one name, ** any number of folders, [abc] one of the characters, {a,b} either text. A pattern
    without a slash matches names anywhere. Folders such as node_modules and .git are not looked into.

    Args:
        pattern: The pattern, relative to the workspace.
    """
    matcher = Glob(pattern)
    walk = Walk(ctx.workspace, deadline=Deadline())
    found: list[str] = []
    more = 0
    for entry in walk:
        if entry.kind == "folder" or not matcher.matches(entry.path):
            continue
        if len(found) < MAX_LISTED:
            found.append(entry.path)
        else:
            more += 1
    notes = [f"[{more} more files match; use a narrower pattern.]"] if more else []
    notes += [f"[Cut {walk.cut}: there may be more.]"] if walk.cut else []
    if not found:
        return ToolOutput(content="\n".join(["No file matches.", *notes]), summary="no files", truncated=bool(notes))
    return ToolOutput(content="\n".join(found + notes), summary=_count(len(found) + more), truncated=bool(notes))


def _find_summary(arguments: JsonObject) -> str:
    return f"Find {arguments['query']}"


@tool(name="find_file", effect="read", access=reads_all, summary=_find_summary, idempotent=True)
def find_file(query: str, ctx: ToolContext) -> ToolOutput:
    """Find files whose path is like the query, best first. Its characters must come in the path in this order.

    Args:
        query: A part of the name or path, such as "userctrl" for src/user/controller.ts.
    """
    wanted = "".join(query.split())
    if not wanted or len(wanted) > _MAX_QUERY:
        raise ToolFault(f"The query must have 1 to {_MAX_QUERY} characters.", "invalid_query")
    walk = Walk(ctx.workspace, deadline=Deadline())
    scored = ((score(wanted, entry.path), entry.path) for entry in walk if entry.kind != "folder")
    best = heapq.nsmallest(MAX_FOUND, ((-found, path) for found, path in scored if found is not None))
    notes = [f"[Cut {walk.cut}: there may be better ones.]"] if walk.cut else []
    if not best:
        return ToolOutput(content="\n".join(["No file is like that.", *notes]), summary="no files")
    return ToolOutput(content="\n".join([path for _, path in best] + notes), summary=_count(len(best)))


def _count(files: int) -> str:
    return f"{files} entr{'y' if files == 1 else 'ies'}"
