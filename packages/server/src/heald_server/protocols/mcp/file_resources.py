"""The files of sessions as resources of the MCP server."""

import asyncio
import base64
import mimetypes
from collections.abc import Sequence
from urllib.parse import unquote

import mcp_types as types

from heald.core.errors import HealdError
from heald.sessions.session_info import SessionInfo
from heald_server.context import ServerContext
from heald_server.http.errors import ApiError
from heald_server.protocols.mcp.prompt import ArgumentStart
from heald_server.protocols.mcp.resource_address import PREFIX, file_address
from heald_server.protocols.mcp.resource_source import ResourceContents

_RECENT = 5
_COMPLETED_SESSIONS = 100
_MAX_FILES = 500
_MAX_BYTES = 4 * 1024 * 1024
_TEMPLATE = types.ResourceTemplate(
    name="file",
    title="File of a session",
    uri_template=PREFIX + "{session}/files/{+path}",
    description="A file of a session; list_sessions lists the sessions.",
)


class FileResources:
    """A `ResourceSource`. The files of the sessions that changed last are listed; the template reaches all."""

    prefix = PREFIX
    templates = (_TEMPLATE,)

    def __init__(self, context: ServerContext) -> None:
        self._context = context

    async def list(self, owner: str) -> Sequence[types.Resource]:
        page = await self._context.sessions.store.list(owner=owner, kind="", limit=_RECENT)
        resources: list[types.Resource] = []
        for info in page.sessions:
            for path in (await self.paths(info))[: _MAX_FILES - len(resources)]:
                kind = mimetypes.guess_type(path)[0]
                about = f"A file of the session {info.title or info.id}"
                resources.append(
                    types.Resource(name=path, uri=file_address(info.id, path), mime_type=kind, description=about)
                )
        return resources

    async def read(self, owner: str, uri: str) -> ResourceContents:
        session, mark, path = uri.removeprefix(PREFIX).partition("/files/")
        if not uri.startswith(PREFIX) or not mark or not path:
            raise HealdError(f"There is no resource {uri[:200]!r}; its address begins with {PREFIX}.")
        info = await self._context.open_sessions.find_info(owner, session)
        path = unquote(path)
        async with self._context.open_sessions.use(info) as opened:
            data = await asyncio.to_thread(opened.workspace.read, path, limit=_MAX_BYTES, remember=False)
        kind = mimetypes.guess_type(path)[0]
        address = file_address(info.id, path)
        try:
            text = data.decode()
        except UnicodeDecodeError:
            blob = base64.b64encode(data).decode()
            return types.BlobResourceContents(uri=address, mime_type=kind, blob=blob)
        return types.TextResourceContents(uri=address, mime_type=kind or "text/plain", text=text)

    async def complete(self, start: ArgumentStart) -> Sequence[str]:
        if start.name == "session":
            page = await self._context.sessions.store.list(owner=start.owner, kind="", limit=_COMPLETED_SESSIONS)
            return [info.id for info in page.sessions]
        try:
            info = await self._context.open_sessions.find_info(start.owner, start.others.get("session", ""))
        except (ApiError, HealdError):
            return []
        return await self.paths(info)

    async def paths(self, info: SessionInfo) -> Sequence[str]:
        """Return the paths of the files of a session."""
        async with self._context.open_sessions.use(info) as opened:
            listing = await asyncio.to_thread(lambda: opened.workspace.list(depth=None))
        return [entry.path for entry in listing if entry.kind == "file"][:_MAX_FILES]
