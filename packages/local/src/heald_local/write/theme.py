"""Names what a Tailwind page uses often in its theme: colours, sizes of text, radii, typefaces, gutter and width."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from heald_local.page import Page, walk_nodes
from heald_local.write.tokens import design_tokens
from heald_pictures.fonts import FONT_STACKS

OFTEN = 2
PAGE = "page"
"""The screen that is as wide as the picture."""
_CLASSES = re.compile(r"(?<= class=\")[^\"]*|(?<= className=\")[^\"]*|(?<= className=\{\")[^\"]*")
_COLOUR = re.compile(r"-\[(#[0-9a-f]{6})\]")
_SIZE = re.compile(r"text-\[(\d+(?:\.\d+)?)px\]|text-(xs|sm|base|lg|xl|[2-8]xl)")
_LEADING = re.compile(r"leading-\[(\d+(?:\.\d+)?)px\]|leading-(\d+)")
_RADIUS = re.compile(r"rounded-\[(\d+(?:\.\d+)?)px\]")
_GUTTER = re.compile(r"\[(max\(\d+px,_calc\(50%_-_[\d.]+px\)\))\]")
SIZES = {12: "xs", 14: "sm", 16: "base", 18: "lg", 20: "xl", 24: "2xl", 30: "3xl", 36: "4xl", 48: "5xl"} | {
    60: "6xl",
    72: "7xl",
    96: "8xl",
}
"""Tailwind's own sizes of text, by pixels."""
_PIXELS = {name: float(size) for size, name in SIZES.items()}
_SMALLER, _LARGER = ("note", "fine", "tiny"), ("lead", "subtitle", "title", "headline", "display")
Files = dict[str, str | bytes]


@dataclass(frozen=True, slots=True)
class Theme:
    """Names by the kind of their values, as Tailwind calls it, and the words of classes that they replace."""

    colours: Mapping[str, str]  # colours, and their names
    sizes: Mapping[tuple[float, float], str]  # sizes of text and heights of lines, 0 if they differ, and their names
    radii: Mapping[str, str]
    families: Mapping[str, str]
    gutter: str
    width: int

    @property
    def is_empty(self) -> bool:
        return not (self.colours or self.sizes or self.radii or self.families or self.gutter or self.width)

    def rename(self, classes: str) -> str:
        """Return a list of classes with the names of the theme."""
        words = classes.split(" ")
        size, leading = _type_of(words)
        name = self.sizes.get((size, leading), "")
        whole = bool(name and leading)  # the name stands for the height of lines too
        if not name and int(size) not in SIZES:
            name = next((size_name for (other, _), size_name in self.sizes.items() if other == size), "")
        result: list[str] = []
        for word in words:
            if whole and _LEADING.fullmatch(word):
                continue
            result.append(f"text-{name}" if name and _SIZE.fullmatch(word) else self._rename_word(word))
        return " ".join(result)

    def _rename_word(self, word: str) -> str:
        word = word.replace(f"min-[{self.width}px]:", f"{PAGE}:") if self.width else word
        word = _COLOUR.sub(
            lambda colour: f"-{self.colours[colour[1]]}" if colour[1] in self.colours else colour[0], word
        )
        radius = _RADIUS.fullmatch(word)
        if radius is not None and radius[1] in self.radii:
            return f"rounded-{self.radii[radius[1]]}"
        return word.replace(f"[{self.gutter}]", "gutter") if self.gutter else word

    @property
    def script(self) -> str:
        """The theme for Tailwind 3, as a script behind the one that loads it."""
        entries: dict[str, Mapping[str, str | list[str]]] = {
            "colors": {name: value for value, name in self.colours.items()},
            "fontSize": {name: _size_entry(pair) for pair, name in self.sizes.items()},
            "borderRadius": {name: f"{value}px" for value, name in self.radii.items()},
            "fontFamily": {name: value.split(", ") for name, value in self.families.items()},
            "spacing": {"gutter": _spaced(self.gutter)} if self.gutter else {},
            "screens": {PAGE: f"{self.width}px"} if self.width else {},
        }
        listed = ", ".join(f"{kind}: {json.dumps(names)}" for kind, names in entries.items() if names)
        return f"<script>tailwind.config = {{ theme: {{ extend: {{ {listed} }} }} }};</script>"

    @property
    def css(self) -> str:
        """The theme for Tailwind 4, as the style sheet of a project."""
        lines = [f"--color-{name}: {value};" for value, name in self.colours.items()]
        for (size, leading), name in self.sizes.items():
            lines.append(f"--text-{name}: {size:g}px;")
            lines += [f"--text-{name}--line-height: {leading:g}px;"] if leading else []
        lines += [f"--radius-{name}: {value}px;" for value, name in self.radii.items()]
        lines += [f"--font-{name}: {value};" for name, value in self.families.items()]
        lines += [f"--spacing-gutter: {_spaced(self.gutter)};"] if self.gutter else []
        lines += [f"--breakpoint-{PAGE}: {self.width / 16:g}rem;"] if self.width else []
        inside = "\n".join(f"  {line}" for line in lines)
        return f'@import "tailwindcss";\n\n@theme {{\n{inside}\n}}\n'


def read_theme(page: Page, texts: Iterable[str]) -> Theme:
    """Find what the classes in these sources use more than once."""
    lists = [match.split(" ") for text in texts for match in _CLASSES.findall(text)]
    words = Counter(word for class_list in lists for word in class_list)
    every = " ".join(words)
    declared = [*page.style, *(entry for node in walk_nodes(page.body) for entry in node.style)]
    tokens = design_tokens(declared, dict(page.style).get("background", ""))
    used = set(_COLOUR.findall(every))
    colours = {value: name.removeprefix("--") for (kind, value), name in tokens.names.items() if kind == "color"}
    radii = [match[1] for word, _ in words.most_common() if words[word] >= OFTEN and (match := _RADIUS.fullmatch(word))]
    gutters = Counter(match for word in words.elements() for match in _GUTTER.findall(word))
    return Theme(
        {value: name for value, name in colours.items() if value in used},
        _name_sizes(lists),
        {value: "box" if not number else f"box-{number + 1}" for number, value in enumerate(radii)},
        {name: stack for name, stack in FONT_STACKS.items() if words[f"font-{name}"]},
        gutters.most_common(1)[0][0] if gutters else "",
        page.width if f"min-[{page.width}px]:" in every else 0,
    )


def rename_classes(text: str, theme: Theme) -> str:
    """Return a source with the names of the theme in its classes."""
    return _CLASSES.sub(lambda match: theme.rename(match[0]), text)


def _type_of(words: Sequence[str]) -> tuple[float, float]:
    """Return the size of text and the height of lines in a list of classes; 0 for what is not in it."""
    size = next((match for word in words if (match := _SIZE.fullmatch(word))), None)
    leading = next((match for word in words if (match := _LEADING.fullmatch(word))), None)
    pixels = 0.0 if size is None else float(size[1]) if size[1] else _PIXELS[size[2]]
    height = 0.0 if leading is None else float(leading[1]) if leading[1] else 4.0 * float(leading[2])
    return pixels, height


def _name_sizes(lists: Sequence[Sequence[str]]) -> dict[tuple[float, float], str]:
    """Name each size that Tailwind lacks, or that it has with another height of lines, by its rank among all."""
    pairs = Counter(_type_of(words) for words in lists)
    sizes: Counter[float] = Counter()
    for (size, _), count in pairs.items():
        sizes[size] += count
    del sizes[0.0]
    if not sizes:
        return {}
    ordered = sorted(sizes)
    base = ordered.index(sizes.most_common(1)[0][0])
    ranks = dict(zip(reversed(ordered[:base]), _SMALLER, strict=False)) | {ordered[base]: "body"}
    ranks |= dict(zip(ordered[base + 1 :], _LARGER, strict=False))
    names: dict[tuple[float, float], str] = {}
    for size, name in ranks.items():
        best, count = max(
            ((pair, count) for pair, count in pairs.items() if pair[0] == size), key=lambda counted: counted[1]
        )
        if count >= OFTEN and best[1]:
            names[best] = name
        elif sizes[size] >= OFTEN and int(size) not in SIZES:
            names[size, 0.0] = name
    return names


def _size_entry(pair: tuple[float, float]) -> str | list[str]:
    size, leading = pair
    return [f"{size:g}px", f"{leading:g}px"] if leading else f"{size:g}px"


def _spaced(value: str) -> str:
    return value.replace("_", " ")
