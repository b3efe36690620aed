"""The page's design in variables: colours by what they are for, spacings, radii, type sizes and typefaces.

What is used once stays where it is used; what comes back has one name. Numbers rise with size, or with rareness.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_COLOUR = re.compile(r"#[0-9a-f]{6}\b")
_LENGTH = re.compile(r"(?<![\w.-])\d+(?:\.\d+)?px")
_ROLES = {"color": "text", "border": "line", "border-color": "line", "border-bottom": "line", "border-top": "line"}
_SCALES = {
    "gap": "space",
    "padding": "space",
    "padding-left": "space",
    "padding-right": "space",
    "padding-bottom": "space",
    "margin-top": "space",
    "margin-left": "space",
    "font-size": "size",
    "border-radius": "radius",
}
_OFTEN = 2


@dataclass(frozen=True, slots=True)
class Tokens:
    """Values by kind (`colour`, `space`, `size`, `radius`, `font`), with the names of their variables."""

    names: Mapping[tuple[str, str], str]

    @property
    def rule(self) -> str:
        """The variables, declared; a line for each kind."""
        lines: dict[str, list[str]] = {}
        for (_, value), name in self.names.items():
            lines.setdefault(name.strip("-").partition("-")[0], []).append(f"{name}: {value};")
        inside = "\n".join("  " + " ".join(line) for line in lines.values())
        return f":root {{\n{inside}\n}}" if lines else ""

    def put(self, name: str, value: str) -> str:
        """The value of a property, with variables for what has one."""
        if name == "font-family":
            return self._var("font", value)
        kind = _SCALES.get(name)
        if kind is not None:
            value = _LENGTH.sub(lambda found: self._var(kind, found[0]), value)
        return _COLOUR.sub(lambda found: self._var("colour", found[0]), value)

    def _var(self, kind: str, value: str) -> str:
        name = self.names.get((kind, value))
        return f"var({name})" if name else value


def tokens(declared: Iterable[tuple[str, str]]) -> Tokens:
    """From all properties and values of a style sheet."""
    roles: dict[str, Counter[str]] = {}
    scales: dict[str, Counter[str]] = {"space": Counter(), "size": Counter(), "radius": Counter(), "font": Counter()}
    for name, value in declared:
        for colour in _COLOUR.findall(value):
            roles.setdefault(colour, Counter())[_ROLES.get(name, "fill")] += 1
        if name == "font-family":
            scales["font"][value] += 1
        elif name in _SCALES:
            scales[_SCALES[name]].update(_LENGTH.findall(value))
    return Tokens({**_colours(roles), **_scaled(scales)})


def _colours(roles: Mapping[str, Counter[str]]) -> dict[tuple[str, str], str]:
    often = sorted((colour for colour in roles if roles[colour].total() >= _OFTEN), key=lambda c: -roles[c].total())
    names: dict[tuple[str, str], str] = {}
    for role in ("text", "fill", "line"):
        own = [colour for colour in often if roles[colour].most_common(1)[0][0] == role]
        names |= {("colour", colour): f"--{role}-{number}" for number, colour in enumerate(own, 1)}
    return names


def _scaled(scales: Mapping[str, Counter[str]]) -> dict[tuple[str, str], str]:
    names: dict[tuple[str, str], str] = {}
    for kind, counted in scales.items():
        often = [value for value, count in counted.items() if count >= _OFTEN]
        if kind != "font":
            often.sort(key=lambda value: float(value.removesuffix("px")))
        names |= {(kind, value): f"--{kind}-{number}" for number, value in enumerate(often, 1)}
    return names
