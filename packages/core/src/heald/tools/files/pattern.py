"""Regular expressions and globs from a model, both run by RE2, whose time is linear in the text.

A regular expression matches within one line. A glob is converted to a regular expression. Braces become alternatives
and are never expanded, so that the size of a pattern stays bounded.
"""

from typing import Any, Protocol

import re2  # pyright: ignore[reportMissingTypeStubs]

from heald.tools.tool_fault import ToolFault

MAX_PATTERN = 2_000
MAX_PROGRAM = 10_000
_MAX_MEMORY = 2 << 20
_MAX_BRACES = 8
_EDGES_BEFORE = ("", "/", "{", ",")
_EDGES_AFTER = ("", "/", "}", ",")
_re2: Any = re2


class _Compiled(Protocol):
    programsize: int

    def search(self, text: bytes, pos: int | None = None, endpos: int | None = None) -> Any: ...


class PatternFault(ToolFault):
    """A pattern is invalid or too large."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "invalid_pattern")


class Expression:
    """A regular expression over the lines of UTF-8 bytes."""

    def __init__(self, pattern: str, *, ignore_case: bool = False) -> None:
        if not pattern:
            raise PatternFault("The pattern is empty; give a regular expression to look for.")
        if len(pattern) > MAX_PATTERN:
            raise PatternFault(f"The pattern has {len(pattern)} characters, {MAX_PATTERN} are allowed; shorten it.")
        self._compiled = _compile("(?m)" + pattern, pattern, ignore_case)
        self._sees_ends = any(word in pattern for word in ("$", "\\b", "\\B", "\\z"))
        self.size = self._compiled.programsize
        """Maximum steps per character of text."""
        if self.size > MAX_PROGRAM:
            raise PatternFault("The pattern is too large once its repetitions are written out; use smaller counts.")

    def find(self, text: bytes, start: int, end: int, *, cut: bool = False) -> int:
        """Return the start of the first match between two positions, or -1.

        `cut` means that the line continues after `end`. A match that may depend on a line end there is ignored.
        """
        match = self._compiled.search(text, start, end)
        if match is None or (cut and self._sees_ends and match.end() == end):
            return -1
        return match.start()


class Glob:
    """A glob for whole relative paths: `*` and `?` match within one part, `**` matches any number of parts.

    A pattern without a slash is matched against the last part, like `**/pattern`, unless it is `anchored`.
    """

    def __init__(self, pattern: str, *, anchored: bool = False) -> None:
        if len(pattern) > MAX_PATTERN:
            raise PatternFault(f"The glob has {len(pattern)} characters, {MAX_PATTERN} are allowed; shorten it.")
        pattern = pattern.removeprefix("./")
        if not pattern or "\0" in pattern:
            raise PatternFault("The glob is empty or holds a NUL; give one such as src/**/*.py.")
        if pattern.startswith("/") or ".." in pattern.split("/"):
            raise PatternFault(f"The glob {pattern!r} leaves the workspace; write it relative to the workspace's root.")
        anywhere = "" if anchored or "/" in pattern else "(?:[^/]+/)*"
        self._compiled = _compile(f"(?s)\\A{anywhere}{_regular(pattern)}\\z", pattern, ignore_case=False)

    def matches(self, path: str) -> bool:
        return self._compiled.search(path.encode("utf-8", "surrogateescape")) is not None


def _compile(expression: str, pattern: str, ignore_case: bool) -> _Compiled:
    options = _re2.Options()
    options.never_nl = expression.startswith("(?m)")
    options.never_capture = True
    options.log_errors = False
    options.case_sensitive = not ignore_case
    options.max_mem = _MAX_MEMORY
    excerpt = pattern if len(pattern) <= 80 else pattern[:80] + "…"
    try:
        return _re2.compile(expression.encode(), options)
    except UnicodeEncodeError:
        raise PatternFault("The pattern holds half a surrogate pair; write the whole character.") from None
    except _re2.error as error:
        reason = error.args[0]
        reason = (reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)).partition(":")[0]
        raise PatternFault(
            f"The pattern {excerpt!r} is not valid ({reason}); use RE2 syntax, without look-around or back-references."
        ) from None


def _regular(pattern: str) -> str:
    """Convert a glob to a regular expression."""
    out: list[str] = []
    braces = 0
    at = 0
    while at < len(pattern):
        char = pattern[at]
        at += 1
        match char:
            case "*":
                stars = at
                while at < len(pattern) and pattern[at] == "*":
                    at += 1
                before, after = pattern[stars - 2 : stars - 1] if stars > 1 else "", pattern[at : at + 1]
                if at == stars or before not in _EDGES_BEFORE or after not in _EDGES_AFTER:
                    out.append("[^/]*")
                elif after != "/":
                    out.append(".*")
                else:
                    out.append("(?:[^/]+/)*")
                    at += 1
            case "?":
                out.append("[^/]")
            case "[":
                end, text = _class(pattern, at)
                out.append(text)
                at = end
            case "{" if "}" in pattern[at:]:
                braces += 1
                if braces > _MAX_BRACES:
                    raise PatternFault(f"The glob nests braces more than {_MAX_BRACES} deep; write it flatter.")
                out.append("(?:")
            case "," if braces:
                out.append("|")
            case "}" if braces:
                braces -= 1
                out.append(")")
            case "\\" if at < len(pattern):
                out.append(_literal(pattern[at]))
                at += 1
            case _:
                out.append(_literal(char))
    if braces:
        raise PatternFault(
            f"The glob {pattern!r} has an open brace; close it with a }}, or write \\{{ for the character."
        )
    return "".join(out)


def _class(pattern: str, at: int) -> tuple[int, str]:
    """Convert the class after a bracket. Return its end and expression. An unclosed bracket is a literal."""
    negated = pattern[at : at + 1] in ("!", "^")
    first = at + negated
    end = pattern.find("]", first + 1)
    if end < 0:
        return at, "\\["
    items = pattern[first:end]
    body: list[str] = []
    index = 0
    while index < len(items):
        low = items[index]
        if items[index + 1 : index + 2] == "-" and index + 2 < len(items):
            high = items[index + 2]
            index += 3
            if low > high:
                raise PatternFault(f"The range {low}-{high} in the glob {pattern!r} is the wrong way round.")
            body.append(f"{_literal(low)}-{_literal(high)}")
        else:
            body.append(_literal(low))
            index += 1
    text = "".join(body)
    if negated:
        return end + 1, f"[^/{text}]"
    return end + 1, f"[{text}]"


def _literal(char: str) -> str:
    if char.isalnum() or char in "_/ " or ord(char) > 127:
        return char
    return f"\\x{ord(char):02x}"
