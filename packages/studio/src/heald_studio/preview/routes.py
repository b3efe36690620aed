"""The pages of a project for Next.js or Astro. They are not HTML documents: the place of a file is its address.

The entry of the stack says which of both it is: `app/page.tsx` or `src/pages/index.astro`.
"""

from collections.abc import Iterable
from posixpath import basename, dirname, splitext

_PAGE = "page"
_NEXT_ENDINGS = (".tsx", ".jsx", ".ts", ".js")
_ASTRO = ".astro"
_INDEX = "index"


def has_routes(entry: str) -> bool:
    """Whether the pages of a stack with this entry are source files."""
    return entry.endswith(_ASTRO) or _is_next_page(entry)


def is_route_file(path: str, entry: str) -> bool:
    """Whether a file is a page. One whose address has parameters is not, because it has no single page."""
    folder = dirname(entry)
    if not path.startswith(f"{folder}/"):
        return False
    names = path[len(folder) + 1 :].split("/")
    if any(name.startswith(("_", "@", "[")) for name in names):
        return False
    return path.endswith(_ASTRO) if entry.endswith(_ASTRO) else _is_next_page(path)


def route_of(path: str, entry: str) -> str:
    """Return the address of a page file, without a slash at its start: `about` for `app/about/page.tsx`."""
    inside = splitext(path[len(dirname(entry)) + 1 :])[0]
    names = inside.split("/")
    if names[-1] == (_INDEX if entry.endswith(_ASTRO) else _PAGE):
        names.pop()
    return "/".join(name for name in names if not (name.startswith("(") and name.endswith(")")))


def find_route_file(paths: Iterable[str], entry: str, address: str) -> str | None:
    """Find the page file that a path of a preview names: by its own path or by its address."""
    pages = [path for path in paths if is_route_file(path, entry)]
    if address in pages:
        return address
    route = address.removesuffix(".html").strip("/")
    route = "" if route == _INDEX else route.removesuffix(f"/{_INDEX}")
    return next((path for path in pages if route_of(path, entry) == route), None)


def _is_next_page(path: str) -> bool:
    stem, ending = splitext(basename(path))
    return stem == _PAGE and ending in _NEXT_ENDINGS
