"""Runs inside the sandbox: loads a file of Python, and runs statements of tests that name what it defines.

It is passed to `python3 -c` as text, so it imports nothing of Heald. It reads one JSON object and prints a line of JSON for
each statement as soon as it has run: `passes`, `fails` with what was raised, or `unknown` if the statement needs
something that only its test has.
"""

import ast
import builtins
import io
import json
import os
import signal
import sys
import traceback
import types
import unittest
from typing import Any

_SECONDS = 2


class _Late(BaseException):
    """The time of a statement is over."""


def _raise_late(*_: object) -> None:
    raise _Late


def _is_known(tree: ast.Module, names: dict[str, Any], case: unittest.TestCase) -> bool:
    """Whether a statement names only what is there."""
    nodes = list(ast.walk(tree))
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    bound |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    for node in nodes:
        if (
            isinstance(node, ast.Name)
            and node.id not in bound
            and node.id not in names
            and not hasattr(builtins, node.id)
        ):
            return False
        is_of_case = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
        if is_of_case and not hasattr(case, node.attr):
            return False
    return True


def _describe(error: BaseException, path: str, lines: list[str]) -> str:
    """The error in a line, with the line of the file that raised it."""
    if isinstance(error, _Late):
        return f"It does not end within {_SECONDS} seconds."
    text = str(error).strip()
    words = type(error).__name__ + (f": {text}" if text else "")
    if isinstance(error, AssertionError):
        return words
    places = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    if not places or places[-1] is None or places[-1] > len(lines):
        return words
    return f"{words} in the line `{lines[places[-1] - 1].strip()}`"


def main() -> None:
    task = json.load(sys.stdin)
    report = os.fdopen(os.dup(1), "w", encoding="utf-8")
    sys.stdout = sys.stderr = io.StringIO()
    sys.path.insert(0, os.path.dirname(os.path.abspath(task["path"])))
    name = os.path.basename(task["path"]).rpartition(".")[0]
    module = sys.modules[name] = types.ModuleType(name)
    module.__file__ = task["path"]
    case = unittest.TestCase()
    lines = task["text"].splitlines()
    signal.signal(signal.SIGALRM, _raise_late)

    def run(code: types.CodeType, names: dict[str, Any]) -> BaseException | None:
        try:
            signal.alarm(_SECONDS)
            exec(code, names)
        except BaseException as error:
            return error
        finally:
            signal.alarm(0)
        return None

    fault = run(compile(task["text"], task["path"], "exec"), module.__dict__)
    for statement in task["statements"]:
        names = {**vars(unittest), **module.__dict__, name: module, "self": case}
        tree = ast.parse(statement)
        if isinstance(fault, ImportError) or (fault is None and not _is_known(tree, names, case)):
            outcome = ["unknown", ""]
        else:
            error = fault or run(compile(tree, "<statement>", "exec"), names)
            outcome = ["fails", _describe(error, task["path"], lines)] if error is not None else ["passes", ""]
        report.write(json.dumps(outcome) + "\n")
        report.flush()
    report.flush()
    os._exit(0)  # threads of the file hold nothing up


if __name__ == "__main__":
    main()
