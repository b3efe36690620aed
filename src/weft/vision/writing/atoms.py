"""A style in two: how an element looks, which many share, and where it stands, in small classes of one property."""

import re
from dataclasses import dataclass

from weft.vision.page import Node, Style

_PLACES = {
    "margin-top": "mt",
    "margin-left": "ml",
    "margin-right": "mr",
    "width": "w",
    "max-width": "max",
    "letter-spacing": "ls",
}
_WORDS = {
    ("align-self", "center"): "self-center",
    ("align-self", "flex-start"): "self-start",
    ("align-self", "flex-end"): "self-end",
    ("text-align", "center"): "text-center",
    ("text-align", "right"): "text-right",
    ("justify-content", "center"): "centred",
    ("justify-content", "flex-end"): "ended",
    ("margin-left", "auto"): "push",
    ("width", "100%"): "w-full",
    ("flex", "none"): "fixed",
}
_PIXELS = re.compile(r"(-?)(\d+)(?:\.(\d+))?px")


@dataclass(frozen=True, slots=True)
class Atom:
    """A class of one property, and its value on a narrow screen if that is another."""

    name: str
    prop: str
    value: str
    narrow: str = ""


@dataclass(frozen=True, slots=True)
class Look:
    style: Style
    narrow: Style


def split(node: Node, style: Style) -> tuple[Look, tuple[Atom, ...]]:
    """What of this style is looks, and what is place."""
    narrow = dict(node.narrow)
    looks: list[tuple[str, str]] = []
    atoms: list[Atom] = []
    for prop, value in style:
        name = _name(prop, value)
        if not name or any(key == "grid-area" for key, _ in style):
            looks.append((prop, value))
            continue
        slim = narrow.pop(prop, "")
        atoms.append(
            Atom(f"{name}-slim" if slim and (prop != "margin-left" or slim != "0") else name, prop, value, slim)
        )
    return Look(tuple(looks), tuple(narrow.items())), tuple(atoms)


def _name(prop: str, value: str) -> str:
    word = _WORDS.get((prop, value))
    if word is not None:
        return word
    found = _PIXELS.fullmatch(value)
    if prop not in _PLACES or found is None:
        return ""
    minus, whole, part = found.groups()
    return f"{_PLACES[prop]}-{'n' if minus else ''}{whole}{f'-{part}' if part else ''}"
