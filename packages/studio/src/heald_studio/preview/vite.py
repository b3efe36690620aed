"""The page of a project for Vite, Next.js or Astro without a bundler: its files are compiled in the browser."""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from html import escape
from importlib import resources
from urllib.parse import quote

from heald.core.lazy import lazy_pattern
from heald.core.markup import start_tags
from heald_studio.cdn.packages import MODULE_FILES, find_file, read_file
from heald_studio.preview.compilers import astro_script, svelte_script
from heald_studio.preview.local_urls import LIBRARY_PATH, is_module_script, localise_urls
from heald_studio.stacks.stack import PreviewKind

PROJECT_ELEMENT = "heald-files"  # the id of the element that holds the project for the loader
LOADER_PATH = "_heald/loader.js"
PACKAGE_PATH = "_heald/packages/"
SCRIPT_PATH = "_heald/"  # below it lie the loader, compilers and packages of a preview
_SCRIPTS = {
    "loader.js": lambda: read_script("loader.js"),
    "next_loader.js": lambda: read_script("next_loader.js"),
    "svelte.js": svelte_script,
    "svelte_loader.js": lambda: read_script("svelte_loader.js"),
    "astro.js": astro_script,
    "astro_loader.js": lambda: read_script("astro_loader.js"),
}
_CODE = (".astro", ".css", ".js", ".json", ".jsx", ".mjs", ".svelte", ".ts", ".tsx")
_RAW = (".csv", ".glsl", ".html", ".md", ".svg", ".txt")
_ENDINGS = ("js", "mjs", "ts")
_TAILWIND = lazy_pattern(r"@import\s+[\"']tailwindcss|@tailwind\b|@apply\b|@theme\b")
_FONTS = lazy_pattern(r"import\s*\{(?P<names>[\w\s,]+)\}\s*from\s*[\"']next/font/google[\"']")
_TOOLS = ("astro", "next", "postcss", "svelte", "vite")
_NOT_MODULES = frozenset(
    [
        *("package.json", "package-lock.json", "tsconfig.json", "components.json", "index.html"),
        *(f"{tool}.config.{ending}" for tool in _TOOLS for ending in _ENDINGS),
    ]
)
_REACT_PACKAGES = ("react", "react/jsx-runtime", "react-dom", "react-dom/client", "scheduler")


def source_page(file: str, route: str, kind: PreviewKind, files: Mapping[str, bytes], base: str) -> str:
    """Build the page of a project whose pages are not HTML documents: the loader renders `file`."""
    head = '<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">'
    script = f'<script type="module" src="/{escape(file)}"></script>'
    fonts = "".join(_font_links(files, base)) if kind == "next" else ""
    page = f'<!doctype html>\n<html lang="en">\n<head>\n{head}\n{fonts}{script}\n</head>\n<body></body>\n</html>\n'
    return vite_page(page, files, base, kind=kind, route=route)


def vite_page(page: str, files: Mapping[str, bytes], base: str, *, kind: PreviewKind = "vite", route: str = "") -> str:
    """Build the page: the project's index.html with the loader and its packages instead of module scripts."""
    module_tags = [tag for tag in start_tags(page) if is_module_script(tag)]
    entries = [tag.attributes["src"] for tag in module_tags]
    if not entries:
        return page
    modules = {path: text for path, text in _decode_files(files, _CODE).items() if path not in _NOT_MODULES}
    addresses = {path: base + path for path in files if not path.endswith(_CODE)}
    uses_svelte = kind == "vite" and any(path.endswith(".svelte") for path in modules)
    uses_react = not uses_svelte and kind != "astro"
    data = {
        "files": {path: localise_urls(text, base) for path, text in modules.items()},
        "texts": _decode_files(files, _RAW) if any("?raw" in text for text in modules.values()) else {},
        "addresses": addresses,
        "entries": entries,
        "packages": sorted(name for name in _package_files() if name != "scheduler") if uses_react else [],
        "base": base,
        "root": "" if kind == "next" else "src",
        "route": route,
    }
    scripts = [f"{base}{LIBRARY_PATH}unpkg.com/@babel/standalone"]
    if any(_TAILWIND.search(text) for path, text in modules.items() if path.endswith(".css")):
        scripts.append(f"{base}{LIBRARY_PATH}unpkg.com/@tailwindcss/browser")
    if uses_react:
        scripts += [f"{base}{PACKAGE_PATH}{name}.js" for name in _needed_packages(modules.values())]
    if kind == "next":
        scripts.append(f"{base}{SCRIPT_PATH}next_loader.js")
    if uses_svelte:
        scripts.append(f"{base}{LIBRARY_PATH}unpkg.com/svelte/compiler/index.js")
        scripts += [f"{base}{SCRIPT_PATH}{name}" for name in ("svelte.js", "svelte_loader.js")]
    if kind == "astro":
        scripts += [f"{base}{SCRIPT_PATH}{name}" for name in ("astro.js", "astro_loader.js")]
    loads = "".join(f'<script src="{escape(address)}"></script>\n' for address in (*scripts, f"{base}{LOADER_PATH}"))
    # Nothing in a script element may look like its end, or like the start of a comment.
    text = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
    loader = f'<script type="application/json" id="{PROJECT_ELEMENT}">{text}</script>\n{loads}'
    first, *others = module_tags
    for tag in reversed(others):
        page = page[: tag.start] + page[tag.close :]
    return page[: first.start] + loader + page[first.close :]


def _font_links(files: Mapping[str, bytes], base: str) -> Iterator[str]:
    """Yield a link for each font of Google that a module imports."""
    sources = "\n".join(_decode_files(files, (".js", ".jsx", ".ts", ".tsx")).values())
    names = [
        name.split()[0] for match in _FONTS.finditer(sources) for name in match["names"].split(",") if name.strip()
    ]
    for name in dict.fromkeys(names):
        query = f"family={quote(name.replace('_', ' '))}"
        yield f'<link rel="stylesheet" href="{base}{LIBRARY_PATH}fonts.googleapis.com/css2?{query}">\n'


def vite_script(path: str) -> bytes | None:
    """Return the loader, or a package for it."""
    script = _SCRIPTS.get(path.removeprefix(SCRIPT_PATH)) if path.startswith(SCRIPT_PATH) else None
    if script is not None:
        return script()
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
