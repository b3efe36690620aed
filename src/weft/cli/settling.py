"""The options of a command, completed by what is set elsewhere; and the question whether a project's file may count."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, cast

from weft.cli.settled import DATA_ONLY, apply, check_variables, settled
from weft.config.schema import COMMANDS
from weft.config.sources import Ignored, sources, told
from weft.core.errors import WeftError

Parser = Callable[[], argparse.ArgumentParser]


def settle(options: argparse.Namespace, words: Sequence[str], parser: Parser) -> None:
    """Complete the options of a command. Flags that were given stay as they are."""
    command = options.command
    if command not in COMMANDS and command not in DATA_ONLY:
        return
    try:
        now = sources()
        if now.ignored is not None:
            told(now.ignored)  # by what follows
            now = sources() if command in COMMANDS and _is_trusted(now.ignored) else now
        check_variables(os.environ)
        shapes = shapes_of(parser(), command)
        usual = {name: action.default for name, action in shapes.items()}
        apply(options, settled(command, usual, given(parser(), words), now.documents), shapes)
    except WeftError:
        if command != "doctor":  # which says itself what is wrong
            raise


def given(parser: argparse.ArgumentParser, words: Sequence[str]) -> dict[str, Any]:
    """The options that the words name, and no other."""
    for each in parsers_in(parser):
        for action in each._actions:  # pyright: ignore[reportPrivateUsage]
            action.default = argparse.SUPPRESS
    return vars(parser.parse_args(words))


def shapes_of(parser: argparse.ArgumentParser, command: str) -> dict[str, argparse.Action]:
    """The options of a command, by what they set."""
    inner = list(parsers_in(parser))
    wanted = [each for each in inner if each.prog.split()[1:2] == [command]]
    return {action.dest: action for each in wanted for action in each._actions}  # pyright: ignore[reportPrivateUsage]


def parsers_in(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    """A parser, and those of its commands and actions, all the way down."""
    found = [parser]
    for action in cast("list[Any]", parser._actions):  # pyright: ignore[reportPrivateUsage]
        inner: Any = action.choices
        if isinstance(inner, dict):
            below = cast("dict[str, argparse.ArgumentParser]", inner)
            found += [deeper for each in below.values() for deeper in parsers_in(each)]
    return found


def _is_trusted(ignored: Ignored) -> bool:
    """Ask, where somebody is there to be asked; whether the file counts from now on."""
    if ignored.state == "refused":
        return False
    if not sys.stdin.isatty() or not sys.stderr.isatty():
        print(f"weft: {ignored}", file=sys.stderr)
        return False
    from weft.cli.trust import ask

    return ask(ignored.path)
