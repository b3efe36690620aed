"""Serves the files of a project as a page without network and node: for screenshots, the studio page and exports. Reads
whether there is a page, and its title."""

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from html import escape
from importlib import resources
from urllib.parse import urlsplit

from weft.core.json import encode
from weft.core.lazy import lazy_pattern
from weft.core.markup import EndTag, StartTag, TextToken, scan_html, start_tags
from weft.studio.browser.page import PageResponse, media_type, project_path
from weft.studio.cdn import HOSTS, MODULE_FILES, find_file, read_file, serve_library
from weft.studio.stack import Stack

LIBRARY_PATH = "_libraries/"  # below this path of a preview lie the libraries: `_libraries/<host>/<path>`

_HOSTS = "|".join(re.escape(host) for host in HOSTS)
_ADDRESS = lazy_pattern(rf"(?:https?:)?//(?P<host>{_HOSTS})(?=[/?#\"'\s)&>;]|$)(?P<slash>/?)", re.IGNORECASE)
_TAG = lazy_pattern(r"<(?:script|link)\b[^<>]*>", re.IGNORECASE)
_INTEGRITY = lazy_pattern(
    r"""\s(?:integrity|crossorigin|nonce)(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>"']+))?""", re.IGNORECASE
)
_TEXT_SUFFIXES = (".css", ".htm", ".html", ".js", ".json", ".jsx", ".mjs", ".svg", ".ts", ".tsx")
PROJECT_ELEMENT = "weft-files"  # the id of the element that holds the project for the loader
LOADER_PATH = "_weft/loader.js"
PACKAGE_PATH = "_weft/packages/"
_CODE = (".css", ".js", ".json", ".jsx", ".mjs", ".ts", ".tsx")
_RAW = (".csv", ".glsl", ".html", ".md", ".svg", ".txt")
_TAILWIND = lazy_pattern(r"@import\s+[\"']tailwindcss|@tailwind\b|@apply\b|@theme\b")
_NOT_MODULES = ("package.json", "package-lock.json", "vite.config.js", "vite.config.ts", "index.html")
_REACT_PACKAGES = ("react", "react/jsx-runtime", "react-dom", "react-dom/client", "scheduler")
PAGE = "index.html"  # the path of the page itself, whatever the stack's files are
_PAGES = (".html", ".htm")
_ROOTED = ("href", "src", "poster", "data")
_HEAD = lazy_pattern(rb"<head\b[^>]*>", re.IGNORECASE)
_HTML = lazy_pattern(rb"<html\b[^>]*>|<!doctype[^>]*>", re.IGNORECASE)
_MAX_TITLE = 80
_MAX_SCANNED = 400_000
_HEADINGS = ("h1", "h2")
_EMPTY_TITLES = frozenset(
    ("", "document", "untitled", "title", "page", "my page", "my app", "app", "react app", "vite app", "vite + react",
     "vite + react + ts", "drawing", "index", "home")
)  # fmt: skip


def localise_urls(text: str, base: str) -> str:
    """Point every address of a CDN below `base`, without its integrity hash: the local version may differ."""

    def local(found: re.Match[str]) -> str:
        return f"{base}{LIBRARY_PATH}{found['host'].lower()}{found['slash']}"

    def tag(found: re.Match[str]) -> str:
        return _INTEGRITY.sub("", found[0]) if _ADDRESS.search(found[0]) else found[0]

    return _ADDRESS.sub(local, _TAG.sub(tag, text))


def _localise_rooted(page: str, base: str) -> str:
    """Point addresses that begin at the root, such as `/about.html`, below `base`. Modules are found by their path."""
    if base == "/":
        return page
    out: list[str] = []
    done = 0
    for tag in start_tags(page):
        if _is_module_script(tag):
            continue
        for key, start, end in tag.spans:
            address = tag.attributes.get(key) or ""
            if key not in _ROOTED or not address.startswith("/") or address.startswith(("//", base)):
                continue
            out += [page[done:start], f'{key}="{escape(base + address[1:])}"']
            done = end
    return "".join([*out, page[done:]])


def vite_page(page: str, files: Mapping[str, bytes], base: str) -> str:
    """Build the page: the project's index.html with the loader and its packages instead of module scripts."""
    own = [tag for tag in start_tags(page) if _is_module_script(tag)]
    entries = [tag.attributes["src"] for tag in own]
    if not entries:
        return page
    modules = {path: text for path, text in _decode_files(files, _CODE).items() if path not in _NOT_MODULES}
    addresses = {path: base + path for path in files if not path.endswith(_CODE)}
    data = {
        "files": {path: localise_urls(text, base) for path, text in modules.items()},
        "texts": _decode_files(files, _RAW) if any("?raw" in text for text in modules.values()) else {},
        "addresses": addresses,
        "entries": entries,
        "packages": sorted(name for name in _package_files() if name != "scheduler"),
    }
    scripts = [f"{base}{LIBRARY_PATH}unpkg.com/@babel/standalone"]
    if any(_TAILWIND.search(text) for path, text in modules.items() if path.endswith(".css")):
        scripts.append(f"{base}{LIBRARY_PATH}unpkg.com/@tailwindcss/browser")
    scripts += [f"{base}{PACKAGE_PATH}{name}.js" for name in _needed_packages(modules.values())]
    loads = "".join(f'<script src="{escape(each)}"></script>\n' for each in (*scripts, f"{base}{LOADER_PATH}"))
    # Nothing in a script element may look like its end, or like the start of a comment.
    text = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
    loader = f'<script type="application/json" id="{PROJECT_ELEMENT}">{text}</script>\n{loads}'
    first, *others = own
    for tag in reversed(others):
        page = page[: tag.start] + page[tag.close :]
    return page[: first.start] + loader + page[first.close :]


def _is_module_script(tag: StartTag) -> bool:
    """Whether the script loads a module of the project."""
    source = tag.attributes.get("src") or ""
    local = not source.startswith(("http://", "https://", "//", "data:"))
    return tag.name == "script" and tag.attributes.get("type") == "module" and bool(source) and local and tag.close > 0


def vite_script(path: str) -> bytes | None:
    """Return the loader, or a package for it."""
    if path == LOADER_PATH:
        return _resource("loader.js")
    if not path.startswith(PACKAGE_PATH) or not path.endswith(".js"):
        return None
    name = path[len(PACKAGE_PATH) : -len(".js")]
    return _package(name) if name in _package_files() else None


@cache  # of known names alone: a page may ask for any
def _package(name: str) -> bytes | None:
    found = find_file(*_package_files()[name])
    if found is None:
        return None
    start = f"(window.weftPackages??={{}})[{json.dumps(name)}]=function(module,exports,require){{"
    return start.encode() + read_file(*found) + b"\n};\n"


@cache
def _package_files() -> dict[str, tuple[str, str]]:
    return {f"{name}/{path}".rstrip("/"): (name, file) for (name, path), file in MODULE_FILES.items()}


def _needed_packages(modules: Iterable[str]) -> list[str]:
    """Return React, and each other package that a module names."""
    text = "\n".join(modules)
    others = [name for name in _package_files() if name not in _REACT_PACKAGES]
    return [*_REACT_PACKAGES, *(name for name in others if f'"{name}"' in text or f"'{name}'" in text)]


def _decode_files(files: Mapping[str, bytes], endings: tuple[str, ...]) -> dict[str, str]:
    return {path: data.decode("utf-8", "replace") for path, data in files.items() if path.endswith(endings)}


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
        if self.stack.preview == "vite" and (script := vite_script(path)) is not None:
            return PageResponse(200, media_type("x.js"), script)
        path = self._find_page(path)
        if path == PAGE or path.lower().endswith(_PAGES):
            page = self._page(path)
            return None if page is None else PageResponse(200, media_type(PAGE), page.encode())
        data = self._files.get(path)
        if data is None and self.stack.preview == "vite":
            data = self._files.get(f"public/{path}")
        if data is None:
            return None
        if path.lower().endswith(_TEXT_SUFFIXES):
            data = localise_urls(data.decode("utf-8", "replace"), self.base).encode()
        return PageResponse(200, media_type(path), data)

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
        text = _localise_rooted(localise_urls(data.decode("utf-8", "replace"), self.base), self.base)
        if path not in (PAGE, self.stack.entry):
            return vite_page(text, self._files, self.base) if self.stack.preview == "vite" else text
        match self.stack.preview:
            case "svg":
                return _svg_page(text) if PAGE not in self._files else text
            case "vite":
                return vite_page(text, self._files, self.base)
            case "page":
                return text


def _svg_page(svg: str) -> str:
    """Build a page with the drawing inline, in its own size, so that its elements can be selected."""
    body = svg[svg.find("<svg") :] if "<svg" in svg else escape(svg)
    style = "html,body{margin:0;background:#fff}svg{display:block;max-width:100%;height:auto}"
    head = f'<meta charset="utf-8"><title>Drawing</title><style>{style}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>{body}</body></html>\n'


def _library(path: str, query: str) -> PageResponse | None:
    host, _, rest = path.partition("/")
    if host not in HOSTS:
        return None
    return serve_library(f"https://{host}/{rest}" + (f"?{query}" if query else ""))


def insert_bridge(page: bytes) -> bytes:
    """Insert the bridge script before everything else. It reports events inside a preview to the page around it."""
    script = b"<script>" + _resource("bridge.js") + b"</script>"
    found = _HEAD.search(page[:20_000]) or _HTML.search(page[:20_000])
    at = found.end() if found else 0
    return page[:at] + script + page[at:]


def missing_page(path: str) -> bytes:
    """Return a page that stands for one that a link names and that does not exist."""
    style = "body{margin:0;min-height:100vh;display:grid;place-content:center;gap:8px;text-align:center;color:#3c4a48;"
    style += "background:#fff;font:16px/1.5 system-ui,sans-serif}h1{margin:0;font-size:20px}p{margin:0}"
    words = f"<h1>There is no page here yet</h1><p>A link leads to <code>{escape(path)}</code>.</p>"
    head = f'<meta charset="utf-8"><title>No page</title><style>{style}</style>'
    page = f'<!doctype html><html lang="en"><head>{head}</head><body data-weft-missing>{words}</body></html>'
    return insert_bridge(page.encode())


@cache
def draft_page() -> bytes:
    """Return an empty page with the bridge, which shows the drafts that the page around it sends."""
    bridge = encode(_resource("bridge.js").decode())
    return b"<!doctype html><script>(" + _resource("draft.js") + b")(" + bridge + b")</script>"


@cache
def _resource(name: str) -> bytes:
    return (resources.files("weft.studio") / name).read_bytes()


def has_page(files: Mapping[str, bytes], entry: str) -> bool:
    """Whether the files hold a page that a preview can show."""
    return any(files.get(path, b"").strip() for path in (entry, PAGE))


def read_title(files: Mapping[str, bytes], entry: str) -> str:
    """Read the title of the page, or its first heading if the title is missing or says nothing; else empty."""
    page = files.get(entry) or files.get(PAGE) or b""
    title, heading, inside, parts = "", "", "", list[str]()
    for token in scan_html(page.decode("utf-8", "replace")[:_MAX_SCANNED]):
        match token:
            case StartTag(name=name) if name == "title" or name in _HEADINGS:
                inside, parts = name, []
            case TextToken(text=text) if inside:
                parts.append(text)
            case EndTag(name=name) if name == inside and inside:
                words = " ".join("".join(parts).split())[:_MAX_TITLE]
                if inside == "title":
                    title = title or words
                else:
                    heading = heading or words
                inside = ""
            case _:
                pass
    return heading if title.lower() in _EMPTY_TITLES else title
