"""Front matter: the fields between `---` lines at the top of a markdown file.

It is a small part of YAML: texts, lists and one level of names with values. Every error is one sentence that begins
with the file and the line.
"""

import re
from collections.abc import Iterator, Mapping

import msgspec

from heald.core.errors import ConfigurationError
from heald.core.lazy import lazy_pattern

FieldValue = str | list[str] | dict[str, str]
_FENCE = "---"
_FIELD = lazy_pattern(r"([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+(.*)|[ \t]*)\Z")
_COMMENT = lazy_pattern(r"(?:\A|[ \t])#.*\Z")
_BLOCKS = {">": " ", "|": "\n", ">-": " ", "|-": "\n"}
"""Marks of texts of several lines, and how the lines are joined."""
_ITEM = lazy_pattern(r"\s*((?:\"[^\"]*\"|'[^']*'|[^,])*?)\s*(?:,|\Z)")


class FrontMatterField(msgspec.Struct, frozen=True):
    """A value, and the line that it begins on."""

    value: FieldValue
    line: int


class FrontMatter(msgspec.Struct, frozen=True):
    """The fields of a file, and the text after them."""

    fields: Mapping[str, FrontMatterField]
    body: str


def parse_front_matter(text: str, where: str) -> FrontMatter:
    """Parse the text of a file. `where` is the path for errors. A file without front matter has no fields.

    Raises ConfigurationError.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != _FENCE:
        return FrontMatter({}, text.strip())
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() == _FENCE), None)
    if end is None:
        raise ConfigurationError(f"{where}:1: the front matter has no end; close it with a line of ---.")
    return FrontMatter(_parse_fields(lines[1:end], where), "\n".join(lines[end + 1 :]).strip())


def _parse_fields(lines: list[str], where: str) -> dict[str, FrontMatterField]:
    fields: dict[str, FrontMatterField] = {}
    for number, line, block in _split_fields(lines, where):
        match = _FIELD.match(line)
        if match is None:
            raise ConfigurationError(f"{where}:{number}: {line[:60]!r} is not a field; write it as name: value.")
        name, text = match[1], _strip_comment(match[2] or "")
        if name in fields:
            raise ConfigurationError(f"{where}:{number}: {name} is set twice, first in line {fields[name].line}.")
        fields[name] = FrontMatterField(_parse_value(text, block, number, where), number)
    return fields


def _split_fields(lines: list[str], where: str) -> Iterator[tuple[int, str, list[str]]]:
    """Yield each field: the number of its line, the line, and the indented lines and list items below it."""
    at = 0
    while at < len(lines):
        number, line = at + 2, lines[at].rstrip()  # line 1 of the file is the fence
        at += 1
        if not line or line.startswith("#"):
            continue
        if line[0] in " \t-":
            raise ConfigurationError(f"{where}:{number}: {line.strip()[:60]!r} belongs to no field.")
        block: list[str] = []
        while at < len(lines) and (not lines[at].strip() or lines[at][0] in " \t-"):
            block.append(lines[at].rstrip())
            at += 1
        yield number, line, block


def _parse_value(text: str, block: list[str], number: int, where: str) -> FieldValue:
    if text in _BLOCKS:
        return _BLOCKS[text].join(line.strip() if text[0] == ">" else line for line in _dedent(block)).strip()
    rows = [(number + at, line.strip()) for at, line in enumerate(block, 1) if line.strip() and line.strip()[0] != "#"]
    if not text:
        return _parse_block(rows, where)
    if rows:
        raise ConfigurationError(
            f"{where}:{rows[0][0]}: {rows[0][1][:60]!r} follows a value; write > before the lines."
        )
    if text[0] == "[":
        return _parse_items(text, "]", number, where)
    if text[0] == "{":
        pairs = [(number, item) for item in _parse_items(text, "}", number, where)]
        return _parse_pairs(pairs, where)
    return _unquote(text)


def _parse_block(rows: list[tuple[int, str]], where: str) -> FieldValue:
    if not rows:
        return ""
    if not rows[0][1].startswith("-"):
        return _parse_pairs(rows, where)
    items: list[str] = []
    for number, row in rows:
        if not row.startswith("- "):
            raise ConfigurationError(f"{where}:{number}: {row[:60]!r} is not an item; begin it with '- '.")
        items.append(_unquote(_strip_comment(row[2:].strip())))
    return items


def _parse_pairs(rows: list[tuple[int, str]], where: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for number, row in rows:
        match = _FIELD.match(row)
        if match is None:
            raise ConfigurationError(f"{where}:{number}: {row[:60]!r} is not a field; write it as name: value.")
        pairs[match[1]] = _unquote(_strip_comment(match[2] or ""))
    return pairs


def _parse_items(text: str, end: str, number: int, where: str) -> list[str]:
    if not text.endswith(end):
        raise ConfigurationError(f"{where}:{number}: {text[:60]!r} has no end; close it with {end} in the same line.")
    return split_items(text[1:-1])


def split_items(text: str) -> list[str]:
    """Return the items of a text with commas. A comma in quotes is part of an item."""
    return [_unquote(match[1]) for match in _ITEM.finditer(text) if match[1].strip()]


def _strip_comment(text: str) -> str:
    text = text.strip()
    if text[:1] in ('"', "'"):
        end = text.find(text[0], 1)
        return text if end < 0 else text[: end + 1] + _COMMENT.sub("", text[end + 1 :])
    return _COMMENT.sub("", text).strip()


def _unquote(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def _dedent(lines: list[str]) -> list[str]:
    depth = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return [re.sub(rf"\A\s{{0,{depth}}}", "", line) for line in lines]
