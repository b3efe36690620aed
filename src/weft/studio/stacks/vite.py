"""A Vite project as a page that needs no node: its modules go into the page, and a small loader runs them there."""

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from html import escape
from importlib import resources

from weft.studio.libraries.modules import FILES as PACKAGE_FILES
from weft.studio.libraries.packages import content, find
from weft.studio.stacks.references import LIBRARIES, localised
from weft.studio.stacks.tags import Tag, tags

FILES = "weft-files"
"""The id of the element that holds the project for the loader."""
LOADER = "_weft/loader.js"
PACKAGES = "_weft/packages/"

_CODE = (".css", ".js", ".json", ".jsx", ".mjs", ".ts", ".tsx")
_RAW = (".csv", ".glsl", ".html", ".md", ".svg", ".txt")
_TAILWIND = re.compile(r"@import\s+[\"']tailwindcss|@tailwind\b|@apply\b|@theme\b")
_APART = ("package.json", "package-lock.json", "vite.config.js", "vite.config.ts", "index.html")
_ALWAYS = ("react", "react/jsx-runtime", "react-dom", "react-dom/client", "scheduler")


def vite_page(page: str, files: Mapping[str, bytes], base: str) -> str:
    """The project's index.html with its module scripts replaced by the loader and what it needs."""
    own = [tag for tag in tags(page) if _is_module(tag)]
    entries = [tag.attributes["src"] for tag in own]
    if not entries:
        return page
    modules = {path: text for path, text in _texts(files, _CODE).items() if path not in _APART}
    addresses = {path: base + path for path in files if not path.endswith(_CODE)}
    data = {
        "files": {path: localised(text, base) for path, text in modules.items()},
        "texts": _texts(files, _RAW) if any("?raw" in text for text in modules.values()) else {},
        "addresses": addresses,
        "entries": entries,
        "packages": sorted(name for name in _names() if name != "scheduler"),
    }
    scripts = [f"{base}{LIBRARIES}unpkg.com/@babel/standalone"]
    if any(_TAILWIND.search(text) for path, text in modules.items() if path.endswith(".css")):
        scripts.append(f"{base}{LIBRARIES}unpkg.com/@tailwindcss/browser")
    scripts += [f"{base}{PACKAGES}{name}.js" for name in _wanted(modules.values())]
    loads = "".join(f'<script src="{escape(each)}"></script>\n' for each in (*scripts, f"{base}{LOADER}"))
    # Nothing in a script element may look like its end, or like the start of a comment.
    text = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
    loader = f'<script type="application/json" id="{FILES}">{text}</script>\n{loads}'
    first, *others = own
    for tag in reversed(others):
        page = page[: tag.start] + page[tag.close :]
    return page[: first.start] + loader + page[first.close :]


def _is_module(tag: Tag) -> bool:
    """Whether it is a script that begins with a module of the project."""
    source = tag.attributes.get("src") or ""
    local = not source.startswith(("http://", "https://", "//", "data:"))
    return tag.name == "script" and tag.attributes.get("type") == "module" and bool(source) and local and tag.close > 0


def vite_script(path: str) -> bytes | None:
    """The loader, or a package in the form that the loader takes."""
    if path == LOADER:
        return _loader()
    if not path.startswith(PACKAGES) or not path.endswith(".js"):
        return None
    return _package(path[len(PACKAGES) : -len(".js")])


@cache
def _loader() -> bytes:
    return (resources.files("weft.studio.stacks") / "loader.js").read_bytes()


@cache
def _package(name: str) -> bytes | None:
    package, file = _names().get(name, ("", ""))
    found = find(package, file) if package else None
    if found is None:
        return None
    start = f"(window.weftPackages??={{}})[{json.dumps(name)}]=function(module,exports,require){{"
    return start.encode() + content(*found) + b"\n};\n"


@cache
def _names() -> dict[str, tuple[str, str]]:
    return {f"{name}/{path}".rstrip("/"): (name, file) for (name, path), file in PACKAGE_FILES.items()}


def _wanted(modules: Iterable[str]) -> list[str]:
    """React, and each other package that a module names."""
    text = "\n".join(modules)
    named = [name for name in _names() if name not in _ALWAYS and re.search(rf"""["']{re.escape(name)}["']""", text)]
    return [*_ALWAYS, *named]


def _texts(files: Mapping[str, bytes], endings: tuple[str, ...]) -> dict[str, str]:
    return {path: data.decode("utf-8", "replace") for path, data in files.items() if path.endswith(endings)}
