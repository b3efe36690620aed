"""The named parts of a file: definitions of code, rules of CSS, keys of YAML, TOML and JSON, statements of SQL,
sections of Markdown, elements of HTML with an id."""

import ast
import json
import re
from collections.abc import Iterator, Sequence
from typing import cast

import msgspec

from heald.core.lazy import lazy_pattern
from heald.tools.files.syntax import BRACE_LANGUAGES, MAX_CHECKED, STYLE_LANGUAGES, parse_python

_DEFINITION = lazy_pattern(
    r"(?P<indentation>[ \t]*)(?:export\s+|default\s+|pub(?:\(\w+\))?\s+|public\s+|private\s+|protected\s+|static\s+"
    r"|abstract\s+|async\s+|final\s+|override\s+|unsafe\s+)*"
    r"(?:(?:def|class|function\*?|fn|interface|struct|enum|trait|impl|type|namespace|object|record)\s+(?P<name>\w+)"
    r"|func\s+(?P<receiver>\([^)]*\)\s*)?(?P<func>\w+)"
    r"|(?:const|let|var|val)\s+(?P<variable>\w+)\s*(?::[^=\n]+)?(?=[=(])"
    r"|(?P<method>(?!if\b|for\b|while\b|switch\b|catch\b|return\b|function\b)[A-Za-z_$#][\w$]*)\s*\([^()\n;]*\)\s*(?::[^{\n]*)?\{\s*$)"
)
_NO_TOP_METHOD = ("if", "for", "while", "switch", "catch", "return", "with", "else", "do", "try")
_YAML_KEY = lazy_pattern(
    r"(?P<indentation> *)(?:- +)?(?P<name>[\w.$/@ -]{0,200}[\w.$/@]|\"[^\"]+\"|'[^']+')\s*:(?:\s|$)"
)
_TOML_TABLE = lazy_pattern(r"\s*\[\[?\s*(?P<name>[^\]]+?)\s*\]\]?\s*(?:#.*)?$")
_TOML_KEY = lazy_pattern(r"(?P<name>[\w.\"'-]+)\s*=")
_SQL_HEAD = lazy_pattern(
    r"\s*(?P<verb>CREATE(?:\s+OR\s+REPLACE)?(?:\s+(?:TEMP|TEMPORARY|UNIQUE|MATERIALIZED))?\s+\w+|INSERT\s+INTO|UPDATE|DELETE\s+FROM"
    r"|ALTER\s+TABLE|DROP\s+\w+|SELECT|WITH|GRANT|PRAGMA)\s+(?:IF\s+(?:NOT\s+)?EXISTS\s+)?(?P<name>[\w.\"`*]+)",
    re.I,
)
_HEADING = lazy_pattern(r"(?P<marks>#{1,6})[ \t]+(?P<name>.*?)[ \t]*#*$")
_ID = lazy_pattern(r"<(?P<tag>\w[\w-]*)\b[^>]{0,500}?\sid\s*=\s*[\"']?(?P<name>[\w-]+)")
_STRUCTURE = lazy_pattern(r"<(?P<name>html|head|title|body|main|header|footer|nav|style|script|form|h1)\b", re.I)
_STRING_OR_COMMENT = lazy_pattern(
    r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`", re.S
)
_MAX_LINE = 500
_MAX_HEAD = 20
"""Lines before the first brace of a definition."""


class OutlinePart(msgspec.Struct, frozen=True):
    """A named part of a file: its lines from `start` up to `end`, and how deep it stands."""

    name: str
    start: int
    end: int
    level: int = 0
    may_lack_owner: bool = False
    """Whether it may be a method that was written without its class."""


def read_outline(path: str, text: str) -> list[OutlinePart]:
    """Return the named parts of a file in the order of their first lines. Parts may stand inside others."""
    if len(text) > MAX_CHECKED:
        return []
    suffix = path.rpartition(".")[2].lower()
    lines = [line[:_MAX_LINE] for line in text.replace("\r\n", "\n").split("\n")]
    if suffix in ("py", "pyi"):
        return _python_parts(text, lines)
    if suffix in STYLE_LANGUAGES:
        return list(_css_parts(lines))
    if suffix in BRACE_LANGUAGES:
        return list(_brace_parts(lines))
    if suffix in ("yaml", "yml"):
        return list(_yaml_parts(lines))
    if suffix == "toml":
        return list(_toml_parts(lines))
    if suffix == "json":
        return _json_parts(text)
    if suffix == "sql":
        return list(_sql_parts(lines))
    if suffix in ("md", "markdown", "mdx"):
        return list(_markdown_parts(lines))
    if suffix in ("html", "htm", "vue", "svg", "xml"):
        marks = [*_ID.finditer(text), *_STRUCTURE.finditer(text)]
        return [OutlinePart(f"<{mark['name'].lower()}>", 0, 0) for mark in marks]
    return []


def _python_parts(text: str, lines: Sequence[str]) -> list[OutlinePart]:
    try:
        tree = parse_python(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return list(_brace_parts(lines))
    return list(_python_definitions(tree.body, "", 0))


def _python_definitions(body: Sequence[ast.stmt], prefix: str, level: int) -> Iterator[OutlinePart]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            start = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            is_method = not prefix and not isinstance(node, ast.ClassDef) and _has_self(node)
            yield OutlinePart(f"{prefix}{node.name}", start - 1, node.end_lineno or node.lineno, level, is_method)
            if isinstance(node, ast.ClassDef):
                yield from _python_definitions(node.body, f"{node.name}.", level + 1)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    yield OutlinePart(f"{prefix}{target.id}", node.lineno - 1, node.end_lineno or node.lineno, level)


def _has_self(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return bool(function.args.args) and function.args.args[0].arg in ("self", "cls")


def _brace_parts(lines: Sequence[str]) -> Iterator[OutlinePart]:
    """Definitions in languages with braces, or in a text whose language cannot be parsed."""
    bare = _without_strings("\n".join(lines)).split("\n")
    for at, line in enumerate(bare):
        definition = _DEFINITION.match(line)
        if definition is None or definition["method"] in _NO_TOP_METHOD:
            continue
        name = definition["name"] or definition["func"] or definition["variable"] or definition["method"]
        level = len(definition["indentation"].expandtabs(4))
        if definition["variable"] and level:
            continue  # a variable of a function
        receiver = re.sub(r"\W+", " ", definition["receiver"] or "").split()
        yield OutlinePart(f"{receiver[-1]}.{name}" if receiver else name, at, _end_of_braces(bare, at), level)


def _css_parts(lines: Sequence[str]) -> Iterator[OutlinePart]:
    bare = _without_strings("\n".join(lines), comments_only=True).split("\n")
    outer: list[tuple[str, int]] = []  # rules that hold rules, with the line behind them
    selector: list[str] = []
    begin = 0
    at = 0
    while at < len(bare):
        line = bare[at].strip()
        outer = [(name, end) for name, end in outer if at < end - 1]
        if not line or line == "}":
            selector = []
        elif "{" in line:
            begin = at if not selector else begin
            name = " ".join(" ".join([*selector, line.partition("{")[0]]).split())
            end = _end_of_braces(bare, at)
            prefix = "".join(f"{rule} / " for rule, _ in outer)
            yield OutlinePart(f"{prefix}{name}", begin, end, len(outer))
            selector = []
            if name.startswith("@") and not name.startswith(("@font-face", "@page")):
                outer.append((name, end))
            else:
                at = max(end - 1, at)
        elif not line.endswith(";"):
            begin = at if not selector else begin
            selector.append(line)
        at += 1


def _end_of_braces(lines: Sequence[str], start: int) -> int:
    """The line behind the part that begins in a line: where its brackets are closed."""
    depth = 0
    seen = False
    for at in range(start, len(lines)):
        for mark in re.findall(r"[(){}\[\]]", lines[at]):
            depth += 1 if mark in "({[" else -1
            seen = seen or mark == "{"
        if depth <= 0 and (seen or lines[at].rstrip().endswith((";", ")"))):
            return at + 1
        if depth <= 0 and not seen and at > start and (not lines[at].strip() or at > start + _MAX_HEAD):
            return at
    return len(lines)


def _without_strings(text: str, *, comments_only: bool = False) -> str:
    """The text with blanks for the insides of strings and comments."""

    def blank(match: re.Match[str]) -> str:
        if comments_only and match[0][0] != "/":
            return match[0]
        return re.sub(r"[^\n]", " ", match[0])

    return _STRING_OR_COMMENT.sub(blank, text)


def _yaml_parts(lines: Sequence[str]) -> Iterator[OutlinePart]:
    path: list[tuple[int, str]] = []
    for at, line in enumerate(lines):
        key = _YAML_KEY.match(line)
        if key is None or line.lstrip().startswith("#"):
            continue
        indentation = len(key["indentation"])
        is_item = line.lstrip().startswith("- ")
        path = [(depth, name) for depth, name in path if depth < indentation]
        end = at + 1
        while end < len(lines) and (
            not lines[end].strip() or _indentation(lines[end]) > indentation or _goes_on(lines[end], indentation)
        ):
            end += 1
        end = _without_blank_end(lines, at, end)
        label = line.strip() if is_item else key["name"]
        name = ".".join([*(name for _, name in path), label])
        yield OutlinePart(name, at, end, len(path))
        path.append((indentation, label))


def _goes_on(line: str, indentation: int) -> bool:
    """Whether a line of YAML belongs to a key of the same indentation: an item of its list."""
    return _indentation(line) == indentation and line.lstrip().startswith("- ")


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _without_blank_end(lines: Sequence[str], start: int, end: int) -> int:
    """The line behind the last line of a part that is not blank. A part has its first line at least."""
    while end > start + 1 and not lines[end - 1].strip():
        end -= 1
    return end


def _toml_parts(lines: Sequence[str]) -> Iterator[OutlinePart]:
    starts = [(at, table["name"]) for at, line in enumerate(lines) if (table := _TOML_TABLE.match(line))]
    names = dict(starts)
    boundaries = dict(zip(names, [*list(names)[1:], len(lines)], strict=False))  # where a table begins and ends
    table_name = ""
    for at, line in enumerate(lines):
        if at in boundaries:
            table_name, end = names[at], _without_blank_end(lines, at, boundaries[at])
            yield OutlinePart(f"[{table_name}]", at, end)
        elif key := _TOML_KEY.match(line):
            end = at + 1
            while end < len(lines) and not _TOML_KEY.match(lines[end]) and end not in boundaries and lines[end].strip():
                end += 1
            name = f"[{table_name}].{key['name']}" if table_name else key["name"]
            yield OutlinePart(name, at, end, 1 if table_name else 0)


def _json_parts(text: str) -> list[OutlinePart]:
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return [OutlinePart(name, 0, 0, name.count("\0")) for name in _json_keys(value, "")]


def _json_keys(value: object, prefix: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in cast("dict[str, object]", value).items():
            yield f"{prefix}{key}"
            yield from _json_keys(inner, f"{prefix}{key}\0")


def _sql_parts(lines: Sequence[str]) -> Iterator[OutlinePart]:
    start = 0
    bare = re.sub(r"--[^\n]*|'(?:''|[^'])*'", lambda match: re.sub(r"[^\n]", " ", match[0]), "\n".join(lines)).split(
        "\n"
    )
    for at, line in enumerate(bare):
        if not line.strip() and not "".join(bare[start:at]).strip():
            start = at + 1
        if line.rstrip().endswith(";"):
            head = _SQL_HEAD.match("\n".join(bare[start : at + 1]))
            if head is not None:
                yield OutlinePart(" ".join(f"{head['verb']} {head['name']}".upper().split()), start, at + 1)
            start = at + 1


def _markdown_parts(lines: Sequence[str]) -> Iterator[OutlinePart]:
    headings: list[tuple[int, int, str]] = []
    fence = ""
    for at, line in enumerate(lines):
        mark = re.match(r"[ ]{0,3}(`{3,}|~{3,})", line)
        if mark is not None:
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
        elif not fence and (heading := _HEADING.match(line)) is not None:
            headings.append((at, len(heading["marks"]), heading["name"]))
    for number, (at, level, name) in enumerate(headings):
        end = next((later for later, depth, _ in headings[number + 1 :] if depth <= level), len(lines))
        yield OutlinePart(f"{'#' * level} {name}", at, _without_blank_end(lines, at, end), level)
