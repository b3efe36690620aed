"""Finds a function or class that had no body before a request to implement it, and has none after it, or is gone."""

import ast
import re
from collections.abc import Iterator, Sequence

from heald.core.lazy import lazy_pattern
from heald.tools.files.syntax import find_syntax_problem, parse_python

_IMPLEMENTS = lazy_pattern(r"\b(?:implement|complete|finish|fill\s+in)\b", re.I)


def find_unfinished(path: str, before: str, after: str, request: str) -> str | None:
    """Describe for the model the functions that it left without a body."""
    if not path.endswith(".py") or not _IMPLEMENTS.search(request):
        return None
    if find_syntax_problem(path, after) or find_syntax_problem(path, before):
        return None
    had = empty_functions(before)
    if (lost := _find_lost([*_empty_classes(before), *had], after)) is not None:
        is_missing = "is missing" if "." in lost else "is missing at the top level"
        return f"{lost} {is_missing} in {path}, where other code looks for it. Write the complete file with {lost}."
    names = [name for name in empty_functions(after) if name in had]
    if not names:
        return None
    are = "have no body yet. Implement them" if len(names) > 1 else "has no body yet. Implement it"
    return f"{', '.join(names)} in {path} {are}, and write the complete file."


def empty_functions(text: str) -> list[str]:
    """The functions that only pass, by the name of their class and their own."""
    names: list[str] = []

    def read(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                read(child, f"{prefix}{child.name}.")
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) and _is_empty(child):
                names.append(f"{prefix}{child.name}")

    read(parse_python(text), "")
    return names


def definitions(text: str) -> set[str]:
    """The functions and classes at the top level and in classes, by the name of their class and their own."""
    return {name for name, node in _bindings(parse_python(text), "") if not isinstance(node, ast.Name)}


def _bindings(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.AST]]:
    """What a module or class binds by definitions and assignments, also under a condition."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.ClassDef(name=name):
                yield f"{prefix}{name}", child
                yield from _bindings(child, f"{prefix}{name}.")
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield f"{prefix}{name}", child
            case ast.Name(id=name, ctx=ast.Store()):
                yield f"{prefix}{name}", child
            case ast.alias(name=name, asname=other):
                yield f"{prefix}{other or name}", ast.Name(name)
            case _:
                yield from _bindings(child, prefix)


def _empty_classes(text: str) -> list[str]:
    """The classes at the top level that have methods, of which none does anything."""
    return [
        node.name
        for node in parse_python(text).body
        if isinstance(node, ast.ClassDef)
        and (functions := [part for part in node.body if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)])
        and all(_does_nothing(statement) for function in functions for statement in function.body)
    ]


def _find_lost(names: Sequence[str], after: str) -> str | None:
    """The first of some names that a text binds no more. An import of all names may bind any."""
    bound = {name for name, _ in _bindings(parse_python(after), "")}
    return None if "*" in bound else next((name for name in names if name not in bound), None)


def _is_empty(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return function.name != "__init__" and all(map(_does_nothing, function.body))  # an object may have no state


def _does_nothing(statement: ast.stmt) -> bool:
    """Whether a statement is `pass`, an ellipsis or a text."""
    return isinstance(statement, ast.Pass) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )
