"""What a page gets when it asks for something: the browser has no network, only what a `Serve` answers.

Pages of a project live at `ORIGIN`, a name that no network knows. Whatever else a page asks for (a library's address,
a font's) comes to the same callable, which answers it or not.
"""

from collections.abc import Awaitable, Callable, Mapping
from mimetypes import guess_type
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

import msgspec

ORIGIN = "https://project.weft.invalid/"

_TYPES = {
    ".css": "text/css",
    ".htm": "text/html",
    ".html": "text/html",
    ".ico": "image/x-icon",
    ".js": "text/javascript",
    ".json": "application/json",
    ".jsx": "text/javascript",
    ".mjs": "text/javascript",
    ".svg": "image/svg+xml",
    ".ts": "text/javascript",
    ".tsx": "text/javascript",
    ".wasm": "application/wasm",
    ".webp": "image/webp",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
}
_TEXT = ("text/", "application/json", "image/svg+xml")


class Answer(msgspec.Struct, frozen=True):
    """A response: its status, its media type with parameters, its bytes."""

    status: int
    type: str
    body: bytes


Serve = Callable[[str], "Answer | Awaitable[Answer | None] | None"]
"""Answers a URL, None if there is nothing at it. It is called in the event loop of whoever asked for the picture."""


def media_type(path: str) -> str:
    """The type to serve a file of this name with."""
    suffix = PurePosixPath(path).suffix.lower()
    kind = _TYPES.get(suffix) or guess_type(f"x{suffix}")[0] or "application/octet-stream"
    return f"{kind}; charset=utf-8" if kind.startswith(_TEXT) else kind


def path_of(url: str) -> str | None:
    """The path in the project that a URL means, None if it lies elsewhere. A folder means its index.html."""
    if not url.startswith(ORIGIN):
        return None
    path = unquote(urlsplit(url).path).lstrip("/")
    return f"{path}index.html" if not path or path.endswith("/") else path


def serve_files(files: Mapping[str, str | bytes]) -> Serve:
    """Serves files by their paths in the project."""

    def serve(url: str) -> Answer | None:
        path = path_of(url)
        found = files.get(path) if path is not None else None
        if path is None or found is None:
            return None
        return Answer(200, media_type(path), found.encode() if isinstance(found, str) else found)

    return serve
