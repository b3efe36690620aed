"""The page: files that were built into the package, and a word for whoever looks where there are none."""

import mimetypes
from importlib import resources
from importlib.resources.abc import Traversable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from weft.server.refusal import Refusal

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self'; connect-src 'self'; frame-src 'self'; worker-src 'self' blob:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_MISSING = b"""<!doctype html><meta charset="utf-8"><title>Weft</title>
<p>The server runs. Its page was not built into this copy; the API is described at /openapi.json.</p>
"""


def _folder() -> Traversable:
    return resources.files("weft.server").joinpath("built")


async def index(_: Request) -> Response:
    file = _folder().joinpath("index.html")
    content = file.read_bytes() if file.is_file() else _MISSING
    return Response(content, media_type="text/html; charset=utf-8", headers={"Content-Security-Policy": CSP})


async def asset(request: Request) -> Response:
    """A file of the page. Its name holds a digest of its content, so it may be kept for ever."""
    name: str = request.path_params["name"]
    file = _folder().joinpath("assets", name)
    if "/" in name or "\0" in name or name.startswith(".") or len(name) > 100 or not file.is_file():
        raise Refusal("not_found", "The page has no such file.")
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return Response(
        file.read_bytes(), media_type=kind, headers={"Cache-Control": "public, max-age=31536000, immutable"}
    )


async def icon(_: Request) -> Response:
    file = _folder().joinpath("favicon.svg")
    if not file.is_file():
        return Response(status_code=204)
    return Response(file.read_bytes(), media_type="image/svg+xml")


def routes() -> list[Route]:
    return [
        Route("/", index, methods=["GET"]),
        Route("/assets/{name}", asset, methods=["GET"]),
        Route("/favicon.ico", icon, methods=["GET"]),
    ]
