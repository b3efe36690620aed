"""The rules of the source tree: layers, import cycles, file sizes and names. Each failure lists all offenders."""

import ast
import gc
import re
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import weft

SOURCE = Path(weft.__file__).parent

FLOORS = {
    "core": 0,
    "wires": 1,
    "http1": 1,
    "dialects": 1,
    "config": 1,
    "vision": 2,
    "providers": 2,
    "tools": 2,
    "agent": 3,
    "sessions": 4,
    "client": 4,
    "studio": 5,
    "testing": 5,
    "server": 6,
    "cli": 7,
}
APART = {
    ("client", "sessions"),
    ("dialects", "http1"),
    ("dialects", "wires"),
    ("http1", "wires"),
    ("providers", "tools"),
    ("tools", "vision"),
}
"""Packages of one floor that do not import each other, in either direction."""
DOORS = {"weft", *(f"weft.{name}" for name in ("server", "sessions", "studio", "testing", "dialects", "events"))}
"""The packages that export public names."""
NO_IO = ("core", "wires", "dialects")
IO_MODULES = {"asyncio", "aiohttp", "socket", "subprocess", "threading", "pathlib", "urllib.request", "time"}
MAX_LINES = 450
AVOIDED_WORDS = frozenset(
    (
        *("tell", "tells", "teller", "telling", "told", "voice", "settle", "settles", "settled", "settling"),
        *("hear", "hears", "heard", "say", "says", "said", "saying", "take", "takes", "took", "taken", "taking"),
        *("leave", "leaves", "leaving", "past", "again", "gone", "way", "ways", "mend", "mends", "mending", "mended"),
        *("sight", "sights", "meaning", "wish", "wishes", "wished", "whoever", "knock", "shelf", "letters"),
    )
)
AVOIDED_PHRASES = ("give_up", "gave_up", "let_go", "made_of", "hand_out", "go_through", "look_up_to")
"""Words that CONTRIBUTING.md asks not to use in the name of a function, a class or a file."""


@cache
def _modules() -> dict[str, Path]:
    """Every module of the package by its name."""
    found: dict[str, Path] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = ("weft", *path.relative_to(SOURCE).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def _trees() -> dict[str, ast.Module]:
    """Every module as a tree. Looking for garbage among so many nodes would take longer than to parse them."""
    gc.disable()
    try:
        return {module: ast.parse(path.read_text("utf-8")) for module, path in _modules().items()}
    finally:
        gc.freeze()
        gc.enable()


def _tree(module: str) -> ast.Module:
    return _trees()[module]


def _imports(node: ast.AST, *, top_level: bool = False) -> Iterator[str]:
    """The modules that a tree imports; with `top_level`, only those that are imported when it is loaded."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            continue
        if top_level and (isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) or _is_type_checking(child)):
            continue
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            for alias in child.names:
                submodule = f"{child.module}.{alias.name}"
                yield submodule if submodule in _modules() else child.module or ""
        else:
            yield from _imports(child, top_level=top_level)


@cache
def _statements(module: str) -> list[ast.AST]:
    """The nodes of a module but for its expressions, which hold no import and no name."""
    found: list[ast.AST] = [_tree(module)]
    for node in found:
        found += [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr)]
    return found


def _is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _package(module: str) -> str:
    return module.split(".")[1] if "." in module else "weft"


def _words(name: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]+", re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower()))


def _is_avoided(name: str) -> bool:
    return bool(_words(name) & AVOIDED_WORDS) or any(phrase in name.lower() for phrase in AVOIDED_PHRASES)


def _assert_none(offenders: list[str]) -> None:
    assert not offenders, "\n".join(["", *offenders])


def test_every_package_has_its_floor() -> None:
    _assert_none(sorted({_package(module) for module in _modules() if module not in DOORS} - set(FLOORS)))


def test_imports_point_down() -> None:
    wrong: list[str] = []
    for module in _modules():
        here = _package(module)
        for name in _imports(_tree(module)):
            there = _package(name)
            if not name.startswith("weft.") or not {here, there} <= set(FLOORS):
                continue
            if FLOORS[there] > FLOORS[here] or tuple(sorted((here, there))) in APART:
                wrong.append(f"{module} imports {name}")
    _assert_none(wrong)


def test_no_import_cycles() -> None:
    graph = {module: {*_imports(_tree(module), top_level=True)} & {*_modules()} - {module} for module in _modules()}
    cycles: list[str] = []
    while cycle := _find_cycle(graph):
        cycles.append(" <- ".join(cycle))
        graph[cycle[1]].discard(cycle[0])
    _assert_none(cycles)


def _find_cycle(graph: dict[str, set[str]]) -> list[str]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_no_relative_imports() -> None:
    nodes = ((module, node) for module in _modules() for node in _statements(module))
    _assert_none([f"{m}:{n.lineno}" for m, n in nodes if isinstance(n, ast.ImportFrom) and n.level])


def test_core_wires_and_dialects_do_no_io() -> None:
    modules = [module for module in _modules() if _package(module) in NO_IO]
    assert modules
    _assert_none([f"{m} imports {n}" for m in modules for n in _imports(_tree(m)) if n in IO_MODULES])


def test_no_file_is_too_long() -> None:
    sizes = {module: path.read_text("utf-8").count("\n") for module, path in _modules().items()}
    _assert_none([f"{module} has {size} lines" for module, size in sizes.items() if size > MAX_LINES])


def test_no_avoided_word_in_a_name() -> None:
    files = [f"file {path.relative_to(SOURCE)}" for path in _modules().values() if _is_avoided(path.stem)]
    named = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    nodes = ((module, node) for module in _modules() for node in _statements(module) if isinstance(node, named))
    _assert_none([*files, *(f"{module}:{node.lineno} {node.name}" for module, node in nodes if _is_avoided(node.name))])


def test_a_class_name_is_unique() -> None:
    """Of classes that other files may import. A private class belongs to its file."""
    homes: dict[str, list[str]] = {}
    for module in _modules():
        for node in _tree(module).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(module)
    _assert_none([f"{name} in {', '.join(modules)}" for name, modules in homes.items() if len(modules) > 1])


def test_only_doors_re_export() -> None:
    _assert_none([module for module in _modules() if module not in DOORS and _only_re_exports(_tree(module))])


def _only_re_exports(tree: ast.Module) -> bool:
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom) or _is_type_checking(node)]
    rest = [node for node in tree.body if node not in imports and not isinstance(node, ast.Expr)]
    return bool(imports) and all(isinstance(node, ast.Assign) and _assigns_exports(node) for node in rest)


def _assigns_exports(node: ast.Assign) -> bool:
    names = {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names <= {"__all__", "__getattr__", "_HOMES"}
