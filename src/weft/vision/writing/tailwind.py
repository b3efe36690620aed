"""CSS as Tailwind's utilities: its scale where a value lies on it, arbitrary values elsewhere."""

import re
from html import escape

from weft.vision.page import Node, Page, Style
from weft.vision.writing.markup import element

_WORDS: dict[tuple[str, str], str] = {
    ("display", "flex"): "flex",
    ("display", "grid"): "grid",
    ("flex-direction", "column"): "flex-col",
    ("flex-wrap", "wrap"): "flex-wrap",
    ("flex", "none"): "flex-none",
    ("align-items", "center"): "items-center",
    ("align-items", "flex-start"): "items-start",
    ("align-items", "start"): "items-start",
    ("align-items", "flex-end"): "items-end",
    ("align-self", "stretch"): "self-stretch",
    ("align-self", "center"): "self-center",
    ("align-self", "flex-start"): "self-start",
    ("align-self", "flex-end"): "self-end",
    ("justify-content", "center"): "justify-center",
    ("justify-content", "flex-end"): "justify-end",
    ("text-align", "center"): "text-center",
    ("text-align", "right"): "text-right",
    ("text-align", "left"): "text-left",
    ("white-space", "nowrap"): "whitespace-nowrap",
    ("white-space", "normal"): "whitespace-normal",
    ("font-style", "italic"): "italic",
    ("font-weight", "700"): "font-bold",
    ("font-weight", "400"): "font-normal",
    ("text-decoration", "underline"): "underline",
    ("max-width", "100%"): "max-w-full",
    ("width", "100%"): "w-full",
    ("min-height", "100vh"): "min-h-screen",
    ("position", "relative"): "relative",
    ("position", "absolute"): "absolute",
    ("margin-left", "auto"): "ml-auto",
    ("appearance", "none"): "appearance-none",
    ("border", "0"): "border-0",
}
_LENGTHS = {
    "margin-top": "mt",
    "margin-left": "ml",
    "margin-right": "mr",
    "padding-left": "pl",
    "padding-right": "pr",
    "padding-bottom": "pb",
    "gap": "gap",
    "width": "w",
    "height": "h",
    "max-width": "max-w",
    "left": "left",
    "top": "top",
}
_VALUES = {"font-size": "text", "line-height": "leading", "letter-spacing": "tracking", "border-radius": "rounded"}
_COLUMNS = re.compile(r"repeat\((\d+), minmax\(0, 1fr\)\)")
NARROW = "max-md:"
_BASE = frozenset({("font", "inherit")})
"""What Tailwind's base says anyhow; said again it would come after the size of the text and undo it."""
_OWN = {
    "img": ("md:max-w-none",),
    "input": ("placeholder:text-inherit", "placeholder:opacity-100"),
    "table": ("table-fixed", "border-spacing-0", "border-separate"),
    "th": ("p-0", "text-left", "font-normal"),
    "td": ("p-0",),
}
"""What an element needs beside its style, since Tailwind's base says otherwise."""


def utilities(style: Style) -> list[str]:
    """The classes that say the same as this style."""
    return [word for name, value in style if (name, value) not in _BASE for word in _words(name, value)]


def classes(node: Node) -> str:
    """The classes of a node, those for narrow screens behind."""
    names = [*utilities(node.style), *(NARROW + word for word in utilities(node.narrow))]
    return " ".join([*names, *_OWN.get(node.tag, ())])


def attribute(node: Node) -> str:
    """The classes as they stand in a start tag."""
    names = classes(node)
    return f' class="{escape(names)}"' if names else ""


def outer(page: Page) -> str:
    """The classes of what holds the whole page."""
    return " ".join(
        ["flex", "flex-col", "[overflow-wrap:anywhere]", *utilities(page.style), f"{NARROW}[&_*]:max-w-full"]
    )


def write_html_tailwind(page: Page) -> dict[str, str | bytes]:
    """`index.html` that loads Tailwind from its CDN."""
    body = "\n".join(element(node, attribute, 1) for node in page.body)
    text = f"""<!DOCTYPE html>
<html lang="{page.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(page.title, quote=False)}</title>
<script src="https://cdn.tailwindcss.com"></script>
</head>
<body class="{escape(outer(page))}">
{body}
</body>
</html>
"""
    return {"index.html": text, **dict(page.assets)}


def _words(name: str, value: str) -> list[str]:
    known = _WORDS.get((name, value))
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
    columns = _COLUMNS.fullmatch(value)
    if columns is not None:
        return [f"grid-cols-{columns[1]}"]
    if name == "border" and " solid " in value:
        width, colour = value.split(" solid ")
        return ["border" if width == "1px" else f"border-[{width}]", f"border-[{colour}]"]
    return [f"[{name}:{value.replace(' ', '_')}]"]


def _length(prefix: str, value: str) -> str:
    """On Tailwind's scale of quarters of a rem if the value lies there."""
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
