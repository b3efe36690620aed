"""Code without the bodies of its functions: what a model is shown that shall write them anew."""

import ast

from heald.tools.files.syntax import find_syntax_problem, parse_python


def empty_bodies(path: str, text: str) -> str | None:
    """Return a file of Python with `pass` in all functions; None for another file, or one that has none."""
    if not path.endswith(".py") or find_syntax_problem(path, text):
        return None
    tree = parse_python(text)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    for function in functions:
        function.body = [ast.Pass()]
    return ast.unparse(tree) + "\n" if functions else None
