"""A style sheet from the styles of nodes: one class for each different style, named after what it is for."""

import re
from collections import Counter
from dataclasses import dataclass

from weft.vision.page import Node, Page, Style, walk

BREAK = 720
"""Screens up to this width are narrow."""
_BASE = (
    "h1, h2, h3, p, ul, figure, dl, dd { margin: 0; padding: 0; }",
    "ul { list-style: none; }",
    "a { color: inherit; text-decoration: none; }",
    "img { display: block; }",
    "button, input { margin: 0; }",
    "input::placeholder { color: inherit; opacity: 1; }",
)
_COLOUR = re.compile(r"#[0-9a-f]{6}\b")


@dataclass(frozen=True, slots=True)
class StyleSheet:
    css: str
    classes: dict[tuple[str, Style, Style], str]

    def attribute(self, node: Node) -> str:
        name = self.classes.get(_key(node), "")
        return f' class="{name}"' if name else ""


def _key(node: Node) -> tuple[str, Style, Style]:
    return node.name, node.style, node.narrow


def stylesheet(page: Page) -> StyleSheet:
    """Classes for all nodes of the page."""
    nodes = [node for node in walk(page.body) if node.style or node.narrow]
    classes: dict[tuple[str, Style, Style], str] = {}
    used: Counter[str] = Counter()
    for node in nodes:
        key = _key(node)
        if key in classes:
            continue
        stem = node.name or node.tag
        used[stem] += 1
        classes[key] = stem if used[stem] == 1 else f"{stem}-{used[stem]}"
    colours = _palette(page, classes)
    rules = [_root(colours), "*, *::before, *::after { box-sizing: border-box; }"]
    rules.append(_rule("body", page.style, colours, "display: flex; flex-direction: column; overflow-wrap: anywhere;"))
    rules += list(_BASE)
    rules += [_rule(f".{name}", style, colours) for (_, style, _), name in classes.items() if style]
    slim = ["  " + _rule(f".{name}", narrow, colours) for (_, _, narrow), name in classes.items() if narrow]
    if slim and page.width > BREAK:
        head = [f"@media (max-width: {BREAK}px) {{", "  body * { max-width: 100%; }"]
        rules.append("\n".join([*head, *slim, "}"]))
    return StyleSheet("\n".join(rule for rule in rules if rule), classes)


def _rule(name: str, style: Style, colours: dict[str, str], extra: str = "") -> str:
    inside = " ".join(f"{prop}: {_named(value, colours)};" for prop, value in style)
    return f"{name} {{ {inside}{' ' + extra if extra else ''} }}"


def _named(value: str, colours: dict[str, str]) -> str:
    return _COLOUR.sub(lambda found: colours.get(found[0], found[0]), value)


def _palette(page: Page, classes: dict[tuple[str, Style, Style], str]) -> dict[str, str]:
    counted: Counter[str] = Counter()
    for _, style, _ in [("", page.style, ()), *classes]:
        for _, value in style:
            counted.update(_COLOUR.findall(value))
    return {
        colour: f"var(--c{number + 1})" for number, (colour, count) in enumerate(counted.most_common()) if count > 1
    }


def _root(colours: dict[str, str]) -> str:
    if not colours:
        return ""
    lines = " ".join(f"{name[4:-1]}: {colour};" for colour, name in colours.items())
    return f":root {{ {lines} }}"
