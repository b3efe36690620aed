"""Previews: pages that models wrote, shown where they can do no harm.

They run in an origin of their own that has no storage, no cookie and no network: only the project's files and the
libraries that come with us, all below the preview's own address. A page that is still being written is shown by the
same rules, in an empty page that is given its text. In a tab of its own a page stands in a frame of ours, which it
cannot leave: nobody takes it for us, and it leads nobody away.
"""

from html import escape

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from weft.server.refusal import Refusal
from weft.server.studio.tickets import Tickets
from weft.studio.bridge import for_drafts, with_bridge
from weft.studio.projects.project import Base
from weft.studio.stacks.preview import PAGE
from weft.studio.studio import Studio

DRAFT = "_draft"
"""The empty page, below the address of a preview."""
_SHOWN = ("text/html", "image/svg+xml", "application/xhtml+xml", "text/xml", "application/xml")
_TAB = """<!doctype html>
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


class Previews:
    def __init__(self, studio: Studio, tickets: Tickets) -> None:
        self._studio = studio
        self._tickets = tickets

    def routes(self) -> list[Route]:
        return [Route("/preview/{ticket}/{path:path}", self.answer, methods=["GET"])]

    async def answer(self, request: Request) -> Response:
        ticket = request.path_params["ticket"]
        owner, place = self._tickets.read(ticket)
        at = f"/preview/{ticket}/"
        if request.path_params["path"] == DRAFT:
            kept = {"Cache-Control": "private, max-age=600"}  # it holds nothing, and is asked for again and again
            return Response(for_drafts(), 200, _headers(request, at) | kept, "text/html")
        preview = await self._studio.preview(owner, place.project, Base(place.version, place.variant), at=at)
        path: str = request.path_params["path"] or PAGE
        found = preview.answer(path, request.url.query)
        if found is None:
            raise Refusal("not_found", "The project has no such file.")
        if request.headers.get("sec-fetch-dest") == "document" and found.type.startswith(_SHOWN):
            return _tab(request, at)
        body = with_bridge(found.body) if path == PAGE else found.body
        return Response(body, found.status, _headers(request, at), found.type)


def _tab(request: Request, at: str) -> Response:
    """The page in a frame, for a tab of its own."""
    address = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; frame-src {_files(request, at)}; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return Response(_TAB.format(address=escape(address)), 200, {"Content-Security-Policy": policy}, "text/html")


def _files(request: Request, at: str) -> str:
    return f"{request.url.scheme}://{request.headers.get('host', '')}{at}"


def _headers(request: Request, at: str) -> dict[str, str]:
    own = f"{request.url.scheme}://{request.headers.get('host', '')}"
    files = _files(request, at)
    policy = (
        f"sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob: {files}; "
        f"style-src 'unsafe-inline' {files}; img-src data: blob: {files}; font-src data: {files}; "
        f"media-src data: blob: {files}; connect-src {files}; base-uri 'none'; form-action 'none'; "
        f"frame-src 'none'; object-src 'none'; worker-src 'none'; frame-ancestors {own}"
    )
    return {
        "Content-Security-Policy": policy,
        "Access-Control-Allow-Origin": "*",
        "Cross-Origin-Resource-Policy": "cross-origin",
        "X-Frame-Options": "SAMEORIGIN",
        "X-DNS-Prefetch-Control": "off",
        "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=(), clipboard-read=()",
    }
