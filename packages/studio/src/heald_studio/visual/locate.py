"""Finds the source of a rendered element: the map from a preview back to the files of its project.

A preview marks the elements that a script makes with the place that they are written at:

- `src/App.jsx:18:5`: file, line and column of an element in JSX or in a `.vue`, `.svelte` or `.astro` file.
- `index.html#0:18:5`: the same in a script for Babel inside a page, counted from the start of that script.
- `@body > div:nth-of-type(1) > p:nth-of-type(2)`: the selector in the page as it was loaded, for a template in it.
- `~120`: the position in the template of a Vue component; the template itself is sent too.

An element without a mark is written in the page itself; its selector says where.
"""

from collections.abc import Mapping

import msgspec

from heald.core.lazy import lazy_pattern
from heald.core.markup import start_tags
from heald_studio.visual.cannot_edit import CannotEdit
from heald_studio.visual.html_tree import parse_html
from heald_studio.visual.jsx_tree import parse_jsx
from heald_studio.visual.markup_element import MarkupElement

_STEP = lazy_pattern(r"(?P<name>[a-z][\w-]*)(?::nth-of-type\((?P<number>\d{1,5})\))?")
_PLACE = lazy_pattern(r"(?P<file>[^:#]+)(?:#(?P<script>\d{1,4}))?:(?P<line>\d{1,7})(?::(?P<column>\d{1,7}))?")
_JSX_FILES = (".jsx", ".tsx", ".js", ".ts", ".mjs")
_PAGES = (".html", ".htm", ".svg")
_TEMPLATE_FILES = (*_PAGES, ".js", ".ts", ".mjs", ".vue")
_BRACES = (".svelte", ".astro")  # files of markup in which braces hold expressions
_MOST_STEPS = 200


class RenderedElement(msgspec.Struct, frozen=True, kw_only=True):
    """An element as a preview names it."""

    path: str
    """Its selector, from the page down."""
    source: str = ""
    """The mark of the preview; empty if it has none."""
    template: str = ""
    """The template that a mark `~120` counts in."""


class Located(msgspec.Struct, frozen=True):
    """An element in a file of the project."""

    file: str
    source: str
    element: MarkupElement


class SourceTrees:
    """The files of a project as trees, each parsed once."""

    def __init__(self, files: Mapping[str, bytes], page: str) -> None:
        self._files = files
        self._page = page
        self._texts: dict[str, str] = {}
        self._trees: dict[tuple[str, int, int], MarkupElement] = {}

    def text(self, file: str) -> str:
        if file not in self._texts:
            self._texts[file] = self._files.get(file, b"").decode("utf-8", "replace")
        return self._texts[file]

    def locate(self, rendered: RenderedElement) -> Located | None:
        """Return the source of a rendered element; None if no file has it."""
        mark = rendered.source
        if mark.startswith("@"):
            return self._in_page(mark[1:])
        if mark.startswith("~"):
            return self._in_template(rendered.template, mark[1:])
        if mark:
            place = _PLACE.fullmatch(mark)
            if place is None or place["file"] not in self._files:
                return None
            column = int(place["column"]) if place["column"] is not None else None
            return self._at(place["file"], place["script"], int(place["line"]), column)
        return self._in_page(rendered.path)

    def _tree(self, file: str, kind: str, start: int = 0, end: int | None = None) -> MarkupElement:
        text = self.text(file)
        stop = len(text) if end is None else end
        key = (f"{kind}:{file}", start, stop)
        if key not in self._trees:
            if kind == "jsx":
                self._trees[key] = parse_jsx(text, start, stop)
            else:
                syntax = "vue" if kind == "vue" else "braces" if kind == "braces" else "html"
                self._trees[key] = parse_html(text, start, stop, syntax)
        return self._trees[key]

    def _in_page(self, path: str) -> Located | None:
        if self._page not in self._files or not self._page.endswith(_PAGES):
            return None
        element = find_by_path(self._tree(self._page, "html"), path)
        return None if element is None or not element.name else Located(self._page, self.text(self._page), element)

    def _at(self, file: str, script: str | None, line: int, column: int | None) -> Located | None:
        """Return the element that begins at a line and column, or the only one that begins in the line."""
        text = self.text(file)
        start, stop = 0, len(text)
        if script is not None:
            scripts = [tag.content for tag in start_tags(text) if _is_inline_babel(tag.name, tag.attributes)]
            content = scripts[int(script)] if int(script) < len(scripts) else None
            if content is None:
                return None
            start, stop = content
            tree = self._tree(file, "jsx", start, stop)
        elif file.endswith(_JSX_FILES):
            tree = self._tree(file, "jsx")
        else:
            tree = self._tree(file, "braces" if file.endswith(_BRACES) else "vue")
        line_start = _line_start(text, start, line)
        if line_start < 0:
            return None
        line_end = text.find("\n", line_start)
        line_end = len(text) if line_end < 0 else line_end
        beginning = [part for part in tree.walk() if part.name and line_start <= part.start <= line_end]
        exact = [part for part in beginning if column is not None and part.start == line_start + column]
        candidates = exact or (beginning if column is None else [])
        return Located(file, text, candidates[0]) if len(candidates) == 1 else None

    def _in_template(self, template: str, position: str) -> Located | None:
        """Return the element at a position of a template, whose text one file of the project has once."""
        if not position.isdecimal() or not template.strip():
            return None
        files = [file for file in self._files if file.endswith(_TEMPLATE_FILES) and template in self.text(file)]
        if len(files) != 1 or self.text(files[0]).count(template) != 1:
            return None
        start = self.text(files[0]).index(template)
        tree = self._tree(files[0], "vue", start, start + len(template))
        element = next((part for part in tree.walk() if part.name and part.start == start + int(position)), None)
        return None if element is None else Located(files[0], self.text(files[0]), element)


def find_by_path(root: MarkupElement, path: str) -> MarkupElement | None:
    """Find the element of a selector from the page down."""
    steps = [_STEP.fullmatch(step.strip()) for step in path.split(">")[:_MOST_STEPS]]
    here = root
    if steps and steps[0] is not None and steps[0]["name"] == "body":
        steps = steps[1:]
        outer = {element.name: element for element in root.walk() if element.name in ("html", "body")}
        here = outer.get("body") or outer.get("html") or root
    for step in steps:
        if step is None:
            return None
        alike = [element for element in here.children if element.name == step["name"]]
        if not alike and step["name"] == "tbody" and here.name == "table":
            continue  # browsers add it
        number = int(step["number"] or 1)
        if number > len(alike) or (not step["number"] and len(alike) != 1):
            return None
        here = alike[number - 1]
    return here


def element_name(path: str) -> str:
    """Return the tag name at the end of a selector; empty if it is not one."""
    step = _STEP.fullmatch(path.rpartition(">")[2].strip())
    return step["name"] if step is not None else ""


def require(trees: SourceTrees, rendered: RenderedElement) -> Located:
    """Return the source of a rendered element. Raises CannotEdit if no file has it."""
    located = trees.locate(rendered)
    if located is None:
        raise CannotEdit(
            "A script makes this element, so its look cannot be changed here; describe the change in words."
        )
    return located


def _is_inline_babel(name: str, attributes: Mapping[str, str | None]) -> bool:
    return name == "script" and attributes.get("type") in ("text/babel", "text/jsx") and "src" not in attributes


def _line_start(text: str, start: int, line: int) -> int:
    """Return where a line begins, the first one being 1; -1 if there are fewer."""
    for _ in range(line - 1):
        start = text.find("\n", start) + 1
        if start == 0:
            return -1
    return start
