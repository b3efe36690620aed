"""Edits a list of Tailwind classes: the class that sets a property is replaced, and the others stay as they are."""

import re
from collections.abc import Mapping

import msgspec

from heald.core.lazy import lazy_pattern
from heald_studio.visual.breakpoint import TAILWIND_SCREENS, Breakpoint
from heald_studio.visual.tailwind_utility import SIDES, properties_of, space_utility, utility_for

_CLASS = lazy_pattern(r"\S+")
_ARBITRARY_SCREEN = lazy_pattern(r"(?P<side>min|max)-\[(?P<pixels>\d+(?:\.\d+)?)px\]")
_ENDLESS = 10**6


class ClassToken(msgspec.Struct, frozen=True):
    """One class of a list, and from where to where it stands."""

    variants: tuple[str, ...]
    utility: str
    important: str
    """`!` before the utility, or behind it as in Tailwind 4."""
    start: int
    end: int

    @property
    def properties(self) -> frozenset[str]:
        return properties_of(self.utility)

    @property
    def widths(self) -> tuple[int, int] | None:
        """The widths that it applies to, up to but without the second one; None if it depends on something else."""
        least, most = 0, _ENDLESS
        for variant in self.variants:
            arbitrary = _ARBITRARY_SCREEN.fullmatch(variant)
            if variant in TAILWIND_SCREENS:
                least = max(least, TAILWIND_SCREENS[variant])
            elif variant.removeprefix("max-") in TAILWIND_SCREENS:
                most = min(most, TAILWIND_SCREENS[variant.removeprefix("max-")])
            elif arbitrary is not None and arbitrary["side"] == "min":
                least = max(least, round(float(arbitrary["pixels"])))
            elif arbitrary is not None:
                most = min(most, round(float(arbitrary["pixels"])) + 1)
            else:
                return None
        return least, most


class ClassChange(msgspec.Struct, frozen=True):
    """A replacement in a list of classes: `old` is what stands there, empty for a class that is added."""

    start: int
    end: int
    old: str
    new: str
    """Empty for a class that is removed."""


def read_classes(text: str) -> list[ClassToken]:
    """Return the classes of a list."""
    return [_token(match) for match in _CLASS.finditer(text)]


def change_classes(text: str, style: Mapping[str, str], scope: Breakpoint) -> list[ClassChange]:
    """Return what changes in a list of classes so that the style holds at the widths of the scope.

    An empty value removes the classes of a property. Positions of added classes are the end of the list.
    """
    tokens = read_classes(text)
    changes: list[ClassChange] = []
    for properties, value in _grouped(style):
        changes += _change(tokens, properties, value, scope, len(text.rstrip()))
    return changes


def edit_class_list(text: str, style: Mapping[str, str], scope: Breakpoint) -> str:
    """Return the list with a style changed. White space between the classes stays as it is."""
    return apply_changes(text, change_classes(text, style, scope))


def apply_changes(text: str, changes: list[ClassChange]) -> str:
    """Return the list with its changes. A class that is removed takes the space before it along."""
    added = [change.new for change in changes if not change.old and change.new]
    for change in sorted((change for change in changes if change.old), key=lambda change: change.start, reverse=True):
        start, end = change.start, change.end
        if not change.new:
            start -= len(text[:start]) - len(text[:start].rstrip())
            if not text[:start].strip():
                end += len(text[end:]) - len(text[end:].lstrip())
        text = text[:start] + change.new + text[end:]
    body = text.rstrip()
    tail = text[len(body) :]
    return (" ".join([body, *added]) if body else text + " ".join(added)) + (tail if body else "") if added else text


def _token(match: re.Match[str]) -> ClassToken:
    parts = split_variants(match[0])
    utility = parts[-1]
    important = "!" if utility.startswith("!") else " !" if utility.endswith("!") else ""
    return ClassToken(tuple(parts[:-1]), utility.strip("!"), important, match.start(), match.end())


def split_variants(name: str) -> list[str]:
    """Split a class at its colons outside of brackets."""
    parts, depth, start = list[str](), 0, 0
    for at, character in enumerate(name):
        if character in "[(":
            depth += 1
        elif character in "])":
            depth -= 1
        elif character == ":" and depth == 0:
            parts.append(name[start:at])
            start = at + 1
    return [*parts, name[start:]]


def _grouped(style: Mapping[str, str]) -> list[tuple[tuple[str, ...], str]]:
    """Return the properties that one class sets together, with their value: equal sides are one class."""
    groups: list[tuple[tuple[str, ...], str]] = []
    for kind in ("padding", "margin"):
        values = _sides(kind, style)
        opposite = (("top", "bottom"), ("left", "right"))
        if len(values) == 4 and len(set(values.values())) == 1:
            groups.append((tuple(f"{kind}-{side}" for side in SIDES), values["top"]))
            continue
        for pair in opposite:
            present = tuple(side for side in pair if side in values)
            if len(present) == 2 and values[pair[0]] == values[pair[1]]:
                groups.append((tuple(f"{kind}-{side}" for side in pair), values[pair[0]]))
            else:
                groups += [((f"{kind}-{side}",), values[side]) for side in present]
    for name, value in style.items():
        if name.partition("-")[0] in ("padding", "margin"):
            continue
        groups.append((("column-gap", "row-gap") if name == "gap" else (name,), value))
    return groups


def _sides(kind: str, style: Mapping[str, str]) -> dict[str, str]:
    """Return the sides of a padding or margin that a style sets."""
    values: dict[str, str] = {}
    if kind in style:
        parts = style[kind].split() or [""]
        four = {1: (0, 0, 0, 0), 2: (0, 1, 0, 1), 3: (0, 1, 2, 1)}.get(len(parts), (0, 1, 2, 3))
        values = {side: parts[at] for side, at in zip(SIDES, four, strict=True)}
    return values | {side: style[f"{kind}-{side}"] for side in SIDES if f"{kind}-{side}" in style}


def _change(
    tokens: list[ClassToken], properties: tuple[str, ...], value: str, scope: Breakpoint, end: int
) -> list[ClassChange]:
    names = frozenset(properties)
    utility = _utility(properties, value) if value else ""
    related = [token for token in tokens if token.properties & names and token.widths is not None]
    replaced = [token for token in related if token.properties <= names and _is_within(token, related, scope)]
    if utility and any(token.utility == utility for token in replaced) and len(replaced) == 1:
        return []
    changes = [ClassChange(token.start, token.end, _name(token, token.utility), "") for token in replaced]
    if not utility:
        return changes
    if replaced:
        # The widest one is replaced: it stands where a reader looks for it.
        first = max(replaced, key=lambda token: len(token.properties))
        replacement = ClassChange(first.start, first.end, _name(first, first.utility), _name(first, utility))
        return [replacement, *(change for change in changes if change.start != first.start)]
    return [ClassChange(end, end, "", f"{_prefix(related, scope)}{utility}")]


def _prefix(related: list[ClassToken], scope: Breakpoint) -> str:
    """Return the prefix of a class that is added, so that it wins at the shown width and holds only in the scope."""
    effective = [token for token in related if (widths := token.widths) and widths[0] <= scope.width < widths[1]]
    variants = max(effective, key=_strength).variants if effective else ()
    if scope.variant:  # what holds from a width on wins over what holds up to one
        variants = (*(variant for variant in variants if not variant.startswith("max-")), scope.variant)
    return "".join(f"{variant}:" for variant in variants)


def _strength(token: ClassToken) -> tuple[int, int, int]:
    """Order classes as Tailwind writes them: none, up to a width, from a width on, and special properties last."""
    least, most = token.widths or (0, _ENDLESS)
    return least, -most, -len(token.properties)


def _is_within(token: ClassToken, related: list[ClassToken], scope: Breakpoint) -> bool:
    """Whether a class is in effect at the shown width, and only at widths of the scope."""
    least, most = token.widths or (0, 0)
    if not least <= scope.width < most:
        return False
    for other in related:
        other_least, other_most = other.widths or (0, 0)
        if other is token or not other.properties >= token.properties or _strength(other) <= _strength(token):
            continue
        if other_least <= scope.width < other_most:
            return False  # another one wins here
        if other_most == _ENDLESS and other_least > scope.width:
            most = min(most, other_least)
    return not scope.below or most <= scope.below


def _utility(properties: tuple[str, ...], value: str) -> str:
    kind = properties[0].partition("-")[0]
    if kind in ("padding", "margin"):
        return space_utility(kind, tuple(name.partition("-")[2] for name in properties), value)
    return utility_for("gap" if properties == ("column-gap", "row-gap") else properties[0], value)


def _name(token: ClassToken, utility: str) -> str:
    """Return a class with the variants and the importance of another one."""
    prefix = "".join(f"{variant}:" for variant in token.variants)
    return f"{prefix}{'!' if token.important == '!' else ''}{utility}{'!' if token.important == ' !' else ''}"
