"""Scripts of sed: whether one runs commands or writes files."""

import re

from heald.core.lazy import lazy_pattern
from heald.tools.shell.unreadable import Unreadable
from heald.tools.shell.words import Word

_ADDRESS = r"(?:[0-9]+(?:~[0-9]+)?|\$|/(?:[^/\\\n]|\\[^\n])*/I?|\+[0-9]+)"
_STEP = lazy_pattern(
    rf"[ \t]*(?:{_ADDRESS}(?:,[ \t]*{_ADDRESS})?)?[ \t]*!?[ \t]*"
    r"(?:[pdqQ=nNDPgGhHxlz{}]|[aic]\\?[ \t]*[^\n\\]*(?=\n|\Z)"
    r"|[sy](?P<mark>[/|,#:!@%_+])(?:(?!(?P=mark))[^\\\n]|\\[^\n])*(?P=mark)(?:(?!(?P=mark))[^\\\n]|\\[^\n])*(?P=mark)[gpiIm0-9]*)"
    r"[ \t]*(?:[;\n]|(?=\})|\Z)",
    re.ASCII,
)
_FLAGS = frozenset("nErsuz")
_LONGS = frozenset(("--quiet", "--silent", "--regexp-extended", "--null-data", "--unbuffered", "--separate", "--posix"))


def is_plain_script(script: str) -> bool:
    """Whether a script only edits and prints: no `e`, `w`, `r`, `R`, `W` and `F`, and no flags `e` and `w` of `s`."""
    at = 0
    while at < len(script):
        step = _STEP.match(script, at)
        if step is None or step.end() == at:
            return False
        at = step.end()
    return True


def check_sed(words: tuple[Word, ...]) -> bool:
    """Return whether a command of sed edits files in place. Raises Unreadable if its script may run commands."""
    scripts: list[Word] = []
    in_place = False
    options_end = False
    has_script_option = False
    rest = list(words[1:])
    operands: list[Word] = []
    while rest:
        word = rest.pop(0)
        text = word.literal
        if options_end or not word.may_be_option or text == "-":
            operands.append(word)
            continue
        if text is None:
            raise Unreadable("an argument of `sed` that may be an option")
        if text == "--":
            options_end = True
        elif text.startswith(("--expression=", "--in-place")) or text in _LONGS:
            in_place = in_place or text.startswith("--in-place")
            if text.startswith("--expression="):
                has_script_option = True
                scripts.append(Word.of(text.partition("=")[2]))
        elif text.startswith("--"):
            raise Unreadable(f"the option {text} of `sed`")
        else:
            letters = text[1:]
            while letters and letters[0] in _FLAGS:
                letters = letters[1:]
            if letters.startswith("i"):
                in_place = True
            elif letters.startswith("e"):
                has_script_option = True
                scripts.append(Word.of(letters[1:]) if letters[1:] else _next(rest))
            elif letters:
                raise Unreadable(f"the option {text} of `sed`")
    if not has_script_option:
        scripts = [_next(operands)]
    for script in scripts:
        if script.literal is None or not is_plain_script(script.literal):
            raise Unreadable("a script of `sed` that may run commands or write files")
    return in_place


def _next(words: list[Word]) -> Word:
    if not words:
        raise Unreadable("`sed` without a script")
    return words.pop(0)
