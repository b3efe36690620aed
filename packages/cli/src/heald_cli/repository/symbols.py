"""The definitions of a source file, and the words that it uses.

Definitions are found by their lines in Python, by tree-sitter (the extra `map`) in other languages: each grammar brings
its query for definitions. A language whose grammar is not installed has no definitions.
"""

import re
from collections import Counter
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

import msgspec

from heald.core.lazy import lazy_pattern

_WORD = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_]{2,}")
_MAX_WIDTH = 100
_PYTHON = (".py", ".pyi")
_PYTHON_LINE = lazy_pattern(
    r"^(?P<indent>(?:    |\t)?)(?:async[ ]+)?(?P<kind>class|def)[ ]+(?P<name>[^\W\d]\w*)"
    r"(?:\((?P<arguments>(?:[^()]|\([^()]{0,200}\)){0,600})\))?",
    re.M,
)
_BRACKETS = lazy_pattern(r"\[[^\[\]]*\]|\([^()]*\)")
_GRAMMARS: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(("js", "jsx", "mjs", "cjs"), ("tree_sitter_javascript", "language")),
    **dict.fromkeys(("ts", "mts", "cts"), ("tree_sitter_typescript", "language_typescript")),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "go": ("tree_sitter_go", "language"),
    "rs": ("tree_sitter_rust", "language"),
    "java": ("tree_sitter_java", "language"),
    **dict.fromkeys(("c", "h"), ("tree_sitter_c", "language")),
    **dict.fromkeys(("cc", "cpp", "cxx", "hh", "hpp"), ("tree_sitter_cpp", "language")),
    "rb": ("tree_sitter_ruby", "language"),
    "php": ("tree_sitter_php", "language_php"),
}
"""The module of each grammar and its function, by the endings of files."""
_BASE_QUERIES = {"tree_sitter_typescript": "tree_sitter_javascript"}
"""Grammars whose query only adds to that of another one."""


class Definition(msgspec.Struct, frozen=True):
    """A class, function or other named thing, and the line that shows it."""

    name: str
    line: int
    text: str


class FileSymbols(msgspec.Struct, frozen=True):
    """The definitions of a file, and how often it uses each word."""

    definitions: tuple[Definition, ...]
    words: Mapping[str, int]


def is_source(path: str) -> bool:
    """Return whether definitions can be found in a file of this name."""
    return path.endswith(_PYTHON) or _parser_of(path) is not None


def find_symbols(path: str, text: str) -> FileSymbols:
    """Find the definitions of a file and the words that it uses. A file that cannot be parsed has no definitions."""
    definitions = _python_definitions(text) if path.endswith(_PYTHON) else _parsed_definitions(path, text)
    return FileSymbols(tuple(sorted(definitions, key=lambda definition: definition.line)), Counter(_WORD.findall(text)))


def _python_definitions(text: str) -> list[Definition]:
    """Find classes, functions and methods by their lines: a parser takes ten times as long, and needs valid code."""
    definitions: list[Definition] = []
    line, last = 1, 0
    for match in _PYTHON_LINE.finditer(text):
        indent, kind, name = match["indent"], match["kind"], match["name"]
        if name.startswith("__") and name != "__init__":
            continue
        line += text.count("\n", last, match.start())
        last = match.start()
        arguments = _argument_names(match["arguments"] or "", is_class=kind == "class")
        brackets = f"({arguments})" if arguments or kind == "def" else ""
        definitions.append(_definition(name, line, f"{'  ' if indent else ''}{kind} {name}{brackets}"))
    return definitions


def _argument_names(text: str, *, is_class: bool) -> str:
    """The names of arguments without types and defaults, or the bases of a class without keywords."""
    while (shorter := _BRACKETS.sub("", text)) != text:
        text = shorter
    parts = [part.strip() for part in text.split(",")]
    if is_class:
        parts = [part for part in parts if "=" not in part]
    return ", ".join(re.split(r"[:=\s]", part)[0] for part in parts if part)


def _definition(name: str, line: int, text: str) -> Definition:
    return Definition(name, line, text if len(text) <= _MAX_WIDTH else f"{text[: _MAX_WIDTH - 1]}…")


def _parsed_definitions(path: str, text: str) -> list[Definition]:
    parser = _parser_of(path)
    if parser is None:
        return []
    content = text.encode("utf-8", "replace")
    lines = text.split("\n")
    definitions: dict[tuple[str, int], Definition] = {}
    for captures in parser.definitions(content):
        row = int(captures.start_point[0])
        line = lines[row] if row < len(lines) else ""
        indent = "  " if line[:1] in (" ", "\t") else ""
        name = content[captures.start_byte : captures.end_byte].decode("utf-8", "replace")
        signature = " ".join(line.split()).rstrip("{ ").strip()
        definitions[name, row] = _definition(name, row + 1, f"{indent}{signature or name}")
    return list(definitions.values())


class _Parser:
    """A parser with the query for definitions of one language."""

    def __init__(self, tree_sitter: Any, language: Any, query: str) -> None:
        self._parser = tree_sitter.Parser(language)
        self._query = tree_sitter.Query(language, query)
        self._cursor = tree_sitter.QueryCursor

    def definitions(self, content: bytes) -> list[Any]:
        """Return the nodes that hold the names of definitions."""
        tree = self._parser.parse(content)
        names: list[Any] = []
        for _, captures in self._cursor(self._query).matches(tree.root_node):
            if any(name.startswith("definition.") for name in captures):
                names += captures.get("name", [])
        return names


def _parser_of(path: str) -> _Parser | None:
    """The parser for a file; None if the grammar of its language is not installed."""
    return _open_parser(*_GRAMMARS.get(path.rpartition(".")[2].lower(), ("", "")))


@cache
def _open_parser(module: str, function: str) -> _Parser | None:
    if not module:
        return None
    try:
        tree_sitter, grammar = import_module("tree_sitter"), import_module(module)
        names = [*([_BASE_QUERIES[module]] if module in _BASE_QUERIES else []), module]
        query = "\n".join(import_module(name).TAGS_QUERY for name in names)
        return _Parser(tree_sitter, tree_sitter.Language(getattr(grammar, function)()), query)
    except (ImportError, AttributeError, ValueError, SyntaxError, TypeError):
        return None  # it is not installed, or its query does not fit the grammar
