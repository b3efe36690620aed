"""The files of a session, their revisions, and blobs. What is served is never run here: see `_HEADERS`."""

import asyncio
import mimetypes
import re
from urllib.parse import quote

from starlette.responses import Response

from weft.server.operations import Call, Operation
from weft.server.refusal import Refusal
from weft.server.views import BlobView, FileQuery, FilesView, FileView, RevisionsView, RevisionView
from weft.sessions.session import Session
from weft.tools.workspace.base import Workspace

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
}
_DIGEST = re.compile(r"[0-9a-f]{64}\Z")
_MOST = 5000
_BLOB = 24 * 1024 * 1024


async def listed(call: Call) -> FilesView:
    async with call.context.open.use(await call.session()) as session:
        return await asyncio.to_thread(_list, session.workspace)


async def content(call: Call) -> Response:
    path, query = call.path["path"], call.query
    async with call.context.open.use(await call.session()) as session:
        data = await asyncio.to_thread(_content, session, path, query.revision)
    return served(data, path)


async def revisions(call: Call) -> RevisionsView:
    async with call.context.open.use(await call.session()) as session:
        changes = session.workspace.revisions(session.workspace.normal(call.path["path"]))
    return RevisionsView([RevisionView(each.revision, each.hash, each.size, each.diff) for each in changes])


async def put_blob(call: Call) -> BlobView:
    info = await call.session()
    if not call.body:
        raise Refusal("invalid", "The blob is empty.")
    if len(call.body) > _BLOB:
        raise Refusal("too_large", f"A blob has at most {_BLOB} bytes.")
    return BlobView(await call.context.sessions.store.put_blob(info.id, call.body))


async def blob(call: Call) -> Response:
    info = await call.session()
    digest = call.path["digest"]
    if not _DIGEST.match(digest):
        raise Refusal("not_found", "A blob is named by its SHA-256.")
    return served(await call.context.sessions.store.blob(info.id, digest), digest)


def served(data: bytes, path: str) -> Response:
    """Bytes for whoever wants to keep them. No browser shows or runs them as ours."""
    name = path.rpartition("/")[2]
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    disposition = f"attachment; filename*=UTF-8''{quote(name, safe='')}"
    return Response(data, media_type=kind, headers=_HEADERS | {"Content-Disposition": disposition})


def _list(workspace: Workspace) -> FilesView:
    listing = workspace.list(depth=None)
    files = [entry for entry in listing if entry.kind == "file"]
    shown = [FileView(each.path, each.size, len(workspace.revisions(each.path))) for each in files[:_MOST]]
    return FilesView(shown, listing.cut or len(files) > _MOST)


def _content(session: Session, path: str, revision: int | None) -> bytes:
    workspace = session.workspace
    if revision is None:
        return workspace.read(path, remember=False)
    found = workspace.content_at(workspace.normal(path), revision)
    if found is None:
        raise Refusal("not_found", f"There is no revision {revision} of that file.")
    return found


OPERATIONS = (
    Operation(
        "GET",
        "/sessions/{session}/files",
        listed,
        "The files of the session.",
        answer=FilesView,
        refusals=("not_found",),
        tag="files",
    ),
    Operation(
        "GET",
        "/sessions/{session}/files/{path}",
        content,
        "A file, as it is or at a revision.",
        query=FileQuery,
        media="application/octet-stream",
        refusals=("not_found",),
        tag="files",
    ),
    Operation(
        "GET",
        "/sessions/{session}/revisions/{path}",
        revisions,
        "What became of a file.",
        answer=RevisionsView,
        refusals=("not_found",),
        tag="files",
    ),
    Operation(
        "POST",
        "/sessions/{session}/blobs",
        put_blob,
        "Keep bytes for messages to come.",
        body=bytes,
        answer=BlobView,
        status=201,
        refusals=("not_found", "too_large"),
        tag="files",
    ),
    Operation(
        "GET",
        "/sessions/{session}/blobs/{digest}",
        blob,
        "Bytes that were kept.",
        media="application/octet-stream",
        refusals=("not_found",),
        tag="files",
    ),
)
