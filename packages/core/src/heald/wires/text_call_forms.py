"""Reads the forms in which models write calls as text.

A form is what stands between its marks: JSON, XML or Python. One that names a tool that was not offered holds no call.
"""

import re
from collections.abc import Sequence
from typing import Any, cast

from heald.core.json import JsonObject
from heald.core.lazy import lazy_pattern
from heald.wires.text_call import NamedCalls, TextCall, Tools
from heald.wires.text_call_json import UNPARSED, BracketScan, calls_from_json, json_values, parse_loose_json
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
END_TOKENS = (
    r"\s|</(?:tool_calls?|function_call|function|tools)>|</s>|<end_of_turn>|<\|[a-z_]{2,20}\|>"
    r"|<｜[^｜\s]{2,30}｜>|✿RESULT✿:?"
)
"""What may stand behind a call without being text: blank space, and tokens that end a call or a message."""
_ONLY_END_TOKENS = lazy_pattern(rf"(?:{END_TOKENS})*")
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
            return _all_known(_matches(_DEEPSEEK_CALL, marked), tools)
        case "qwen":
            return _all_known(_matches(_QWEN_CALL, text), tools)
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
    if body.startswith("<function="):
        return _read_xml(body, tools)
    calls: NamedCalls = []
    for value in json_values(body):
        value_calls = calls_from_json(value, tools)
        if value_calls is None:
            return []
        calls += value_calls
    return calls or calls_from_python(body, tools)


def _read_xml(body: str, tools: Tools) -> NamedCalls:
    calls: NamedCalls = []
    for name, text in _matches(_XML_FUNCTION, body):
        arguments = _xml_arguments(text)
        if name not in tools or arguments is None:
            return []
        calls.append((name, arguments))
    return calls


def _xml_arguments(text: str) -> JsonObject | None:
    """Return the arguments of an element; None if it holds anything else."""
    if not text.strip():
        return {}
    if arguments := {name: _plain_value(value) for name, value in _matches(_XML_PARAMETER, text)}:
        return arguments
    value = parse_loose_json(text)
    return cast(JsonObject, value) if isinstance(value, dict) else None


def _matches(pattern: re.Pattern[str], text: str) -> list[tuple[str, str]]:
    """Return both groups of all matches; none if there is other text beside them."""
    if not _ONLY_END_TOKENS.fullmatch(pattern.sub("", text)):
        return []
    return [(match[1], match[2]) for match in pattern.finditer(text)]


def holds_prose(text: str) -> bool:
    """Whether a form that holds no call explains one: a word begins it, or other text follows its JSON value."""
    if text.startswith("<") and text[1:2].isalpha() and text.partition(">")[2].lstrip()[:1].isalpha():
        return True
    begin = re.search(r"[{\[]", text[1:])
    end = None if begin is None else BracketScan().feed(text[1 + begin.start() :])
    return begin is not None and end is not None and not _ONLY_END_TOKENS.fullmatch(text[1 + begin.start() + end :])


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
        elif part.strip():
            return []
    return _all_known(calls, tools)


def _all_known(calls: Sequence[tuple[str, str]], tools: Tools) -> NamedCalls:
    read: NamedCalls = []
    for name, text in calls:
        arguments = parse_loose_json(text)
        if name not in tools or not isinstance(arguments, dict):
            return []
        read.append((name, cast(JsonObject, arguments)))
    return read
