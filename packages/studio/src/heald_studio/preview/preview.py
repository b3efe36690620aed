"""Serves the files of a project as a page without network and node: for screenshots, the studio page and
exports."""

import re
from collections.abc import Mapping
from functools import cache
from html import escape
from urllib.parse import urlsplit

from heald.core.json import encode
from heald.core.lazy import lazy_pattern
from heald_studio.browser.page import PageResponse, media_type, project_path
from heald_studio.cdn.addresses import HOSTS
from heald_studio.cdn.serve import serve_library
from heald_studio.preview.local_urls import LIBRARY_PATH, localise_rooted, localise_urls
from heald_studio.preview.routes import find_route_file, has_routes, route_of
from heald_studio.preview.vite import read_script, source_page, vite_page, vite_script
from heald_studio.stacks.stack import Stack

_TEXT_SUFFIXES = (".css", ".htm", ".html", ".js", ".json", ".jsx", ".mjs", ".svg", ".ts", ".tsx")
_BRIDGE = ("marks.js", "tools.js", "bridge.js", "view_state.js", "scroll_sync.js")
PAGE = "index.html"  # the path of the page itself, whatever the stack's files are
_PAGES = (".html", ".htm")
_START = lazy_pattern(rb"(?:\xef\xbb\xbf)?(?:\s|<!--.*?-->)*<!doctype[^>]*>", re.IGNORECASE | re.DOTALL)


class ProjectPreview:
    """Serves one state of a project. Called with a URL it is a `Serve` for the browser."""

    def __init__(self, stack: Stack, files: Mapping[str, str | bytes], *, base: str = "/") -> None:
        self.stack = stack
        self.base = base if base.endswith("/") else f"{base}/"
        self._files = {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}

    def __call__(self, url: str) -> PageResponse | None:
        path = project_path(url)
        return serve_library(url) if path is None else self.answer(path, urlsplit(url).query)

    def answer(self, path: str, query: str = "") -> PageResponse | None:
        """Return the response at a path below `base`; None if there is none."""
        if path.startswith(LIBRARY_PATH):
            return _library(path[len(LIBRARY_PATH) :], query)
        if self.stack.is_built and (script := vite_script(path)) is not None:
            return PageResponse(200, media_type("x.js"), script)
        if has_routes(self.stack.entry):
            file = find_route_file(self._files, self.stack.entry, path)
            if file is not None:
                return PageResponse(200, media_type(PAGE), self._source_page(file).encode())
        path = self._find_page(path)
        if path == PAGE or path.lower().endswith(_PAGES):
            page = self._page(path)
            return None if page is None else PageResponse(200, media_type(PAGE), page.encode())
        data = self._files.get(path)
        if data is None and self.stack.is_built:
            data = self._files.get(f"public/{path}")
        if data is None:
            return None
        if path.lower().endswith(_TEXT_SUFFIXES):
            data = localise_urls(data.decode("utf-8", "replace"), self.base).encode()
        return PageResponse(200, media_type(path), data)

    def _source_page(self, file: str) -> str:
        return source_page(file, route_of(file, self.stack.entry), self.stack.preview, self._files, self.base)

    def _find_page(self, path: str) -> str:
        """Return the path of the page that a link without an ending names, such as `about` or `docs/`."""
        if path in self._files or "." in path.rpartition("/")[2]:
            return path
        names = [f"{path.rstrip('/')}{ending}" for ending in (*_PAGES, f"/{PAGE}")]
        return next((name for name in names if path and name in self._files), path)

    def _page(self, path: str) -> str | None:
        entry = self._files.get(self.stack.entry, self._files.get(PAGE))
        data = entry if path == PAGE else self._files.get(path)
        if data is None:
            return None
        text = localise_rooted(localise_urls(data.decode("utf-8", "replace"), self.base), self.base)
        if path not in (PAGE, self.stack.entry):
            return vite_page(text, self._files, self.base) if self.stack.preview == "vite" else text
        match self.stack.preview:
            case "svg":
                return _svg_page(text) if PAGE not in self._files else text
            case "vite":
                return vite_page(text, self._files, self.base)
            case "page" | "next" | "astro":
                return text


def _svg_page(svg: str) -> str:
    """Build a page with the drawing inline, in its own size, so that its elements can be selected."""
    body = svg[svg.find("<svg") :] if "<svg" in svg else escape(svg)
    style = "html,body{margin:0;background:#fff}svg{display:block;max-width:100%;height:auto}"
    window = '<meta name="viewport" content="width=device-width, initial-scale=1">'
    head = f'<meta charset="utf-8">{window}<title>Drawing</title><style>{style}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>{body}</body></html>\n'


def _library(path: str, query: str) -> PageResponse | None:
    host, _, rest = path.partition("/")
    if host not in HOSTS:
        return None
    return serve_library(f"https://{host}/{rest}" + (f"?{query}" if query else ""))


def insert_bridge(page: bytes) -> bytes:
    """Insert the bridge script before every other script. It reports events inside a preview to the page around it."""
    script = b"<script>" + _bridge() + b"</script>"
    match = _START.match(page[:20_000])
    at = match.end() if match else 0
    return page[:at] + script + page[at:]


def missing_page(path: str) -> bytes:
    """Return a page that stands for one that a link names and that does not exist."""
    style = "body{margin:0;min-height:100vh;display:grid;place-content:center;gap:8px;text-align:center;color:#3c4a48;"
    style += "background:#fff;font:16px/1.5 system-ui,sans-serif}h1{margin:0;font-size:20px}p{margin:0}"
    words = f"<h1>There is no page here yet</h1><p>A link leads to <code>{escape(path)}</code>.</p>"
    head = f'<meta charset="utf-8"><title>No page</title><style>{style}</style>'
    page = f'<!doctype html><html lang="en"><head>{head}</head><body data-heald-missing>{words}</body></html>'
    return insert_bridge(page.encode())


@cache
def draft_page() -> bytes:
    """Return an empty page with the bridge, which shows the drafts that the page around it sends."""
    bridge, morph = encode(_bridge().decode()), encode(read_script("morph.js").decode())
    return b"<!doctype html><script>(" + read_script("draft.js") + b")(" + bridge + b", " + morph + b")</script>"


def _bridge() -> bytes:
    """Return the scripts that every preview starts with."""
    return b"".join(read_script(name) for name in _BRIDGE)


def has_page(files: Mapping[str, bytes], entry: str) -> bool:
    """Whether the files hold a page that a preview can show."""
    return any(files.get(path, b"").strip() for path in (entry, PAGE))
