"""Previews: pages that models wrote, shown where they can do no harm.

They run in an origin of their own that has no storage, no cookie and no network: only the project's files and the
libraries that come with us, all below the preview's own address.
"""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from weft.server.refusal import Refusal
from weft.server.studio.tickets import Tickets
from weft.studio.bridge import with_bridge
from weft.studio.projects.project import Base
from weft.studio.stacks.preview import PAGE
from weft.studio.studio import Studio


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
        preview = await self._studio.preview(owner, place.project, Base(place.version, place.variant), at=at)
        path: str = request.path_params["path"] or PAGE
        found = preview.answer(path, request.url.query)
        if found is None:
            raise Refusal("not_found", "The project has no such file.")
        body = with_bridge(found.body) if path == PAGE else found.body
        return Response(body, found.status, _headers(request, at), found.type)


def _headers(request: Request, at: str) -> dict[str, str]:
    own = f"{request.url.scheme}://{request.headers.get('host', '')}"
    files = f"{own}{at}"
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
