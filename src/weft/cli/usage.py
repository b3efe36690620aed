"""The parser of the command line. What cannot be parsed is reported in one sentence with the remedy."""

import argparse
import re
import sys
from collections.abc import Iterator

from weft.core.lazy import lazy_pattern

TYPE_CHECKING = False  # the module `typing` takes longer than the help
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from _typeshed import SupportsWrite

_PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".heic", ".avif")
_CHOICE = lazy_pattern(
    r"argument (?P<name>\S+): invalid choice: (?P<given>.+?) \(choose from (?P<known>.*?)\)", re.DOTALL
)
_VALUE = lazy_pattern(r"argument (?P<name>\S+): invalid (?P<kind>\w+) value: (?P<given>.+)", re.DOTALL)
_LACKING = lazy_pattern(r"argument (?P<name>\S+): expected (?:one|at least one) argument")
_KINDS = {"int": "a whole number", "float": "a number"}


class CommandParser(argparse.ArgumentParser):
    """A parser, also of the commands below it."""

    def error(self, message: str) -> "NoReturn":
        """Print a sentence instead of all options, and exit with 2."""
        self.exit(2, f"weft: {self._explain(message)}\n")

    def _print_message(self, message: str, file: "SupportsWrite[str] | None" = None) -> None:
        """Print without the silence of argparse if nothing can be written."""
        print(message, end="", file=file or sys.stderr)

    def _explain(self, message: str) -> str:
        if found := _CHOICE.match(message):
            known = [name.strip(" '\"") for name in found["known"].split(",")]
            return self._explain_choice(found["name"], found["given"].strip("'\""), known)
        if found := _VALUE.match(message):
            return (
                f"{found['name']} is {_KINDS.get(found['kind'], found['kind'])}, not {found['given']}. {self._help()}"
            )
        if found := _LACKING.match(message):
            return f"{found['name']} needs a value. {self._help()}"
        kind, _, rest = message.partition(": ")
        if kind == "unrecognized arguments":
            return self._explain_unknown(rest)
        if kind == "the following arguments are required":
            return f"{rest} {'are' if ', ' in rest else 'is'} missing. {self._help()}"
        return f"{message[:1].upper()}{message[1:]}. {self._help()}"

    def _explain_choice(self, name: str, given: str, known: list[str]) -> str:
        near = _suggest(given, known)
        if name not in ("COMMAND", "ACTION"):
            return f"{name} cannot be {given!r}; {near or 'it is one of ' + ', '.join(known) + '.'}"
        if name == "COMMAND" and given.lower().endswith(_PICTURES):
            return f"There is no command {given!r}; a page is built from a picture with `weft build {given}`."
        return f"There is no {name.lower()} {given!r}; {near or 'there are ' + ', '.join(known) + '.'}"

    def _explain_unknown(self, words: str) -> str:
        """Explain the words that no option and no argument accepts. The parser of all commands reports them."""
        command = next(self._commands(), self)
        first = words.split(" ")[0]
        if not first.startswith("-"):
            return f"{words!r} is one argument too many; a text with spaces needs quotes. {command._help()}"
        name = first.partition("=")[0]
        return f"`{command.prog}` has no option {name}; {_suggest(name, command._options()) or 'see its --help.'}"

    def _commands(self) -> "Iterator[CommandParser]":
        """Yield the parser of the command in use, which is the only one with options."""
        for action in self._actions:
            choices: Any = action.choices
            if isinstance(choices, dict):
                yield from choices.values()  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]

    def _options(self) -> list[str]:
        return [name for action in self._actions for name in action.option_strings if name.startswith("--")]

    def _help(self) -> str:
        return f"See `{self.prog} --help`."


def _suggest(given: str, known: list[str]) -> str:
    """Return a question with the nearest known name; nothing if none is near."""
    from difflib import get_close_matches

    near = get_close_matches(given, known, 1)
    return f"did you mean {near[0]}?" if near else ""
