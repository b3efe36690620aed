"""The house: arrows point down only. A floor knows nothing of the floors above it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import weft

SOURCE = Path(weft.__file__).parent

FLOORS = {
    "core": 0,
    "config": 1,
    "http1": 1,
    "wires": 1,
    "dialects": 1,
    "schema": 1,
    "vision": 1,
    "providers": 2,
    "tools": 2,
    "agent": 3,
    "remote": 4,
    "sessions": 4,
    "studio": 5,
    "server": 6,
    "testing": 5,
    "cli": 7,
}
APART = {
    ("remote", "sessions"),
    ("dialects", "wires"),
    ("providers", "tools"),
    ("http1", "wires"),
    ("dialects", "http1"),
}
"""Rooms on one floor that have no door between them, either way."""


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports by a relative name"
            yield node.module or ""


def _rooms() -> list[Path]:
    return sorted(path for path in SOURCE.rglob("*.py") if path.parent != SOURCE)


def _room(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0]


@pytest.mark.parametrize("path", _rooms(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_down(path: Path) -> None:
    here = _room(path)
    for name in _imports(path):
        if not name.startswith("weft."):
            continue
        there = name.split(".")[1]
        assert FLOORS[there] <= FLOORS[here], f"{here} is below {there}"
        assert tuple(sorted((here, there))) not in APART, f"{here} and {there} have no door between them"


def test_every_room_has_its_floor() -> None:
    assert {_room(path) for path in _rooms()} <= set(FLOORS)


@pytest.mark.parametrize("path", _rooms(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_wires_dialects_and_core_do_no_io(path: Path) -> None:
    if _room(path) not in ("core", "wires", "dialects"):
        pytest.skip("other floors may")
    forbidden = {"asyncio", "aiohttp", "socket", "subprocess", "threading", "pathlib", "urllib.request", "time"}
    assert not forbidden & set(_imports(path))
