"""Finds the faults of files that a small model wrote whole: text that does not parse, lost definitions, new parameters
without a use."""

import ast
import json
import re
from collections.abc import Mapping

_DEFINITION = re.compile(
    r"^[ \t]*(?:export\s+|default\s+|pub\s+|public\s+|private\s+|static\s+|abstract\s+|async\s+)*"
    r"(?:def|class|function|func|fn|interface|struct|enum|trait)\s+(?P<name>\w+)",
    re.MULTILINE,
)


def find_fault(before: Mapping[str, str], after: Mapping[str, str], request: str) -> str | None:
    """Describe for the model the first fault of the files that it wrote; None if there is none.

    A definition that the request names may be removed, and one that is added may be another under a new name.
    """
    for path, text in after.items():
        problem = _syntax_problem(path, text)
        if problem is not None and (path not in before or _syntax_problem(path, before[path]) is None):
            return f"{path} as you wrote it cannot be read: {problem}. Write the complete file without this fault."
        unused = _unused_parameters(path, text, before.get(path, ""))
        if unused:
            return f"{unused[0]} in {path} is never used. Use it, and write the complete file with this change."
    lost = [name for path in after for name in _lost_names(before.get(path, ""), after[path])]
    lost = [name for name in lost if not re.search(rf"\b{name}\b", request)]
    if not lost:
        return None
    files = " and ".join(path for path in after if path in before)
    return (
        f"What you wrote leaves out {', '.join(lost[:5])} of {files}. The block replaces the whole file: write the "
        "complete file, with everything that stays as it is."
    )


def _syntax_problem(path: str, text: str) -> str | None:
    try:
        if path.endswith(".py"):
            ast.parse(text)
        elif path.endswith(".json"):
            json.loads(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        words = getattr(error, "msg", None) or str(error)
        return f"{words} in line {line}" if line else str(words)
    return None


def _unused_parameters(path: str, text: str, before: str) -> list[str]:
    """The parameters that were added to functions of Python and that these do not use."""
    if not path.endswith(".py") or _syntax_problem(path, text) or _syntax_problem(path, before):
        return []
    had = {name for function, names in _parameters(before) for name in (*names, f"{function}()")}
    return [
        f"The parameter {name} of {function}"
        for function, names in _parameters(text, unused=True)
        if f"{function}()" in had
        for name in names
        if name not in had
    ]


def _parameters(text: str, *, unused: bool = False) -> list[tuple[str, list[str]]]:
    """The functions of a file with their parameters, all or those that their bodies do not name."""
    functions: list[tuple[str, list[str]]] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            arguments = node.args
            names = [parameter.arg for parameter in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
            used = {name.id for part in node.body for name in ast.walk(part) if isinstance(name, ast.Name)}
            functions.append((node.name, [name for name in names if not (unused and name in used)]))
    return functions


def _lost_names(before: str, after: str) -> list[str]:
    """The definitions of a file that it has no more, unless as many others were added."""
    had, has = _names(before), _names(after)
    lost = [name for name in had if name not in has]
    added = [name for name in has if name not in had]
    return lost[len(added) :] if len(lost) > len(added) else []


def _names(text: str) -> list[str]:
    return list(dict.fromkeys(definition["name"] for definition in _DEFINITION.finditer(text)))
