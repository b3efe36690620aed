"""Calls that a model wrote as Python."""

import ast
import re
from typing import TYPE_CHECKING

from heald.core.json import JsonObject
from heald.core.lazy import LazyModule
from heald.wires.text_call import NamedCalls, Tools

if TYPE_CHECKING:
    import json
else:
    json = LazyModule("json")


def python_name(text: str) -> str:
    call = re.match(r"\s*(?:print\(\s*)?(?:functions\.|default_api\.)?([A-Za-z_]\w*)(?:\.call)?\(", text)
    return call[1] if call is not None else ""


def end_of_python(text: str, since: int) -> int | None:
    """Return where the calls at the start of a text end: at a line end behind `since` at which they are complete."""
    at = text.find("\n", since)
    while at >= 0:
        if text[:at].rstrip()[-1:] in (")", "]"):
            try:
                ast.parse(text[:at].strip())
            except (SyntaxError, ValueError, MemoryError, RecursionError):
                pass
            else:
                return at
        at = text.find("\n", at + 1)
    return None


def calls_from_python(text: str, tools: Tools) -> NamedCalls:
    """Return the calls of a text that holds nothing else; a comment makes it code that is shown."""
    if "#" in text and _has_comment(text):
        return []
    try:
        tree = ast.parse(text.strip())
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return []
    calls: NamedCalls = []
    for statement in tree.body:
        if not isinstance(statement, ast.Expr):
            return []
        value = statement.value
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "print" and value.args:
            value = value.args[0]
        for node in value.elts if isinstance(value, ast.List) else [value]:
            call = _python_call(node, tools)
            if call is None:
                return []
            calls.append(call)
    return calls


def _has_comment(text: str) -> bool:
    import tokenize  # for few calls only
    from io import StringIO

    try:
        return any(token.type == tokenize.COMMENT for token in tokenize.generate_tokens(StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return True


def _python_call(node: ast.expr, tools: Tools) -> tuple[str, JsonObject] | None:
    if not isinstance(node, ast.Call):
        return None
    function = node.func
    if isinstance(function, ast.Attribute) and function.attr == "call":
        function = function.value
    name = (
        function.id if isinstance(function, ast.Name) else function.attr if isinstance(function, ast.Attribute) else ""
    )
    if name not in tools or len(node.args) > len(tools[name]):
        return None
    try:
        arguments = {key: ast.literal_eval(value) for key, value in zip(tools[name], node.args, strict=False)}
        arguments |= {
            keyword.arg: ast.literal_eval(keyword.value) for keyword in node.keywords if keyword.arg is not None
        }
        json.dumps(arguments)
    except (ValueError, TypeError, SyntaxError, RecursionError):
        return None
    return name, arguments
