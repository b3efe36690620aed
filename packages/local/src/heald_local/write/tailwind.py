"""Writes a page as HTML with Tailwind utilities."""

import re
from collections.abc import Callable
from html import escape

from heald_local.page import Node, Page, Style
from heald_local.write.html_css import element, html_page
from heald_local.write.icons import ICON_TAGS
from heald_local.write.sheet import FIRM, NOWRAP, ONE_ROW, ROWS, WRAP, YIELDING, is_firm, is_one_line, is_one_row
from heald_local.write.theme import SIZES, read_theme, rename_classes
from heald_pictures.fonts import FONT_STACKS

_WORDS: dict[str, dict[str, str]] = {
    "display": {"flex": "flex", "grid": "grid"},
    "flex-direction": {"column": "flex-col"},
    "flex-wrap": {"wrap": "flex-wrap"},
    "flex": {"none": "flex-none", "0 1 auto": "flex-initial"},
    "margin": {"0": "m-0"},
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
    "margin-inline": {"auto": "mx-auto"},
    "appearance": {"none": "appearance-none"},
    "list-style": {"disc": "list-disc", "decimal": "list-decimal"},
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
_STEPS = frozenset(
    {0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64}
    | {72, 80, 96}
)
"""Tailwind's scale of distances and sizes, in steps of four pixels."""
_VALUES = {"font-size": "text", "line-height": "leading", "letter-spacing": "tracking", "border-radius": "rounded"}
_NAMED = {
    "font-size": SIZES,
    "line-height": {4 * step: f"{step}" for step in range(3, 11)},
    "border-radius": {4: "", 6: "md", 8: "lg", 12: "xl", 16: "2xl", 24: "3xl"},
}
"""The names of Tailwind's scales, by pixels."""
_PLAIN = re.compile(r"#[0-9a-f]{6}")
_COLOURS = {"#ffffff": "white", "#000000": "black"}
_COLUMNS = re.compile(r"repeat\((\d+), minmax\(0, 1fr\)\)")
TAILWIND = '<script src="https://cdn.tailwindcss.com"></script>'
NARROW, MEDIUM = "max-md:", "max-lg:"
_BASE = frozenset({("font", "inherit")})  # in Tailwind's base; repeated, it would undo the size of the text
_OWN = {
    "input": ("placeholder:text-inherit", "placeholder:opacity-100"),
    "textarea": ("placeholder:text-inherit", "placeholder:opacity-100"),
    "table": ("table-fixed", "border-spacing-0", "border-separate"),
    "th": ("p-0", "text-start", "font-normal"),
    "td": ("p-0",),
    "hr": ("border-0",),
    "code": ("[font:inherit]", "[color:inherit]"),
}
"""Utilities that undo Tailwind's base styles of an element."""


def utilities(style: Style) -> list[str]:
    """Return the classes for a style."""
    return [word for name, value in style if (name, value) not in _BASE for word in _words(name, value)]


def classes(node: Node, width: int) -> str:
    """Return the classes of a node, those for narrow screens last. `width` is that of the page."""
    style, narrow = node.style, node.narrow
    extra = list(_OWN.get(node.tag, ()))
    if is_one_line(node):
        style = tuple(entry for entry in style if entry != NOWRAP)
        narrow = tuple(entry for entry in narrow if entry != WRAP)
        extra.append(f"min-[{width}px]:whitespace-nowrap")
    if is_one_row(node):
        style = tuple(ROWS if entry == ONE_ROW else entry for entry in style)
        narrow = tuple(entry for entry in narrow if entry != ROWS)
        extra.append(f"min-[{width}px]:flex-nowrap")
    if is_firm(node):
        style = tuple(entry for entry in style if entry != FIRM)
        narrow = tuple(entry for entry in narrow if entry != YIELDING)
        extra.append(f"min-[{width}px]:shrink-0")
    if node.tag in ("img", "svg") or node.tag in ICON_TAGS:
        extra.append(f"min-[{width}px]:max-w-none")
    if node.tag == "textarea":
        extra.append("leading-[normal]")
    if node.tag == "pre":
        extra += ["overflow-x-auto", "whitespace-pre-wrap", f"min-[{width}px]:whitespace-pre"]
    medium = [MEDIUM + word for word in utilities(node.medium)]
    return " ".join([*utilities(style), *medium, *(NARROW + word for word in utilities(narrow)), *extra])


def class_attributes(page: Page) -> Callable[[Node], str]:
    """Return the function that writes the class attribute of a node."""

    def attribute(node: Node) -> str:
        names = classes(node, page.width)
        return f' class="{escape(names)}"' if names else ""

    return attribute


def page_classes(page: Page) -> str:
    """Return the classes of the element around the page."""
    return " ".join(
        [
            "flex",
            "flex-col",
            "break-words",
            *utilities(page.style),
            f"{MEDIUM}[&_*]:max-w-full",
            f"{MEDIUM}[overflow-wrap:anywhere]",
            f"min-[{page.width}px]:[overflow-wrap:normal]",
        ]
    )


def write_html_tailwind(page: Page) -> dict[str, str | bytes]:
    """Write an `index.html` that loads Tailwind from its CDN."""
    looks = class_attributes(page)
    body = "\n".join(element(node, looks, 1) for node in page.body)
    return name_values(page, html_page(page, [TAILWIND], body, f' class="{escape(page_classes(page))}"'))


def name_values(page: Page, files: dict[str, str | bytes]) -> dict[str, str | bytes]:
    """Name the values that a page uses more than once in its theme, such as `bg-surface` and `text-note`."""
    text = str(files["index.html"])
    theme = read_theme(page, [text])
    if theme.is_empty:
        return files
    return {**files, "index.html": rename_classes(text, theme).replace(TAILWIND, f"{TAILWIND}\n{theme.script}", 1)}


def _words(name: str, value: str) -> list[str]:
    word = _WORDS.get(name, {}).get(value)
    if word is not None:
        return [word]
    if name in _LENGTHS and " " not in value and "(" not in value:
        return [_length(_LENGTHS[name], value)]
    if name in _LENGTHS and value.startswith("max("):
        return [f"{_LENGTHS[name]}-[{value.replace(' ', '_')}]"]
    if name == "font-family" and value in _FAMILIES:
        return [f"font-{_FAMILIES[value]}"]
    if name == "font" and (parts := value.split("px ", 1))[1:] and parts[1] in _FAMILIES:
        return [_named_value("font-size", f"{parts[0]}px"), f"font-{_FAMILIES[parts[1]]}"]
    if name in _VALUES and " " not in value:
        return [_named_value(name, value)]
    if name == "padding" and (padding := _PADDING.fullmatch(value)) is not None:
        return [_length("pt", padding[1]), f"px-[{padding[2].replace(' ', '_')}]", _length("pb", padding[3])]
    if name == "padding" and "(" not in value:
        return _padding(value.split(" "))
    if name == "background" and _PLAIN.fullmatch(value):
        return [_colour("bg", value)]
    if name == "color":
        return [_colour("text", value)]
    if name == "box-shadow":
        return [f"shadow-[{value.replace(' ', '_')}]"]
    if name == "flex" and value.startswith("0 1 ") and "(" not in value:
        return [_length("basis", value[4:])]
    if name == "flex" and "(" not in value:
        return [f"flex-[{value.replace(' ', '_')}]"]
    columns = _COLUMNS.fullmatch(value)
    if columns is not None:
        return [f"grid-cols-{columns[1]}"]
    if name in _SIDES and " solid " in value:
        width, colour = value.split(" solid ")
        side = _SIDES[name]
        return [side + _BORDERS.get(width, f"-[{width}]"), _colour(side if name != "border" else "border", colour)]
    return [f"[{name}:{value.replace(' ', '_')}]"]


_SIDES = {"border": "border", "border-bottom": "border-b", "border-top": "border-t"}
_FAMILIES = {stack: name for name, stack in FONT_STACKS.items()}
_PADDING = re.compile(r"(\S+) (max\(.*\)) (\S+)")
_BORDERS = {"0": "-0", "1px": "", "2px": "-2", "4px": "-4"}


def _named_value(name: str, value: str) -> str:
    """Return a step of one of Tailwind's named scales, else an arbitrary value."""
    pixels = float(value[:-2]) if value.endswith("px") else -1.0
    step = _NAMED.get(name, {}).get(int(pixels)) if pixels.is_integer() else None
    if step is None:
        return f"{_VALUES[name]}-[{value}]"
    return f"{_VALUES[name]}-{step}" if step else _VALUES[name]


def _colour(prefix: str, value: str) -> str:
    return f"{prefix}-{_COLOURS.get(value, f'[{value}]')}"


def _length(prefix: str, value: str) -> str:
    """Return a step of Tailwind's scale if there is one, else an arbitrary value."""
    minus = "-" if value.startswith("-") else ""
    plain = value.lstrip("-")
    if plain == "0":
        return f"{prefix}-0"
    number = float(plain[:-2]) if plain.endswith("px") else 0.0
    if number == 1 and prefix != "max-w":
        return f"{minus}{prefix}-px"
    if number / 4 in _STEPS and prefix != "max-w":
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
