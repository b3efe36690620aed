"""Makes the style sheet of a page: classes for looks that elements share, and for painted parts of the page.

A section is styled by its id. Rows, columns and grids share classes for their layout (`row`, `stack`) and utilities for
their distances (`gap-4`). An element that looks like no other is styled by its place in a named part (`#hero > p`).
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heald_local.arrange.code_blocks import TOKEN
from heald_local.page import Node, Page, Style, walk_nodes
from heald_local.write.names import choose_name, container_names, leaf_names, shared_names
from heald_local.write.tokens import DesignTokens, design_tokens

BREAK = 720  # screens up to this width are narrow
_BASE = (
    "*, *::before, *::after { box-sizing: border-box; }",
    "body * { max-width: 100%; }",
    "h1, h2, h3, p, ul, li, figure { margin: 0; padding: 0; }",
    "ul { list-style: none; }",
    "a { color: inherit; text-decoration: none; }",
    "img, svg { display: block; flex: none; height: auto; }",
    "button, input, select, textarea { margin: 0; }",
    "button { font: inherit; text-align: start; border: 0; }",
    "::placeholder { color: inherit; opacity: 1; }",
)
_CODE = ("pre, code { margin: 0; font: inherit; color: inherit; white-space: pre-wrap; }",)
_TABLE = (
    "table { border-spacing: 0; table-layout: fixed; }",
    "th, td { padding: 0; text-align: start; font-weight: inherit; }",
)
_OWN: dict[str, Style] = {"button": (("font", "inherit"), ("text-align", "start"), ("border", "0"))}  # in _BASE
_SHARED: tuple[Style, ...] = (
    (("display", "flex"), ("flex-direction", "column")),
    (("display", "flex"), ("align-items", "center")),
    (("display", "flex"), ("align-items", "flex-start")),
)
_WRAPS = ("flex-wrap", "wrap")
_LAYOUTS: dict[str, tuple[Style, Style]] = {
    "cluster": ((("display", "flex"), ("align-items", "center"), _WRAPS), ()),
    "row": ((("display", "flex"), ("align-items", "center")), (_WRAPS,)),
    "row-top": ((("display", "flex"), ("align-items", "flex-start")), (_WRAPS,)),
    "inline": ((("display", "flex"), ("align-items", "center")), ()),
    "stack": ((("display", "flex"), ("flex-direction", "column")), ()),
    "grid": ((("display", "grid"),), ()),
}
"""Layouts that have a class, with their declarations and those on a narrow screen; the first that fits is chosen."""
_PAINT = frozenset({"background", "border", "border-width", "box-shadow"})
_BOXES = frozenset({"div", "ul", "li", "span", "figure", "section", "article", "nav", "form", "aside"})
_UNWRAPPED = "h1, h2, h3, p, a, li, span, label, button, th, td, figcaption { white-space: nowrap; }"
_WHOLE = "img, svg { max-width: none; }"
NOWRAP, WRAP = ("white-space", "nowrap"), ("white-space", "normal")
_PLACES = frozenset(
    {"margin-top", "margin-left", "margin-right", "width", "max-width", "min-width", "align-self", "letter-spacing"}
    | {"flex", "text-align"}
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
_CROWDED = 6  # elements styled by their place that make a container worth a name
_OFTEN = 2  # elements that make a utility or a class for a layout worth its name
_SINGLE = frozenset({"header", "main", "footer", "aside", "form", "nav", "h1", "table", "thead", "tbody", "ul"})
"""Tags that need no class if the page has one of them."""

Change = tuple[str, str, str]  # a property, its value, and its value on a narrow screen or nothing
_Group = tuple[str, tuple[Style, Style], int]  # tag, looks, and the element itself if it shares its class with none
Rule = tuple[str, Style, Style]  # a selector, its declarations, and those on a narrow screen


def is_sentence(node: Node) -> bool:
    """Whether the children are words and inline elements, which stand on one line."""
    return any(not child.tag for child in node.children)


def is_inline(node: Node) -> bool:
    """Whether the content stands on one line of the source: a sentence, or preformatted text, whose space counts."""
    return is_sentence(node) or node.tag == "pre"


def is_one_line(node: Node) -> bool:
    """Whether a text must not wrap at the page's own width, and may on narrower screens."""
    return NOWRAP in node.style and WRAP in node.narrow


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
    nth: int
    alone: bool  # the only one of its tag in its parent
    looks: tuple[Style, Style]
    places: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class _Rest:
    """The rest that the class of a group lacks: the class of its layout, its own looks, its placement."""

    layout: str
    looks: tuple[Style, Style]
    places: tuple[Change, ...]

    @property
    def is_plain(self) -> bool:
        """Whether a layout and distances with a name are all that it has."""
        return bool(self.layout) and not any(self.looks) and all(_utility_name(place) for place in self._gaps)

    @property
    def _gaps(self) -> tuple[Change, ...]:
        return tuple(place for place in self.places if place[0] == "gap")

    def is_expressed(self, utilities: Mapping[Change, str]) -> bool:
        """Whether utilities say everything."""
        return not any(self.looks) and all(place in utilities for place in self.places)

    def without_layout(self) -> "_Rest":
        if not self.layout:
            return self
        wide, narrow = _LAYOUTS[self.layout]
        return _Rest("", ((*wide, *self.looks[0]), (*narrow, *self.looks[1])), self.places)


def stylesheet(page: Page, prefix: str = "") -> StyleSheet:
    """Make classes and rules for all elements. The prefix separates the classes from a framework's."""
    elements = _elements(page, prefix)
    sheet = _SheetWriter(page, elements, prefix)
    sheet.write()
    return StyleSheet(sheet.css(), {id(elements[at].node): " ".join(names) for at, names in sheet.classes.items()})


def _elements(page: Page, prefix: str) -> list[_Element]:
    elements: list[_Element] = []

    def visit(nodes: Sequence[Node], parent: int) -> None:
        tags: Counter[str] = Counter()
        totals = Counter(node.tag for node in nodes)
        for node in nodes:
            if not node.tag:
                continue
            tags[node.tag] += 1
            looks, places = _split(node, () if prefix else _OWN.get(node.tag, ()))
            elements.append(_Element(node, parent, tags[node.tag], totals[node.tag] == 1, looks, places))
            if node.tag != "svg":  # shapes have attributes, no style
                visit(node.children, len(elements) - 1)

    visit(page.body, -1)
    return elements


def _split(node: Node, base: Style) -> tuple[tuple[Style, Style], tuple[Change, ...]]:
    """Split a style, without the declarations of the base, into looks and placement."""
    dropped = {*base, ("max-width", "100%"), ("align-self", "stretch")}
    style = [entry for entry in node.style if entry not in dropped]
    if is_one_line(node):
        style = [entry for entry in style if entry != NOWRAP]
    elif (node.lines or is_sentence(node)) and NOWRAP not in style and not _keeps_space(node):
        style.append(WRAP)
    narrow = {name: value for name, value in node.narrow if (name, value) != WRAP}
    if any(name == "grid-area" for name, _ in style):
        return (tuple(style), tuple(narrow.items())), ()
    wide = dict(style)
    placed = [name for name in (*wide, *narrow) if name in _PLACES]
    places = tuple((name, wide.get(name, ""), narrow.get(name, "")) for name in dict.fromkeys(placed))
    looks = tuple(entry for entry in style if entry[0] not in _PLACES)
    return (looks, tuple((name, value) for name, value in narrow.items() if name not in _PLACES)), places


def _keeps_space(node: Node) -> bool:
    return node.tag in ("option", "code") or node.name == TOKEN


class _SheetWriter:
    """Chooses names and selectors, parents first."""

    def __init__(self, page: Page, elements: list[_Element], prefix: str) -> None:
        self._page = page
        self._elements = elements
        self._prefix = prefix
        self.classes: dict[int, list[str]] = defaultdict(list)
        self._rules: list[Rule] = []
        self._used: set[str] = set(_LAYOUTS)
        self._own: dict[int, str] = {}  # the selector of an element that no other has
        self._contexts: dict[int, str] = {-1: "page"}
        self._tags = Counter(element.node.tag for element in elements)
        self._body_size = _body_size(page.body)
        self._groups: dict[_Group, list[int]] = defaultdict(list)
        for at, element in enumerate(elements):
            if any(element.looks):
                self._groups[self._group(at)].append(at)
        self._named: dict[
            _Group, tuple[str, tuple[Change, ...]]
        ] = {}  # the class of a group, and what places all of it
        self._first_section = next((at for at, element in enumerate(elements) if element.node.tag == "section"), -1)

    def _group(self, at: int) -> _Group:
        """Return the key of the elements that share a class; each section has its own."""
        element = self._elements[at]
        return element.node.tag, element.looks, at if element.node.tag == "section" else -1

    def write(self) -> None:
        rests = [self._name(at) for at in range(len(self._elements))]
        layouts = Counter(candidate.layout for candidate in rests)
        rests = [
            candidate if layouts[candidate.layout] >= _OFTEN else candidate.without_layout() for candidate in rests
        ]
        utilities = _utilities(rests)
        self._name_crowded({at for at, rest in enumerate(rests) if not rest.is_expressed(utilities)})
        for at, rest in enumerate(rests):
            if rest.layout:
                self.classes[at].insert(0, self._prefix + rest.layout)
            if rest.is_expressed(utilities):
                self.classes[at] += [self._prefix + utilities[place] for place in rest.places]
            else:
                self._rules.append(_rule(self._selector(at), rest.looks, rest.places))
        used = {name for names in self.classes.values() for name in names}
        shared = [_rule(f".{self._prefix}{name}", looks, ()) for name, looks in _LAYOUTS.items()]
        shared += [_rule(f".{self._prefix}{name}", ((), ()), (place,)) for place, name in utilities.items()]
        self._rules = [*(rule for rule in shared if rule[0][1:] in used), *self._rules]

    def _name(self, at: int) -> _Rest:
        """Give an element the class of its group, if it has one; return what that class does not say."""
        element, key = self._elements[at], self._group(at)
        group = self._groups.get(key, [])
        name, common = self._named.get(key, ("", ()))
        names = self._names(at)
        if len({self._home(other) for other in group}) > 1:
            names = shared_names(element.node) + names
        rest = _compose(element)
        if not name and ((len(group) > 1 and not rest.is_plain) or (group and self._is_part(at, names))):
            name, common = self._named[key] = choose_name(names, self._used), self._common_places(group)
            self._used.add(name)
            self._rules.append(_rule(f".{self._prefix}{name}", element.looks, common))
        self._set_context(at, name or names[0])
        if not name:
            return rest
        self.classes[at].append(self._prefix + name)
        if len(group) == 1:
            self._own[at] = f".{self._prefix}{name}"
        return _Rest("", ((), ()), tuple(place for place in element.places if place not in common))

    def _name_crowded(self, ruled: set[int]) -> None:
        """Give containers with many elements that are styled by their place a class, so that selectors stay short.

        Inner containers come first; what is in one of them does not count for those around it.
        """
        open_rules: Counter[int] = Counter()
        for at in range(len(self._elements) - 1, -1, -1):
            element = self._elements[at]
            if open_rules[at] >= _CROWDED and element.node.tag in _BOXES and not self._is_known(at):
                names = [name for name in self._names(at) if name not in self._used]
                if names:
                    self._used.add(names[0])
                    self.classes[at].append(self._prefix + names[0])
                    self._own[at] = f".{self._prefix}{names[0]}"
            inside = 0 if self._is_known(at) else open_rules[at]
            open_rules[element.parent] += inside + (at in ruled)

    def _is_known(self, at: int) -> bool:
        """Whether an element has a selector of its own: a class that no other has, an id, a tag that occurs once."""
        tag = self._elements[at].node.tag
        return at in self._own or bool(self._find_id(at)) or (tag in _SINGLE and self._tags[tag] == 1)

    def _is_part(self, at: int, names: Sequence[str]) -> bool:
        """Whether an element is a painted part of the page that deserves a name although it is the only one."""
        node = self._elements[at].node
        if node.tag not in _BOXES or self._find_id(at) or (node.tag in _SINGLE and self._tags[node.tag] == 1):
            return False
        painted = sum(name in _PAINT for name, _ in node.style)
        return painted > 1 and len(node.children) > 1 and not is_sentence(node) and names[0] not in self._used

    def _find_id(self, at: int) -> str:
        node = self._elements[at].node
        return dict(node.attributes).get("id", "") if node.tag == "section" else ""

    def _home(self, at: int) -> int:
        """Return the part of the page that an element is in: a header, a section, a footer."""
        parent = self._elements[at].parent
        while parent >= 0 and self._elements[parent].node.tag not in ("header", "footer", "aside", "section"):
            parent = self._elements[parent].parent
        return parent

    def _names(self, at: int) -> list[str]:
        element = self._elements[at]
        context = self._contexts[element.parent]
        if (
            element.node.children
            and element.node.tag not in ("select", "svg")
            and not any(not child.tag for child in element.node.children)
        ):
            return container_names(element.node, context, at == self._first_section)
        return leaf_names(element.node, context, self._body_size)

    def _set_context(self, at: int, name: str) -> None:
        """Let parts of the page name what is in them; mere rows and columns pass on the name around them."""
        element = self._elements[at]
        names_its_content = element.node.tag in (
            "header",
            "footer",
            "aside",
            "nav",
            "section",
            "article",
            "form",
            "main",
            "table",
        )
        names_its_content = names_its_content and element.node.name != "scroll"
        name = "table" if element.node.tag == "table" else name
        self._contexts[at] = name if names_its_content else self._contexts[element.parent]

    def _common_places(self, group: Sequence[int]) -> tuple[Change, ...]:
        first = self._elements[group[0]].places
        return tuple(place for place in first if all(place in self._elements[at].places for at in group))

    def _selector(self, at: int) -> str:
        if at < 0:
            return "body"
        if at not in self._own:
            element = self._elements[at]
            tag = element.node.tag
            if name := self._find_id(at):
                self._own[at] = f"#{name}"
            elif self._is_known(at):
                self._own[at] = tag
            else:
                step = tag if element.alone else f"{tag}:nth-of-type({element.nth})"
                self._own[at] = f"{self._selector(element.parent)} > {step}"
        return self._own[at]

    def css(self) -> str:
        page = self._page
        declared = [*page.style, *(entry for item in self._elements for entry in item.node.style)]
        tokens = design_tokens(declared, dict(page.style).get("background", ""))
        outer = (*page.style, ("display", "flex"), ("flex-direction", "column"), ("overflow-wrap", "break-word"))
        extra = (*(_TABLE if self._tags["table"] else ()), *(_CODE if self._tags["pre"] else ()))
        lines = [tokens.rule, *_BASE, *extra, _written("body", outer, tokens)]
        whole = [_WHOLE, *([_UNWRAPPED] if any(is_one_line(item.node) for item in self._elements) else [])]
        whole += ["pre, code { white-space: pre; }"] if self._tags["pre"] else []
        lines.append(f"@media (min-width: {page.width}px) {{ {' '.join(whole)} }}")
        lines += _factor_rules([(name, style) for name, style, _ in self._rules if style], tokens)
        slim = [(name, narrow) for name, _, narrow in self._rules if narrow]
        if slim and page.width > BREAK:
            lines.append(f"@media (max-width: {BREAK}px) {{")
            lines += [*(f"  {item}" for item in _group_rules(slim)), "}"]
        return "\n".join(line for line in lines if line)


def _body_size(body: Sequence[Node]) -> float:
    sizes: Counter[float] = Counter()
    for node in walk_nodes(tuple(body)):
        size_match = _SIZE.search(dict(node.style).get("font-size", ""))
        if size_match is not None:
            sizes[float(size_match[1])] += sum(len(line) for line in node.lines)
    return sizes.most_common(1)[0][0] if sizes else 16.0


def _utilities(rests: Sequence[_Rest]) -> dict[Change, str]:
    """Return the placements that several elements have and that have a plain name, with it.

    Elements with anything else are styled by their place, so that they do not count; without them others may be rare.
    """
    named: dict[Change, str] = {}
    for place, _ in Counter(place for rest in rests for place in rest.places).most_common():
        name = _utility_name(place)
        if name and name not in named.values():
            named[place] = name
    while True:
        counted = Counter(place for rest in rests if rest.is_expressed(named) for place in rest.places)
        often = {place: name for place, name in named.items() if counted[place] >= _OFTEN}
        if often == named:
            return named
        named = often


def _compose(element: _Element) -> _Rest:
    """Split what an element looks like into a layout that others share, its distances, and the rest."""
    (wide, narrow), node = element.looks, element.node
    if node.tag not in _BOXES or not node.children:
        return _Rest("", element.looks, element.places)
    changed = {name for name, _ in narrow}
    for name, (shared, slim) in _LAYOUTS.items():
        fits = set(shared) <= set(wide) and set(slim) <= set(narrow)
        if not fits or not changed.isdisjoint(prop for prop, _ in shared):
            continue
        gaps = tuple((prop, value, dict(narrow).get(prop, "")) for prop, value in wide if prop == "gap")
        wide = tuple(entry for entry in wide if entry not in shared and entry[0] != "gap")
        narrow = tuple(entry for entry in narrow if entry not in slim and not (gaps and entry[0] == "gap"))
        return _Rest(name, (wide, narrow), (*gaps, *element.places))
    return _Rest("", element.looks, element.places)


def _utility_name(place: Change) -> str:
    prop, value, narrow = place
    word = _WORDS.get((prop, value), "")
    pixels = _PIXELS.fullmatch(value)
    if not word and prop in _STEPS and pixels is not None and int(pixels[1]) % 4 == 0:
        word = f"{_STEPS[prop]}-{int(pixels[1]) // 4}"
    return word if not narrow or (prop in ("margin-left", "margin-right") and narrow == "0") else ""


def _rule(selector: str, looks: tuple[Style, Style] | tuple[()], places: Sequence[Change]) -> Rule:
    style, narrow = looks or ((), ())
    wide = (*style, *((name, value) for name, value, _ in places if value))
    return selector, wide, (*narrow, *((name, slim) for name, _, slim in places if slim))


def _factor_rules(wide: list[tuple[str, Style]], tokens: DesignTokens) -> list[str]:
    """Return rules for common declarations first, then the rest of each selector."""
    rules: list[str] = []
    for shared in _SHARED:
        having = [name for name, style in wide if set(shared) <= set(style)]
        if len(having) < 3:
            continue
        rules.append(_written(", ".join(having), shared, tokens))
        wide = [
            (name, tuple(entry for entry in style if entry not in shared) if name in having else style)
            for name, style in wide
        ]
    return rules + [_written(name, style, tokens) for name, style in wide if style]


def _group_rules(slim: list[tuple[str, Style]]) -> list[str]:
    """Return one rule for all selectors with the same changes."""
    groups: dict[Style, list[str]] = {}
    for name, style in slim:
        groups.setdefault(style, []).append(name)
    return [
        f"{', '.join(names)} {{ {' '.join(f'{prop}: {value};' for prop, value in style)} }}"
        for style, names in groups.items()
    ]


def _written(name: str, style: Style, tokens: DesignTokens) -> str:
    return f"{name} {{ {' '.join(f'{prop}: {tokens.substitute(prop, value)};' for prop, value in style)} }}"
