"""Adds, renames and deletes the pages of a project for Next.js or Astro, whose pages are source files."""

import re
from collections.abc import Mapping
from posixpath import dirname

from heald.core.errors import HealdError
from heald.core.json import encode_text
from heald_studio.preview.routes import find_route_file, is_route_file, route_of

_CODE = (".astro", ".js", ".jsx", ".mjs", ".ts", ".tsx")
_LAYOUT = "src/layouts/Layout.astro"
_NEXT_PAGE = """export default function Page() {{
  return (
    <main className="min-h-screen p-8">
      <h1 className="text-3xl font-semibold">{{{title}}}</h1>
    </main>
  );
}}
"""
_ASTRO_PAGE = """---
import Layout from "@/layouts/Layout.astro";
---

<Layout title={{{title}}}>
  <main class="min-h-screen p-8">
    <h1 class="text-3xl font-semibold">{{{title}}}</h1>
  </main>
</Layout>
"""
_ASTRO_DOCUMENT = """<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>{{{title}}}</title>
  </head>
  <body>
    <h1>{{{title}}}</h1>
  </body>
</html>
"""


class CannotChangeRoutes(HealdError):
    """A page that does not exist, exists already, or cannot be changed."""

    code = "invalid_request"


def add_route(files: Mapping[str, bytes], entry: str, route: str, title: str) -> dict[str, bytes | None]:
    """Return the file of a new page. No other page links to it yet."""
    path = _route_path(files, entry, route)
    template = _ASTRO_PAGE if _LAYOUT in files else _ASTRO_DOCUMENT
    template = template if path.endswith(".astro") else _NEXT_PAGE
    return {path: template.format(title=encode_text(title)).encode()}


def rename_route(files: Mapping[str, bytes], entry: str, path: str, route: str) -> dict[str, bytes | None]:
    """Return the files to change for a page at another address. Links to it are rewritten."""
    _check_route(files, entry, path)
    new = _route_path(files, entry, route)
    changed: dict[str, bytes | None] = {path: None, new: files[path]}
    link = re.compile(rf"""(?<=["'`])/{re.escape(route_of(path, entry))}(?=["'`#?])""")
    for file, data in files.items():
        if file.lower().endswith(_CODE):
            text = data.decode("utf-8", "replace")
            if (linked := link.sub(f"/{route}", text)) != text:
                changed[new if file == path else file] = linked.encode()
    return changed


def delete_route(files: Mapping[str, bytes], entry: str, path: str) -> dict[str, bytes | None]:
    """Return the files to change for a project without the page."""
    _check_route(files, entry, path)
    return {path: None}


def _route_path(files: Mapping[str, bytes], entry: str, route: str) -> str:
    """Return the path of a page that is not there yet."""
    taken = find_route_file(files, entry, route)
    if taken is not None:
        raise CannotChangeRoutes(f"The project has the page /{route} already; choose another name.")
    folder = dirname(entry)
    return f"{folder}/{route}.astro" if entry.endswith(".astro") else f"{folder}/{route}/page.tsx"


def _check_route(files: Mapping[str, bytes], entry: str, path: str) -> None:
    if path not in files or not is_route_file(path, entry):
        pages = ", ".join(file for file in sorted(files) if is_route_file(file, entry))
        raise CannotChangeRoutes(f"The project has no page {path[:80]}; its pages are {pages}.")
    if path == entry:
        raise CannotChangeRoutes(f"{path} is the first page, which every project has; change what it shows instead.")
