"""The page: files that were built into the package, and a word for whoever looks where there are none."""

import gzip
import mimetypes
import re
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
_ZERO = re.compile(r"q\s*=\s*0(\.0*)?\s*$")
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
    if "/" in name or "\0" in name or name.startswith(".") or len(name) > 100:
        raise Refusal("not_found", "The page has no such file.")
    assets = _folder().joinpath("assets")
    plain, packed = assets.joinpath(name), assets.joinpath(f"{name}.gz")
    headers = {"Cache-Control": "public, max-age=31536000, immutable", "Vary": "Accept-Encoding"}
    if plain.is_file():
        content = plain.read_bytes()
    elif not packed.is_file():
        raise Refusal("not_found", "The page has no such file.")
    elif _takes_gzip(request):
        content, headers["Content-Encoding"] = packed.read_bytes(), "gzip"
    else:
        content = gzip.decompress(packed.read_bytes())
    return Response(content, media_type=mimetypes.guess_type(name)[0] or "application/octet-stream", headers=headers)


def _takes_gzip(request: Request) -> bool:
    accepted = (each.partition(";") for each in request.headers.get("accept-encoding", "").lower().split(","))
    return any(coding.strip() == "gzip" and _ZERO.search(more) is None for coding, _, more in accepted)


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
