"""Finds the definitions of a source file: by its lines in Python, by tree-sitter (`weft[map]`) in other languages.

Each grammar brings its query for definitions along. A language whose grammar is not installed has no definitions.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,}")
_MAX_WIDTH = 100
_PYTHON = (".py", ".pyi")
_PYTHON_LINE = re.compile(
    r"^(?P<indent>(?:    |\t)?)(?:async[ ]+)?(?P<kind>class|def)[ ]+(?P<name>[^\W\d]\w*)"
    r"(?:\((?P<arguments>(?:[^()]|\([^()]{0,200}\)){0,600})\))?",
    re.M,
)
_BRACKETS = re.compile(r"\[[^\[\]]*\]|\([^()]*\)")
_LANGUAGES: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "javascript": ("tree_sitter_javascript", "language", (".js", ".jsx", ".mjs", ".cjs")),
    "typescript": ("tree_sitter_typescript", "language_typescript", (".ts", ".mts", ".cts")),
    "tsx": ("tree_sitter_typescript", "language_tsx", (".tsx",)),
    "go": ("tree_sitter_go", "language", (".go",)),
    "rust": ("tree_sitter_rust", "language", (".rs",)),
    "java": ("tree_sitter_java", "language", (".java",)),
    "c": ("tree_sitter_c", "language", (".c", ".h")),
    "cpp": ("tree_sitter_cpp", "language", (".cc", ".cpp", ".cxx", ".hh", ".hpp")),
    "ruby": ("tree_sitter_ruby", "language", (".rb",)),
    "php": ("tree_sitter_php", "language_php", (".php",)),
}
"""The module, its function and the file endings of each language."""
_BASE_QUERIES = {"tree_sitter_typescript": "tree_sitter_javascript"}
"""Grammars whose query only adds to that of another one."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A class, function or other named thing, and the line that shows it."""

    name: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class FileSymbols:
    """The definitions of a file, and how often it uses each word."""

    definitions: tuple[Definition, ...]
    words: Mapping[str, int]


def is_source(path: str) -> bool:
    """Return whether definitions can be found in a file of this name."""
    return path.endswith(_PYTHON) or _language_of(path) is not None


def find_symbols(path: str, text: str) -> FileSymbols:
    """Find the definitions of a file and the words that it uses. A file that cannot be parsed has no definitions."""
    found = _python_definitions(text) if path.endswith(_PYTHON) else _parsed_definitions(path, text)
    return FileSymbols(tuple(sorted(found, key=lambda each: each.line)), Counter(_WORD.findall(text)))


def _python_definitions(text: str) -> list[Definition]:
    """Find classes, functions and methods by their lines: a parser takes ten times as long, and needs valid code."""
    found: list[Definition] = []
    line, last = 1, 0
    for match in _PYTHON_LINE.finditer(text):
        indent, kind, name = match["indent"], match["kind"], match["name"]
        if name.startswith("__") and name != "__init__":
            continue
        line += text.count("\n", last, match.start())
        last = match.start()
        arguments = _argument_names(match["arguments"] or "", is_class=kind == "class")
        shown = f"({arguments})" if arguments or kind == "def" else ""
        found.append(_definition(name, line, f"{'  ' if indent else ''}{kind} {name}{shown}"))
    return found


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
    parser = _parser(_language_of(path) or "")
    if parser is None:
        return []
    content = text.encode("utf-8", "replace")
    lines = text.split("\n")
    found: dict[tuple[str, int], Definition] = {}
    for captures in parser.definitions(content):
        row = int(captures.start_point[0])
        line = lines[row] if row < len(lines) else ""
        indent = "  " if line[:1] in (" ", "\t") else ""
        name = content[captures.start_byte : captures.end_byte].decode("utf-8", "replace")
        shown = " ".join(line.split()).rstrip("{ ").strip()
        found[name, row] = _definition(name, row + 1, f"{indent}{shown or name}")
    return list(found.values())


@cache
def _language_of(path_or_ending: str) -> str | None:
    """The language of a file whose grammar is installed."""
    ending = f".{path_or_ending.rpartition('.')[2].lower()}"
    language = next((name for name, (_, _, endings) in _LANGUAGES.items() if ending in endings), None)
    return language if language is not None and _parser(language) is not None else None


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


@cache
def _parser(language: str) -> _Parser | None:
    if language not in _LANGUAGES:
        return None
    module, function, _ = _LANGUAGES[language]
    try:
        tree_sitter, grammar = import_module("tree_sitter"), import_module(module)
        names = [*([_BASE_QUERIES[module]] if module in _BASE_QUERIES else []), module]
        query = "\n".join(import_module(name).TAGS_QUERY for name in names)
        return _Parser(tree_sitter, tree_sitter.Language(getattr(grammar, function)()), query)
    except (ImportError, AttributeError, ValueError, SyntaxError, TypeError):
        return None  # it is not installed, or its query does not fit the grammar
