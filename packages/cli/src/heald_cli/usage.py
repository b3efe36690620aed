"""The parser of the command line. What cannot be parsed is reported in one sentence with the remedy."""

import argparse
import re
import sys
from collections.abc import Iterator

from heald.core.lazy import lazy_pattern

TYPE_CHECKING = False  # the module `typing` takes longer than the help
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NoReturn

    from _typeshed import SupportsWrite

_PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".heic", ".avif")
_CHOICE = lazy_pattern(
    r"argument (?P<name>\S+): invalid choice: (?P<word>.+?) \(choose from (?P<choices>.*?)\)", re.DOTALL
)
_VALUE = lazy_pattern(r"argument (?P<name>\S+): invalid (?P<kind>\w+) value: (?P<word>.+)", re.DOTALL)
_LACKING = lazy_pattern(r"argument (?P<name>\S+): expected (?:one|at least one) argument")
_KINDS = {"int": "a whole number", "float": "a number"}


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Formats help. It wraps lines itself: the module `textwrap` would cost a twentieth of the help."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        lines = [""]
        for word in text.split():
            if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
                lines.append(word)
            else:
                lines[-1] += f" {word}" if lines[-1] else word
        return lines


class ListedCommand:
    """A command in the list of commands. It has no options: a parser for each command would cost half of the help."""

    def __init__(self, *, prog: str, **_: object) -> None:
        self.prog = prog

    def parse_known_args(
        self, arguments: "list[str]", _: argparse.Namespace | None = None
    ) -> "tuple[argparse.Namespace, list[str]]":
        return argparse.Namespace(), arguments

    def list_options(self) -> list[str]:
        return []

    def advise_help(self) -> str:
        return f"See `{self.prog} --help`."


class _HelpAll(argparse.Action):
    """`--help-all`: prints every option of a command whose `--help` shows the common ones."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        if isinstance(parser, CommandParser):
            parser.common_options = frozenset()
        parser.print_help()
        parser.exit()


class CommandParser(argparse.ArgumentParser):
    """A parser, also of the commands below it."""

    common_options: frozenset[str] = frozenset()
    """The names of the options that `--help` shows; empty if it shows all."""

    def show_common(self, names: "Sequence[str]") -> None:
        """Let `--help` show these options only, and `--help-all` all of them."""
        self.add_argument(
            "--help-all", action=_HelpAll, nargs=0, default=argparse.SUPPRESS, help="show all options and exit"
        )
        self.common_options = frozenset((*names, "help", "help_all"))

    def format_help(self) -> str:
        if not self.common_options:
            return super().format_help()
        hidden = {action: action.help for action in self._actions if action.dest not in self.common_options}
        for action in hidden:
            action.help = argparse.SUPPRESS
        try:
            return super().format_help()
        finally:
            for action, text in hidden.items():
                action.help = text

    def error(self, message: str) -> "NoReturn":
        """Print a sentence instead of all options, and exit with 2."""
        self.exit(2, f"heald: {self._explain(message)}\n")

    def _print_message(self, message: str, file: "SupportsWrite[str] | None" = None) -> None:
        """Print without the silence of argparse if nothing can be written."""
        print(message, end="", file=file or sys.stderr)

    def _explain(self, message: str) -> str:
        if match := _CHOICE.match(message):
            choices = [name.strip(" '\"") for name in match["choices"].split(",")]
            return self._explain_choice(match["name"], match["word"].strip("'\""), choices)
        if match := _VALUE.match(message):
            kind = _KINDS.get(match["kind"], match["kind"])
            return f"{match['name']} must be {kind}, not {match['word']}. {self.advise_help()}"
        if match := _LACKING.match(message):
            return f"{match['name']} needs a value. {self.advise_help()}"
        kind, _, rest = message.partition(": ")
        if kind == "unrecognized arguments":
            return self._explain_unknown(rest)
        if kind == "the following arguments are required":
            return f"{rest} {'are' if ', ' in rest else 'is'} missing. {self.advise_help()}"
        return f"{message[:1].upper()}{message[1:]}. {self.advise_help()}"

    def _explain_choice(self, name: str, word: str, choices: list[str]) -> str:
        near = _suggest(word, choices)
        if name not in ("COMMAND", "ACTION"):
            return f"{name} cannot be {word!r}; {near or 'it is one of ' + ', '.join(choices) + '.'}"
        if name == "COMMAND" and (missing := _describe_missing(word)):
            return f"There is no command {word!r}, because {missing}"
        if name == "COMMAND" and word.lower().endswith(_PICTURES):
            return f"There is no command {word!r}; a page is built from a picture with `heald build {word}`."
        return f"There is no {name.lower()} {word!r}; {near or 'there are ' + ', '.join(choices) + '.'}"

    def _explain_unknown(self, words: str) -> str:
        """Explain the words that no option and no argument accepts. The parser of all commands reports them."""
        command = next(self._commands(), self)
        first = words.split(" ")[0]
        if not first.startswith("-"):
            return f"{words!r} is an argument too many; a text with spaces needs quotes. {command.advise_help()}"
        name = first.partition("=")[0]
        return f"`{command.prog}` has no option {name}; {_suggest(name, command.list_options()) or 'see its --help.'}"

    def _commands(self) -> "Iterator[CommandParser | ListedCommand]":
        """Yield the parser of the command in use, which is the only one with options."""
        for action in self._actions:
            choices: Any = action.choices
            if isinstance(choices, dict):
                yield from choices.values()  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]

    def list_options(self) -> list[str]:
        """Return the long names of its options."""
        return [name for action in self._actions for name in action.option_strings if name.startswith("--")]

    def advise_help(self) -> str:
        """Return a sentence that names its help."""
        return f"See `{self.prog} --help`."


def _describe_missing(command: str) -> str:
    """Describe which distribution of Heald has a command, if it is not installed."""
    from heald.config.command_tables import describe_missing

    return describe_missing(command)


def _suggest(word: str, names: list[str]) -> str:
    """Return a question with the nearest name; nothing if none is near."""
    from difflib import get_close_matches

    near = get_close_matches(word, names, 1)
    return f"did you mean {near[0]}?" if near else ""
