"""Checks whether the text of a file can be read by its language: by a parser, or by its brackets, quotes and tags."""

import ast
import json
import re
import tomllib
import warnings
from html.parser import HTMLParser

from heald.core.lazy import lazy_pattern

MAX_CHECKED = 200_000
"""The largest text that is checked, in characters."""
SCRIPT_LANGUAGES = ("js", "mjs", "cjs", "jsx", "ts", "tsx", "php")
COMPILED_LANGUAGES = ("go", "java", "c", "h", "cc", "cpp", "hpp", "cs", "rs", "kt", "kts", "swift", "scala", "dart")
STYLE_LANGUAGES = ("css", "scss", "less")
BRACE_LANGUAGES = frozenset((*SCRIPT_LANGUAGES, *COMPILED_LANGUAGES, *STYLE_LANGUAGES))
_TAG_LANGUAGES = frozenset(["html", "htm", "xhtml", "xml", "svg", "vue"])
_YAML = ("yaml", "yml")
_PAIRS = {")": "(", "]": "[", "}": "{"}
_TOKEN = lazy_pattern(
    r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|[\"'`]|[()\[\]{}]", re.S
)
_CSS_TOKEN = lazy_pattern(r"/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|[\"']|[()\[\]{}]", re.S)
_SQL_TOKEN = lazy_pattern(r"--[^\n]*|/\*.*?\*/|'(?:''|[^'])*'|\"[^\"\n]*\"|'|[()]", re.S)
_YAML_TOKEN = lazy_pattern(r"(?<!\S)#[^\n]*|\"(?:\\.|[^\"\\])*\"|(?<![\w'])'(?:''|[^'])*'|[\[\]{}]", re.S)
_EMPTY_ELEMENTS = ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source")
_VOID = frozenset((*_EMPTY_ELEMENTS, "track", "wbr"))
_TABLE = ("tr", "td", "th", "thead", "tbody", "tfoot", "colgroup")
_OPTIONAL = frozenset(("html", "head", "body", "p", "li", "dt", "dd", "option", "optgroup", *_TABLE))
"""Elements whose end tags may be left out."""


def find_syntax_problem(path: str, text: str) -> str | None:
    """Describe why a text is not a file of its language; None if it is one, or if the language is not known."""
    suffix = path.rpartition(".")[2].lower()
    if len(text) > MAX_CHECKED:
        return None
    try:
        if suffix in ("py", "pyi"):
            parse_python(text)
        elif suffix == "json":
            json.loads(text)
        elif suffix == "toml":
            tomllib.loads(text.replace("\r\n", "\n"))
        elif suffix in BRACE_LANGUAGES:
            return _check_brackets(text, _CSS_TOKEN if suffix == "css" else _TOKEN)
        elif suffix in _TAG_LANGUAGES:
            return _check_tags(text)
        elif suffix == "sql":
            return _check_brackets(text, _SQL_TOKEN)
        elif suffix in _YAML:
            return _check_yaml(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        words = getattr(error, "msg", None) or str(error)
        return f"{words} in line {line}" if line else str(words)
    return None


def parse_python(text: str) -> ast.Module:
    """Parse Python without its warnings. Raises what `ast.parse` raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def _check_brackets(text: str, token: re.Pattern[str]) -> str | None:
    """Compare the brackets outside strings and comments."""
    opened: list[tuple[str, int]] = []
    for match in token.finditer(text):
        mark = match[0]
        if mark in "\"'`":
            return f"the {mark} in line {_line_of(text, match.start())} was never closed"
        if mark in _PAIRS:
            if not opened or opened[-1][0] != _PAIRS[mark]:
                return f"the {mark} in line {_line_of(text, match.start())} closes nothing"
            opened.pop()
        elif len(mark) == 1:
            opened.append((mark, match.start()))
    if opened:
        return f"the {opened[-1][0]} in line {_line_of(text, opened[-1][1])} was never closed"
    return None


def _check_yaml(text: str) -> str | None:
    if tab := re.search(r"^ *\t+[ \t]*[^\s#]", text, re.M):
        return f"line {_line_of(text, tab.start())} is indented with a tab"
    if re.search(r"[|>][+-]?\s*$", text, re.M):
        return None  # a block of text, in which brackets have no meaning
    return _check_brackets(text, _YAML_TOKEN)


def _check_tags(text: str) -> str | None:
    checker = _TagChecker()
    checker.feed(text)
    checker.close()
    return checker.problem


class _TagChecker(HTMLParser):
    """Compares the start and end tags of a document."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._opened: list[tuple[str, int]] = []
        self._fault: str | None = None

    @property
    def problem(self) -> str | None:
        if self._fault is not None:
            return self._fault
        if self.rawdata.strip():
            return f"the markup in line {self.getpos()[0]} has no end"
        required = [(tag, line) for tag, line in self._opened if tag not in _OPTIONAL]
        return f"<{required[-1][0]}> in line {required[-1][1]} was never closed" if required else None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _VOID:
            self._opened.append((tag, self.getpos()[0]))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        at = len(self._opened) - 1
        while at >= 0 and self._opened[at][0] != tag and self._opened[at][0] in _OPTIONAL:
            at -= 1
        if at >= 0 and self._opened[at][0] == tag:
            del self._opened[at:]
        elif tag not in _OPTIONAL and tag not in _VOID and self._fault is None:
            self._fault = f"</{tag}> in line {self.getpos()[0]} closes nothing"


def _line_of(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
