"""Pages as the browser loads and renders them: viewports, served files, renderings, errors."""

from collections.abc import Awaitable, Callable, Mapping
from mimetypes import guess_type
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec

from heald.core.errors import HealdError

MAX_PIXELS = 40_000_000
ORIGIN = "https://project.heald.invalid/"
_TYPES = {
    **dict.fromkeys((".js", ".jsx", ".mjs", ".ts", ".tsx"), "text/javascript"),
    **dict.fromkeys((".htm", ".html"), "text/html"),
    ".css": "text/css",
    ".ico": "image/x-icon",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".wasm": "application/wasm",
    ".webp": "image/webp",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
}
_TEXT = ("text/", "application/json", "image/svg+xml")
Serve = Callable[[str], "PageResponse | Awaitable[PageResponse | None] | None"]
"""Returns the response for a URL, or None. It is called in the event loop that requested the rendering."""


class BrowserError(HealdError):
    """A page could not be rendered. The message has the reason and a remedy; `kind` is a code for programs."""

    def __init__(self, message: str, kind: str = "browser", *, url: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.url = url
        """The address that could not be loaded, if it is known."""


class Viewport(msgspec.Struct, frozen=True):
    """The window, in CSS pixels; `scale` device pixels make one of them."""

    width: int = 1280
    height: int = 800
    scale: float = 1.0


DESKTOP = Viewport(1280, 800)
MOBILE = Viewport(375, 812)


class TextBlock(msgspec.Struct, frozen=True):
    """One line of text on a picture: its position in pixels of that picture, its colour and its style."""

    text: str
    x: float
    y: float
    w: float
    h: float
    colour: tuple[int, int, int] | None = None
    """Red, green, blue; None if it must be measured in the picture."""
    bold: float | None = None
    """The share of the line that is bold; None if it is unknown."""
    italic: float | None = None
    """The share of the line that is italic; None if it is unknown."""


class Rendering(msgspec.Struct, frozen=True, kw_only=True):
    picture: bytes  # PNG
    size: tuple[int, int]  # width and height of the picture
    console: tuple[str, ...] = ()  # errors and warnings, as `error: …` and `warning: …`
    failed: tuple[str, ...] = ()
    """Failed requests: paths in the project, and addresses of other hosts without their query."""
    overflow: int = 0  # CSS pixels by which the page is wider than the viewport
    texts: tuple[TextBlock, ...] = ()
    title: str = ""
    notes: tuple[str, ...] = ()  # sentences about omissions: a cropped page, unread text
    duration_ms: int = 0
    probed: Any = None  # the result of the probe, if there was one


class PageResponse(msgspec.Struct, frozen=True):
    """A response: its status, its media type with parameters, its bytes."""

    status: int
    type: str
    body: bytes


def media_type(path: str) -> str:
    """Return the media type of a file, by its name."""
    suffix = PurePosixPath(path).suffix.lower()
    kind = _TYPES.get(suffix) or guess_type(f"x{suffix}")[0] or "application/octet-stream"
    return f"{kind}; charset=utf-8" if kind.startswith(_TEXT) else kind


def project_path(url: str) -> str | None:
    """Return the path of a URL in the project; None outside of it. A folder stands for its index.html."""
    if not url.startswith(ORIGIN):
        return None
    path = unquote(urlsplit(url).path).lstrip("/")
    return f"{path}index.html" if not path or path.endswith("/") else path


def serve_files(files: Mapping[str, str | bytes]) -> Serve:
    """Return a `Serve` for files, by their paths in the project."""

    def serve(url: str) -> PageResponse | None:
        path = project_path(url)
        content = files.get(path) if path is not None else None
        if path is None or content is None:
            return None
        return PageResponse(200, media_type(path), content.encode() if isinstance(content, str) else content)

    return serve
