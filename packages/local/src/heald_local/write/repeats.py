"""Finds siblings that differ in their content alone, and writes them once, with the data of each."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from heald_local.page import Node
from heald_local.write.names import container_names

_FEWEST = 3
_VARIED = {
    "src": "image",
    "alt": "alt",
    "d": "path",
    "viewBox": "viewBox",
    "data-icon": "icon",
    "name": "icon",
}  # attributes that may differ, and the names of their properties
Shape = tuple[str, str, tuple[tuple[str, str], ...], int, tuple["Shape", ...]]
Classes = Callable[[Node], str]


@dataclass(frozen=True, slots=True)
class Repeat:
    """Siblings as one element: its name, its slots, the contents of each instance, and the element with its slots."""

    name: str
    slots: tuple[str, ...]
    records: tuple[dict[str, str], ...]
    template: Node

    @property
    def data(self) -> str:
        """The name of the list of records."""
        return self.name[0].lower() + self.name[1:] + "s"

    def entries(self, pad: int) -> str:
        """Return the records as JavaScript, one on a line."""
        return "".join(f"{' ' * pad}{_encode(record)},\n" for record in self.records)


@dataclass(slots=True)
class Repeats:
    """The components of a page and their data, in the order in which they were found."""

    classes: Classes
    _unused: list[Repeat] = field(default_factory=list[Repeat])
    _names: set[str] = field(default_factory=lambda: {"App", "Icon"})

    def find(self, nodes: Sequence[Node]) -> list[tuple[Node, ...]]:
        """Group neighbours: three or more of one shape together, others alone."""
        groups: list[tuple[Node, ...]] = []
        run: list[Node] = []
        for node in (*nodes, None):
            if node is not None and run and node.children and self._shape(node) == self._shape(run[0]):
                run.append(node)
                continue
            groups += [tuple(run)] if len(run) >= _FEWEST else [(single,) for single in run]
            run = [node] if node is not None else []
        return groups

    def extract(self, group: Sequence[Node]) -> "Repeat":
        """Return a group as one element with slots, and the data of its instances."""
        rows = [_contents(node) for node in group]
        slots = {at: name for at, name in enumerate(_slot_names(group[0])) if len({row[at] for row in rows}) > 1}
        name = self.name_component(group[0], "list", False)
        records = tuple({slots[at]: row[at] for at in slots} for row in rows)
        return Repeat(name, tuple(slots.values()), records, _with_slots(group[0], slots, [0]))

    def declare(self, group: Sequence[Node]) -> str:
        """Note the component and the data of a group; return the JSX expression that shows it."""
        repeat = self.note(group)
        return f"{{{repeat.data}.map((each, index) => <{repeat.name} key={{index}} {{...each}} />)}}"

    def reserve_names(self, names: Iterable[str]) -> None:
        """Name no component like one that the project has already."""
        self._names.update(names)

    def note(self, group: Sequence[Node]) -> Repeat:
        """Note the component and the data of a group."""
        repeat = self.extract(group)
        self._unused.append(repeat)
        return repeat

    def unused(self) -> tuple[Repeat, ...]:
        """Return the groups that were declared since the last call."""
        declared = tuple(self._unused)
        self._unused.clear()
        return declared

    def _shape(self, node: Node) -> Shape:
        fixed = tuple(pair if pair[0] not in _VARIED else (pair[0], "") for pair in node.attributes)
        children = tuple(self._shape(child) for child in node.children)
        return node.tag, self.classes(node), fixed, len(node.lines), children

    def name_component(self, node: Node, parent: str, first: bool) -> str:
        """Return a name for a component that no other has, after what it shows."""
        words = container_names(node, parent, first)[0].split("-")
        name = "".join(word.capitalize() for word in words)
        number = 1
        chosen = name
        while chosen in self._names:
            number += 1
            chosen = f"{name}{number}"
        self._names.add(chosen)
        return chosen


def _encode(record: dict[str, str]) -> str:
    inside = ", ".join(
        f"{key}: {json.dumps(value, ensure_ascii=False)}".replace("<", "\\u003c") for key, value in record.items()
    )
    return f"{{ {inside} }}"


def _contents(node: Node) -> list[str]:
    """Return everything that may differ: the lines and varied attributes of a node and those in it, in order."""
    contents = [*node.lines, *(value for name, value in node.attributes if name in _VARIED)]
    return [*contents, *(text for child in node.children for text in _contents(child))]


def _slot_names(node: Node) -> list[str]:
    used: dict[str, int] = {}

    def unique(name: str) -> str:
        used[name] = used.get(name, 0) + 1
        return name if used[name] == 1 else f"{name}{used[name]}"

    def visit(element: Node) -> list[str]:
        word = "title" if element.tag in ("h1", "h2", "h3") else "label" if element.tag in ("a", "button") else "text"
        names = [unique(word) for _ in element.lines]
        names += [unique(_VARIED[name]) for name, _ in element.attributes if name in _VARIED]
        return [*names, *(name for child in element.children for name in visit(child))]

    return visit(node)


def _with_slots(node: Node, slots: dict[int, str], at: list[int]) -> Node:
    """Replace contents by marks that the writer turns into expressions."""

    def next_value(value: str) -> str:
        at[0] += 1
        name = slots.get(at[0] - 1)
        return value if name is None else slot_mark(name)

    lines = tuple(next_value(line) for line in node.lines)
    attributes = tuple((name, next_value(value) if name in _VARIED else value) for name, value in node.attributes)
    children = tuple(_with_slots(child, slots, at) for child in node.children)
    return replace(node, attributes=attributes, lines=lines, children=children)


_MARK = "\ue000"


def slot_mark(name: str) -> str:
    return f"{_MARK}{name}{_MARK}"


def slot_name(value: str) -> str:
    """Return the property that a text stands for; empty if it is a plain text."""
    marked = value.startswith(_MARK) and value.endswith(_MARK) and len(value) > 2
    return value[1:-1] if marked and value[1:-1].isidentifier() else ""
