"""A project's files as a browser gets them: the page, its files, and the libraries it would fetch from elsewhere.

A preview needs no network and no node. It is the same for a picture taken by our browser, for the frame in the page
and for an export: only `base`, where it is served, differs.
"""

from collections.abc import Mapping
from html import escape
from urllib.parse import urlsplit

from weft.studio.browser.serving import Answer, media_type, path_of
from weft.studio.libraries.library import HOSTS, library
from weft.studio.stacks.references import LIBRARIES, is_written, localised
from weft.studio.stacks.stack import Stack
from weft.studio.stacks.vite import vite_page, vite_script

PAGE = "index.html"
"""The path of the page itself, whatever the stack's files are."""


class Preview:
    """Answers for one state of a project. Calling it with a URL makes it a `Serve` for the browser."""

    def __init__(self, stack: Stack, files: Mapping[str, str | bytes], *, base: str = "/") -> None:
        self.stack = stack
        self.base = base if base.endswith("/") else f"{base}/"
        self._files = {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}

    def __call__(self, url: str) -> Answer | None:
        path = path_of(url)
        return library(url) if path is None else self.answer(path, urlsplit(url).query)

    def answer(self, path: str, query: str = "") -> Answer | None:
        """What is served at a path below `base`, None if there is nothing."""
        if path.startswith(LIBRARIES):
            return _library(path[len(LIBRARIES) :], query)
        if self.stack.preview == "vite" and (script := vite_script(path)) is not None:
            return Answer(200, media_type("x.js"), script)
        if path == PAGE:
            page = self._page()
            return None if page is None else Answer(200, media_type(PAGE), page.encode())
        data = self._file(path)
        if data is None:
            return None
        if is_written(path):
            data = localised(data.decode("utf-8", "replace"), self.base).encode()
        return Answer(200, media_type(path), data)

    def _file(self, path: str) -> bytes | None:
        found = self._files.get(path)
        return self._files.get(f"public/{path}") if found is None and self.stack.preview == "vite" else found

    def _page(self) -> str | None:
        data = self._files.get(self.stack.entry)
        if data is None:
            data = self._files.get(PAGE)
        if data is None:
            return None
        text = localised(data.decode("utf-8", "replace"), self.base)
        match self.stack.preview:
            case "svg":
                return _drawing(text) if PAGE not in self._files else text
            case "vite":
                return vite_page(text, self._files, self.base)
            case "page":
                return text


def _drawing(svg: str) -> str:
    """A page that shows a drawing in its own size, as part of the page so that its parts can be chosen."""
    body = svg[svg.find("<svg") :] if "<svg" in svg else escape(svg)
    style = "html,body{margin:0;background:#fff}svg{display:block;max-width:100%;height:auto}"
    head = f'<meta charset="utf-8"><title>Drawing</title><style>{style}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>{body}</body></html>\n'


def _library(path: str, query: str) -> Answer | None:
    host, _, rest = path.partition("/")
    if host not in HOSTS:
        return None
    return library(f"https://{host}/{rest}" + (f"?{query}" if query else ""))
