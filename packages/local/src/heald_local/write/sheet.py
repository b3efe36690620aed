"""Makes the style sheet of a page: every element that has a style has a class, named for what it is.

Elements that look alike share a class. Rows, columns and grids that have nothing else share classes for their layout
(`row`, `stack`), and distances that come back have utilities (`mt-4`). No selector depends on the place of an element
among others, so that elements can be moved, added and removed.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heald_local.page import BREAK, MEDIUM_BREAK, Node, Page, Style, walk_nodes
from heald_local.write.names import choose_name, container_names, leaf_names, shared_names, word_names
from heald_local.write.tokens import DesignTokens, design_tokens

_BASE = (
    "*, *::before, *::after { box-sizing: border-box; }",
    "body * { max-width: 100%; }",
    "h1, h2, h3, p, ul, ol, li, figure, hr { margin: 0; padding: 0; }",
    "h1, h2, h3 { font-weight: inherit; }",
    "ul, ol { list-style: none; }",
    "hr { border: 0; flex: none; }",
    "a { color: inherit; text-decoration: none; }",
    "img, svg { display: block; flex: none; height: auto; }",
    "button, input, select, textarea { margin: 0; }",
    "button { font: inherit; text-align: start; border: 0; }",
    "::placeholder { color: inherit; opacity: 1; }",
)
_CODE = (
    "pre, code { margin: 0; font: inherit; color: inherit; white-space: pre-wrap; }",
    "pre { overflow-x: auto; }",
)
_TABLE = (
    "table { border-spacing: 0; table-layout: fixed; }",
    "th, td { padding: 0; text-align: start; font-weight: inherit; }",
)
_OWN: dict[str, Style] = {"button": (("font", "inherit"), ("text-align", "start"), ("border", "0"))}  # in _BASE
Levels = tuple[Style, Style, Style]
"""Declarations, those on a medium screen, and those on a narrow one."""
_LAYOUTS: dict[str, Levels] = {
    "cluster": ((("display", "flex"), ("align-items", "center"), ("flex-wrap", "wrap")), (), ()),
    "row": ((("display", "flex"), ("align-items", "center")), (("flex-wrap", "wrap"),), ()),
    "row-top": ((("display", "flex"), ("align-items", "flex-start")), (("flex-wrap", "wrap"),), ()),
    "inline": ((("display", "flex"), ("align-items", "center")), (), ()),
    "stack": ((("display", "flex"), ("flex-direction", "column")), (), ()),
    "grid": ((("display", "grid"),), (), ()),
}
"""Layouts that have a class; the first that fits is chosen."""
_BOXES = frozenset({"div", "ul", "ol", "li", "span", "figure", "section", "article", "nav", "form", "aside"})
_WHOLE = "img, svg { max-width: none; }"
_WHOLE_WORDS = "body { overflow-wrap: normal; }"
_LONG_WORDS: tuple[tuple[str, Style], ...] = (("body", (("overflow-wrap", "anywhere"),)),)
NOWRAP, WRAP = ("white-space", "nowrap"), ("white-space", "normal")
ONE_ROW, ROWS = ("flex-wrap", "nowrap"), ("flex-wrap", "wrap")
FIRM, YIELDING = ("flex-shrink", "0"), ("flex-shrink", "1")
_PLACES = frozenset(
    {"margin-top", "margin-left", "margin-right", "margin-inline", "width", "max-width", "min-width", "align-self"}
    | {"letter-spacing", "flex", "text-align"}
)
"""Properties that place an element; the others are its looks."""
_WORDS = {
    ("align-self", "center"): "self-center",
    ("align-self", "flex-start"): "self-start",
    ("align-self", "flex-end"): "self-end",
    ("text-align", "center"): "text-center",
    ("text-align", "right"): "text-right",
    ("margin-left", "auto"): "push",
    ("margin-right", "auto"): "push",
    ("width", "100%"): "w-full",
    ("flex", "none"): "rigid",
}
_STEPS = {"margin-top": "mt", "margin-left": "ml", "margin-right": "mr", "gap": "gap"}
_PIXELS = re.compile(r"(\d+)px")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)px")
_OFTEN = 2  # elements that make a utility or a class for a layout worth its name

Change = tuple[str, str, str, str]  # a property, its value, and its values on medium and narrow screens or nothing
_Group = tuple[str, Levels, tuple[bool, bool], int]
"""A tag, looks, whether it stays on one line or row, and keeps its width, and a section itself."""
Rule = tuple[str, Levels]  # a selector, and its declarations


def is_sentence(node: Node) -> bool:
    """Whether the children are words and inline elements, which stand on one line."""
    return any(not child.tag for child in node.children)


def is_inline(node: Node) -> bool:
    """Whether the content stands on one line of the source: a sentence, or preformatted text, whose space counts."""
    return is_sentence(node) or node.tag == "pre"


def is_one_line(node: Node) -> bool:
    """Whether a text must not wrap at the page's own width, and may on narrower screens."""
    return NOWRAP in node.style and WRAP in node.narrow


def is_one_row(node: Node) -> bool:
    """Whether the parts of a row must not wrap at the page's own width, and may on every narrower screen."""
    return ONE_ROW in node.style and ROWS in node.narrow


def is_firm(node: Node) -> bool:
    """Whether a part of a row must not shrink at the page's own width, and may on every narrower screen."""
    return FIRM in node.style and YIELDING in node.narrow


@dataclass(frozen=True, slots=True)
class StyleSheet:
    css: str
    classes: dict[int, str]

    def attribute(self, node: Node) -> str:
        names = self.classes.get(id(node), "")
        return f' class="{names}"' if names else ""


@dataclass(frozen=True, slots=True)
class _Element:
    """An element of the page: its place in the tree, its looks and its placement."""

    node: Node
    parent: int  # -1 for the body
    looks: Levels
    places: tuple[Change, ...]

    @property
    def has_style(self) -> bool:
        return any(self.looks) or bool(self.places) or is_one_line(self.node) or is_firm(self.node)


@dataclass(frozen=True, slots=True)
class _Composition:
    """A plain element as the class of a layout and distances; an empty layout if it is not plain."""

    layout: str
    places: tuple[Change, ...]


def stylesheet(page: Page, prefix: str = "") -> StyleSheet:
    """Make classes and rules for all elements. The prefix separates the classes from a framework's."""
    elements = _elements(page, prefix)
    sheet = _SheetWriter(page, elements, prefix)
    sheet.write()
    return StyleSheet(sheet.css(), {id(elements[at].node): " ".join(names) for at, names in sheet.classes.items()})


def _elements(page: Page, prefix: str) -> list[_Element]:
    elements: list[_Element] = []

    def visit(nodes: Sequence[Node], parent: int) -> None:
        for node in nodes:
            if not node.tag:
                continue
            looks, places = _split(node, () if prefix else _OWN.get(node.tag, ()))
            elements.append(_Element(node, parent, looks, places))
            if node.tag != "svg":  # shapes have attributes, no style
                visit(node.children, len(elements) - 1)

    visit(page.body, -1)
    return elements


def _split(node: Node, base: Style) -> tuple[Levels, tuple[Change, ...]]:
    """Split a style, without the declarations of the base, into looks and placement."""
    dropped = {*base, ("max-width", "100%"), ("align-self", "stretch")}
    if is_one_line(node):
        dropped.add(NOWRAP)
    if is_firm(node):
        dropped.add(FIRM)
    wide = {name: value for name, value in node.style if (name, value) not in dropped}
    medium = dict(node.medium)
    narrow = {name: value for name, value in node.narrow if (name, value) not in (WRAP, YIELDING)}
    if is_one_row(node):
        wide["flex-wrap"] = narrow.pop("flex-wrap")
    levels = wide, medium, narrow
    if "grid-area" in wide:
        return (tuple(wide.items()), tuple(medium.items()), tuple(narrow.items())), ()
    placed = dict.fromkeys(name for level in levels for name in level if name in _PLACES)
    places = tuple((name, wide.get(name, ""), medium.get(name, ""), narrow.get(name, "")) for name in placed)
    looks = [tuple((name, value) for name, value in level.items() if name not in _PLACES) for level in levels]
    return (looks[0], looks[1], looks[2]), places


class _SheetWriter:
    """Chooses the names of classes, parents first, and writes their rules."""

    def __init__(self, page: Page, elements: list[_Element], prefix: str) -> None:
        self._page = page
        self._elements = elements
        self._prefix = prefix
        self.classes: dict[int, list[str]] = defaultdict(list)
        self._rules: list[Rule] = []
        self._unwrapped: list[str] = []  # selectors of texts that stay on one line at the page's own width
        self._rows: list[str] = []  # and of rows
        self._firm: list[str] = []  # and of columns that keep their width there
        self._used: set[str] = set(_LAYOUTS)
        self._contexts: dict[int, str] = {-1: "page"}
        self._tags = Counter(element.node.tag for element in elements)
        self._body_size = _body_size(page.body)
        self._names_of_groups: dict[_Group, str] = {}
        self._names_of_places: dict[tuple[str, str, tuple[Change, ...]], str] = {}
        self._first_section = next((at for at, element in enumerate(elements) if element.node.tag == "section"), -1)

    def write(self) -> None:
        compositions = self._compose_plain()
        groups: dict[_Group, list[int]] = defaultdict(list)
        for at, element in enumerate(self._elements):
            if element.has_style and at not in compositions:
                groups[self._group(at)].append(at)
        rests = {at: self._rest(at, groups[self._group(at)]) for group in groups.values() for at in group}
        utilities = _utilities([*(plain.places for plain in compositions.values()), *rests.values()])
        for at in range(len(self._elements)):
            names = self._names(at)
            if at in compositions:
                plain = compositions[at]
                self.classes[at] += [self._prefix + plain.layout, *self._place(at, plain.places, utilities, names)]
                self._set_context(at, names[0])
            elif self._elements[at].has_style:
                group = groups[self._group(at)]
                self._set_context(at, self._name_group(at, group, names))
                self.classes[at] += self._place(at, rests[at], utilities, names)
            else:
                self._set_context(at, names[0])
        used = {name for names in self.classes.values() for name in names}
        shared: list[Rule] = [(f".{self._prefix}{name}", looks) for name, looks in _LAYOUTS.items()]
        shared += [(f".{self._prefix}{name}", _levels((place,))) for place, name in utilities.items()]
        self._rules = [*(rule for rule in shared if rule[0][1:] in used), *self._rules]

    def _compose_plain(self) -> dict[int, _Composition]:
        """Find the elements that a layout and distances with a name describe."""
        compositions = {
            at: composition
            for at, element in enumerate(self._elements)
            if (composition := _compose(element)) is not None
        }
        layouts = Counter(composition.layout for composition in compositions.values())
        return {at: plain for at, plain in compositions.items() if layouts[plain.layout] >= _OFTEN}

    def _group(self, at: int) -> _Group:
        """Return the key of the elements that share a class; each section has its own."""
        element = self._elements[at]
        is_section = element.node.tag == "section"
        is_one = is_one_line(element.node) or is_one_row(element.node)
        return element.node.tag, element.looks, (is_one, is_firm(element.node)), at if is_section else -1

    def _rest(self, at: int, group: Sequence[int]) -> tuple[Change, ...]:
        """Return the placement that not all elements of a group have."""
        common = self._common_places(group)
        return tuple(place for place in self._elements[at].places if place not in common)

    def _common_places(self, group: Sequence[int]) -> tuple[Change, ...]:
        first = self._elements[group[0]].places
        return tuple(place for place in first if all(place in self._elements[at].places for at in group))

    def _name_group(self, at: int, group: Sequence[int], names: Sequence[str]) -> str:
        """Give an element the class of its group; the first one names it."""
        key = self._group(at)
        node, looks = self._elements[at].node, self._elements[at].looks
        if not any(looks) and not self._common_places(group) and not (is_one_line(node) or is_firm(node)):
            return names[0]
        name = self._names_of_groups.get(key, "")
        if not name:
            if len({self._home(other) for other in group}) > 1:
                names = [*shared_names(node), *names]
            name = self._names_of_groups[key] = choose_name([*names, *word_names(node, names[0])], self._used)
            self._used.add(name)
            common = _levels(self._common_places(group))
            wide, medium, narrow = ((*look, *place) for look, place in zip(looks, common, strict=True))
            self._rules.append((f".{self._prefix}{name}", (wide, medium, narrow)))
            if is_one_line(node):
                self._unwrapped.append(f".{self._prefix}{name}")
            if is_one_row(node):
                self._rows.append(f".{self._prefix}{name}")
            if is_firm(node):
                self._firm.append(f".{self._prefix}{name}")
        self.classes[at].append(self._prefix + name)
        return name

    def _place(
        self, at: int, places: tuple[Change, ...], utilities: Mapping[Change, str], names: Sequence[str]
    ) -> list[str]:
        """Return the classes for the placement of an element: utilities, else one class for all of it."""
        if all(place in utilities for place in places):
            return [self._prefix + utilities[place] for place in places]
        element = self._elements[at]
        key = element.node.tag, self._contexts[element.parent], places
        name = self._names_of_places.get(key, "")
        if not name:
            context = self._contexts[element.parent]
            noun = names[0].rsplit("-", 1)[-1]
            preferred = [f"{context}-{noun}", *word_names(element.node, noun), *names]
            name = self._names_of_places[key] = choose_name(preferred, self._used)
            self._used.add(name)
            self._rules.append((f".{self._prefix}{name}", _levels(places)))
        return [self._prefix + name]

    def _home(self, at: int) -> int:
        """Return the part of the page that an element is in: a header, a section, a footer."""
        parent = self._elements[at].parent
        while parent >= 0 and self._elements[parent].node.tag not in ("header", "footer", "aside", "section"):
            parent = self._elements[parent].parent
        return parent

    def _names(self, at: int) -> list[str]:
        node = self._elements[at].node
        context = self._contexts[self._elements[at].parent]
        if node.tag == "section" and (name := dict(node.attributes).get("id", "")):
            return [name, f"{name}-section"]
        if node.children and node.tag not in ("select", "svg") and not is_sentence(node):
            return container_names(node, context, at == self._first_section)
        return leaf_names(node, context, self._body_size)

    def _set_context(self, at: int, name: str) -> None:
        """Let parts of the page name what is in them; mere rows and columns pass on the name around them."""
        element = self._elements[at]
        names_its_content = element.node.tag in _NAMING and element.node.name != "scroll"
        name = "table" if element.node.tag == "table" else name
        self._contexts[at] = name if names_its_content else self._contexts[element.parent]

    def css(self) -> str:
        page = self._page
        declared = [*page.style, *(entry for item in self._elements for entry in item.node.style)]
        tokens = design_tokens(declared, dict(page.style).get("background", ""))
        outer = (*page.style, ("display", "flex"), ("flex-direction", "column"), ("overflow-wrap", "break-word"))
        extra = (*(_TABLE if self._tags["table"] else ()), *(_CODE if self._tags["pre"] else ()))
        lines = [tokens.rule, *_BASE, *extra, _written("body", outer, tokens)]
        lines += [_written(name, levels[0], tokens) for name, levels in self._rules if levels[0]]
        whole = [_WHOLE, _WHOLE_WORDS]
        whole += [f"{', '.join(self._unwrapped)} {{ white-space: nowrap; }}"] if self._unwrapped else []
        whole += [f"{', '.join(self._rows)} {{ flex-wrap: nowrap; }}"] if self._rows else []
        whole += [f"{', '.join(self._firm)} {{ flex-shrink: 0; }}"] if self._firm else []
        whole += ["pre, code { white-space: pre; }"] if self._tags["pre"] else []
        lines += [f"@media (min-width: {page.width}px) {{", *(f"  {rule}" for rule in whole), "}"]
        for level, limit in ((1, min(MEDIUM_BREAK, page.width - 1)), (2, BREAK)):
            changed = [(name, levels[level]) for name, levels in self._rules if levels[level]]
            changed = [*(_LONG_WORDS if level == 1 else ()), *changed]
            if changed and page.width > BREAK:
                lines.append(f"@media (max-width: {limit}px) {{")
                lines += [*(f"  {item}" for item in _group_rules(changed)), "}"]
        return "\n".join(line for line in lines if line)


_NAMING = frozenset({"header", "footer", "aside", "nav", "section", "article", "form", "main", "table"})


def _body_size(body: Sequence[Node]) -> float:
    sizes: Counter[float] = Counter()
    for node in walk_nodes(tuple(body)):
        size_match = _SIZE.search(dict(node.style).get("font-size", ""))
        if size_match is not None:
            sizes[float(size_match[1])] += sum(len(line) for line in node.lines)
    return sizes.most_common(1)[0][0] if sizes else 16.0


def _utilities(placements: Sequence[tuple[Change, ...]]) -> dict[Change, str]:
    """Return the placements that several elements have and that have a plain name, with it.

    Elements with anything else have a class of their own, so that they do not count; without them others may be rare.
    """
    named: dict[Change, str] = {}
    for place, _ in Counter(place for places in placements for place in places).most_common():
        name = _utility_name(place)
        if name and name not in named.values():
            named[place] = name
    while True:
        expressed = [places for places in placements if all(place in named for place in places)]
        counted = Counter(place for places in expressed for place in places)
        often = {place: name for place, name in named.items() if counted[place] >= _OFTEN}
        if often == named:
            return named
        named = often


def _compose(element: _Element) -> _Composition | None:
    """Return the layout that others share and the distances of an element that has nothing else; None if it has."""
    (wide, medium, narrow), node = element.looks, element.node
    if node.tag not in _BOXES or not node.children or is_one_line(node) or is_one_row(node) or is_firm(node):
        return None
    for name, layout in _LAYOUTS.items():
        rests = [
            tuple(entry for entry in style if entry not in shared)
            for style, shared in zip((wide, medium, narrow), layout, strict=True)
        ]
        fits = all(set(shared) <= set(style) for style, shared in zip((wide, medium, narrow), layout, strict=True))
        if not fits or any(prop != "gap" for rest in rests for prop, _ in rest):
            continue
        gaps = [dict(rest).get("gap", "") for rest in rests]
        gap: tuple[Change, ...] = (("gap", gaps[0], gaps[1], gaps[2]),) if any(gaps) else ()
        if all(_utility_name(place) for place in (*gap, *element.places)):
            return _Composition(name, (*gap, *element.places))
    return None


def _utility_name(place: Change) -> str:
    prop, value, medium, narrow = place
    word = _WORDS.get((prop, value), "")
    pixels = _PIXELS.fullmatch(value)
    if not word and prop in _STEPS and pixels is not None and int(pixels[1]) % 4 == 0:
        word = f"{_STEPS[prop]}-{int(pixels[1]) // 4}"
    if medium:
        return ""
    return word if not narrow or (prop in ("margin-left", "margin-right") and narrow == "0") else ""


def _levels(places: Sequence[Change]) -> Levels:
    wide, medium, narrow = (
        tuple((place[0], place[level]) for place in places if place[level]) for level in range(1, 4)
    )
    return wide, medium, narrow


def _group_rules(changed: list[tuple[str, Style]]) -> list[str]:
    """Return one rule for all selectors with the same changes."""
    groups: dict[Style, list[str]] = {}
    for name, style in changed:
        groups.setdefault(style, []).append(name)
    return [
        f"{', '.join(names)} {{ {' '.join(f'{prop}: {value};' for prop, value in style)} }}"
        for style, names in groups.items()
    ]


def _written(name: str, style: Style, tokens: DesignTokens) -> str:
    return f"{name} {{ {' '.join(f'{prop}: {tokens.substitute(prop, value)};' for prop, value in style)} }}"
