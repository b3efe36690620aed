"""Edits the style attribute of an element: a string of CSS in HTML and Vue, an object in JSX."""

import re
from collections.abc import Mapping
from html import unescape

from heald.core.lazy import lazy_pattern
from heald_studio.visual.attribute_edit import set_attribute
from heald_studio.visual.cannot_edit import CannotEdit
from heald_studio.visual.locate import Located
from heald_studio.visual.text_replacement import TextReplacement

_DECLARATION = lazy_pattern(
    r"(?P<name>[a-zA-Z-]+)\s*:\s*(?P<value>(?:[^;\"'(]|\"[^\"]*\"|'[^']*'|\((?:[^()]|\([^()]*\))*\))*)"
)
_OBJECT = lazy_pattern(r"\s*\{(?P<body>[\s\S]*)\}\s*")
_ENTRY = lazy_pattern(
    r"""(?P<name>[A-Za-z]+|"[^"]+"|'[^']+')\s*:\s*(?P<value>"[^"\\]*"|'[^'\\]*'|`[^`$\\]*`|[-\w.]+)(?=\s*(?:,|$))"""
)
_SHORTHANDS = ("padding", "margin")


def edit_style(located: Located, style: Mapping[str, str]) -> list[TextReplacement]:
    """Return the replacements that merge a style into the style attribute; an empty value removes a property."""
    if located.element.syntax == "jsx":
        return _edit_object(located, style)
    attribute = located.element.attributes.get("style")
    if attribute is None or attribute.value_start < 0:
        return set_attribute(located, "style", "; ".join(f"{name}: {value}" for name, value in style.items() if value))
    raw = located.source[attribute.value_start : attribute.value_end]
    merged = merge_declarations(raw, style)
    if not merged.strip(" ;"):
        return set_attribute(located, "style", "")
    if any(quote in value for quote in (attribute.quote or '"',) for value in style.values()):
        return set_attribute(located, "style", unescape(merged))
    return [TextReplacement(located.file, attribute.value_start, attribute.value_end, merged)] if merged != raw else []


def merge_declarations(text: str, style: Mapping[str, str]) -> str:
    """Return declarations with some changed in place, some removed, and new ones at the end."""
    for name, value in style.items():
        declarations = [match for match in _DECLARATION.finditer(text) if match["name"].lower() == name]
        if declarations and value:
            last = declarations[-1]
            important = " !important" if "!important" in last["value"] else ""
            kept_end = last.start("value") + len(last["value"].rstrip())
            text = text[: last.start("value")] + value + important + text[kept_end:]
        elif declarations:
            for declaration in reversed(declarations):
                end = re.compile(r"\s*;?\s*").match(text, declaration.end())
                text = text[: declaration.start()] + text[end.end() if end is not None else declaration.end() :]
            text = text.rstrip() if not text.rstrip().endswith(";") else text.rstrip()[:-1]
        elif value:
            body = text.rstrip()
            joint = "" if not body else " " if body.endswith(";") else "; "
            text = f"{body}{joint}{name}: {value}{';' if body.endswith(';') else ''}"
    return text


def camel_case(name: str) -> str:
    """Return a property as JSX names it."""
    head, *rest = name.split("-")
    return head + "".join(part.capitalize() for part in rest)


def _edit_object(located: Located, style: Mapping[str, str]) -> list[TextReplacement]:
    element, source = located.element, located.source
    attribute = element.attributes.get("style")
    entries = ", ".join(f"{camel_case(name)}: {_js_string(value)}" for name, value in style.items() if value)
    if attribute is None:
        written = f" style={{{{ {entries} }}}}"
        return [TextReplacement(located.file, element.name_end, element.name_end, written)] if entries else []
    raw = source[attribute.value_start : attribute.value_end]
    body = _OBJECT.fullmatch(raw) if attribute.is_expression else None
    if body is None:
        raise CannotEdit("An expression sets the style of this element; describe the change in words.")
    text = body["body"]
    for name, value in style.items():
        text = _set_entry(text, camel_case(name), value)
    start = attribute.value_start + body.start("body")
    if not text.strip():
        return [TextReplacement(located.file, attribute.start - 1, attribute.end, "")]
    return [TextReplacement(located.file, start, start + len(body["body"]), text)] if text != body["body"] else []


def _set_entry(text: str, name: str, value: str) -> str:
    """Return the inside of an object with one entry changed, added or removed."""
    entry = next((match for match in _ENTRY.finditer(text) if match["name"].strip("\"'") == name), None)
    if entry is not None and value:
        quote = entry["value"][0] if entry["value"][0] in "\"'" and entry["value"][0] not in value else '"'
        return text[: entry.start("value")] + _js_string(value, quote) + text[entry.end("value") :]
    if entry is not None:
        end = re.compile(r"\s*,\s*").match(text, entry.end())
        return text[: entry.start()] + text[end.end() if end is not None else entry.end() :]
    if re.search(rf"\b{name}\b", text):
        raise CannotEdit(f"An expression sets {name} of this element; describe the change in words.")
    if not value:
        return text
    written = f"{name}: {_js_string(value)}"
    core = text.rstrip()
    tail = text[len(core) :]
    if not core:
        return f" {written} "
    if core.endswith(","):
        line = re.search(r"\n([ \t]*)\S[^\n]*$", core)
        return f"{core}\n{line[1]}{written},{tail}" if line is not None else f"{core} {written},{tail}"
    return f"{core}, {written}{tail}"


def _js_string(value: str, quote: str = '"') -> str:
    return quote + value.replace("\\", "\\\\").replace(quote, f"\\{quote}") + quote
