"""Routes for a session's files: contents, revisions, blobs, and changes to accept or revert."""

import asyncio
import mimetypes
import re
from functools import partial
from typing import Any
from urllib.parse import quote

from starlette.responses import Response

from heald.sessions.changes import FileComparison
from heald.tools.workspace.base import Workspace
from heald_server.http.errors import ApiError
from heald_server.http.operations import ApiCall, Operation
from heald_server.routes.file_views import (
    BlobView,
    ChangesView,
    ChangeView,
    FileQuery,
    FilesView,
    FileView,
    HunksView,
    JudgementBody,
    RevisionsView,
    RevisionView,
)
from heald_server.routes.paths import SESSION

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
}
_DIGEST = re.compile(r"[0-9a-f]{64}\Z")
_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_MAX_FILES = 5000
_MAX_BLOB_BYTES = 24 * 1024 * 1024
_MAX_CHANGES = 1000


async def _list_files(call: ApiCall) -> FilesView:
    async with call.context.open_files(await call.session()) as workspace:
        return await asyncio.to_thread(_file_listing, workspace)


async def _read_file(call: ApiCall) -> Response:
    path, query = call.path["path"], call.query
    async with call.context.open_files(await call.session()) as workspace:
        data = await asyncio.to_thread(_file_bytes, workspace, path, query.revision)
    return download(data, path)


async def _list_revisions(call: ApiCall) -> RevisionsView:
    async with call.context.open_files(await call.session()) as workspace:
        changes = workspace.revisions(workspace.normal(call.path["path"]))
    views = [RevisionView(change.revision, change.hash, change.size, change.diff) for change in changes]
    return RevisionsView(views)


async def _put_blob(call: ApiCall) -> BlobView:
    info = await call.session()
    if not call.body:
        raise ApiError("invalid", "The blob is empty.")
    if len(call.body) > _MAX_BLOB_BYTES:
        raise ApiError("too_large", f"A blob has at most {_MAX_BLOB_BYTES} bytes.")
    return BlobView(await call.context.sessions.store.put_blob(info.id, call.body))


async def _read_blob(call: ApiCall) -> Response:
    info = await call.session()
    digest = call.path["digest"]
    if not _DIGEST.match(digest):
        raise ApiError("not_found", "A blob is named by its SHA-256.")
    return download(await call.context.sessions.store.blob(info.id, digest), digest)


def download(data: bytes, path: str) -> Response:
    """A response that browsers save to disk; none shows or runs it in the origin of the server."""
    name = path.rpartition("/")[2]
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    plain = f'; filename="{name}"' if _PLAIN_NAME.fullmatch(name) else ""  # for clients that read no `filename*`
    disposition = f"attachment; filename*=UTF-8''{quote(name, safe='')}{plain}"
    return Response(data, media_type=kind, headers=_HEADERS | {"Content-Disposition": disposition})


def _file_listing(workspace: Workspace) -> FilesView:
    listing = workspace.list(depth=None)
    files = [entry for entry in listing if entry.kind == "file"]
    views = [FileView(file.path, file.size, len(workspace.revisions(file.path))) for file in files[:_MAX_FILES]]
    return FilesView(views, listing.cut or len(files) > _MAX_FILES)


def _file_bytes(workspace: Workspace, path: str, revision: int | None) -> bytes:
    if revision is None:
        return workspace.read(path, remember=False)
    content = workspace.content_at(workspace.normal(path), revision)
    if content is None:
        raise ApiError("not_found", f"There is no revision {revision} of that file.")
    return content


async def _list_changes(call: ApiCall) -> ChangesView:
    async with call.context.open_sessions.use(await call.session()) as session:
        comparisons = await session.changes.all()
    return ChangesView([ChangeView(**_change_fields(comparison)) for comparison in comparisons[:_MAX_CHANGES]])


async def _show_change(call: ApiCall) -> HunksView:
    async with call.context.open_sessions.use(await call.session()) as session:
        return await _hunks_view(await session.changes.of(call.path["path"]))


async def _decide_change(call: ApiCall) -> HunksView:
    body: JudgementBody = call.body
    path = call.path["path"]
    async with call.context.open_sessions.use(await call.session()) as session:
        decide = session.changes.accept if body.decision == "accept" else session.changes.revert
        await decide(path, body.base, body.hash, body.hunks)
        return await _hunks_view(await session.changes.of(path))


async def _hunks_view(compared: FileComparison) -> HunksView:
    return HunksView(**_change_fields(compared), hunks=await asyncio.to_thread(lambda: compared.hunks))


def _change_fields(compared: FileComparison) -> dict[str, Any]:
    return {name: getattr(compared, name) for name in ChangeView.__struct_fields__}


_operation = partial(Operation, errors=("not_found",), tag="files")
_binary = partial(_operation, media_type="application/octet-stream")

OPERATIONS = (
    _operation("GET", f"{SESSION}/files", _list_files, "The files of the session.", FilesView),
    _binary("GET", f"{SESSION}/files/{{path}}", _read_file, "A file, current or at a revision.", query=FileQuery),
    _operation("GET", f"{SESSION}/revisions/{{path}}", _list_revisions, "The revisions of a file.", RevisionsView),
    _operation(
        "POST",
        f"{SESSION}/blobs",
        _put_blob,
        "Store bytes for later messages.",
        BlobView,
        bytes,
        status=201,
        errors=("not_found", "too_large"),
    ),
    _binary("GET", f"{SESSION}/blobs/{{digest}}", _read_blob, "Stored bytes."),
    _operation("GET", f"{SESSION}/changes", _list_changes, "Changed files that were not accepted yet.", ChangesView),
    _operation("GET", f"{SESSION}/changes/{{path}}", _show_change, "The changes of a file by hunk.", HunksView),
    _operation(
        "POST",
        f"{SESSION}/changes/{{path}}",
        _decide_change,
        "Accept or revert changes of a file, all or by hunk. Returns the remaining ones.",
        HunksView,
        JudgementBody,
        errors=("not_found", "conflict"),
    ),
)
