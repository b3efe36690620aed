"""All modules of the workspace as syntax trees, and what each imports."""

import ast
import gc
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from repository import ROOT


@cache
def modules() -> dict[str, Path]:
    """Every module of all packages, by its name."""
    paths: dict[str, Path] = {}
    for source in sorted(ROOT.glob("packages/*/src")):
        for path in sorted(source.rglob("*.py")):
            parts = path.relative_to(source).with_suffix("").parts
            paths[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return paths


@cache
def _trees() -> dict[str, ast.Module]:
    """Every module as a tree. Looking for garbage among so many nodes would take longer than to parse them."""
    gc.disable()
    try:
        return {module: ast.parse(path.read_text("utf-8")) for module, path in modules().items()}
    finally:
        gc.freeze()
        gc.enable()


def tree(module: str) -> ast.Module:
    return _trees()[module]


@cache
def statements(module: str) -> list[ast.AST]:
    """The nodes of a module except its expressions, which hold no import and no name."""
    nodes: list[ast.AST] = [tree(module)]
    for node in nodes:
        nodes += [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr)]
    return nodes


@cache
def all_imports(module: str) -> frozenset[str]:
    """The modules that one imports, also inside functions and under TYPE_CHECKING."""
    return frozenset(_imports(tree(module), at_load=False))


@cache
def load_imports(module: str) -> frozenset[str]:
    """The modules that one imports when it is loaded."""
    return frozenset(_imports(tree(module), at_load=True))


def _imports(node: ast.AST, *, at_load: bool) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            continue
        if at_load and (isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) or is_type_checking(child)):
            continue
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            for alias in child.names:
                submodule = f"{child.module}.{alias.name}"
                yield submodule if submodule in modules() else child.module or ""
        else:
            yield from _imports(child, at_load=at_load)


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def root_package(module: str) -> str:
    """The package that a distribution installs, such as `heald_server`."""
    return module.partition(".")[0]


def folder_of(module: str) -> str:
    """The first folder below that package, such as `heald.agent`; the package itself for a module beside them."""
    parts = module.split(".")
    is_folder = len(parts) > 2 or (len(parts) == 2 and modules()[module].name == "__init__.py")
    return ".".join(parts[:2]) if is_folder else parts[0]


def import_circles(graph: dict[str, set[str]]) -> list[set[str]]:
    """The sets of modules that import each other, directly or not (Tarjan's strongly connected components)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    circles: list[set[str]] = []
    for root in graph:
        if root in index:
            continue
        work = [(root, iter(graph[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            module, following = work[-1]
            for imported in following:
                if imported not in index:
                    index[imported] = low[imported] = len(index)
                    stack.append(imported)
                    on_stack.add(imported)
                    work.append((imported, iter(graph[imported])))
                    break
                if imported in on_stack:
                    low[module] = min(low[module], index[imported])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[module])
                if low[module] == index[module]:
                    circle: set[str] = set()
                    while module not in circle:
                        circle.add(stack.pop())
                    on_stack -= circle
                    if len(circle) > 1:
                        circles.append(circle)
    return circles
