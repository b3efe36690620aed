"""The page of a Vite project without a bundler: its files are compiled in the browser."""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from html import escape
from importlib import resources

from heald.core.lazy import lazy_pattern
from heald.core.markup import start_tags
from heald_studio.cdn.packages import MODULE_FILES, find_file, read_file
from heald_studio.preview.local_urls import LIBRARY_PATH, is_module_script, localise_urls

PROJECT_ELEMENT = "heald-files"  # the id of the element that holds the project for the loader
LOADER_PATH = "_heald/loader.js"
PACKAGE_PATH = "_heald/packages/"
_CODE = (".css", ".js", ".json", ".jsx", ".mjs", ".ts", ".tsx")
_RAW = (".csv", ".glsl", ".html", ".md", ".svg", ".txt")
_TAILWIND = lazy_pattern(r"@import\s+[\"']tailwindcss|@tailwind\b|@apply\b|@theme\b")
_NOT_MODULES = ("package.json", "package-lock.json", "vite.config.js", "vite.config.ts", "index.html")
_REACT_PACKAGES = ("react", "react/jsx-runtime", "react-dom", "react-dom/client", "scheduler")


def vite_page(page: str, files: Mapping[str, bytes], base: str) -> str:
    """Build the page: the project's index.html with the loader and its packages instead of module scripts."""
    module_tags = [tag for tag in start_tags(page) if is_module_script(tag)]
    entries = [tag.attributes["src"] for tag in module_tags]
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
    loads = "".join(f'<script src="{escape(address)}"></script>\n' for address in (*scripts, f"{base}{LOADER_PATH}"))
    # Nothing in a script element may look like its end, or like the start of a comment.
    text = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
    loader = f'<script type="application/json" id="{PROJECT_ELEMENT}">{text}</script>\n{loads}'
    first, *others = module_tags
    for tag in reversed(others):
        page = page[: tag.start] + page[tag.close :]
    return page[: first.start] + loader + page[first.close :]


def vite_script(path: str) -> bytes | None:
    """Return the loader, or a package for it."""
    if path == LOADER_PATH:
        return read_script("loader.js")
    if not path.startswith(PACKAGE_PATH) or not path.endswith(".js"):
        return None
    name = path[len(PACKAGE_PATH) : -len(".js")]
    return _package(name) if name in _package_files() else None


@cache  # of known names alone: a page may ask for any
def _package(name: str) -> bytes | None:
    file_of_package = find_file(*_package_files()[name])
    if file_of_package is None:
        return None
    start = f"(window.healdPackages??={{}})[{json.dumps(name)}]=function(module,exports,require){{"
    return start.encode() + read_file(*file_of_package) + b"\n};\n"


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


@cache
def read_script(name: str) -> bytes:
    """Read a script of previews."""
    return (resources.files("heald_studio.preview") / name).read_bytes()
