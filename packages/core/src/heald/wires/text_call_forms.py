"""Reads the forms in which models write calls as text.

A form is what stands between its marks: JSON, XML or Python. One that names a tool that was not offered holds no call.
"""

import re
from collections.abc import Sequence
from typing import Any, cast

from heald.core.json import JsonObject
from heald.core.lazy import lazy_pattern
from heald.wires.text_call import NamedCalls, TextCall, Tools
from heald.wires.text_call_json import UNPARSED, calls_from_json, json_values, parse_loose_json
from heald.wires.text_call_python import calls_from_python

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
    calls = _read(text, form, tools)
    return [TextCall(name, arguments, form) for name, arguments in calls] if calls else []


def _read(text: str, form: str, tools: Tools) -> NamedCalls:
    body = text
    for form_name, opener, closers in OPENERS:
        if form_name == form and text.startswith(opener) and opener != "<function=":
            body = text[len(opener) :]
            for closer in closers:
                body = body.removesuffix(closer).removesuffix(closer.strip())
    match form:
        case "deepseek":
            marked = text if DEEPSEEK[1] in text else f"{DEEPSEEK[1]}{body}"
            return _all_known([(call[1], call[2]) for call in _DEEPSEEK_CALL.finditer(marked)], tools)
        case "qwen":
            return _all_known([(call[1], call[2]) for call in _QWEN_CALL.finditer(text)], tools)
        case "mistral":
            return _read_mistral(body, tools)
        case "fenced":
            language, _, inner = body.partition("\n")
            return _read_body(inner if re.fullmatch(r"\s*[\w+-]*\s*", language) else body, tools)
        case _:
            return _read_body(body, tools)


def _read_body(body: str, tools: Tools) -> NamedCalls:
    """Read the inside of a form: XML, JSON, several JSON texts, or Python."""
    body = body.strip()
    if "<function=" in body:
        calls = [(element[1], _xml_arguments(element[2])) for element in _XML_FUNCTION.finditer(body)]
        return calls if all(name in tools for name, _ in calls) else []
    calls: NamedCalls = []
    for value in json_values(body):
        value_calls = calls_from_json(value, tools)
        if value_calls is None:
            return []
        calls += value_calls
    return calls or calls_from_python(body, tools)


def _xml_arguments(text: str) -> JsonObject:
    arguments = {parameter[1]: _plain_value(parameter[2]) for parameter in _XML_PARAMETER.finditer(text)}
    if arguments:
        return arguments
    value = parse_loose_json(text)
    return cast(JsonObject, value) if isinstance(value, dict) else {}


def _plain_value(text: str) -> Any:
    """A parameter of XML: JSON if it is a number, a list or an object, else the text itself."""
    if re.fullmatch(r"\s*(?:-?\d+(?:\.\d+)?|true|false|null|[\[{].*[\]}])\s*", text, re.S):
        value = parse_loose_json(text)
        return text if value is UNPARSED else value
    return text


def _read_mistral(body: str, tools: Tools) -> NamedCalls:
    if body.lstrip()[:1] == "[":
        return _read_body(body, tools)
    calls: list[tuple[str, str]] = []
    for part in body.split("[TOOL_CALLS]"):
        head = _MISTRAL_CALL.match(part)
        if head is not None:
            calls.append((head[1], part[head.end() :].strip()))
    return _all_known(calls, tools)


def _all_known(calls: Sequence[tuple[str, str]], tools: Tools) -> NamedCalls:
    read: NamedCalls = []
    for name, text in calls:
        arguments = parse_loose_json(text)
        if name not in tools or not isinstance(arguments, dict):
            return []
        read.append((name, cast(JsonObject, arguments)))
    return read
