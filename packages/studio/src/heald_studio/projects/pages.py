"""The pages of a project: every HTML document among its files, or the page files of Next.js and Astro.

They are listed, added, renamed and deleted here.

A page starts with the frame of another page: its head, header, navigation and footer. A renamed page keeps the links
that lead to it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape, unescape
from posixpath import basename, dirname, join, normpath, relpath, splitext
from typing import Literal
from urllib.parse import urlsplit

import msgspec

from heald.core.errors import HealdError
from heald.core.json import encode_text
from heald.core.lazy import lazy_pattern
from heald.core.markup import EndTag, StartTag, scan_html, start_tags
from heald_studio.export.files import safe_name
from heald_studio.preview.page_title import read_title
from heald_studio.preview.preview import PAGE
from heald_studio.preview.routes import has_routes, is_route_file
from heald_studio.projects.project import SitePage
from heald_studio.projects.route_pages import add_route, delete_route, rename_route
from heald_studio.stacks.stack import Stack

ENDINGS = (".htm", ".html")
_MAX_PAGES = 200
_OTHER_FOLDERS = frozenset({"dist", "node_modules", "public", "src", "vendor"})
_CODE = (".js", ".jsx", ".mjs", ".svelte", ".ts", ".tsx", ".vue")
_DOCUMENT = lazy_pattern(rb"<!doctype\s+html|<html[\s>]", re.IGNORECASE)
_TITLE = lazy_pattern(r"(<title\b[^>]{0,500}>)[^<]{0,2000}(</title>)", re.IGNORECASE)
_MAIN = lazy_pattern(r"(?P<start><main\b[^>]{0,2000}>).*(?P<end></main\s*>)", re.IGNORECASE | re.DOTALL)
_LINK = lazy_pattern(
    r"(?P<item>[ \t]*(?:<li\b[^>]{0,500}>\s*)?)(?P<start><a\b[^>]{0,2000}>)[^<]{0,500}</a>(?P<tail>\s*</li>)?",
    re.IGNORECASE,
)
_HREF = lazy_pattern(r"""\bhref\s*=\s*(?:"[^"]*"|'[^']*')""", re.IGNORECASE)
_CURRENT = lazy_pattern(r"""\s+aria-current(?:\s*=\s*(?:"[^"]*"|'[^']*'))?""", re.IGNORECASE)
_KNOWN_ENDING = lazy_pattern(r"\.(?:html?|png|jpe?g|webp|gif|avif|hei[cf])$", re.IGNORECASE)
_MODULE = """import {{ StrictMode }} from "react";
import {{ createRoot }} from "react-dom/client";

{styles}function Page() {{
  return (
    <main className="min-h-screen p-8">
      <h1 className="text-3xl font-semibold">{{{title}}}</h1>
    </main>
  );
}}

createRoot(document.getElementById("root")).render(
  <StrictMode>
    <Page />
  </StrictMode>,
);
"""
_SVELTE_MODULE = """import {{ mount }} from "svelte";

import {name} from "./{name}.svelte";
{styles}
mount({name}, {{ target: document.getElementById("app") }});
"""
_SVELTE_PAGE = """<main class="min-h-screen p-8">
  <h1 class="text-3xl font-semibold">{{{title}}}</h1>
</main>
"""


class CannotChangePages(HealdError):
    """A page that does not exist, exists already, or cannot be changed."""

    code = "invalid_request"


class PageChange(msgspec.Struct, frozen=True, kw_only=True):
    """A change of the pages: `path` is renamed or deleted; a new one has the frame of `path`."""

    action: Literal["add", "rename", "delete"]
    path: str = ""
    name: str = ""
    """As a person writes it, such as “About us”."""

    @property
    def description(self) -> str:
        """What it changes, for the list of what can be undone."""
        match self.action:
            case "add":
                return f"new page “{self.name}”"
            case "rename":
                return f"rename of {self.path} to “{self.name}”"
            case "delete":
                return f"deletion of {self.path}"


def change_pages(files: Mapping[str, bytes], stack: Stack, change: PageChange) -> dict[str, bytes | None]:
    """Return the files that a change of the pages changes; None deletes a file. Raises CannotChangePages."""
    if has_routes(stack.entry):
        return _change_routes(files, stack.entry, change)
    match change.action:
        case "add":
            return add_page(files, stack, change.name, like=change.path)
        case "rename":
            return rename_page(files, stack, change.path, change.name)
        case "delete":
            return delete_page(files, stack, change.path)


def _change_routes(files: Mapping[str, bytes], entry: str, change: PageChange) -> dict[str, bytes | None]:
    match change.action:
        case "add":
            title = " ".join(_KNOWN_ENDING.sub("", change.name).split())
            return add_route(files, entry, splitext(page_path(change.name))[0], title)
        case "rename":
            return rename_route(files, entry, change.path, splitext(page_path(change.name))[0])
        case "delete":
            return delete_route(files, entry, change.path)


def list_pages(files: Mapping[str, bytes], entry: str) -> list[SitePage]:
    """List the pages, the entry first. A drawing has one."""
    first = entry if entry in files else PAGE
    if has_routes(entry):
        others = sorted(path for path in files if path != first and is_route_file(path, entry))
    else:
        others = sorted(path for path, data in files.items() if path != first and _is_page(path, data))
    paths = [path for path in (first, *others) if path in files][:_MAX_PAGES]
    return [SitePage(path, read_title({path: files[path]}, path)) for path in paths]


def page_path(name: str) -> str:
    """Return the path of a page by the name that a person gave it. Raises CannotChangePages."""
    stem = safe_name(_KNOWN_ENDING.sub("", name.strip()).lower(), "")
    if not stem:
        raise CannotChangePages("A page needs a name of Latin letters or digits, such as “about”.")
    return f"{stem}.html"


def name_pages(names: Sequence[str]) -> list[str]:
    """Return the path of the page for each name, each of them once; the first one is the entry. Empty stays empty."""
    paths: list[str] = []
    for name in names:
        stem = safe_name(_KNOWN_ENDING.sub("", name.strip()).lower(), "page")
        path = f"{stem}.html" if any(paths) else PAGE
        number = 1
        while path in paths:
            number += 1
            path = f"{stem}-{number}.html"
        paths.append(path if name else "")
    return paths


def add_page(files: Mapping[str, bytes], stack: Stack, name: str, *, like: str = "") -> dict[str, bytes | None]:
    """Return the files to change for a new page with the frame of the page `like`, linked from every navigation."""
    path = page_path(name)
    _check_free(files, path)
    model = _find_page(files, stack, like or stack.entry)
    title = " ".join(_KNOWN_ENDING.sub("", name).split())
    linked = {
        page_file: changed.encode()
        for page_file in _pages(files, stack)
        if (text := _text(files[page_file])) != (changed := _add_link(text, page_file, path, title))
    }
    page = _text(linked.get(model, files[model]))
    page = _TITLE.sub(lambda match: f"{match[1]}{escape(title)}{match[2]}", page, count=1)
    new: dict[str, bytes | None] = {}
    if stack.preview == "vite":
        new = _page_modules(files, splitext(path)[0], title)
        for module in new:
            _check_free(files, module)
        page = _replace_module(page, f"/{next(iter(new))}")
    else:
        heading = f"\n    <h1>{escape(title)}</h1>\n  "
        page = _MAIN.sub(lambda match: f"{match['start']}{heading}{match['end']}", page, count=1)
    return {**linked, path: page.encode(), **new}


def rename_page(files: Mapping[str, bytes], stack: Stack, path: str, name: str) -> dict[str, bytes | None]:
    """Return the files to change for a page of another name in the same folder. Links to it are rewritten."""
    _check_own(files, stack, path)
    new = join(dirname(path), page_path(name))
    if new == path:
        raise CannotChangePages(f"The page is called {basename(path)} already; give it another name.")
    _check_free(files, new)
    changed: dict[str, bytes | None] = {path: None, new: files[path]}
    for file, data in files.items():
        target = new if file == path else file
        if file.lower().endswith(ENDINGS):
            text = _rewrite_links(_text(data), file, path, basename(new))
        elif file.lower().endswith(_CODE):
            text = re.sub(rf"""(?<=["'`/]){re.escape(basename(path))}(?=["'`#?])""", basename(new), _text(data))
        else:
            continue
        if text != _text(data):
            changed[target] = text.encode()
    return changed


def delete_page(files: Mapping[str, bytes], stack: Stack, path: str) -> dict[str, bytes | None]:
    """Return the files to change for a project without the page. The links to it in navigations are removed."""
    _check_own(files, stack, path)
    changed: dict[str, bytes | None] = {path: None}
    if stack.preview == "vite":
        changed |= dict.fromkeys(module for module in _page_modules(files, splitext(path)[0], "") if module in files)
    for page_file in _pages(files, stack):
        text = _text(files[page_file])
        if page_file != path and (without := _remove_links(text, page_file, path)) != text:
            changed[page_file] = without.encode()
    return changed


def _page_modules(files: Mapping[str, bytes], stem: str, title: str) -> dict[str, bytes | None]:
    """Return the modules of a page in a project for Vite; the first one is the script that the page loads."""
    styles = 'import "./index.css";\n' if "src/index.css" in files else ""
    if not any(path.endswith(".svelte") for path in files):
        above = f"{styles}\n" if styles else ""
        return {f"src/{stem}.jsx": _MODULE.format(styles=above, title=encode_text(title)).encode()}
    name = "Page" if not stem[0].isalpha() else ""
    name += "".join(word.capitalize() for word in re.split(r"[^A-Za-z0-9]+", stem))
    return {
        f"src/{stem}.js": _SVELTE_MODULE.format(name=name, styles=styles).encode(),
        f"src/{name}.svelte": _SVELTE_PAGE.format(title=encode_text(title)).encode(),
    }


def _is_page(path: str, data: bytes) -> bool:
    if not path.lower().endswith(ENDINGS) or path.split("/")[0] in _OTHER_FOLDERS:
        return False
    return _DOCUMENT.search(data[:2_000]) is not None


def _pages(files: Mapping[str, bytes], stack: Stack) -> list[str]:
    return [page.path for page in list_pages(files, stack.entry) if page.path.lower().endswith(ENDINGS)]


def _find_page(files: Mapping[str, bytes], stack: Stack, path: str) -> str:
    if stack.preview == "svg":
        raise CannotChangePages("A drawing is one file and has no pages; choose another stack for several.")
    if path not in _pages(files, stack):
        raise CannotChangePages(
            f"The project has no page {path[:80]}; its pages are {', '.join(_pages(files, stack))}."
        )
    return path


def _check_own(files: Mapping[str, bytes], stack: Stack, path: str) -> None:
    """Raise CannotChangePages unless the path is a page that may be renamed and deleted."""
    if _find_page(files, stack, path) == (stack.entry if stack.entry in files else PAGE):
        raise CannotChangePages(f"{path} is the first page, which every project has; change what it shows instead.")


def _check_free(files: Mapping[str, bytes], path: str) -> None:
    used_paths = {file.lower() for file in files}
    if path.lower() in used_paths:
        raise CannotChangePages(f"The project has {path} already; choose another name.")


def _add_link(page: str, at: str, path: str, title: str) -> str:
    """Add a link behind the last one of the first navigation, written like it, unless the page has one already."""
    span = _navigation(page)
    links = list(_LINK.finditer(page, *span)) if span is not None else []
    if not links or any(_leads_to(address, at, path) for _, _, address in _addresses(page)):
        return page
    last = links[-1]
    start = _CURRENT.sub("", last["start"])
    href = f'href="{escape(relpath(path, dirname(at) or "."))}"'
    start = _HREF.sub(lambda _: href, start, count=1) if _HREF.search(start) else start[:-1] + f" {href}>"
    link = f"{last['item']}{start}{escape(title)}</a>{last['tail'] or ''}"
    space = "" if last["item"].startswith((" ", "\t")) else " "
    gap = "\n" if page[: last.start()].endswith("\n") else space
    return f"{page[: last.end()]}{gap}{link}{page[last.end() :]}"


def _remove_links(page: str, at: str, path: str) -> str:
    span = _navigation(page)
    for link in reversed(list(_LINK.finditer(page, *span)) if span is not None else []):
        tag = next(start_tags(link["start"]), None)
        if tag is not None and _leads_to(tag.attributes.get("href") or "", at, path):
            page = page[: link.start()] + page[link.end() :].removeprefix("\n")
    return page


def _navigation(page: str) -> tuple[int, int] | None:
    """Find where the first navigation of a page begins and ends."""
    start = -1
    for token in scan_html(page):
        match token:
            case StartTag(name="nav") if start < 0:
                start = token.end
            case EndTag(name="nav") if start >= 0:
                return start, token.start
            case _:
                pass
    return None


def _rewrite_links(page: str, at: str, path: str, new: str) -> str:
    """Rewrite the links of the page `at` that lead to `path` to its new name."""
    out: list[str] = []
    done = 0
    for start, end, address in _addresses(page):
        if _leads_to(address, at, path):
            named = basename(path) if basename(path) in address else splitext(basename(path))[0]
            before, _, rest = address.partition(named)
            out += [page[done:start], f'href="{escape(f"{before}{new}{rest}")}"']
            done = end
    return "".join([*out, page[done:]])


def _addresses(page: str) -> Iterator[tuple[int, int, str]]:
    for tag in start_tags(page):
        for key, start, end in tag.spans:
            if key == "href" and tag.name in ("a", "area"):
                yield start, end, unescape(tag.attributes.get("href") or "")


def _leads_to(address: str, at: str, path: str) -> bool:
    """Whether an address in the page `at` is that of the page `path`."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    if parts.scheme or parts.netloc or not parts.path:
        return False
    target = parts.path.lstrip("/") if parts.path.startswith("/") else join(dirname(at), parts.path)
    return normpath(target) in (path, splitext(path)[0])


def _replace_module(page: str, address: str) -> str:
    for tag in start_tags(page):
        if tag.name == "script" and tag.attributes.get("type") == "module" and tag.attributes.get("src"):
            start, end = next((start, end) for key, start, end in tag.spans if key == "src")
            return f'{page[:start]}src="{address}"{page[end:]}'
    return page


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "replace")
