"""Splits a shell line into simple commands for permission rules. This is not a security boundary; the sandbox is.

A line is too complex if it could run a command that is not visible in its words: substitutions, redirections to files,
control structures, assignments, and commands that run other commands. In doubt the result is None. The grammar is that
of the POSIX shell (XCU 2.3 and 2.9) with the extensions of bash.
"""

import re

from heald.core.lazy import lazy_pattern

MOST_PARTS = 50

_RESERVED_WORDS = """
    ! { } [[ ]] case coproc do done elif else esac fi for function if in select then time until while
"""
_RUNNER_WORDS = """
    . alias bind builtin chroot command compgen complete declare doas enable env eval exec export fc hash ionice let
    local mapfile nice nohup nsenter parallel readarray readonly script setarch setpriv setsid shopt source stdbuf su
    sudo systemd-run timeout trap typeset unbuffer unshare watch xargs
"""
"""Commands that run or rename other commands."""
_RESERVED, _RUNNERS = frozenset(_RESERVED_WORDS.split()), frozenset(_RUNNER_WORDS.split())
_SHELLS = frozenset(("ash", "bash", "busybox", "csh", "dash", "fish", "ksh", "mksh", "sh", "tcsh", "zsh"))

_ASSIGNMENT = lazy_pattern(r"[A-Za-z_]\w*(\[[^\]]*\])?\+?=")
_PLAIN = lazy_pattern(r"[^\s'\"\\;&|<>()#]+\Z")
_BRACES = lazy_pattern(r"\{[^{}]*(,|\.\.)[^{}]*\}|\{.*\{")
_HARMLESS_REDIRECTION = lazy_pattern(
    r"(?:&>>?[ \t]*/dev/null|[0-9]*>[>|]?[ \t]*/dev/null|[0-9]*[<>]&(?:[0-9]+|-))(?=[ \t\n;&|]|\Z)"
)
_NAME_IN_BRACES = lazy_pattern(r"\{(?:[A-Za-z_]\w*|\d+|[?#@*!])\}", re.ASCII)
_DIGITS_BEFORE = lazy_pattern(r"[0-9]+(?=[<>])")


class _TooComplex(Exception):
    pass


class _Word:
    """An unquoted word. `expands` is set if the shell would expand something in it."""

    __slots__ = ("expands", "quoted", "text")

    def __init__(self, text: str, expands: bool, quoted: bool) -> None:
        self.text = text
        self.expands = expands
        self.quoted = quoted

    def __str__(self) -> str:
        if self.text and _PLAIN.match(self.text):
            return self.text
        return "'" + self.text.replace("'", "'\\''") + "'"


def split_commands(line: str) -> list[str] | None:
    """Return the simple commands of a line, unquoted and with single spaces. None: too complex."""
    try:
        return _Lines(line).commands()
    except _TooComplex:
        return None


class _Lines:
    def __init__(self, line: str) -> None:
        self._line = line
        self._at = 0
        self._found: list[str] = []
        self._words: list[_Word] = []

    def commands(self) -> list[str]:
        if "\0" in self._line or "\r" in self._line:
            raise _TooComplex
        complete = True  # no operator requires a following command
        while self._skip_blanks():
            operator = self._operator()
            if operator is None:
                self._words.append(self._word())
                continue
            if not self._words:
                if operator != "\n":
                    raise _TooComplex
                continue  # an empty line, or one that breaks after && || or |
            self._finish()
            complete = operator in (";", "&", "\n")
        if self._words:
            self._finish()
        elif not complete:
            raise _TooComplex
        return self._found

    def _skip_blanks(self) -> bool:
        """Advance to the next token. Return False at the end of the line."""
        line = self._line
        while self._at < len(line):
            char = line[self._at]
            if char in " \t":
                self._at += 1
            elif line.startswith("\\\n", self._at):
                self._at += 2
            elif char == "#":
                end = line.find("\n", self._at)
                self._at = len(line) if end < 0 else end
            elif (redirection := _HARMLESS_REDIRECTION.match(line, self._at)) is not None:
                self._at = redirection.end()
            else:
                return True
        return False

    def _operator(self) -> str | None:
        line = self._line
        if line[self._at] not in ";&|\n":
            return None
        pair = line[self._at : self._at + 2]
        if pair in (";;", ";&", "&>"):
            raise _TooComplex
        operator = pair if pair in ("&&", "||", "|&") else pair[0]
        self._at += len(operator)
        return operator

    def _word(self) -> _Word:
        line, start = self._line, self._at
        text: list[str] = []
        bare: list[str] = []  # unquoted characters
        expands = False
        if _DIGITS_BEFORE.match(line, start):
            raise _TooComplex
        while self._at < len(line):
            char = line[self._at]
            if char in " \t\n;&|":
                break
            if char in "<>" and text and _HARMLESS_REDIRECTION.match(line, self._at):
                break
            if char in "<>()`":
                raise _TooComplex
            self._at += 1
            match char:
                case "'":
                    text.append(self._until_quote())
                case '"':
                    inner, inner_expands = self._double_quoted()
                    text.append(inner)
                    expands = expands or inner_expands
                case "\\":
                    text.append(self._escaped())
                case "$":
                    self._variable()
                    expands = True
                    text.append("$")
                case _:
                    text.append(char)
                    bare.append(char)
        plain = "".join(bare)
        if "{" in plain and _BRACES.search(plain):
            raise _TooComplex
        expands = expands or plain.startswith("~") or (plain != "[" and any(char in plain for char in "*?["))
        return _Word("".join(text), expands, len(plain) != self._at - start)

    def _until_quote(self) -> str:
        end = self._line.find("'", self._at)
        if end < 0:
            raise _TooComplex
        text = self._line[self._at : end]
        self._at = end + 1
        return text

    def _escaped(self) -> str:
        if self._at >= len(self._line):
            raise _TooComplex
        char = self._line[self._at]
        self._at += 1
        return "" if char == "\n" else char

    def _double_quoted(self) -> tuple[str, bool]:
        text: list[str] = []
        expands = False
        while self._at < len(self._line):
            char = self._line[self._at]
            self._at += 1
            if char == '"':
                return "".join(text), expands
            if char == "`":
                raise _TooComplex
            if char == "$":
                if self._line[self._at : self._at + 1] not in ("", '"', " "):
                    self._variable()
                    expands = True
            elif char == "\\" and self._line[self._at : self._at + 1] in ("$", "`", '"', "\\", "\n"):
                char = self._escaped()
            text.append(char)
        raise _TooComplex

    def _variable(self) -> None:
        """Check the text after a dollar sign: only a plain variable name is allowed."""
        following = self._line[self._at : self._at + 1]
        if following in ("(", "'", '"', "["):
            raise _TooComplex
        if following == "{" and not _NAME_IN_BRACES.match(self._line, self._at):
            raise _TooComplex

    def _finish(self) -> None:
        """Finish a simple command."""
        words, self._words = self._words, []
        first = words[0]
        name = first.text.rpartition("/")[2]
        if first.expands or not first.text or _ASSIGNMENT.match(first.text):
            raise _TooComplex
        if (first.text in _RESERVED and not first.quoted) or name in _RUNNERS:
            raise _TooComplex
        if name in _SHELLS and (len(words) < 2 or words[1].expands or words[1].text.startswith(("-", "+"))):
            raise _TooComplex
        if name == "printf" and len(words) > 1 and words[1].text.startswith("-v"):
            raise _TooComplex
        self._found.append(" ".join(str(word) for word in words))
        if len(self._found) > MOST_PARTS:
            raise _TooComplex
