"""Reads the forms in which models write calls as text.

A form is what stands between its marks: JSON, XML or Python. One that names a tool that was not offered holds no call.
"""

import ast
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import msgspec

from weft.core.json import JsonObject
from weft.core.lazy import LazyModule, lazy_pattern

if TYPE_CHECKING:
    import json
else:
    json = LazyModule("json")

Tools = Mapping[str, Sequence[str]]
"""The names of the arguments of each tool, in order."""


class TextCall(msgspec.Struct, frozen=True):
    """A call that a model wrote as text."""

    name: str
    arguments: JsonObject
    form: str


DEEPSEEK = "<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>"
OPENERS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("hermes", "<tool_call>", ("</tool_call>",)),
    ("hermes", "<function_call>", ("</function_call>",)),
    ("hermes", "<tools>", ("</tools>",)),
    ("llama", "<function=", ("</function>",)),
    ("llama", "<|python_tag|>", ("<|eom_id|>", "<|eot_id|>")),
    ("mistral", "[TOOL_CALLS]", ("</s>",)),
    ("deepseek", DEEPSEEK[0], ("<｜tool▁calls▁end｜>",)),
    ("deepseek", DEEPSEEK[1], ("<｜tool▁call▁end｜>",)),
    ("qwen", "✿FUNCTION✿", ("✿RESULT✿",)),
    ("fenced", "```", ("\n```",)),
)
"""The form, how it begins, and how it ends. A form without its end reaches to the end of the message."""
_NAMES = ("name", "function", "function_name", "tool", "tool_name", "action", "recipient_name", "api")
_ARGUMENTS = ("arguments", "parameters", "args", "input", "action_input", "tool_input", "params", "kwargs")
_KEYS = frozenset({*_NAMES, *_ARGUMENTS, "type", "id", "tool_calls", "tool_uses", "calls", "thought"})
_FIRST_KEY = lazy_pattern(r"""\s*\[?\s*\{\s*["'](\w+)["']""")
_XML_FUNCTION = lazy_pattern(r"<function=([\w.-]+)>(.*?)(?:</function>|\Z)", re.S)
_XML_PARAMETER = lazy_pattern(r"<parameter=([\w.-]+)>\n?(.*?)\n?</parameter>", re.S)
_DEEPSEEK_CALL = lazy_pattern(
    r"<｜tool▁call▁begin｜>(?:function<｜tool▁sep｜>)?([\w.-]+)(?:<｜tool▁sep｜>|\n)\s*(?:```(?:json)?)?\s*(\{.*?\})\s*(?:```)?\s*"
    r"(?:<｜tool▁call▁end｜>|\Z)",
    re.S,
)
_MISTRAL_CALL = lazy_pattern(r"\s*([A-Za-z_][\w.-]*)\s*(?:\[CALL_ID\]\w+)?(?:\[ARGS\])?\s*(?=\{)")
_QWEN_CALL = lazy_pattern(r"✿FUNCTION✿:?\s*([\w.-]+)\s*✿ARGS✿:?\s*(\{.*?\})\s*(?=✿|\Z)", re.S)


def read_calls(text: str, form: str, tools: Tools) -> list[TextCall]:
    """Return the calls in the text of a form; empty if it holds anything else."""
    found = _read(text, form, tools)
    return [TextCall(name, arguments, form) for name, arguments in found] if found else []


_Calls = list[tuple[str, JsonObject]]


def _read(text: str, form: str, tools: Tools) -> _Calls:
    body = text
    for known, opener, closers in OPENERS:
        if known == form and text.startswith(opener) and opener != "<function=":
            body = text[len(opener) :]
            for closer in closers:
                body = body.removesuffix(closer).removesuffix(closer.strip())
    match form:
        case "deepseek":
            marked = text if DEEPSEEK[1] in text else f"{DEEPSEEK[1]}{body}"
            return _all_known([(found[1], found[2]) for found in _DEEPSEEK_CALL.finditer(marked)], tools)
        case "qwen":
            return _all_known([(found[1], found[2]) for found in _QWEN_CALL.finditer(text)], tools)
        case "mistral":
            return _read_mistral(body, tools)
        case "fenced":
            language, _, inner = body.partition("\n")
            return _read_body(inner if re.fullmatch(r"\s*[\w+-]*\s*", language) else body, tools)
        case _:
            return _read_body(body, tools)


def _read_body(body: str, tools: Tools) -> _Calls:
    """Read the inside of a form: XML, JSON, several JSON texts, or Python."""
    body = body.strip()
    if "<function=" in body:
        calls = [(found[1], _xml_arguments(found[2])) for found in _XML_FUNCTION.finditer(body)]
        return calls if all(name in tools for name, _ in calls) else []
    calls: _Calls = []
    for value in _json_values(body):
        found = _from_json(value, tools)
        if found is None:
            return []
        calls += found
    return calls or _from_python(body, tools)


def _xml_arguments(text: str) -> JsonObject:
    given = {found[1]: _plain_value(found[2]) for found in _XML_PARAMETER.finditer(text)}
    if given:
        return given
    value = _parse_json(text)
    return cast(JsonObject, value) if isinstance(value, dict) else {}


def _plain_value(text: str) -> Any:
    """A parameter of XML: JSON if it is a number, a list or an object, else the text itself."""
    if re.fullmatch(r"\s*(?:-?\d+(?:\.\d+)?|true|false|null|[\[{].*[\]}])\s*", text, re.S):
        value = _parse_json(text)
        return text if value is _NOTHING else value
    return text


def _read_mistral(body: str, tools: Tools) -> _Calls:
    if body.lstrip()[:1] == "[":
        return _read_body(body, tools)
    calls: list[tuple[str, str]] = []
    for part in body.split("[TOOL_CALLS]"):
        found = _MISTRAL_CALL.match(part)
        if found is not None:
            calls.append((found[1], part[found.end() :].strip()))
    return _all_known(calls, tools)


def _all_known(calls: Sequence[tuple[str, str]], tools: Tools) -> _Calls:
    read: _Calls = []
    for name, text in calls:
        arguments = _parse_json(text)
        if name not in tools or not isinstance(arguments, dict):
            return []
        read.append((name, cast(JsonObject, arguments)))
    return read


# --- JSON --------------------------------------------------------------------------------------------------------

_NOTHING: Any = object()


def _parse_json(text: str) -> Any:
    """Parse JSON as models write it: with raw line breaks in texts, trailing commas, or as a Python literal."""
    text = text.strip()
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        pass
    try:
        return json.loads(re.sub(r",\s*(?=[}\]])", "", text), strict=False)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return _NOTHING


def _json_values(body: str) -> list[Any]:
    """Parse one or several JSON texts that follow each other."""
    values: list[Any] = []
    while body:
        end = BracketScan().feed(body) or len(body)
        value = _parse_json(body[:end])
        if value is _NOTHING:
            return []
        values.append(value)
        body = body[end:].strip(" \t\r\n;,")
    return values


def _from_json(value: Any, tools: Tools) -> _Calls | None:
    """Return the calls of a JSON value, None if it is something else."""
    if isinstance(value, list):
        calls: _Calls = []
        for each in cast("list[Any]", value):
            found = _from_json(each, tools)
            if found is None:
                return None
            calls += found
        return calls or None
    if not isinstance(value, dict):
        return None
    entry = cast(JsonObject, value)
    for wrapper in ("tool_calls", "tool_uses", "calls"):
        if isinstance(entry.get(wrapper), list):
            return _from_json(entry[wrapper], tools)
    if isinstance(entry.get("function"), dict):
        return _from_json(entry["function"], tools)
    name = next((entry[key] for key in _NAMES if isinstance(entry.get(key), str)), None)
    if name is not None:
        name = name.removeprefix("functions.")
        arguments = _arguments(entry)
        return [(name, arguments)] if name in tools and arguments is not None else None
    if len(entry) == 1:
        [(only, arguments)] = entry.items()
        if only in tools and isinstance(arguments, dict):
            return [(only, cast(JsonObject, arguments))]
    return None


def _arguments(entry: JsonObject) -> JsonObject | None:
    """The arguments of a call: in a member of their own, or beside the name."""
    for key in _ARGUMENTS:
        if key not in entry:
            continue
        value: Any = _parse_json(entry[key]) if isinstance(entry[key], str) else entry[key]
        if value is None:
            return {}
        return cast(JsonObject, value) if isinstance(value, dict) else None
    return {key: value for key, value in entry.items() if key not in (*_NAMES, "type", "id", "thought")}


def may_be_json_call(text: str, tools: Tools) -> bool:
    """Whether the beginning of a JSON text may be a call: its first key decides."""
    key = _FIRST_KEY.match(text)
    if key is not None:
        return key[1] in _KEYS or key[1] in tools
    return re.fullmatch(r"""\s*\[?\s*\{?\s*(?:["']\w*)?\s*""", text[:200]) is not None


class BracketScan:
    """Finds the end of the JSON value at the start of a text that grows."""

    def __init__(self) -> None:
        self._at = 0
        self._depth = 0
        self._quote = ""
        self._skip = False

    def feed(self, text: str) -> int | None:
        """Return where the value ends, if it does. `text` is the whole of it so far."""
        for at in range(self._at, len(text)):
            char = text[at]
            if self._skip:
                self._skip = False
            elif self._quote:
                if char == "\\":
                    self._skip = True
                elif char == self._quote:
                    self._quote = ""
            elif char == '"' or (char == "'" and self._depth):
                self._quote = char
            elif char in "{[":
                self._depth += 1
            elif char in "}]":
                self._depth -= 1
                if self._depth == 0:
                    return at + 1
        self._at = len(text)
        return None


# --- Python ------------------------------------------------------------------------------------------------------


def python_name(text: str) -> str:
    found = re.match(r"\s*(?:print\(\s*)?(?:functions\.|default_api\.)?([A-Za-z_]\w*)(?:\.call)?\(", text)
    return found[1] if found is not None else ""


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


def _from_python(text: str, tools: Tools) -> _Calls:
    try:
        tree = ast.parse(text.strip())
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return []
    calls: _Calls = []
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
        arguments = {key: ast.literal_eval(given) for key, given in zip(tools[name], node.args, strict=False)}
        arguments |= {given.arg: ast.literal_eval(given.value) for given in node.keywords if given.arg is not None}
        json.dumps(arguments)
    except (ValueError, TypeError, SyntaxError, RecursionError):
        return None
    return name, arguments
