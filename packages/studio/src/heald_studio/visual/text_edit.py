"""Edits the text of an element: only the letters that differ are replaced, in the escapes of the syntax."""

from collections.abc import Callable
from html import escape, unescape

from heald.core.lazy import lazy_pattern
from heald_studio.visual.cannot_edit import CannotEdit
from heald_studio.visual.locate import Located
from heald_studio.visual.markup_element import Syntax
from heald_studio.visual.text_replacement import TextReplacement

_UNIT = lazy_pattern(r"&(?:#\d{1,7}|#x[0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});|[\s\S]")
_WORDS = lazy_pattern(r"\S+")
_MUSTACHE = lazy_pattern(r"\{\{.*?\}\}")
_STRING_CHILD = lazy_pattern(r"""\{\s*(?P<quote>["'`])(?P<text>(?:(?!(?P=quote))[^\\$\n])*)(?P=quote)\s*\}""")


def edit_text(located: Located, text: str) -> list[TextReplacement] | None:
    """Return the replacements that give an element a text; None if an expression makes its text."""
    element, source = located.element, located.source
    if element.content_end < 0 or element.children:
        raise CannotEdit("This element holds other elements; select the text itself.")
    content = source[element.open_end : element.content_end]
    if element.syntax == "jsx" and element.expressions:
        string = _STRING_CHILD.fullmatch(content.strip())
        if string is None:
            return None
        start = element.open_end + len(content) - len(content.lstrip())
        if any(character in text for character in (string["quote"], "\\", "\n", "$")):
            quoted = _jsx_text(text)
            return [TextReplacement(located.file, start, start + len(content.strip()), quoted)]
        return _replace_units(located.file, string["text"], start + string.start("text"), text, lambda part: part)
    if _MUSTACHE.search(content) or (element.syntax == "braces" and "{" in content):
        return None
    body = content.strip()
    start = element.open_end + (len(content) - len(content.lstrip()) if body else 0)
    if element.syntax == "jsx":
        if any(character in text for character in "{}"):
            return [TextReplacement(located.file, start, start + len(body), _jsx_text(text.strip()))]
        written = _joined_lines(body)
        if written != body:  # JSX joins lines: the text is replaced as a whole if it does not stand in one line
            return _replace_lines(located.file, body, start, text.strip())
    return _replace_units(located.file, body, start, text.strip(), lambda part: escape_text(part, element.syntax))


def escape_text(text: str, syntax: Syntax) -> str:
    """Return a text as it is written between tags."""
    if syntax in ("jsx", "braces"):
        return escape(text, quote=False).replace("{", "&#123;").replace("}", "&#125;")
    return escape(text, quote=False)


def _jsx_text(text: str) -> str:
    quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'{{"{quoted}"}}'


def _joined_lines(text: str) -> str:
    return " ".join(line.strip() for line in text.splitlines() if line.strip())


def _replace_lines(file: str, body: str, start: int, text: str) -> list[TextReplacement]:
    """Change a text of several lines: lines that stay the same at both ends are left alone."""
    raw_words = [(match.start(), match.end(), unescape(match[0])) for match in _WORDS.finditer(body)]
    words = text.split()
    head = 0
    while head < min(len(words), len(raw_words)) and words[head] == raw_words[head][2]:
        head += 1
    tail = 0
    while tail < min(len(words), len(raw_words)) - head and words[-1 - tail] == raw_words[-1 - tail][2]:
        tail += 1
    replaced = raw_words[head : len(raw_words) - tail]
    written = escape_text(" ".join(words[head : len(words) - tail]), "jsx")
    if replaced and written:
        return [TextReplacement(file, start + replaced[0][0], start + replaced[-1][1], written)]
    if replaced:  # words are removed, with the space before or behind them
        first = raw_words[head - 1][1] if head else 0
        last = replaced[-1][1] if head else (raw_words[len(raw_words) - tail][0] if tail else len(body))
        return [TextReplacement(file, start + first, start + last, "")]
    if not written:
        return []
    at = raw_words[head - 1][1] if head else 0
    return [TextReplacement(file, start + at, start + at, f" {written}" if head else f"{written} ")]


def _replace_units(file: str, raw: str, start: int, text: str, write: Callable[[str], str]) -> list[TextReplacement]:
    """Replace what differs between the raw text and the new one; entities are one letter each."""
    units = [match[0] for match in _UNIT.finditer(raw)]
    letters = [unescape(unit) for unit in units]
    head = 0
    while head < min(len(letters), len(text)) and letters[head] == text[head]:
        head += 1
    tail = 0
    while tail < min(len(letters), len(text)) - head and letters[-1 - tail] == text[-1 - tail]:
        tail += 1
    middle = text[head : len(text) - tail]
    first = start + sum(map(len, units[:head]))
    last = start + len(raw) - sum(map(len, units[len(units) - tail :]))
    return [] if first == last and not middle else [TextReplacement(file, first, last, write(middle))]
