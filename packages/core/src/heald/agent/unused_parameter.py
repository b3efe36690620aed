"""Finds a parameter that a model added to a function and did not use."""

import ast

from heald.tools.files.syntax import find_syntax_problem, parse_python


def find_unused(path: str, before: str, after: str) -> str | None:
    """Describe a parameter that was added to a function of Python and that the function does not use."""
    if not path.endswith(".py") or find_syntax_problem(path, after) or find_syntax_problem(path, before):
        return None
    had = {name for function, names in _parameters(before) for name in (*names, f"{function}()")}
    for function, names in _parameters(after, unused=True):
        for name in names:
            if f"{function}()" in had and name not in had:
                return (
                    f"The parameter {name} of {function} in {path} is never used. Use it, and write the complete file "
                    "with this change."
                )
    return None


def _parameters(text: str, *, unused: bool = False) -> list[tuple[str, list[str]]]:
    """The functions of a file with their parameters, all or those that their bodies do not name."""
    functions: list[tuple[str, list[str]]] = []
    for node in ast.walk(parse_python(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            arguments = node.args
            names = [parameter.arg for parameter in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
            used = {name.id for part in node.body for name in ast.walk(part) if isinstance(name, ast.Name)}
            functions.append((node.name, [name for name in names if not (unused and name in used)]))
    return functions
