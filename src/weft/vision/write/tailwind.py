"""Writes a page as HTML with Tailwind utilities."""

import re
from collections.abc import Callable
from html import escape

from weft.vision.elements import Node, Page, Style
from weft.vision.write.html_css import element, html_page
from weft.vision.write.sheet import NOWRAP, WRAP, is_one_line

_WORDS: dict[str, dict[str, str]] = {
    "display": {"flex": "flex", "grid": "grid"},
    "flex-direction": {"column": "flex-col"},
    "flex-wrap": {"wrap": "flex-wrap"},
    "flex": {"none": "flex-none"},
    "justify-content": {"center": "justify-center", "flex-end": "justify-end"},
    "text-align": {"center": "text-center", "right": "text-right", "left": "text-left", "start": "text-start"},
    "white-space": {"nowrap": "whitespace-nowrap", "normal": "whitespace-normal"},
    "font-style": {"italic": "italic"},
    "font-weight": {"700": "font-bold", "400": "font-normal"},
    "text-decoration": {"underline": "underline"},
    "max-width": {"100%": "max-w-full"},
    "min-width": {"0": "min-w-0"},
    "width": {"100%": "w-full"},
    "min-height": {"100vh": "min-h-screen"},
    "position": {"relative": "relative", "absolute": "absolute"},
    "margin-left": {"auto": "ml-auto"},
    "margin-right": {"auto": "mr-auto"},
    "appearance": {"none": "appearance-none"},
    "border": {"0": "border-0"},
    "align-items": {"center": "items-center", "flex-start": "items-start", "start": "items-start"},
    "align-self": {"stretch": "self-stretch", "center": "self-center", "flex-start": "self-start"},
}
_WORDS["align-items"]["flex-end"], _WORDS["align-self"]["flex-end"] = "items-end", "self-end"
_LENGTHS = (
    {"margin-top": "mt", "margin-left": "ml", "margin-right": "mr", "width": "w", "max-width": "max-w"}
    | {"padding-left": "pl", "padding-right": "pr", "padding-bottom": "pb", "height": "h"}
    | {"gap": "gap", "left": "left", "top": "top"}
)
_VALUES = {"font-size": "text", "line-height": "leading", "letter-spacing": "tracking", "border-radius": "rounded"}
_COLUMNS = re.compile(r"repeat\((\d+), minmax\(0, 1fr\)\)")
TAILWIND = '<script src="https://cdn.tailwindcss.com"></script>'
NARROW = "max-md:"
_BASE = frozenset({("font", "inherit")})  # in Tailwind's base; repeated, it would undo the size of the text
_OWN = {
    "input": ("placeholder:text-inherit", "placeholder:opacity-100"),
    "textarea": ("placeholder:text-inherit", "placeholder:opacity-100"),
    "table": ("table-fixed", "border-spacing-0", "border-separate"),
    "th": ("p-0", "text-start", "font-normal"),
    "td": ("p-0",),
}
"""Utilities that undo Tailwind's base styles of an element."""


def utilities(style: Style) -> list[str]:
    """Return the classes for a style."""
    return [word for name, value in style if (name, value) not in _BASE for word in _words(name, value)]


def classes(node: Node, width: int) -> str:
    """Return the classes of a node, those for narrow screens last. `width` is that of the page."""
    style, narrow = node.style, node.narrow
    own = list(_OWN.get(node.tag, ()))
    if is_one_line(node):
        style = tuple(entry for entry in style if entry != NOWRAP)
        narrow = tuple(entry for entry in narrow if entry != WRAP)
        own.append(f"min-[{width}px]:whitespace-nowrap")
    if node.tag in ("img", "svg"):
        own.append(f"min-[{width}px]:max-w-none")
    return " ".join([*utilities(style), *(NARROW + word for word in utilities(narrow)), *own])


def class_attributes(page: Page) -> Callable[[Node], str]:
    """Return the function that writes the class attribute of a node."""

    def attribute(node: Node) -> str:
        names = classes(node, page.width)
        return f' class="{escape(names)}"' if names else ""

    return attribute


def page_classes(page: Page) -> str:
    """Return the classes of the element around the page."""
    return " ".join(["flex", "flex-col", "break-words", *utilities(page.style), f"{NARROW}[&_*]:max-w-full"])


def write_html_tailwind(page: Page) -> dict[str, str | bytes]:
    """Write an `index.html` that loads Tailwind from its CDN."""
    looks = class_attributes(page)
    body = "\n".join(element(node, looks, 1) for node in page.body)
    return html_page(page, [TAILWIND], body, f' class="{escape(page_classes(page))}"')


def _words(name: str, value: str) -> list[str]:
    known = _WORDS.get(name, {}).get(value)
    if known is not None:
        return [known]
    if name in _LENGTHS and " " not in value and "(" not in value:
        return [_length(_LENGTHS[name], value)]
    if name in _VALUES and " " not in value:
        return [f"{_VALUES[name]}-[{value}]"]
    if name == "padding" and "(" not in value:
        return _padding(value.split(" "))
    if name == "background" and value.startswith("#"):
        return [f"bg-[{value}]"]
    if name == "color":
        return [f"text-[{value}]"]
    if name == "box-shadow":
        return [f"shadow-[{value.replace(' ', '_')}]"]
    if name == "flex" and "(" not in value:
        return [f"flex-[{value.replace(' ', '_')}]"]
    columns = _COLUMNS.fullmatch(value)
    if columns is not None:
        return [f"grid-cols-{columns[1]}"]
    if name == "border" and " solid " in value:
        width, colour = value.split(" solid ")
        return ["border" if width == "1px" else f"border-[{width}]", f"border-[{colour}]"]
    return [f"[{name}:{value.replace(' ', '_')}]"]


def _length(prefix: str, value: str) -> str:
    """Return a step of Tailwind's scale if there is one, else an arbitrary value."""
    minus = "-" if value.startswith("-") else ""
    plain = value.lstrip("-")
    if plain == "0":
        return f"{prefix}-0"
    number = float(plain[:-2]) if plain.endswith("px") else 0.0
    if number and number % 4 == 0 and number <= 48 and prefix != "max-w":
        return f"{minus}{prefix}-{number / 4:g}"
    return f"{minus}{prefix}-[{plain}]"


def _padding(sides: list[str]) -> list[str]:
    match sides:
        case [every]:
            return [_length("p", every)]
        case [across, along]:
            return [_length("py", across), _length("px", along)]
        case [top, along, bottom]:
            return [_length("pt", top), _length("px", along), _length("pb", bottom)]
        case _:
            return [_length(name, side) for name, side in zip(("pt", "pr", "pb", "pl"), sides, strict=False)]
