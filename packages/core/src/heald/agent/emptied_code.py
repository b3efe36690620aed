"""Code without the bodies of its functions: what a model is shown that shall write them anew."""

import ast

from heald.agent.unfinished_function import empty_functions
from heald.tools.files.syntax import find_syntax_problem, parse_python


def empty_bodies(path: str, text: str) -> str | None:
    """Return a file of Python with `pass` in all functions, below their docstrings; None for another file, or one that
    has none. Everything around the functions stays as it is."""
    if not path.endswith(".py") or find_syntax_problem(path, text):
        return None
    lines = text.encode().splitlines(keepends=True)  # the columns of a syntax tree count bytes
    functions = _outer_functions(parse_python(text))
    for function in reversed(functions):
        body = function.body[1:] if ast.get_docstring(function) is not None else function.body
        if not body:
            continue
        first, last = _first_line(body[0]), function.end_lineno or len(lines)
        rest = lines[last - 1][function.end_col_offset :]
        lines[first - 1 : last] = [lines[first - 1][: body[0].col_offset] + b"pass" + rest]
    return b"".join(lines).decode() if functions else None


def _outer_functions(node: ast.AST) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions and methods that stand in no other function, in the order of their lines."""
    functions: list[ast.FunctionDef | ast.AsyncFunctionDef] = []
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            functions.append(child)
        else:
            functions += _outer_functions(child)
    return functions


def _first_line(statement: ast.stmt) -> int:
    """The first line of a statement, or of its first decorator."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


def find_emptied(path: str, before: str, after: str) -> str | None:
    """Describe the functions that had a body before the model was shown them without one, and have none now."""
    if find_syntax_problem(path, after) or find_syntax_problem(path, before):
        return None
    had = empty_functions(before)
    names = [name for name in empty_functions(after) if name not in had]
    return f"{', '.join(names)} in {path} would have no body any more" if names else None
