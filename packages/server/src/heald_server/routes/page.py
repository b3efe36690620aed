"""The page: its HTML, its files and its icon."""

import gzip
import mimetypes
from functools import partial
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from heald_server.http.encodings import accepts_gzip
from heald_server.http.errors import ApiError
from heald_server.http.route_description import RouteDescription

_PAGE_CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    # Previews of dev servers have names of their own below localhost.
    "font-src 'self'; connect-src 'self'; frame-src 'self' http://*.localhost:*; worker-src 'self' blob:; "
    "base-uri 'none'; form-action https://codepen.io https://stackblitz.com; frame-ancestors 'none'"
)

_NO_PAGE = b"""<!doctype html><meta charset="utf-8"><title>Heald</title>
<p>The server runs. This installation has no page; /openapi.json describes the API.</p>
"""


_describe = partial(RouteDescription, "GET", tag="about", is_public=True)
_DESCRIPTIONS = (
    _describe("/", "The page.", media_type="text/html"),
    _describe("/assets/{name}", "A file of the page.", media_type="*/*", errors=("not_found",)),
    _describe("/favicon.ico", "The icon of the page.", media_type="image/svg+xml", more={204: "There is none."}),
)


class PageRoutes:
    """The page in a folder; by default the one that the distribution contains."""

    def __init__(self, folder: str | Path | None = None) -> None:
        built = resources.files("heald_server").joinpath("page", "built")
        self._folder: Traversable = Path(folder) if folder is not None else built

    def routes(self) -> list[BaseRoute | RouteDescription]:
        return [
            Route("/", self.index, methods=["GET"]),
            Route("/assets/{name}", self.asset, methods=["GET"]),
            Route("/favicon.ico", self.icon, methods=["GET"]),
            *_DESCRIPTIONS,
        ]

    async def index(self, _: Request) -> Response:
        file = self._folder.joinpath("index.html")
        content = file.read_bytes() if file.is_file() else _NO_PAGE
        return Response(content, media_type="text/html; charset=utf-8", headers={"Content-Security-Policy": _PAGE_CSP})

    async def asset(self, request: Request) -> Response:
        """A file of the page. Its name contains a digest of its content, so clients may cache it for ever."""
        name: str = request.path_params["name"]
        if "/" in name or "\0" in name or name.startswith(".") or len(name) > 100:
            raise ApiError("not_found", "The page has no such file.")
        assets = self._folder.joinpath("assets")
        plain, packed = assets.joinpath(name), assets.joinpath(f"{name}.gz")
        headers = {"Cache-Control": "public, max-age=31536000, immutable", "Vary": "Accept-Encoding"}
        if plain.is_file():
            content = plain.read_bytes()
        elif not packed.is_file():
            raise ApiError("not_found", "The page has no such file.")
        elif accepts_gzip(request):
            content, headers["Content-Encoding"] = packed.read_bytes(), "gzip"
        else:
            content = gzip.decompress(packed.read_bytes())
        media_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
        return Response(content, media_type=media_type, headers=headers)

    async def icon(self, _: Request) -> Response:
        file = self._folder.joinpath("favicon.svg")
        if not file.is_file():
            return Response(status_code=204)
        return Response(file.read_bytes(), media_type="image/svg+xml")
