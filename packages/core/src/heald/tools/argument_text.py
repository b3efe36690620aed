"""The arguments of a call as texts for the person who decides on it. Every argument is one."""

from typing import Any

import msgspec

from heald.core.json import JsonObject, encode, encode_text
from heald.core.lazy import lazy_pattern
from heald.tools.visible_text import CHARACTERS, LINES, Excerpt, describe_hidden, escape_line, excerpt, whole_rows

CONTINUED = "  │ "
"""Before each line of a text after its first: a line of a text is never taken for something else."""
_COMMANDS = ("command", "url", "cwd", "path")
"""Arguments in which punctuation matters."""
_NAME = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_.-]*")
_MAX_JSON_LINE = 120


class ArgumentText(msgspec.Struct, frozen=True):
    """One argument: its name, ready to display, and its value as text, not escaped yet."""

    name: str
    text: str

    def shorten(self, *, characters: int = CHARACTERS, lines: int = LINES) -> Excerpt:
        return excerpt(self.text, characters=characters, lines=lines)

    @property
    def rows(self) -> list[str]:
        return whole_rows(self.text)

    @property
    def notes(self) -> list[str]:
        notes = describe_hidden(self.text, is_command=self.name in _COMMANDS)
        return [f"{self.name} {note}" for note in notes]


def argument_texts(arguments: JsonObject) -> list[ArgumentText]:
    """Return all arguments of a call, in order."""
    return [ArgumentText(_name(name), _text(value)) for name, value in arguments.items()]


def _name(name: str) -> str:
    """The name, in quotes unless it is a plain word, so that it does not look like a name with a value."""
    return name if _NAME.fullmatch(name) else escape_line(encode_text(name))


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    line = encode_text(value)
    return line if len(line) <= _MAX_JSON_LINE else msgspec.json.format(encode(value), indent=2).decode()
