"""Makes the style sheet of a page: classes for looks that elements share, and for parts of the page.

An element that looks like no other is styled by its place in a named part (`.hero > p`), not by a class of its own.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from weft.vision.elements import Node, Page, Style, walk_nodes
from weft.vision.write.names import choose_name, container_names, leaf_names, shared_names
from weft.vision.write.tokens import DesignTokens, design_tokens

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
_STEPS = {"margin-top": "mt", "margin-left": "ml", "margin-right": "mr"}
_PIXELS = re.compile(r"(\d+)px")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)px")
_OFTEN = 3  # elements that make a utility worth its name
_SINGLE = frozenset({"header", "main", "footer", "aside", "form", "nav", "h1", "table", "thead", "tbody", "ul"})
"""Tags that need no class if the page has one of them."""

Change = tuple[str, str, str]  # a property, its value, and its value on a narrow screen or nothing
_Group = tuple[str, tuple[Style, Style], int]  # tag, looks, and the element itself if it shares its class with none
Rule = tuple[str, Style, Style]  # a selector, its declarations, and those on a narrow screen


def is_sentence(node: Node) -> bool:
    """Whether the children are words and inline elements, which stand on one line."""
    return any(not child.tag for child in node.children)


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


def stylesheet(page: Page, prefix: str = "") -> StyleSheet:
    """Make classes and rules for all elements. The prefix separates the classes from a framework's."""
    elements = _elements(page, prefix)
    sheet = _SheetWriter(page, elements, prefix)
    sheet.write()
    return StyleSheet(sheet.css(), {id(elements[at].node): " ".join(names) for at, names in sheet.classes.items()})


def _elements(page: Page, prefix: str) -> list[_Element]:
    found: list[_Element] = []

    def visit(nodes: Sequence[Node], parent: int) -> None:
        tags: Counter[str] = Counter()
        totals = Counter(node.tag for node in nodes)
        for node in nodes:
            if not node.tag:
                continue
            tags[node.tag] += 1
            looks, places = _split(node, () if prefix else _OWN.get(node.tag, ()))
            found.append(_Element(node, parent, tags[node.tag], totals[node.tag] == 1, looks, places))
            if node.tag != "svg":  # shapes have attributes, no style
                visit(node.children, len(found) - 1)

    visit(page.body, -1)
    return found


def _split(node: Node, own: Style) -> tuple[tuple[Style, Style], tuple[Change, ...]]:
    """Split a style, without the declarations of the base, into looks and placement."""
    dropped = {*own, ("max-width", "100%"), ("align-self", "stretch")}
    style = [entry for entry in node.style if entry not in dropped]
    if is_one_line(node):
        style = [entry for entry in style if entry != NOWRAP]
    elif (node.lines or is_sentence(node)) and NOWRAP not in style and node.tag != "option":
        style.append(WRAP)
    narrow = {name: value for name, value in node.narrow if (name, value) != WRAP}
    if any(name == "grid-area" for name, _ in style):
        return (tuple(style), tuple(narrow.items())), ()
    wide = dict(style)
    placed = [name for name in (*wide, *narrow) if name in _PLACES]
    places = tuple((name, wide.get(name, ""), narrow.get(name, "")) for name in dict.fromkeys(placed))
    looks = tuple(entry for entry in style if entry[0] not in _PLACES)
    return (looks, tuple((name, value) for name, value in narrow.items() if name not in _PLACES)), places


class _SheetWriter:
    """Chooses names and selectors, parents first."""

    def __init__(self, page: Page, elements: list[_Element], prefix: str) -> None:
        self._page = page
        self._elements = elements
        self._prefix = prefix
        self.classes: dict[int, list[str]] = defaultdict(list)
        self._rules: list[Rule] = []
        self._used: set[str] = set()
        self._own: dict[int, str] = {}  # the selector of an element that no other has
        self._contexts: dict[int, str] = {-1: "page"}
        self._tags = Counter(each.node.tag for each in elements)
        self._body_size = _body_size(page.body)
        self._groups: dict[_Group, list[int]] = defaultdict(list)
        for at, each in enumerate(elements):
            if any(each.looks):
                self._groups[self._group(at)].append(at)
        self._utilities = _utilities(elements)
        self._first_section = next((at for at, each in enumerate(elements) if each.node.tag == "section"), -1)

    def _group(self, at: int) -> _Group:
        """Return the key of the elements that share a class; each section has its own."""
        each = self._elements[at]
        return each.node.tag, each.looks, at if each.node.tag == "section" else -1

    def write(self) -> None:
        named: dict[_Group, tuple[str, tuple[Change, ...]]] = {}  # the class of a group, and what places all of it
        for at, each in enumerate(self._elements):
            key = self._group(at)
            group = self._groups.get(key, [])
            name, common = named.get(key, ("", ()))
            names = self._names(at)
            if len({self._home(other) for other in group}) > 1:
                names = shared_names(each.node) + names
            if not name and (len(group) > 1 or (group and self._is_part(at, names))):
                name, common = named[key] = choose_name(names, self._used), self._common_places(group)
                self._used.add(name)
                self._rules.append(_rule(f".{self._prefix}{name}", each.looks, common))
            self._set_context(at, name or names[0])
            rest = each.places
            if name:
                self.classes[at].append(self._prefix + name)
                rest = tuple(place for place in each.places if place not in common)
                if len(group) == 1:
                    self._own[at] = f".{self._prefix}{name}"
            self._place(at, rest, () if name else each.looks)
        for place, name in self._utilities.items():
            if any(self._prefix + name in names for names in self.classes.values()):
                self._rules.append(_rule(f".{self._prefix}{name}", ((), ()), (place,)))

    def _place(self, at: int, places: tuple[Change, ...], looks: tuple[Style, Style] | tuple[()]) -> None:
        """Write what is left of an element's style: utilities for what is common, a rule for its place otherwise."""
        known = self._utilities
        rest = places
        if not looks or not any(looks):
            self.classes[at] += [self._prefix + known[place] for place in places if place in known]
            rest = tuple(place for place in places if place not in known)
        if rest or (looks and any(looks)):
            self._rules.append(_rule(self._selector(at), looks or ((), ()), rest))

    def _is_part(self, at: int, names: Sequence[str]) -> bool:
        """Whether an element is a part of the page that deserves a name although it is the only one."""
        node = self._elements[at].node
        if node.tag in _SINGLE and self._tags[node.tag] == 1:
            return False
        if any(not child.tag for child in node.children) or node.tag in ("select", "svg", "tr", "thead", "tbody"):
            return False
        if node.tag in ("section", "article", "form", "nav", "aside"):
            return True
        return len(node.children) > 1 and node.tag not in ("td", "th") and names[0] not in self._used

    def _home(self, at: int) -> int:
        """Return the part of the page that an element is in: a header, a section, a footer."""
        parent = self._elements[at].parent
        while parent >= 0 and self._elements[parent].node.tag not in ("header", "footer", "aside", "section"):
            parent = self._elements[parent].parent
        return parent

    def _names(self, at: int) -> list[str]:
        each = self._elements[at]
        context = self._contexts[each.parent]
        if (
            each.node.children
            and each.node.tag not in ("select", "svg")
            and not any(not child.tag for child in each.node.children)
        ):
            return container_names(each.node, context, at == self._first_section)
        return leaf_names(each.node, context, self._body_size)

    def _set_context(self, at: int, name: str) -> None:
        """Let parts of the page name what is in them; mere rows and columns pass on the name around them."""
        each = self._elements[at]
        own = each.node.tag in ("header", "footer", "aside", "nav", "section", "article", "form", "main", "table")
        own = own and each.node.name != "scroll"
        name = "table" if each.node.tag == "table" else name
        self._contexts[at] = name if own else self._contexts[each.parent]

    def _common_places(self, group: Sequence[int]) -> tuple[Change, ...]:
        first = self._elements[group[0]].places
        return tuple(place for place in first if all(place in self._elements[at].places for at in group))

    def _selector(self, at: int) -> str:
        if at < 0:
            return "body"
        if at not in self._own:
            each = self._elements[at]
            tag = each.node.tag
            if tag in _SINGLE and self._tags[tag] == 1:
                self._own[at] = tag
            else:
                step = tag if each.alone else f"{tag}:nth-of-type({each.nth})"
                self._own[at] = f"{self._selector(each.parent)} > {step}"
        return self._own[at]

    def css(self) -> str:
        page = self._page
        declared = [*page.style, *(entry for each in self._elements for entry in each.node.style)]
        tokens = design_tokens(declared, dict(page.style).get("background", ""))
        outer = (*page.style, ("display", "flex"), ("flex-direction", "column"), ("overflow-wrap", "break-word"))
        lines = [tokens.rule, *_BASE, *(_TABLE if self._tags["table"] else ()), _written("body", outer, tokens)]
        whole = [_WHOLE, *([_UNWRAPPED] if any(is_one_line(each.node) for each in self._elements) else [])]
        lines.append(f"@media (min-width: {page.width}px) {{ {' '.join(whole)} }}")
        lines += _factor_rules([(name, style) for name, style, _ in self._rules if style], tokens)
        slim = [(name, narrow) for name, _, narrow in self._rules if narrow]
        if slim and page.width > BREAK:
            lines.append(f"@media (max-width: {BREAK}px) {{")
            lines += [*(f"  {each}" for each in _group_rules(slim)), "}"]
        return "\n".join(line for line in lines if line)


def _body_size(body: Sequence[Node]) -> float:
    sizes: Counter[float] = Counter()
    for node in walk_nodes(tuple(body)):
        found = _SIZE.search(dict(node.style).get("font-size", ""))
        if found is not None:
            sizes[float(found[1])] += sum(len(line) for line in node.lines)
    return sizes.most_common(1)[0][0] if sizes else 16.0


def _utilities(elements: Sequence[_Element]) -> dict[Change, str]:
    """Return the placements that several elements have and that have a plain name, with it."""
    counted = Counter(place for each in elements for place in each.places)
    found: dict[Change, str] = {}
    for place, count in counted.items():
        name = _utility_name(place)
        if count >= _OFTEN and name and name not in found.values():
            found[place] = name
    return found


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
