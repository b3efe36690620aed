"""Builtins of the shell that evaluate their arguments, and how far they can be read.

`test -v 'a[$(id)]'` runs `id`: a builtin that takes the name of a variable evaluates its subscript. So a name must be
a plain one, and where an argument may become an option or a name it cannot be read.
"""

from collections.abc import Callable, Sequence

from heald.tools.shell.unreadable import Unreadable
from heald.tools.shell.variables import VARIABLE_NAME
from heald.tools.shell.words import Word

Names = tuple[str, ...]
"""The variables that a builtin assigns."""

_UNARY = frozenset(f"-{letter}" for letter in "abcdefghknoprstuwxzGLNOS")
_BINARY = frozenset(
    ("=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef", "-a", "-o")
)
_EVALUATED_TESTS = ("-v", "-R")
_LITERAL_TESTS = 4
"""Words up to which the outcome of `test` depends on their number alone (XCU test, operands)."""
_SET_OPTIONS = frozenset("euxvfnCbhE")
_SET_NAMES = frozenset(("errexit", "nounset", "xtrace", "verbose", "noglob", "pipefail", "noclobber", "errtrace"))


def evaluated_names(program: str, words: Sequence[Word]) -> Names:
    """Return the variables that a command assigns if it is such a builtin. Raises Unreadable."""
    if program in _NEVER_READ:
        raise Unreadable(f"`{program}`, which changes what commands mean or runs what it reads")
    reader = _READERS.get(program)
    return reader(words[1:]) if reader is not None else ()


def _literals(words: Sequence[Word]) -> list[str]:
    texts = [word.literal for word in words]
    if None in texts:
        raise Unreadable("an argument that a builtin of the shell evaluates")
    return [text for text in texts if text is not None]


def _names(texts: Sequence[str]) -> Names:
    if not all(VARIABLE_NAME.match(text) for text in texts):
        raise Unreadable("a subscript or a name that a builtin of the shell evaluates")
    return tuple(texts)


def _options(texts: list[str], flags: str, valued: str = "") -> tuple[dict[str, str], list[str]]:
    """Split arguments into options with their values, and operands."""
    options: dict[str, str] = {}
    while texts and texts[0].startswith("-") and texts[0] != "-":
        text = texts.pop(0)
        if text == "--":
            break
        letters = text[1:]
        while letters:
            letter, letters = letters[0], letters[1:]
            if letter in valued:
                if not letters and not texts:
                    raise Unreadable("an option without its value")
                options[letter] = letters or texts.pop(0)
                break
            if letter not in flags:
                raise Unreadable(f"the option -{letter} of a builtin of the shell")
            options[letter] = ""
    return options, texts


def _test(words: Sequence[Word]) -> Names:
    """Read `test`. With few words the number of them decides what each is; with more, all have to be written out."""
    while words and words[0].literal == "!":
        words = words[1:]
    if len(words) >= _LITERAL_TESTS:
        if any(text in _EVALUATED_TESTS for text in _literals(words)):
            raise Unreadable("a test of a variable")
        return ()
    if not all(word.is_single for word in words):
        raise Unreadable("an argument of `test` that may become several")
    match list(words):
        case [] | [_]:
            return ()
        case [operator, _] if operator.literal in _UNARY:
            return ()
        case [_, operator, _] if operator.literal in _BINARY:
            return ()
        case _:
            raise Unreadable("a test that the shell may evaluate")


def _bracket(words: Sequence[Word]) -> Names:
    if not words or words[-1].literal != "]":
        raise Unreadable("`[` without `]`")
    return _test(words[:-1])


def _declare(words: Sequence[Word]) -> Names:
    """Read `export`, `local` and the like without options, with plain names and values."""
    names: list[str] = []
    for word in words:
        first = word.pieces[0] if word.pieces else ""
        name = first.partition("=")[0].removesuffix("+") if isinstance(first, str) else ""
        is_whole = word.literal == name
        if not word.is_single or not (is_whole or (isinstance(first, str) and "=" in first)):
            raise Unreadable("a declaration of a variable that is not written out")
        names.append(name)
    return _names(names)


def _unset(words: Sequence[Word]) -> Names:
    return _names(_options(_literals(words), "fvn")[1])


def _read(words: Sequence[Word]) -> Names:
    options, names = _options(_literals(words), "rs", "dnNptua")
    return _names([*names, *([options["a"]] if "a" in options else [])])


def _mapfile(words: Sequence[Word]) -> Names:
    return _names(_options(_literals(words), "t", "dnOsu")[1])


def _printf(words: Sequence[Word]) -> Names:
    if not words or (words[0].literal is None and words[0].may_be_option):
        raise Unreadable("a format of `printf` that may be an option")
    if (words[0].literal or "").startswith("-v"):
        options, _ = _options([text for text in (word.literal for word in words[:2]) if text is not None], "", "v")
        return _names([options["v"]])
    return ()


def _wait(words: Sequence[Word]) -> Names:
    for word in words:
        if not word.is_number and (word.literal is None or not word.literal.startswith(("%", "-n", "-f"))):
            raise Unreadable("an argument of `wait` that may be an option")
        if "p" in (word.literal or "").lstrip("%"):
            raise Unreadable("the option -p of `wait`")
    return ()


def _getopts(words: Sequence[Word]) -> Names:
    match _literals(words[:2]):
        case [_, name]:
            return _names([name])
        case _:
            raise Unreadable("`getopts` without a name")


def _jobs(words: Sequence[Word]) -> Names:
    _options(_literals(words), "lpnrs")
    return ()


def _set(words: Sequence[Word]) -> Names:
    """Read `set`: options that only stop or show commands, and new arguments."""
    texts = [word.literal for word in words]
    while texts and (text := texts.pop(0)) != "--":
        if text is None or text[:1] not in ("-", "+") or not text[1:]:
            raise Unreadable("arguments of `set` that may be options")
        letters = text[1:]
        if letters.endswith("o"):
            name = texts.pop(0) if texts else None
            if name not in _SET_NAMES:
                raise Unreadable("an option of `set` that changes what commands mean")
            letters = letters[:-1]
        if not set(letters) <= _SET_OPTIONS:
            raise Unreadable("an option of `set` that changes what commands mean")
    return ()


_NEVER_READ_WORDS = """
    . alias bind compgen complete compopt enable fc hash history let shopt source unalias add-zsh-hook autoload
    emulate functions zle zmodload zstyle
"""
_NEVER_READ = frozenset(_NEVER_READ_WORDS.split())
_READERS: dict[str, Callable[[Sequence[Word]], Names]] = {
    "test": _test,
    "[": _bracket,
    "declare": _declare,
    "typeset": _declare,
    "local": _declare,
    "readonly": _declare,
    "export": _declare,
    "unset": _unset,
    "read": _read,
    "mapfile": _mapfile,
    "readarray": _mapfile,
    "printf": _printf,
    "wait": _wait,
    "getopts": _getopts,
    "jobs": _jobs,
    "set": _set,
}
