"""Writes a page as React components: one for each part of the page and for each list, in one script or in files."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape

from heald.core.markup import VOID_ELEMENTS
from heald_local.page import Node, Page, walk_nodes
from heald_local.write.html_css import CDN, html_page
from heald_local.write.icons import REACT_ICON, name_icons, write_react_icon
from heald_local.write.repeats import Repeat, Repeats, slot_name
from heald_local.write.sheet import is_inline
from heald_local.write.tailwind import TAILWIND, classes, name_values, page_classes
from heald_local.write.theme import read_theme, rename_classes

_JSX_NAMES = {"for": "htmlFor", "tabindex": "tabIndex", "checked": "defaultChecked", "value": "defaultValue"} | {
    name: re.sub("-(.)", lambda hyphen: hyphen[1].upper(), name)
    for name in (
        *("fill-rule", "fill-opacity", "stroke-width", "stroke-linecap", "stroke-linejoin", "stroke-dasharray"),
        *("text-anchor", "font-family", "font-size", "font-weight", "font-style"),
    )
}
_PARTS = frozenset({"header", "footer", "aside", "section", "form", "nav", "article"})
PUBLIC = "public/"
"""Where a project of Vite keeps files that are served as they are."""
_FEWEST_ELEMENTS = 6  # a group of fewer elements is not a component of its own


@dataclass(frozen=True, slots=True)
class Component:
    """A part of the page: its name, its element, and the lists in it."""

    name: str
    node: Node
    markup: str
    lists: tuple[Repeat, ...]


@dataclass(frozen=True, slots=True)
class MarkupLanguage:
    """How a framework writes the start of an element, without its bracket, and a whole one."""

    opening: Callable[[Node, int], str]
    element: Callable[[Node, int, int, Repeats | None], str]


class ComponentWriter:
    """Splits a page into components, and writes the element that holds them."""

    def __init__(
        self, page: Page, language: MarkupLanguage | None = None, *, reserved_names: Iterable[str] = ()
    ) -> None:
        self._language = language or JSX
        self.icons = name_icons(page, REACT_ICON)
        page = self._page = self.icons.page
        self._repeats = Repeats(lambda node: classes(node, page.width))
        self._repeats.reserve_names(reserved_names)
        self.components: list[Component] = []
        lines = [line for node in page.body for line in self._place(node, 3)]
        self.body = "\n".join(lines)
        self.lists = self._repeats.unused()

    @property
    def all_lists(self) -> list[Repeat]:
        """The lists in the components, and those beside them."""
        return [*(repeat for part in self.components for repeat in part.lists), *self.lists]

    def _place(self, node: Node, depth: int) -> list[str]:
        """Write a component in place of a part; what holds several parts is written around theirs."""
        pad = "  " * depth
        if node.tag == "main" or (node.tag == "div" and any(child.tag == "main" for child in node.children)):
            inside = [line for child in node.children for line in self._place(child, depth + 1)]
            return [f"{pad}{self._language.opening(node, self._page.width)}>", *inside, f"{pad}</{node.tag}>"]
        if node.tag not in _PARTS and len(walk_nodes((node,))) < _FEWEST_ELEMENTS:
            return [self._language.element(node, self._page.width, depth, self._repeats)]
        is_first = node.tag == "section" and not any(component.node.tag == "section" for component in self.components)
        name = self._repeats.name_component(node, "page", is_first)
        markup = self._language.element(node, self._page.width, 2, self._repeats)
        self.components.append(Component(name, node, markup, self._repeats.unused()))
        return [f"{pad}<{name} />"]

    def item(self, repeat: Repeat) -> str:
        """Write the element of a list."""
        return self._language.element(repeat.template, self._page.width, 2, None)


def write_react(page: Page) -> dict[str, str | bytes]:
    """Write a page with components that Babel compiles in the browser."""
    made = ComponentWriter(page)
    declared: list[str] = []
    if made.icons.paths:
        declared += [f"const ICONS = {{\n{made.icons.entries(2)}}};", f"function Icon{write_react_icon()}"]
    for repeat in made.all_lists:
        markup = made.item(repeat)
        declared += [
            f"const {repeat.data} = [\n{repeat.entries(2)}];",
            write_function(repeat.name, markup, repeat.slots),
        ]
    declared += [write_function(component.name, component.markup) for component in made.components]
    declared.append(write_function("App", root_element(page, made.body)))
    scripts = [
        f'<script src="{CDN}/react@18.3.1/umd/react.production.min.js"></script>',
        f'<script src="{CDN}/react-dom@18.3.1/umd/react-dom.production.min.js"></script>',
        f'<script src="{CDN}/@babel/standalone@7/babel.min.js"></script>',
        TAILWIND,
    ]
    code = "\n\n".join(declared)
    inside = f"""<div id="root"></div>
<script type="text/babel">
{code}

ReactDOM.createRoot(document.getElementById("root")).render(<App />);
</script>"""
    return name_values(page, html_page(page, scripts, inside))


def write_react_vite(page: Page) -> dict[str, str | bytes]:
    """Write a project of Vite: each component in a file of `src/components`, the data of lists in `src/data`."""
    made = ComponentWriter(page)
    files: dict[str, str | bytes] = {}
    if made.icons.paths:
        files["src/data/icons.js"] = f"export const ICONS = {{\n{made.icons.entries(2)}}};\n"
        above = 'import { ICONS } from "../data/icons.js";'
        files["src/components/Icon.jsx"] = f"{above}\n\nexport default function Icon{write_react_icon()}\n"
    for part in made.components:
        imports = [*_icon_import(part.markup, "."), *_list_imports(part.lists, ".")]
        files[f"src/components/{part.name}.jsx"] = _module(part.name, part.markup, imports)
    for repeat in made.all_lists:
        markup = made.item(repeat)
        files[f"src/data/{repeat.data}.js"] = f"export const {repeat.data} = [\n{repeat.entries(2)}];\n"
        files[f"src/components/{repeat.name}.jsx"] = _module(
            repeat.name, markup, _icon_import(markup, "."), repeat.slots
        )
    imports = [f'import {part.name} from "./components/{part.name}.jsx";' for part in made.components]
    imports += [*_icon_import(made.body, "./components"), *_list_imports(made.lists, "./components")]
    files["src/App.jsx"] = _module("App", root_element(page, made.body), imports)
    texts = {path: str(text) for path, text in files.items()}
    theme = read_theme(page, texts.values())
    files |= {path: rename_classes(text, theme) for path, text in texts.items()}
    files["src/index.css"] = theme.css
    files |= {f"{PUBLIC}{path}": data for path, data in page.assets}
    files["index.html"] = vite_shell(page, "root", "/src/main.jsx")
    return files


def _icon_import(markup: str, folder: str) -> list[str]:
    return [f'import Icon from "{folder}/Icon.jsx";'] if "<Icon " in markup else []


def _list_imports(lists: Sequence[Repeat], folder: str) -> list[str]:
    data = "../data" if folder == "." else "./data"
    imports = [f'import {repeat.name} from "{folder}/{repeat.name}.jsx";' for repeat in lists]
    return imports + [f'import {{ {repeat.data} }} from "{data}/{repeat.data}.js";' for repeat in lists]


def vite_shell(page: Page, element: str, module: str) -> str:
    """Write the `index.html` of a project for Vite: the module renders into the element of this id."""
    direction = ' dir="rtl"' if page.is_leftward else ""
    return f"""<!doctype html>
<html lang="{page.language}"{direction}>
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>{escape(page.title, quote=False)}</title>
  </head>
  <body>
    <div id="{element}"></div>
    <script type="module" src="{module}"></script>
  </body>
</html>
"""


def root_element(page: Page, body: str) -> str:
    return f"    <div className={_jsx_value(page_classes(page))}>\n{body}\n    </div>"


def write_function(name: str, markup: str, slots: Sequence[str] = ()) -> str:
    parameters = f"{{ {', '.join(slots)} }}" if slots else ""
    return f"function {name}({parameters}) {{\n  return (\n{markup}\n  );\n}}"


def _module(name: str, markup: str, imports: Sequence[str], slots: Sequence[str] = ()) -> str:
    above = "\n".join(imports) + "\n\n" if imports else ""
    return f"{above}export default {write_function(name, markup, slots)}\n"


def _jsx_children(nodes: Sequence[Node], width: int, depth: int, repeats: Repeats | None) -> list[str]:
    """Write siblings; those that differ in content alone become a component with data."""
    if repeats is None:
        return [_jsx(node, width, depth) for node in nodes]
    written: list[str] = []
    for group in repeats.find(nodes):
        if len(group) > 1:
            written.append("  " * depth + repeats.declare(group))
            continue
        written += [_jsx(node, width, depth, repeats) for node in group]
    return written


def _jsx(node: Node, width: int, depth: int, repeats: Repeats | None = None) -> str:
    """Write an element as JSX, with texts as strings where they need escaping."""
    pad = "  " * depth
    if not node.tag:
        return "".join(_jsx_string(line) for line in node.lines)
    opening = f"{pad}{_opening(node, width)}"
    if node.tag in VOID_ELEMENTS or node.tag == REACT_ICON:
        return f"{opening} />"
    words = "<br />".join(jsx_text(line) for line in node.lines)
    if not node.children:
        return f"{opening}>{words}</{node.tag}>"
    if is_inline(node):
        return f"{opening}>{''.join(_jsx(child, width, 0) for child in node.children)}</{node.tag}>"
    inside = "\n".join(_jsx_children(node.children, width, depth + 1, repeats))
    return f"{opening}>{words}\n{inside}\n{pad}</{node.tag}>"


def _opening(node: Node, width: int) -> str:
    """Write the start of an element, without its bracket."""
    names = classes(node, width)
    attributes = f" className={_jsx_value(names)}" if names else ""
    for name, value in node.attributes:
        attributes += f" {_JSX_NAMES.get(name, name)}={_jsx_value(value)}"
    return f"<{node.tag}{attributes}"


JSX = MarkupLanguage(_opening, _jsx)


def _jsx_value(value: str) -> str:
    if name := slot_name(value):
        return f"{{{name}}}"
    return _jsx_string(value) if re.search(r"[\"\\{}<>&]", value) else f'"{value}"'


def jsx_text(text: str) -> str:
    """Write a text between JSX tags."""
    if name := slot_name(text):
        return f"{{{name}}}"
    return _jsx_string(text) if re.search(r"[{}<>&\\]", text) else text


def _jsx_string(text: str) -> str:
    if name := slot_name(text):
        return f"{{{name}}}"
    return "{" + json.dumps(text, ensure_ascii=False).replace("<", "\\u003c") + "}"
