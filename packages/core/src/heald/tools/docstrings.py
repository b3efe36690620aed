"""Reads the description of a function and of its parameters from its docstring."""

import inspect
import re

from heald.core.lazy import lazy_pattern

_SECTION = lazy_pattern(r"^(args|arguments|parameters|returns?|yields?|raises|examples?|notes?)\s*:\s*$", re.IGNORECASE)
_UNDERLINED = lazy_pattern(r"^-{3,}\s*$")
_PARAMETER = lazy_pattern(r"^(\*{0,2}\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)$")
_FIELD = lazy_pattern(r"^:param\s+(?:[^:]*\s)?(\w+)\s*:\s*(.*)$")


def read_docstring(function: object) -> tuple[str, dict[str, str]]:
    """Return the description and the text for each parameter (Google or reST style)."""
    lines = (inspect.getdoc(function) or "").splitlines()
    description: list[str] = []
    parameters: dict[str, list[str]] = {}
    section = ""
    current: list[str] | None = None
    for number, line in enumerate(lines):
        heading = _SECTION.match(line)
        underlined = number + 1 < len(lines) and _UNDERLINED.match(lines[number + 1]) is not None
        if heading or (underlined and line.strip()):
            section, current = line.strip(" :").lower(), None
        elif field := _FIELD.match(line.strip()):
            section, current = ":param", parameters.setdefault(field[1], [field[2]])
        elif line.lstrip().startswith(":"):
            section, current = "other", None
        elif not section:
            description.append(line)
        elif section in ("args", "arguments", "parameters") and (named := _named(line, current)):
            current = parameters.setdefault(named[0], [named[1]])
        elif current is not None and line.strip():
            current.append(line.strip())
    return "\n".join(description).strip(), {name: " ".join(text).strip() for name, text in parameters.items()}


def _named(line: str, current: list[str] | None) -> tuple[str, str] | None:
    """Return the name and text of a parameter that begins on this line, or None for a continuation line."""
    match = _PARAMETER.match(line.strip())
    indent = len(line) - len(line.lstrip())
    if match is None or (current is not None and indent > 4):
        return None
    return match[1].lstrip("*"), match[2]
