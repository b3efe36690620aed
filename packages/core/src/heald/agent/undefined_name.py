"""Finds a name that a file of Python uses and that nothing in it defines or imports."""

import ast
import builtins

from heald.tools.files.syntax import find_syntax_problem, parse_python

_MODULE_NAMES = frozenset(("__name__", "__file__", "__doc__", "__all__", "__path__", "__class__", "__builtins__"))


def find_undefined(path: str, before: str, after: str) -> str | None:
    """Describe for the model a name without a definition that the file did not have before."""
    if not path.endswith(".py") or find_syntax_problem(path, after) or find_syntax_problem(path, before):
        return None
    had = _undefined(before)
    names = [name for name in _undefined(after) if name not in had]
    if not names:
        return None
    return (
        f"{names[0]} is used in {path} and neither defined nor imported there. Define or import it, and write the "
        "complete file with this change."
    )


def _undefined(text: str) -> list[str]:
    """The names that are read and bound nowhere in a text, in any scope. An import of all names may bind any."""
    bound = set(dir(builtins)) | _MODULE_NAMES
    read: dict[str, None] = {}
    for node in ast.walk(parse_python(text)):
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                read[name] = None
            case ast.Name(id=name) | ast.arg(arg=name):
                bound.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                bound.add(name)
            case ast.ImportFrom(names=[ast.alias(name="*")]):
                return []
            case ast.alias(name=name, asname=other):
                bound.add(other or name.partition(".")[0])
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                bound.add(name)
            case ast.MatchMapping(rest=str(name)):
                bound.add(name)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                bound.update(names)
            case _:
                parameter = getattr(node, "name", None)  # of a type, from Python 3.12 on
                if isinstance(parameter, str):
                    bound.add(parameter)
    return [name for name in read if name not in bound]
