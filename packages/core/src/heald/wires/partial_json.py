"""An incremental JSON parser. Its total cost is linear in the length of the input.

`feed` stores the next piece; `grow` parses what was stored and returns the strings that grew, as `(path, text)` pairs;
`value` is the value so far.

Results are never revised: a string only grows, a number or literal appears when it is whole, no escape or surrogate
pair is split, a key stays. Malformed input sets `error` and ends the growth.
"""

import re
from collections.abc import Sequence
from math import isinf
from typing import Any, cast

from heald.core.json import MAX_DEPTH
from heald.core.lazy import LazyModule, lazy_pattern

_json: Any = LazyModule("json.decoder")
Path = tuple[str | int, ...]
Growth = tuple[Path, str]

# Inside a string: plain runs and whole escapes. Stops at the closing quote or at an escape that is cut or wrong.
_BODY = lazy_pattern(r'[^"\\]*(?:\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt])[^"\\]*)*')
_CUT_ESCAPE = lazy_pattern(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")
_SPACE = lazy_pattern(r"[ \t\n\r]*")
_SCALAR = lazy_pattern(r"[-+.0-9a-zA-Z]*")
_NUMBER = lazy_pattern(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?\Z")
_LITERALS = {"true": True, "false": False, "null": None}
_MAX_SCALAR = 1000

_VALUE, _FIRST_KEY, _KEY, _COLON, _FIRST_ITEM, _AFTER, _TEXT, _KEY_TEXT, _END = range(9)
_OPEN = object()


def _unescaped(text: str) -> str | None:
    """Decode the escapes inside a string; None if the string ends in the text or an escape is wrong."""
    try:
        body, end = cast("tuple[str, int]", _json.scanstring(text + '"', 0, False))
    except ValueError:
        return None
    return body if end > len(text) else None


class PartialJson:
    """An incremental parser of one JSON value."""

    __slots__ = (
        "_chunks",
        "_container",
        "_error",
        "_growths",
        "_held",
        "_path",
        "_pieces",
        "_plain",
        "_position",
        "_root",
        "_slot",
        "_stack",
        "_state",
        "feed",
    )

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self.feed = self._pieces.append
        """Add the next piece."""
        self._growths: list[Growth] = []
        self._error: str | None = None
        self._root: Any = _OPEN
        self._container: Any = None
        self._slot: str | int | None = None
        self._stack: list[tuple[Any, str | int | None]] = []
        self._path: Path = ()
        self._state = _VALUE
        self._chunks: list[str] = []  # pieces of the string that is open now
        self._held = ""  # incomplete input: half an escape, half a number
        self._plain = False  # inside a string value with nothing held: the fast path applies
        self._position = 0

    def grow(self) -> Sequence[Growth]:
        """The strings that grew since the last call, each with the text that was added."""
        if not self._pieces:
            return self._pop_growths()
        text = self._pieces[0] if len(self._pieces) == 1 else "".join(self._pieces)
        self._pieces.clear()
        if self._plain and text and not self._growths:
            if '"' not in text and "\\" not in text:
                self._chunks.append(text)
                self._position += len(text)
                return ((self._path, text),)
            if "\\u" not in text and text[-1] != "\\":
                body = _unescaped(text)
                if body is not None:
                    self._chunks.append(body)
                    self._position += len(text)
                    return ((self._path, body),)
        self._parse(text)
        return self._pop_growths()

    def close(self) -> Any:
        """End the input, which completes a number at the top level, and return the value."""
        self._catch_up()
        if self._state == _VALUE and self._held and not self._stack:
            self.feed(" ")
        return self.value

    @property
    def complete(self) -> bool:
        """One whole JSON value has been read."""
        self._catch_up()
        return self._state == _END and self._error is None

    @property
    def error(self) -> str | None:
        """The problem and its position, if the input is not JSON."""
        self._catch_up()
        return self._error

    @property
    def value(self) -> Any:
        """The value so far; None at the start. It changes with further input."""
        self._catch_up()
        if self._state == _TEXT:
            self._store("".join(self._chunks))
        return None if self._root is _OPEN else self._root

    def _catch_up(self) -> None:
        if self._pieces:
            self._growths = list(self.grow())

    def _pop_growths(self) -> Sequence[Growth]:
        growths = self._growths
        self._growths = []
        return growths

    def _parse(self, text: str) -> None:
        if self._error is not None:
            return
        if self._held:
            self._position -= len(self._held)
            text = self._held + text
            self._held = ""
        at = 0
        length = len(text)
        while at < length:
            state = self._state
            if state == _TEXT or state == _KEY_TEXT:
                at = self._string(text, at)
            else:
                at = cast("re.Match[str]", _SPACE.match(text, at)).end()
                if at < length:
                    at = self._structure(text, at)
            if self._error is not None:
                break
        self._position += length
        self._plain = self._state == _TEXT and not self._held and self._error is None

    def _string(self, text: str, at: int) -> int:
        end = cast("re.Match[str]", _BODY.match(text, at)).end()
        closed = end < len(text) and text[end] == '"'
        wrong = not closed and end < len(text) and _CUT_ESCAPE.match(text, end) is None
        body = text[at:end]
        if "\\" in body:
            body = cast(str, _json.scanstring(body + '"', 0, False)[0])
        if not closed and not wrong:
            if body and "\ud800" <= body[-1] <= "\udbff":  # its other half may follow
                end -= 1 if text[end - 1] == body[-1] else 6
                body = body[:-1]
            self._held = text[end:]
        if self._state == _TEXT:
            if body:
                self._chunks.append(body)
                self._growths.append((self._path, body))
            if wrong:
                self._store("".join(self._chunks))
            elif closed:
                self._store("".join(self._chunks))
                self._chunks = []
                self._state = _AFTER if self._stack else _END
        else:
            self._chunks.append(body)
            if closed:
                self._end_key(end)
        if wrong:
            return self._fail("invalid escape in a string", end)
        return end + 1 if closed else len(text)

    def _end_key(self, at: int) -> None:
        key = "".join(self._chunks)
        self._chunks = []
        if key in self._container:
            self._fail(f"duplicate key {key[:80]!r}", at)
        self._slot = key
        self._state = _COLON

    def _structure(self, text: str, at: int) -> int:
        char = text[at]
        state = self._state
        if state == _AFTER:
            if char == ",":
                self._next_slot()
                return at + 1
            if char == ("}" if isinstance(self._container, dict) else "]"):
                return self._pop(at)
            return self._fail("expected a comma or the end of the container", at)
        if state == _COLON:
            if char != ":":
                return self._fail("expected a colon", at)
            self._state = _VALUE
            return at + 1
        if state == _KEY or state == _FIRST_KEY:
            if char == '"':
                self._state = _KEY_TEXT
                return at + 1
            if char == "}" and state == _FIRST_KEY:
                return self._pop(at)
            return self._fail("expected a key", at)
        if state == _END:
            return self._fail("more input after the end of the value", at)
        if char == "]" and state == _FIRST_ITEM:
            return self._pop(at)
        return self._value(text, at, char)

    def _value(self, text: str, at: int, char: str) -> int:
        if char == '"':
            self._store("")
            self._path = (*(slot for _, slot in self._stack[1:]), self._slot) if self._stack else ()  # pyright: ignore[reportAttributeAccessIssue]
            self._state = _TEXT
            return at + 1
        if char == "{" or char == "[":
            return self._push({} if char == "{" else [], at)
        end = cast("re.Match[str]", _SCALAR.match(text, at)).end()
        if end - at > _MAX_SCALAR:
            return self._fail("a number is too long", at)
        if end == len(text) and end > at:
            self._held = text[at:]
            return end
        return self._scalar(text[at:end], at, end)

    def _scalar(self, token: str, at: int, end: int) -> int:
        if token in _LITERALS:
            self._store(_LITERALS[token])
        elif not _NUMBER.match(token):
            return self._fail("expected a value", at)
        elif token.lstrip("-").isdigit():
            self._store(int(token))
        elif isinf(number := float(token)):
            return self._fail("a number is too large", at)
        else:
            self._store(number)
        self._state = _AFTER if self._stack else _END
        return end

    def _push(self, container: Any, at: int) -> int:
        if len(self._stack) >= MAX_DEPTH:
            return self._fail(f"nested more than {MAX_DEPTH} levels deep", at)
        self._store(container)
        self._stack.append((self._container, self._slot))
        self._container = container
        self._slot = None if isinstance(container, dict) else 0
        self._state = _FIRST_KEY if isinstance(container, dict) else _FIRST_ITEM
        return at + 1

    def _pop(self, at: int) -> int:
        self._container, self._slot = self._stack.pop()
        self._state = _AFTER if self._stack else _END
        return at + 1

    def _next_slot(self) -> None:
        if isinstance(self._slot, int):
            self._slot += 1
            self._state = _VALUE
        else:
            self._state = _KEY

    def _store(self, value: Any) -> None:
        container: Any = self._container
        if container is None:
            self._root = value
        elif isinstance(container, dict) or cast(int, self._slot) < len(container):
            container[self._slot] = value
        else:
            container.append(value)

    def _fail(self, message: str, at: int) -> int:
        self._error = f"{message} (character {self._position + at})"
        self._plain = False
        return at
