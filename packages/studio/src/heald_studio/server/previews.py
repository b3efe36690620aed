"""Previews of pages that models wrote, isolated from the server's origin.

A preview runs in an opaque origin without storage, cookies or network access: it loads only the project's files and
the libraries that ship with Heald, all below its own address. A page that is still being written is shown under the
same rules, in an empty page that receives its text. The link of a project is an address of the same kind, which shows
the newest page that is finished. A preview in a tab of its own is framed by a page of ours that it cannot navigate away
from.
"""

import asyncio
import gzip
from collections.abc import Sequence
from html import escape

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from heald_server.http.encodings import accepts_gzip
from heald_server.http.errors import ApiError, api_error_of
from heald_server.http.public_address import PublicAddress
from heald_server.http.route_description import RouteDescription
from heald_studio.browser.page import PageResponse
from heald_studio.preview.local_urls import LIBRARY_PATH
from heald_studio.preview.preview import PAGE, draft_page, insert_bridge, missing_page
from heald_studio.preview.remote_frames import remove_remote_frames
from heald_studio.preview.vite import SCRIPT_PATH
from heald_studio.projects.project import VariantRef, newest_page
from heald_studio.server.preview_tickets import SHARED, PreviewTickets
from heald_studio.server.protocol import PREVIEWS
from heald_studio.server.shares import ProjectShares
from heald_studio.studio import Studio

DRAFT = "_draft"
"""Path of the empty page, below the address of a preview."""
_PACKED_TYPES = ("text/", "image/svg+xml")
_PACKED_FROM = 4096
"""Bytes of a library that is sent compressed."""
_MAX_PACKED = 64
"""Libraries that are kept compressed."""
_DOCUMENT_TYPES = ("text/html", "image/svg+xml", "application/xhtml+xml", "text/xml", "application/xml")
_ERROR_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>No preview</title></head><body><p>{message}</p></body></html>
"""
_FRAME_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Preview</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body {{ display: flex; flex-direction: column; height: 100vh; margin: 0; font: 13px/1.4 system-ui, sans-serif; }}
p {{ margin: 0; padding: 6px 12px; color: #3c4a48; background: #eef3f2; border-bottom: 1px solid #c9d5d3; }}
iframe {{ flex: 1; width: 100%; border: 0; background: #fff; }}
@media (prefers-color-scheme: dark) {{ p {{ color: #c3d0ce; background: #1b2423; border-color: #34413f; }} }}
</style></head>
<body><p>A preview: this page was written by a model. Enter nothing here that is secret.</p>
<iframe title="Preview" sandbox="allow-scripts" referrerpolicy="no-referrer" src="{address}"></iframe></body></html>
"""


class PreviewRoutes:
    def __init__(
        self, studio: Studio, tickets: PreviewTickets, shares: ProjectShares, public: PublicAddress | None = None
    ) -> None:
        self._studio = studio
        self._tickets = tickets
        self._shares = shares
        self._public = [public.origin] if public is not None else []
        self._packed: dict[tuple[str, str], bytes] = {}

    def routes(self) -> list[Route | RouteDescription]:
        described = RouteDescription(
            "GET",
            PREVIEWS + "{ticket}/{path}",
            "A file of a variant, in an origin of its own. The ticket is in the view of the variant.",
            "studio",
            media_type="*/*",
            errors=("not_found",),
            is_public=True,
        )
        return [Route(PREVIEWS + "{ticket}/{path:path}", self.answer, methods=["GET"]), described]

    async def answer(self, request: Request) -> Response:
        """Answer with a file. In a frame an error is a page too, because a browser shows no other answer there."""
        at = f"{request.scope.get('root_path', '')}{PREVIEWS}{request.path_params['ticket']}/"
        try:
            return await self._answer(request, at)
        except Exception as failure:
            error = api_error_of(failure)
            if error is None or request.headers.get("sec-fetch-dest") != "iframe":
                raise
            page = _ERROR_PAGE.format(message=escape(error.message))
            return Response(page, error.status, _headers(self._origins(request), at), "text/html")

    async def _answer(self, request: Request, at: str) -> Response:
        owner, project, variant, number = await self._find_variant(request.path_params["ticket"])
        if request.path_params["path"] == DRAFT:
            caching = {"Cache-Control": "private, max-age=600"}  # it is empty, and requested often
            return Response(draft_page(), 200, _headers(self._origins(request), at) | caching, "text/html")
        preview = await self._studio.preview(owner, project, variant, at=at, number=number)
        path: str = request.path_params["path"] or PAGE
        response = preview.answer(path, request.url.query)
        if response is None and request.headers.get("sec-fetch-dest") == "iframe":
            return Response(missing_page(path), 404, _headers(self._origins(request), at), "text/html")
        if response is None:
            raise ApiError("not_found", "The project has no such file.")
        if request.headers.get("sec-fetch-dest") == "document" and response.type.startswith(_DOCUMENT_TYPES):
            return _framed_page(request, self._origins(request), at)
        if path.startswith((LIBRARY_PATH, SCRIPT_PATH)):
            return await self._library(request, path, response, _headers(self._origins(request), at))
        body = _inert_page(response.body) if response.type.startswith("text/html") else response.body
        return Response(body, response.status, _headers(self._origins(request), at), response.type)

    async def _library(self, request: Request, path: str, response: PageResponse, headers: dict[str, str]) -> Response:
        """A file that ships with Heald: some have megabytes, and every preview loads them. Compressed once for all."""
        headers |= {"Cache-Control": "private, max-age=3600", "Vary": "Accept-Encoding"}
        is_packed = (
            response.type.startswith(_PACKED_TYPES) and len(response.body) >= _PACKED_FROM and accepts_gzip(request)
        )
        if not is_packed:
            return Response(response.body, response.status, headers, response.type)
        key = path, request.url.query
        if key not in self._packed:
            packed = await asyncio.to_thread(gzip.compress, response.body, 6)
            if len(self._packed) >= _MAX_PACKED:
                self._packed.clear()
            self._packed[key] = packed
        return Response(self._packed[key], response.status, headers | {"Content-Encoding": "gzip"}, response.type)

    async def _find_variant(self, ticket: str) -> tuple[str, str, VariantRef, int | None]:
        """The owner, the project, the variant and the number of its try that an address shows."""
        if not ticket.startswith(SHARED):
            owner, target = await self._tickets.read(ticket)
            return owner, target.project, VariantRef(target.version, target.variant), target.number
        share = self._shares.find(ticket.removeprefix(SHARED))
        if share is None or share.writable:  # the page can read its address, and must not learn a secret to write with
            raise ApiError("not_found", "The link is not valid any more; ask the owner of the project for another one.")
        project = await self._studio.get(share.owner, share.project)
        newest = newest_page(project)
        if newest is None:
            raise ApiError("not_found", "No page of this project is finished yet; open the link later.")
        return share.owner, share.project, newest, None

    def _origins(self, request: Request) -> list[str]:
        """The origins under which a browser may show the preview: that of the request, and that of the proxy."""
        return [f"{request.url.scheme}://{request.headers.get('host', '')}", *self._public]


def _inert_page(page: bytes) -> bytes:
    text = remove_remote_frames(page.decode("utf-8", "surrogateescape"))
    return insert_bridge(text.encode("utf-8", "surrogateescape"))


def _framed_page(request: Request, origins: Sequence[str], at: str) -> Response:
    """A page of ours that frames the preview, for a browser tab of its own."""
    address = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; frame-src {_below(origins, at)}; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return Response(_FRAME_PAGE.format(address=escape(address)), 200, {"Content-Security-Policy": policy}, "text/html")


def _below(origins: Sequence[str], at: str) -> str:
    return " ".join(f"{origin}{at}" for origin in origins)


def _headers(origins: Sequence[str], at: str) -> dict[str, str]:
    ancestors = " ".join(origins)
    files = _below(origins, at)
    policy = (
        f"sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob: {files}; "
        f"style-src 'unsafe-inline' {files}; img-src data: blob: {files}; font-src data: {files}; "
        f"media-src data: blob: {files}; connect-src {files}; base-uri 'none'; form-action 'none'; "
        f"frame-src 'none'; object-src 'none'; worker-src 'none'; frame-ancestors {ancestors}"
    )
    return {
        "Content-Security-Policy": policy,
        "Access-Control-Allow-Origin": "*",
        "Cross-Origin-Resource-Policy": "cross-origin",
        "X-Frame-Options": "SAMEORIGIN",
        "X-DNS-Prefetch-Control": "off",
        "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=(), clipboard-read=()",
    }
