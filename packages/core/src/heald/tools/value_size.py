"""Measures a JSON value before it is checked."""

from typing import Any

MAX_VALUE_DEPTH = 250
_CONTAINERS = (dict, list)


def measure_value(value: Any) -> tuple[int, int, int]:
    """Return the number of nested values, the number of characters and the depth of a value."""
    nodes, characters, deepest = 1, 0, 0
    if isinstance(value, str):
        characters = len(value)
    pending: list[tuple[Any, int]] = [(value, 1)] if isinstance(value, _CONTAINERS) else []
    while pending:
        container, depth = pending.pop()
        if depth > deepest:
            deepest = depth
            if deepest > MAX_VALUE_DEPTH:
                break
        nodes += len(container)
        members = container
        if isinstance(container, dict):
            characters += sum(map(len, members))
            members = members.values()
        for member in members:
            if isinstance(member, str):
                characters += len(member)
            elif isinstance(member, _CONTAINERS):
                pending.append((member, depth + 1))  # pyright: ignore[reportUnknownArgumentType]
    return nodes, characters, deepest
