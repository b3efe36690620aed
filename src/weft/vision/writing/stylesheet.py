"""A style sheet from the styles of nodes: variables, what all elements share, a class for each look, and small classes
for places. What several classes have in common is said once.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from weft.vision.page import Node, Page, Style, walk
from weft.vision.writing.atoms import Atom, Look, split
from weft.vision.writing.tokens import Tokens, tokens

BREAK = 720
"""Screens up to this width are narrow."""
_BASE = (
    "*, *::before, *::after { box-sizing: border-box; }",
    "body * { max-width: 100%; }",
    "h1, h2, h3, p, ul, li, figure { margin: 0; padding: 0; }",
    "ul { list-style: none; }",
    "a { color: inherit; text-decoration: none; }",
    "img { display: block; flex: none; height: auto; }",
    "button, input, select { margin: 0; }",
    "button { font: inherit; text-align: left; border: 0; }",
    "input::placeholder { color: inherit; opacity: 1; }",
)
_TABLE = (
    "table { border-spacing: 0; table-layout: fixed; }",
    "th, td { padding: 0; text-align: left; font-weight: inherit; }",
)
_OWN: dict[str, Style] = {"button": (("font", "inherit"), ("text-align", "left"), ("border", "0"))}
"""What the base already says of an element."""
_SHARED: tuple[Style, ...] = (
    (("display", "flex"), ("flex-direction", "column")),
    (("display", "flex"), ("align-items", "center")),
    (("display", "flex"), ("align-items", "flex-start")),
)
_UNWRAPPED = "h1, h2, h3, p, a, li, span, label, button, th, td { white-space: nowrap; }"
_WHOLE = "img { max-width: none; }"
_NOWRAP, _WRAP = ("white-space", "nowrap"), ("white-space", "normal")

Key = tuple[str, str, Style, Style]


@dataclass(frozen=True, slots=True)
class StyleSheet:
    css: str
    classes: dict[Key, str]

    def attribute(self, node: Node) -> str:
        """The class of a node, as it stands in its start tag."""
        names = self.classes.get(_key(node), "")
        return f' class="{names}"' if names else ""


def _key(node: Node) -> Key:
    return node.tag, node.name, node.style, node.narrow


def stylesheet(page: Page, prefix: str = "") -> StyleSheet:
    """Classes for all nodes of the page. The prefix keeps them apart from those of a framework."""
    nodes = walk(page.body)
    unwrapped = _mostly_unwrapped(nodes)
    looks: dict[tuple[str, Look], str] = {}
    atoms: dict[str, Atom] = {}
    classes: dict[Key, str] = {}
    used: Counter[str] = Counter()
    for node in nodes:
        if _key(node) in classes:
            continue
        look, places = _split(node, unwrapped, () if prefix else _OWN.get(node.tag, ()))
        names: list[str] = []
        if look.style or look.narrow:
            stem = node.name or node.tag
            if (stem, look) not in looks:
                used[stem] += 1
                looks[stem, look] = prefix + (stem if used[stem] == 1 else f"{stem}-{used[stem]}")
            names.append(looks[stem, look])
        for place in places:
            atom = replace(place, name=prefix + place.name)
            atoms[atom.name] = atom
            names.append(atom.name)
        classes[_key(node)] = " ".join(names)
    tagged = {node.tag for node in nodes}
    return StyleSheet(_css(page, list(looks.items()), list(atoms.values()), unwrapped, "table" in tagged), classes)


def _mostly_unwrapped(nodes: Iterable[Node]) -> bool:
    """Whether most texts stand in one line as they were seen."""
    texts = [node for node in nodes if node.lines]
    return 2 * sum(_NOWRAP in node.style for node in texts) > len(texts)


def _split(node: Node, unwrapped: bool, own: Style) -> tuple[Look, tuple[Atom, ...]]:
    """Its style without what the base says; a framework's classes would be stronger than the base."""
    dropped = {*own, ("max-width", "100%"), ("align-self", "stretch")}
    style = [entry for entry in node.style if entry not in dropped]
    if node.lines and unwrapped:
        style = [entry for entry in style if entry != _NOWRAP] if _NOWRAP in style else [*style, _WRAP]
    look, atoms = split(node, tuple(style))
    if node.lines and (unwrapped or _NOWRAP not in node.style):
        look = Look(look.style, tuple(entry for entry in look.narrow if entry != _WRAP))
    return look, atoms


def _css(page: Page, looks: list[tuple[tuple[str, Look], str]], atoms: list[Atom], unwrapped: bool, table: bool) -> str:
    wide = [(f".{name}", look.style) for (_, look), name in looks]
    wide += [(f".{atom.name}", ((atom.prop, atom.value),)) for atom in atoms]
    slim = [(f".{name}", look.narrow) for (_, look), name in looks if look.narrow]
    slim += [(f".{atom.name}", ((atom.prop, atom.narrow),)) for atom in atoms if atom.narrow and not _flush(atom)]
    if any(_flush(atom) for atom in atoms):
        slim.append(('[class*="ml-"]', (("margin-left", "0"),)))
    there = {entry for _, style in wide for entry in style}
    named = tokens([*page.style, *(entry for node in walk(page.body) for entry in node.style if entry in there)])
    outer = (*page.style, ("display", "flex"), ("flex-direction", "column"), ("overflow-wrap", "anywhere"))
    rules = [named.rule, *_BASE, *(_TABLE if table else ()), _rule("body", outer, named)]
    narrow = bool(page.width > BREAK)
    whole = [_WHOLE, *([_UNWRAPPED] if unwrapped else [])]
    rules += [f"@media (min-width: {BREAK + 1}px) {{ {' '.join(whole)} }}"] if narrow else whole
    rules += _factored(wide, named)
    if slim and narrow:
        rules.append("\n".join([f"@media (max-width: {BREAK}px) {{", *(f"  {each}" for each in _grouped(slim)), "}"]))
    return "\n".join(rule for rule in rules if rule)


def _flush(atom: Atom) -> bool:
    """Whether this is one of the indents that go on a narrow screen, all of them."""
    return (atom.prop, atom.narrow) == ("margin-left", "0")


def _factored(wide: list[tuple[str, Style]], named: Tokens) -> list[str]:
    """What several have in common first, for all of them; then each with the rest."""
    rules: list[str] = []
    for shared in _SHARED:
        having = [name for name, style in wide if set(shared) <= set(style)]
        if len(having) < 3:
            continue
        rules.append(_rule(", ".join(having), shared, named))
        wide = [
            (name, tuple(entry for entry in style if entry not in shared) if name in having else style)
            for name, style in wide
        ]
    return rules + [_rule(name, style, named) for name, style in wide if style]


def _grouped(slim: list[tuple[str, Style]]) -> list[str]:
    """One rule for all that change in the same way."""
    groups: dict[Style, list[str]] = {}
    for name, style in slim:
        groups.setdefault(style, []).append(name)
    return [
        f"{', '.join(names)} {{ {' '.join(f'{prop}: {value};' for prop, value in style)} }}"
        for style, names in groups.items()
    ]


def _rule(name: str, style: Style, named: Tokens) -> str:
    return f"{name} {{ {' '.join(f'{prop}: {named.put(prop, value)};' for prop, value in style)} }}"
