"""Rewrites RE2 patterns in the syntax of Rust's regex crate.

A rewritten pattern matches every line that the original matches, and may match more: Rust's classes cover all of
Unicode and fold case more widely. A construct without a safe equivalent is not rewritten.
"""

_SPACE, _DIGIT, _WORD = r"\t\x0c\r ", "0-9", "0-9A-Za-z_"
_CLASSES = {"d": _DIGIT, "s": _SPACE, "w": _WORD}
_SAME_ESCAPES = frozenset("aftrv")
_FLAGS = frozenset("isU-")


def rust_pattern(pattern: str) -> str | None:
    """Rewrite a valid RE2 pattern; None if that is not safe."""
    out: list[str] = []
    at = 0
    ended = False
    while at < len(pattern):
        char = pattern[at]
        if ended and (char == "^" or pattern.startswith("\\b", at)):
            return None  # a CR may be between them
        match char:
            case "$":
                ended = True
                done = at + 1, r"(?:\r?$)"
            case "\\":
                done = _escape(pattern, at)
            case "[":
                done = _class(pattern, at)
            case "(":
                done = _group(pattern, at)
            case "{" if not pattern[at + 1 : at + 2].isdigit():
                done = at + 1, _literal(char)
            case "}" | "]" | "&" | "~" | "#" | "-":
                done = at + 1, char if char == "}" else _literal(char)
            case "\n":
                done = None
            case _:
                done = at + 1, char
        if done is None:
            return None
        at, text = done
        out.append(text)
    return "".join(out)


def _escape(pattern: str, at: int) -> tuple[int, str] | None:
    char = pattern[at + 1 : at + 2]
    if char in _CLASSES:
        return at + 2, f"[{_CLASSES[char]}]"
    if char.lower() in _CLASSES:
        return at + 2, f"(?-i:[^{_CLASSES[char.lower()]}])"
    if char == "b":
        return at + 2, r"(?-u:\b)"
    return _character_escape(pattern, at)


def _character_escape(pattern: str, at: int) -> tuple[int, str] | None:
    """Rewrite an escape that stands for one character, inside of a class or outside."""
    char = pattern[at + 1 : at + 2]
    if char == "x":
        return _hex(pattern, at)
    if char in _SAME_ESCAPES and char:
        return at + 2, f"\\{char}"
    if char and char.isascii() and not char.isalnum() and char.isprintable():
        return at + 2, _literal(char)
    return None


def _hex(pattern: str, at: int) -> tuple[int, str] | None:
    if pattern[at + 2 : at + 3] == "{":
        end = pattern.find("}", at)
        digits = pattern[at + 3 : end]
    else:
        end = at + 3
        digits = pattern[at + 2 : at + 4]
    try:
        char = chr(int(digits, 16))
    except (ValueError, OverflowError):
        return None
    return None if char == "\n" else (end + 1, _literal(char))


def _group(pattern: str, at: int) -> tuple[int, str] | None:
    if pattern[at + 1 : at + 2] != "?":
        return at + 1, "("
    if pattern.startswith("(?P<", at):
        return at + 4, "(?P<"
    end = at + 2
    while pattern[end : end + 1] in _FLAGS and end < len(pattern):
        end += 1
    if pattern[end : end + 1] not in (":", ")"):
        return None
    return end + 1, pattern[at : end + 1]


def _class(pattern: str, at: int) -> tuple[int, str] | None:
    out = ["["]
    at += 1
    if pattern[at : at + 1] == "^":
        out.append("^")
        at += 1
    first = True
    while at < len(pattern) and (pattern[at] != "]" or first):
        first = False
        if pattern.startswith("[:", at):
            end = pattern.find(":]", at)
            if end < 0:
                return None
            out.append(pattern[at : end + 2])
            at = end + 2
            continue
        item = _class_item(pattern, at)
        if item is None:
            return None
        at, text = item
        out.append(text)
        if pattern[at : at + 1] == "-" and pattern[at + 1 : at + 2] not in ("]", ""):
            item = _class_item(pattern, at + 1)
            if item is None:
                return None
            at, text = item
            out.append(f"-{text}")
    if at >= len(pattern):
        return None
    return at + 1, "".join([*out, "]"])


def _class_item(pattern: str, at: int) -> tuple[int, str] | None:
    char = pattern[at]
    if char != "\\":
        return None if char == "\n" else (at + 1, _literal(char))
    escaped = pattern[at + 1 : at + 2]
    if escaped in _CLASSES:
        return at + 2, _CLASSES[escaped]
    if escaped == "n":
        return at + 2, r"\x{a}"
    return _character_escape(pattern, at)


def _literal(char: str) -> str:
    return char if char.isalnum() or char == "_" else f"\\x{{{ord(char):x}}}"
