"""Finds a function that had no body before a request to implement it, and has none after it."""

import ast
import re

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


def _is_empty(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return function.name != "__init__" and all(map(_does_nothing, function.body))  # an object may have no state


def _does_nothing(statement: ast.stmt) -> bool:
    """Whether a statement is `pass`, an ellipsis or a text."""
    return isinstance(statement, ast.Pass) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )
