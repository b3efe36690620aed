"""Writes a page as HTML with one style sheet."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from html import escape

from weft.core.markup import VOID_ELEMENTS
from weft.vision.elements import Node, Page, Style, walk_nodes

Attributes = Callable[[Node], str]  # such as a class, with a leading space, or nothing


def html_page(page: Page, head: Iterable[str], body: str, attributes: str = "") -> dict[str, str | bytes]:
    """Write `index.html` with these lines in its head, and the assets."""
    lines = "\n".join(head)
    text = f"""<!DOCTYPE html>
<html lang="{page.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(page.title, quote=False)}</title>
{lines}
</head>
<body{attributes}>
{body}
</body>
</html>
"""
    return {"index.html": text, **dict(page.assets)}


def element(node: Node, looks: Attributes, depth: int = 0) -> str:
    """Write an element and its content as HTML, each element on a line."""
    pad = "  " * depth
    plain = "".join(
        f' {name}="{escape(value)}"' if value else f" {name}" for name, value in node.attributes if name != "alt"
    )
    alt = "".join(f' alt="{escape(value)}"' for name, value in node.attributes if name == "alt")
    opening = f"{pad}<{node.tag}{looks(node)}{plain}{alt}>"
    if node.tag in VOID_ELEMENTS:
        return opening
    words = "<br>".join(escape(line, quote=False) for line in node.lines)
    if not node.children:
        return f"{opening}{words}</{node.tag}>"
    inside = "\n".join(element(child, looks, depth + 1) for child in node.children)
    first = f"\n{pad}  {words}" if words else ""
    return f"{opening}{first}\n{inside}\n{pad}</{node.tag}>"


_COLOUR = re.compile(r"#[0-9a-f]{6}\b")
_LENGTH = re.compile(r"(?<![\w.-])\d+(?:\.\d+)?px")
_ROLES = {"color": "text", "border": "line", "border-color": "line", "border-bottom": "line", "border-top": "line"}
_SPACES = ("gap", "padding", "padding-left", "padding-right", "padding-bottom", "margin-top", "margin-left")
_SCALES = {**dict.fromkeys(_SPACES, "space"), "font-size": "size", "border-radius": "radius"}
_OFTEN = 2


@dataclass(frozen=True, slots=True)
class DesignTokens:
    """Values by kind (`colour`, `space`, `size`, `radius`, `font`), and the names of their variables."""

    names: Mapping[tuple[str, str], str]

    @property
    def rule(self) -> str:
        lines: dict[str, list[str]] = {}
        for (_, value), name in self.names.items():
            lines.setdefault(name.strip("-").partition("-")[0], []).append(f"{name}: {value};")
        inside = "\n".join("  " + " ".join(line) for line in lines.values())
        return f":root {{\n{inside}\n}}" if lines else ""

    def substitute(self, name: str, value: str) -> str:
        if name == "font-family":
            return self._var("font", value)
        kind = _SCALES.get(name)
        if kind is not None:
            value = _LENGTH.sub(lambda found: self._var(kind, found[0]), value)
        return _COLOUR.sub(lambda found: self._var("colour", found[0]), value)

    def _var(self, kind: str, value: str) -> str:
        name = self.names.get((kind, value))
        return f"var({name})" if name else value


def design_tokens(declared: Iterable[tuple[str, str]]) -> DesignTokens:
    """Name the values that a style sheet uses more than once."""
    roles: dict[str, Counter[str]] = {}
    scales: dict[str, Counter[str]] = {"space": Counter(), "size": Counter(), "radius": Counter(), "font": Counter()}
    for name, value in declared:
        for colour in _COLOUR.findall(value):
            roles.setdefault(colour, Counter())[_ROLES.get(name, "fill")] += 1
        if name == "font-family":
            scales["font"][value] += 1
        elif name in _SCALES:
            scales[_SCALES[name]].update(_LENGTH.findall(value))
    return DesignTokens({**_colour_names(roles), **_scale_names(scales)})


def _colour_names(roles: Mapping[str, Counter[str]]) -> dict[tuple[str, str], str]:
    often = sorted((colour for colour in roles if roles[colour].total() >= _OFTEN), key=lambda c: -roles[c].total())
    names: dict[tuple[str, str], str] = {}
    for role in ("text", "fill", "line"):
        own = [colour for colour in often if roles[colour].most_common(1)[0][0] == role]
        names |= {("colour", colour): f"--{role}-{number}" for number, colour in enumerate(own, 1)}
    return names


def _scale_names(scales: Mapping[str, Counter[str]]) -> dict[tuple[str, str], str]:
    names: dict[tuple[str, str], str] = {}
    for kind, counted in scales.items():
        often = [value for value, count in counted.items() if count >= _OFTEN]
        if kind != "font":
            often.sort(key=lambda value: float(value.removesuffix("px")))
        names |= {(kind, value): f"--{kind}-{number}" for number, value in enumerate(often, 1)}
    return names


_PLACES = {
    "margin-top": "mt",
    "margin-left": "ml",
    "margin-right": "mr",
    "width": "w",
    "max-width": "max",
    "letter-spacing": "ls",
}
_WORDS: dict[str, dict[str, str]] = {
    "align-self": {"center": "self-center", "flex-start": "self-start", "flex-end": "self-end"},
    "text-align": {"center": "text-center", "right": "text-right"},
    "justify-content": {"center": "centred", "flex-end": "ended"},
    "margin-left": {"auto": "push"},
    "width": {"100%": "w-full"},
    "flex": {"none": "fixed"},
}
_PIXELS = re.compile(r"(-?)(\d+)(?:\.(\d+))?px")


@dataclass(frozen=True, slots=True)
class Atom:
    """A class of one property, and its value on a narrow screen."""

    name: str
    prop: str
    value: str
    narrow: str = ""


@dataclass(frozen=True, slots=True)
class ClassStyle:
    style: Style
    narrow: Style


def split_style(node: Node, style: Style) -> tuple[ClassStyle, tuple[Atom, ...]]:
    """Split a style into looks, which elements share, and places, in classes of one property."""
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
    return ClassStyle(tuple(looks), tuple(narrow.items())), tuple(atoms)


def _name(prop: str, value: str) -> str:
    word = _WORDS.get(prop, {}).get(value)
    if word is not None:
        return word
    found = _PIXELS.fullmatch(value)
    if prop not in _PLACES or found is None:
        return ""
    minus, whole, part = found.groups()
    return f"{_PLACES[prop]}-{'n' if minus else ''}{whole}{f'-{part}' if part else ''}"


BREAK = 720  # screens up to this width are narrow
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
_OWN: dict[str, Style] = {"button": (("font", "inherit"), ("text-align", "left"), ("border", "0"))}  # in _BASE
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
        names = self.classes.get(_key(node), "")
        return f' class="{names}"' if names else ""


def _key(node: Node) -> Key:
    return node.tag, node.name, node.style, node.narrow


def stylesheet(page: Page, prefix: str = "") -> StyleSheet:
    """Make classes for all nodes. The prefix separates them from a framework's."""
    nodes = walk_nodes(page.body)
    texts = [node for node in nodes if node.lines]
    unwrapped = 2 * sum(_NOWRAP in node.style for node in texts) > len(texts)  # most texts are on one line
    looks: dict[tuple[str, ClassStyle], str] = {}
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


def _split(node: Node, unwrapped: bool, own: Style) -> tuple[ClassStyle, tuple[Atom, ...]]:
    """Split a style, without the declarations of the base, into a class and atoms."""
    dropped = {*own, ("max-width", "100%"), ("align-self", "stretch")}
    style = [entry for entry in node.style if entry not in dropped]
    if node.lines and unwrapped:
        style = [entry for entry in style if entry != _NOWRAP] if _NOWRAP in style else [*style, _WRAP]
    look, atoms = split_style(node, tuple(style))
    if node.lines and (unwrapped or _NOWRAP not in node.style):
        look = ClassStyle(look.style, tuple(entry for entry in look.narrow if entry != _WRAP))
    return look, atoms


def _css(
    page: Page, looks: list[tuple[tuple[str, ClassStyle], str]], atoms: list[Atom], unwrapped: bool, table: bool
) -> str:
    wide = [(f".{name}", look.style) for (_, look), name in looks]
    wide += [(f".{atom.name}", ((atom.prop, atom.value),)) for atom in atoms]
    slim = [(f".{name}", look.narrow) for (_, look), name in looks if look.narrow]
    slim += [(f".{atom.name}", ((atom.prop, atom.narrow),)) for atom in atoms if atom.narrow and not _is_flush(atom)]
    if any(_is_flush(atom) for atom in atoms):
        slim.append(('[class*="ml-"]', (("margin-left", "0"),)))
    used = {entry for _, style in wide for entry in style}
    named = design_tokens(
        [*page.style, *(entry for node in walk_nodes(page.body) for entry in node.style if entry in used)]
    )
    outer = (*page.style, ("display", "flex"), ("flex-direction", "column"), ("overflow-wrap", "anywhere"))
    rules = [named.rule, *_BASE, *(_TABLE if table else ()), _rule("body", outer, named)]
    narrow = bool(page.width > BREAK)
    whole = [_WHOLE, *([_UNWRAPPED] if unwrapped else [])]
    rules += [f"@media (min-width: {BREAK + 1}px) {{ {' '.join(whole)} }}"] if narrow else whole
    rules += _factor_rules(wide, named)
    if slim and narrow:
        rules.append(
            "\n".join([f"@media (max-width: {BREAK}px) {{", *(f"  {each}" for each in _group_rules(slim)), "}"])
        )
    return "\n".join(rule for rule in rules if rule)


def _is_flush(atom: Atom) -> bool:
    """Whether this indent is dropped on a narrow screen."""
    return (atom.prop, atom.narrow) == ("margin-left", "0")


def _factor_rules(wide: list[tuple[str, Style]], named: DesignTokens) -> list[str]:
    """Return rules for common declarations first, then the rest of each class."""
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


def _group_rules(slim: list[tuple[str, Style]]) -> list[str]:
    """Return one rule for all classes with the same changes."""
    groups: dict[Style, list[str]] = {}
    for name, style in slim:
        groups.setdefault(style, []).append(name)
    return [
        f"{', '.join(names)} {{ {' '.join(f'{prop}: {value};' for prop, value in style)} }}"
        for style, names in groups.items()
    ]


def _rule(name: str, style: Style, named: DesignTokens) -> str:
    return f"{name} {{ {' '.join(f'{prop}: {named.substitute(prop, value)};' for prop, value in style)} }}"


def write_html_css(page: Page) -> dict[str, str | bytes]:
    """Write `index.html` with its style inside, and the assets."""
    sheet = stylesheet(page)
    body = "\n".join(element(node, sheet.attribute, 1) for node in page.body)
    return html_page(page, [f"<style>\n{sheet.css}\n</style>"], body)
