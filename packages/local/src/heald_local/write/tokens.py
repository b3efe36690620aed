"""Names the values of a style sheet: colours by their role, a type scale, steps of four pixels, radii, families."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from heald_pictures.colours import colour_distance, luminance, rgb_parts

_COLOUR = re.compile(r"#[0-9a-f]{6}\b")
_LENGTH = re.compile(r"(?<![\w.-])\d+(?:\.\d+)?px")
_ROLES = {"color": "text", "border": "line", "border-color": "line", "border-bottom": "line", "border-top": "line"}
_SPACES = ("gap", "padding", "padding-left", "padding-right", "padding-bottom", "margin-top", "margin-left")
_SCALES = {**dict.fromkeys(_SPACES, "space"), "font-size": "text", "border-radius": "radius"}
_SMALLER, _LARGER = ("sm", "xs", "2xs", "3xs"), ("lg", "xl", "2xl", "3xl", "4xl", "5xl", "6xl", "7xl")
_RADII = ("sm", "md", "lg", "xl", "2xl", "3xl")
_FAMILIES = (("mono", "mono"), ("sans-serif", "sans"), ("serif", "serif"))
_OFTEN = 2
_STEP = 4
_LARGEST_STEP = 96
_VIVID = 60


@dataclass(frozen=True, slots=True)
class DesignTokens:
    """Values by kind (`color`, `space`, `text`, `radius`, `font`), and the names of their variables."""

    names: Mapping[tuple[str, str], str]

    @property
    def rule(self) -> str:
        lines: dict[str, list[str]] = {}
        for (kind, value), name in self.names.items():
            lines.setdefault(kind, []).append(f"{name}: {value};")
        inside = "\n".join("  " + " ".join(line) for line in lines.values())
        return f":root {{\n{inside}\n}}" if lines else ""

    def substitute(self, name: str, value: str) -> str:
        if name == "font-family":
            return self._var("font", value)
        kind = _SCALES.get(name)
        if kind is not None:
            value = _LENGTH.sub(lambda match: self._var(kind, match[0]), value)
        return _COLOUR.sub(lambda match: self._var("color", match[0]), value)

    def _var(self, kind: str, value: str) -> str:
        name = self.names.get((kind, value))
        return f"var({name})" if name else value


def design_tokens(declared: Iterable[tuple[str, str]], ground: str = "") -> DesignTokens:
    """Name the values that a style sheet uses more than once. `ground` is the page's background."""
    roles: dict[str, Counter[str]] = {}
    scales: dict[str, Counter[str]] = {"space": Counter(), "text": Counter(), "radius": Counter(), "font": Counter()}
    for name, value in declared:
        for colour in _COLOUR.findall(value):
            roles.setdefault(colour, Counter())[_ROLES.get(name, "fill")] += 1
        if name == "font-family":
            scales["font"][value] += 1
        elif name in _SCALES:
            scales[_SCALES[name]].update(_LENGTH.findall(value))
    return DesignTokens({**_colour_names(roles, ground), **_scale_names(scales)})


def is_vivid(colour: str) -> bool:
    """Whether a colour is far from grey."""
    parts = rgb_parts(colour)
    return max(parts) - min(parts) >= _VIVID


def _colour_names(roles: Mapping[str, Counter[str]], ground: str) -> dict[tuple[str, str], str]:
    often = sorted((colour for colour in roles if roles[colour].total() >= _OFTEN), key=lambda c: -roles[c].total())
    names: dict[tuple[str, str], str] = {}
    used: Counter[str] = Counter()
    for colour in often:
        role = "background" if colour == ground else _role_of(colour, roles[colour].most_common(1)[0][0])
        used[role] += 1
        names["color", colour] = f"--{role}" if used[role] == 1 else f"--{role}-{used[role]}"
    return names


def _role_of(colour: str, use: str) -> str:
    """Return the role of a colour: vivid ones are accents; texts that are near the middle are muted."""
    if is_vivid(colour) and 0.02 < luminance(colour) < 0.9:
        return "accent"
    if use == "line":
        return "line"
    if use == "fill":
        return "surface"
    grey = colour_distance(colour, "#808080") < 72
    return "muted" if grey else "on-accent" if luminance(colour) > 0.7 else "ink"


def _scale_names(scales: Mapping[str, Counter[str]]) -> dict[tuple[str, str], str]:
    names: dict[tuple[str, str], str] = {}
    spaces = sorted(_number(value) for value, count in scales["space"].items() if count >= _OFTEN)
    for value in spaces:
        if value % _STEP == 0 and 0 < value <= _LARGEST_STEP:
            names["space", f"{value:g}px"] = f"--space-{value / _STEP:g}"
    sizes = sorted(_number(value) for value, count in scales["text"].items() if count >= _OFTEN)
    base = max(sizes, key=lambda size: scales["text"][f"{size:g}px"], default=0.0)
    names |= _ranked("text", [size for size in sizes if size < base][::-1], _SMALLER)
    names |= {("text", f"{base:g}px"): "--text-base"} if base else {}
    names |= _ranked("text", [size for size in sizes if size > base], _LARGER)
    radii = sorted(_number(value) for value, count in scales["radius"].items() if count >= _OFTEN)
    names |= _ranked("radius", radii, _RADII)
    for value, count in scales["font"].items():
        kind = next((name for mark, name in _FAMILIES if mark in value.lower()), "other")
        if count >= _OFTEN and f"--font-{kind}" not in names.values():
            names["font", value] = f"--font-{kind}"
    return names


def _ranked(kind: str, values: Sequence[float], ranks: Sequence[str]) -> dict[tuple[str, str], str]:
    return {(kind, f"{value:g}px"): f"--{kind}-{rank}" for value, rank in zip(values, ranks, strict=False)}


def _number(value: str) -> float:
    return float(value.removesuffix("px"))
