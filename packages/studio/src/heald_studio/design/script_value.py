"""Reads the values that a script writes down: objects, lists, texts and numbers. Nothing is run.

An expression that is not a written value, such as a call, becomes a `ScriptExpression`.
"""

import posixpath
import re
from collections.abc import Mapping
from typing import cast

import msgspec

from heald.core.lazy import lazy_pattern

_SPACE = lazy_pattern(r"(?:\s+|//[^\n]*|/\*.*?(?:\*/|\Z))*", re.DOTALL)
_NAME = lazy_pattern(r"[A-Za-z_$][\w$]*")
_KEY = lazy_pattern(r"[\w$]+(?:\.\d+)?")
_NUMBER = lazy_pattern(r"-?(?:\d[\d_]*\.?\d*|\.\d+)(?:e-?\d+)?", re.IGNORECASE)
_STRING = lazy_pattern(r"\"((?:[^\"\\\n]|\\.)*)\"|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`", re.DOTALL)
_PATH = lazy_pattern(r"[A-Za-z_$][\w$]*(?:\??\.[\w$]+|\[\s*(?:\d+|\"[^\"]*\"|'[^']*')\s*\])*")
_PATH_PART = lazy_pattern(r"[\w$]+")
_VARIABLE = lazy_pattern(r"(?m)^(export\s+)?(?:const|let|var)\s+([A-Za-z_$][\w$]*)\s*(?::[^=\n]+)?=\s*")
_DEFAULT = lazy_pattern(r"(?:export\s+default|module\.exports\s*=|export\s*=)\s*")
_IMPORT = lazy_pattern(
    r"import\s+(?:(?P<default>[\w$]+)|\*\s*as\s+(?P<all>[\w$]+))?\s*,?\s*(?:\{(?P<names>[^{}]{0,4000})\})?\s*from\s*"
    r"[\"'](?P<from>\.[^\"']*)[\"']"
)
_REQUIRE = lazy_pattern(
    r"(?:const|let|var)\s+(?:(?P<default>[\w$]+)|\{(?P<names>[^{}]{0,4000})\})\s*=\s*require\([\"'](?P<from>\.[^\"']*)[\"']\)"
)
_HOLE = lazy_pattern(r"\$\{([^{}]*)\}")
_STATEMENT = lazy_pattern(
    r"(?:export|const|let|var|import|function|module|interface|type|declare|class)\b(?!\s*[:,(}])"
)
_SUFFIXES = ("", ".ts", ".js", ".mjs", ".cjs", ".tsx", ".jsx", "/index.ts", "/index.js")
_OPENING, _CLOSING = "([{", ")]}"
_MAX_DEPTH = 30
_MAX_FILES = 6


class ScriptExpression(msgspec.Struct, frozen=True):
    """An expression that only running the script would tell the value of."""

    text: str


class ScriptFile:
    """The variables of a script and what it exports, with those of the files that it imports."""

    def __init__(self, files: Mapping[str, str], path: str, depth: int = 0) -> None:
        self.exported: dict[str, object] = {}
        self.default: object = None
        self._scope: dict[str, object] = {}
        text = files.get(path, "")
        if depth < _MAX_FILES:
            self._read_imports(files, path, text, depth)
        end = 0
        for declared in _VARIABLE.finditer(text):
            if declared.start() < end:
                continue  # inside of the value before
            if text[declared.end() : declared.end() + 1] in ("{", "[", '"', "'", "`") or _NUMBER.match(
                text, declared.end()
            ):
                reader = ScriptReader(text, self._scope)
                value = reader.read(declared.end())
                end = reader.end
                self._scope[declared[2]] = value
                if declared[1]:
                    self.exported[declared[2]] = value
        if default := _DEFAULT.search(text):
            reader = ScriptReader(text, self._scope)
            value = reader.read(default.end())
            if isinstance(value, ScriptExpression):  # such as defineConfig({…})
                inside = text.find("{", default.end())
                value = reader.read(inside) if 0 <= inside < default.end() + 200 else value
            self.default = value

    def _read_imports(self, files: Mapping[str, str], path: str, text: str, depth: int) -> None:
        for pattern in (_IMPORT, _REQUIRE):
            for match in pattern.finditer(text):
                base = posixpath.normpath(posixpath.join(posixpath.dirname(path), match["from"]))
                target = next((base + suffix for suffix in _SUFFIXES if base + suffix in files), None)
                if target is None or target == path:
                    continue
                source = ScriptFile(files, target, depth + 1)
                groups = match.groupdict()
                if groups.get("default"):
                    self._scope[groups["default"]] = (
                        source.default if source.default is not None else dict(source.exported)
                    )
                if groups.get("all"):
                    self._scope[groups["all"]] = dict(source.exported)
                for name in (groups.get("names") or "").split(","):
                    exported, _, local = name.strip().replace(":", " as ").partition(" as ")
                    values = {**as_dict(source.default), **source.exported}
                    if exported.strip() in values:
                        self._scope[(local or exported).strip()] = values[exported.strip()]


class ScriptReader:
    """Reads written values from a script. `scope` has the values of names."""

    def __init__(self, text: str, scope: Mapping[str, object] | None = None) -> None:
        self._text = text
        self._scope = scope or {}
        self._at = 0

    def read(self, at: int = 0) -> object:
        """Read the value that begins at a place."""
        self._at = at
        return self._value(0)

    @property
    def end(self) -> int:
        """Where the value that was read ends."""
        return self._at

    def _value(self, depth: int) -> object:
        self._skip()
        start = self._at
        letter = self._text[start : start + 1]
        if depth > _MAX_DEPTH:
            return ScriptExpression(self._expression())
        value: object
        if letter == "{":
            value = self._object(depth)
        elif letter == "[":
            value = self._list(depth)
        elif string := _STRING.match(self._text, start):
            self._at = string.end()
            value = self._filled(string)
        elif number := _NUMBER.match(self._text, start):
            self._at = number.end()
            value = float(number[0].replace("_", ""))
        else:
            return self._named(self._expression())
        self._skip()
        if _STATEMENT.match(self._text, self._at):
            return value
        rest = self._expression()
        is_cast = not rest or rest.startswith(("as ", "satisfies "))
        return value if is_cast else ScriptExpression(self._text[start : self._at].strip())

    def _object(self, depth: int) -> dict[str, object]:
        result: dict[str, object] = {}
        self._at += 1
        while True:
            self._skip()
            if self._at >= len(self._text):
                return result
            if self._text[self._at] == "}":
                self._at += 1
                return result
            if self._text[self._at] == ",":
                self._at += 1
                continue
            before = self._at
            self._member(result, depth)
            if self._at == before:
                self._at += 1

    def _member(self, result: dict[str, object], depth: int) -> None:
        if self._text.startswith("...", self._at):
            self._at += 3
            result.update(as_dict(self._value(depth + 1)))
            return
        key = self._key()
        self._skip()
        if key is None or self._text[self._at : self._at + 1] != ":":
            if key is not None and self._text[self._at : self._at + 1] in (",", "}"):
                result[key] = self._scope.get(key, ScriptExpression(key))
            else:
                self._expression()  # a method, or a computed key
            return
        self._at += 1
        result[key] = self._value(depth + 1)

    def _key(self) -> str | None:
        if string := _STRING.match(self._text, self._at):
            self._at = string.end()
            return string[1] or string[2] or string[3] or ""
        if key := _KEY.match(self._text, self._at):
            self._at = key.end()
            return key[0]
        return None

    def _list(self, depth: int) -> list[object]:
        result: list[object] = []
        self._at += 1
        while True:
            self._skip()
            if self._at >= len(self._text):
                return result
            if self._text[self._at] == "]":
                self._at += 1
                return result
            if self._text[self._at] == ",":
                self._at += 1
                continue
            before = self._at
            if self._text.startswith("...", self._at):
                self._at += 3
                spread = self._value(depth + 1)
                result += as_list(spread) or [spread]
            else:
                result.append(self._value(depth + 1))
            if self._at == before:
                self._at += 1

    def _expression(self) -> str:
        """Skip to the end of an expression, and return its text."""
        self._skip()
        start, depth = self._at, 0
        while self._at < len(self._text):
            letter = self._text[self._at]
            if letter in "\"'`":
                string = _STRING.match(self._text, self._at)
                line_end = self._text.find("\n", self._at)
                self._at = string.end() if string else len(self._text) if line_end < 0 else line_end
                continue
            comment = _SPACE.match(self._text, self._at) if self._text.startswith(("//", "/*"), self._at) else None
            if comment is not None and comment.end() > self._at:
                self._at = comment.end()
                continue
            if letter in _OPENING:
                depth += 1
            elif letter in _CLOSING:
                if depth == 0:
                    break
                depth -= 1
            elif depth == 0 and letter in ",;":
                break
            elif depth == 0 and letter == "\n":
                end = self._at
                self._skip()
                if _STATEMENT.match(self._text, self._at):
                    self._at = end
                    break
                continue
            self._at += 1
        return self._text[start : self._at].strip()

    def _named(self, text: str) -> object:
        """Return the value of an expression, if it is the name of one that is written elsewhere."""
        plain = text.partition(" as ")[0].strip()
        if plain in ("true", "false", "null", "undefined"):
            return {"true": True, "false": False}.get(plain)
        if arrow := re.search(r"=>\s*\(\s*(?=\{)", text):
            return ScriptReader(text, self._scope).read(arrow.end())
        if not _PATH.fullmatch(plain):
            return ScriptExpression(text)
        names = _PATH_PART.findall(plain)
        value = self._scope.get(names[0], ScriptExpression(text))
        for name in names[1:]:
            value = as_dict(value).get(name, ScriptExpression(text))
        return value

    def _filled(self, string: re.Match[str]) -> object:
        """Return a text; one of a template has the values of its names."""
        if string[3] is None:
            return re.sub(r"\\(.)", r"\1", string[1] if string[1] is not None else string[2])
        holes = {hole: self._named(hole.strip()) for hole in _HOLE.findall(string[3])}
        if any(not isinstance(value, str | float) for value in holes.values()):
            return ScriptExpression(string[0])
        return _HOLE.sub(lambda hole: text_of(holes[hole[1]]) or "", string[3])

    def _skip(self) -> None:
        space = _SPACE.match(self._text, self._at)
        if space is not None:
            self._at = space.end()


def text_of(value: object) -> str | None:
    """Return a text or a number as text; None if it is neither."""
    if isinstance(value, str):
        return value
    return f"{value:g}" if isinstance(value, float) else None


def as_dict(value: object) -> dict[str, object]:
    """Return an object that was read; empty if the value is none."""
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def as_list(value: object) -> list[object]:
    """Return a list that was read; empty if the value is none."""
    return cast("list[object]", value) if isinstance(value, list) else []
